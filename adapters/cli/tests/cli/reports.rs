//! Reports for other programs: CSV, Markdown, `JUnit`, SARIF, and annotations for GitHub Actions. `console/hostile.txt`
//! has what is escaped in them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;
use serde_json::{Value, json};

use crate::harness::{Folder, Ran, program, runs, stuck};
use crate::shown::words_everywhere;

const FORMATS: [&str; 5] = ["csv", "markdown", "junit", "sarif", "github"];

/// Runs that have a loop of a worker, two loops of text, no loop, and that do not exist.
const SAMPLE: [&str; 4] = [
    "native/stuck-worker.jsonl",
    "native/stuck-talk.jsonl",
    "native/healthy-poll.jsonl",
    "missing.jsonl",
];

/// Scans in the folder `here`, so that the text contains no path of this machine. Returns the report.
fn written(here: &Path, format: &str, words: &[&str]) -> (Ran, String) {
    let folder = Folder::new();
    let out = folder.path().join("report");
    let mut command = program();
    command.current_dir(here).arg("scan").args(words).args(["--format", format, "-o"]).arg(&out);
    let ran = Ran::by(&mut command);
    (ran, fs::read_to_string(out).expect("a report"))
}

fn report(format: &str, words: &[&str]) -> String {
    written(&runs(), format, words).1
}

/// Returns the only run of a log, after checks that hold for each log.
fn sarif_run(text: &str) -> Value {
    let log: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = log["runs"][0].clone();
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for rule in rules {
        assert!(rule["shortDescription"]["text"].is_string() && rule["help"]["text"].is_string());
    }
    for result in run["results"].as_array().expect("results") {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("a rule")).expect("few");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["note", "warning", "error"].contains(&result["level"].as_str().unwrap_or("")));
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["region"]["startLine"], 1);
        let uri = place["artifactLocation"]["uri"].as_str().expect("a URI");
        assert!(!uri.contains(|c: char| !c.is_ascii() || c == ' ' || c == '\\'), "{uri}");
        let prints = &result["partialFingerprints"];
        let id = prints["unstuck/v1"].as_str().expect("an id");
        let hash = prints["primaryLocationLineHash"].as_str().expect("a hash");
        assert!(id.len() == 16 && hash.starts_with(&format!("{id}:")), "{hash}");
        let steps = &result["codeFlows"][0]["threadFlows"][0]["locations"];
        for (number, step) in steps.as_array().expect("steps").iter().enumerate() {
            assert_eq!(step["executionOrder"], number + 1);
            assert!(step["location"]["message"]["text"].is_string());
        }
    }
    run
}

#[test]
fn the_reports_of_a_few_runs() {
    for format in ["csv", "markdown", "junit", "github"] {
        insta::assert_snapshot!(format, report(format, &SAMPLE).replace('\r', ""));
    }
    let mut run = sarif_run(&report("sarif", &SAMPLE));
    // Its version changes.
    run["tool"]["driver"] = run["tool"]["driver"]["rules"][0].take();
    insta::assert_snapshot!("sarif", serde_json::to_string_pretty(&run).expect("JSON"));
}

#[test]
fn the_formats_agree_about_the_recorded_runs() {
    let lines = report("jsonl", &["."]);
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let has_loop = |line: &&Value| line["findings"] != json!([]);
    let stuck = lines.iter().filter(has_loop).count();
    let loops: BTreeSet<&str> = lines
        .iter()
        .flat_map(|line| line["findings"].as_array().expect("a list"))
        .filter_map(|finding| finding["loop"].as_str())
        .collect();

    let csv = report("csv", &["."]);
    let id = Regex::new(r",([0-9a-f]{16}),").expect("a pattern");
    let of_csv: BTreeSet<&str> = id.captures_iter(&csv).map(|id| id.extract::<1>().1[0]).collect();
    assert_eq!(of_csv, loops);
    assert_eq!(csv.matches("\nclean,").count(), lines.len() - stuck);

    let junit = report("junit", &["."]);
    let named = ["<testcase ", "<failure ", "<error "].map(|name| junit.matches(name).count());
    assert_eq!(named, [lines.len(), stuck, 0]);
    let numbers = format!("tests=\"{}\" failures=\"{stuck}\" errors=\"0\"", lines.len());
    assert!(junit.contains(&numbers), "{junit}");

    let run = sarif_run(&report("sarif", &["."]));
    let results = run["results"].as_array().expect("results");
    let prints = results.iter().map(|result| &result["partialFingerprints"]["unstuck/v1"]);
    let prints: BTreeSet<&str> = prints.filter_map(Value::as_str).collect();
    assert_eq!(prints, loops);

    let markdown = report("markdown", &["."]);
    assert_eq!(markdown.matches("\n| <code>").count(), loops.len());
    assert_eq!(markdown.matches("<details>").count(), loops.len());
    let github = report("github", &["."]);
    assert_eq!(github.matches("::error file=").count(), stuck.min(10));
}

#[test]
fn secrets_are_masked_in_every_report() {
    let secret = "ghp_Zq7xW2kLm9PvT4bN8sRdZq7x";
    let folder = Folder::new();
    let name = format!("runs/token={secret}.jsonl");
    folder.file(&name, words_everywhere(&format!("x {secret}")));
    for format in FORMATS {
        let (ran, report) = written(folder.path(), format, &["runs"]);
        assert_eq!(ran.exit, 1, "{}", ran.err);
        assert!(report.contains("x •••") && !report.contains(&secret[..12]), "{report}");
    }
}

/// Scans for GitHub Actions, with the summary of the step in this file.
fn on_github(folder: &Folder, summary: &Path) -> Ran {
    let mut command = program();
    command.current_dir(folder.path()).args(["scan", "run.jsonl", "--format", "github"]);
    command.env("GITHUB_STEP_SUMMARY", summary);
    Ran::by(&mut command)
}

#[test]
fn the_summary_of_a_step_is_appended_and_bounded() {
    const BYTES_MAX: usize = 1 << 20;
    let folder = Folder::new();
    folder.file("run.jsonl", stuck());
    let summary = folder.path().join("summary.md");
    for sections in 1..=2 {
        on_github(&folder, &summary).quiet(1);
        let text = fs::read_to_string(&summary).expect("a summary");
        assert_eq!(text.matches("## unstuck: 1 of 1 run stuck").count(), sections);
    }
    for (before, note) in [(BYTES_MAX - 500, true), (BYTES_MAX - 10, false), (BYTES_MAX + 1, false)]
    {
        let summary = folder.file("full.md", "x".repeat(before));
        assert_eq!(on_github(&folder, &summary).exit, 1);
        let text = fs::read_to_string(&summary).expect("a summary");
        assert!(text.len() <= BYTES_MAX.max(before), "{}", text.len());
        assert_eq!(text.ends_with("too long for this place.\n"), note);
    }
    let ran = on_github(&folder, folder.path());
    assert_eq!(ran.exit, 4);
    assert!(ran.err.contains("cannot be written"), "{}", ran.err);
}

#[test]
fn csv_says_if_a_run_has_more_loops_than_rows() {
    let folder = Folder::new();
    let call = |n: usize| {
        let n = n / 3;
        json!({"type": "call", "tool": format!("t{n}"), "args": n, "result": format!("r{n}")})
    };
    let lines: Vec<_> = (0..3 * 301).map(|n| call(n).to_string()).collect();
    folder.file("run.jsonl", lines.join("\n"));
    let (ran, csv) = written(folder.path(), "csv", &["run.jsonl"]);
    assert_eq!(csv.matches("\r\n").count(), 1 + 300);
    assert!(ran.err.contains("and 1 more loop: --format jsonl has all"), "{}", ran.err);
    let (_, log) = written(folder.path(), "sarif", &["run.jsonl"]);
    let run = sarif_run(&log);
    assert_eq!(run["results"].as_array().map(Vec::len), Some(300));
    let note = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert_eq!(*note, "300 of 301 loops are in this file: --format jsonl has all");
    let (_, markdown) = written(folder.path(), "markdown", &["run.jsonl"]);
    assert!(markdown.contains("\nAnd 201 more loops: "), "{}", &markdown[..400]);
    let (_, junit) = written(folder.path(), "junit", &["run.jsonl"]);
    assert!(junit.contains("and 201 more loops: ") || junit.contains(" more: --format"), "{junit}");
}
