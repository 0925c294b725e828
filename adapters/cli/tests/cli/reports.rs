//! Reports for other programs: CSV, Markdown, `JUnit`, SARIF, and annotations for GitHub Actions.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{CLEAN, Folder, Ran, program, repeated, runs, stuck};

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

/// A trace with these words in every field.
fn everywhere(words: &str) -> String {
    let call = json!({
        "type": "call", "tool": words, "args": {words: words}, "result": words, "is_error": true,
        "worker": words,
    });
    let said = json!({"type": "message", "role": "assistant", "text": words, "worker": words});
    let session = json!({"session": words});
    let (call, said) = (repeated(&call.to_string()), repeated(&said.to_string()));
    // A trace is recognised by its beginning.
    format!("{session}\n{CLEAN}{call}{said}")
}

/// Text that ends, opens or escapes something in one of the formats.
const HOSTILE: [&str; 11] = [
    "</script><script>alert(1)</script>",
    "]]></failure></testcase><!-- -->&lt;&#0;",
    "a\u{1b}[31mb\u{9b}2J\u{0}\u{7}\u{b}\u{7f}\u{85}\u{FFFE}\u{FFFF}",
    "a\u{202E}b\u{2066}c\u{200B}d\u{FEFF}e\u{E0041}",
    "=HYPERLINK(\"http://a\",\"b\")",
    "%0A::error::x\r\n::error::y,z:%",
    "| a | `b` | \\| ```\n~~~\n# c\n</details>",
    "@everyone #123 owner/repo#1 https://a.b www.a.b [a](http://b) ![a](b) $x$",
    "\"'\\,;{0}{{",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}😀",
    "-1+1,\"\"",
];

/// Returns the elements of an XML document with their text, after checks that hold for each document.
fn elements(xml: &str) -> Vec<(String, String)> {
    let body = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("a head");
    let allowed =
        |c: char| matches!(c, '\n' | ' '..='\u{7e}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    assert_eq!(body.chars().find(|&c| !allowed(c)), None, "{body}");
    let (mut found, mut open) = (Vec::new(), Vec::<&str>::new());
    for part in body.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("the end of a tag");
        assert!(!text.contains('>') && !text.contains("&#"), "{text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
        let name = tag.split(' ').next().unwrap_or_default();
        if !is_empty {
            open.push(name);
        }
        found.push((tag.to_owned(), text.to_owned()));
    }
    assert_eq!(open, Vec::<&str>::new(), "{xml}");
    found
}

/// Returns the records of a CSV file by RFC 4180.
fn records(csv: &str) -> Vec<Vec<String>> {
    let (mut all, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut rest = csv.chars().peekable();
    let mut is_quoted = false;
    while let Some(c) = rest.next() {
        match c {
            '"' if is_quoted && rest.peek() == Some(&'"') => field.extend(rest.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut field)),
            '\r' if !is_quoted => {
                assert_eq!(rest.next(), Some('\n'));
                record.push(std::mem::take(&mut field));
                all.push(std::mem::take(&mut record));
            }
            c => field.push(c),
        }
    }
    assert!(record.is_empty() && field.is_empty() && !is_quoted, "{csv}");
    all
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
fn every_format_has_the_exit_code_of_the_others() {
    let folder = Folder::new();
    folder.file("clean.jsonl", CLEAN);
    folder.file("stuck.jsonl", stuck());
    folder.file("half.jsonl", format!("{CLEAN}not json\n"));
    for format in FORMATS {
        for (run, exit) in [("clean.jsonl", 0), ("stuck.jsonl", 1), ("half.jsonl", 3), ("no", 3)] {
            let (ran, report) = written(folder.path(), format, &[run]);
            assert_eq!((ran.exit, ran.out.as_str()), (exit, ""), "{format} {run}: {}", ran.err);
            assert!(exit == 0 || report.contains(run), "{format}: {report}");
        }
    }
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

    let csv = records(&report("csv", &["."]));
    assert!(csv.iter().all(|record| record.len() == csv[0].len()), "{csv:?}");
    let column = |name: &str| csv[0].iter().position(|column| column == name).expect(name);
    let (id, status) = (column("loop"), column("status"));
    let of_csv: BTreeSet<&str> = csv[1..].iter().map(|record| record[id].as_str()).collect();
    assert!(of_csv.into_iter().filter(|id| !id.is_empty()).eq(loops.iter().copied()));
    let clean = csv.iter().filter(|record| record[status] == "clean").count();
    assert_eq!(clean, lines.len() - stuck);

    let junit = elements(&report("junit", &["."]));
    let named = |name: &str| junit.iter().filter(|(tag, _)| tag.starts_with(name)).count();
    assert_eq!((named("testcase "), named("failure "), named("error ")), (lines.len(), stuck, 0));
    let suite = &junit.iter().find(|(tag, _)| tag.starts_with("testsuite ")).expect("a suite").0;
    let numbers = format!("tests=\"{}\" failures=\"{stuck}\" errors=\"0\"", lines.len());
    assert!(suite.contains(&numbers), "{suite}");

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
fn hostile_text_leaves_no_field() {
    let folder = Folder::new();
    for (number, words) in HOSTILE.into_iter().enumerate() {
        let name = format!("{number}.jsonl");
        folder.file(&name, everywhere(words));
        for format in FORMATS {
            let (ran, report) = written(folder.path(), format, &[&name]);
            assert_eq!((ran.exit, ran.err.as_str()), (1, ""), "{words:?}");
            let hidden = |c: &char| (c.is_control() && !"\r\n".contains(*c)) || *c == '\u{202E}';
            assert_eq!(report.chars().find(hidden), None, "{report}");
            assert!(report.len() < 64 * 1024, "{format}: {} bytes", report.len());
            harmless(format, &report);
        }
    }
}

#[test]
fn secrets_are_masked_in_every_report() {
    let secret = "ghp_Zq7xW2kLm9PvT4bN8sRdZq7x";
    let folder = Folder::new();
    let name = format!("runs/token={secret}.jsonl");
    folder.file(&name, everywhere(&format!("x {secret}")));
    for format in FORMATS {
        let (ran, report) = written(folder.path(), format, &["runs"]);
        assert_eq!(ran.exit, 1, "{}", ran.err);
        assert!(report.contains("x •••") && !report.contains(&secret[..12]), "{report}");
    }
}

/// Checks that a report of one stuck run has only the structure that the program writes.
fn harmless(format: &str, report: &str) {
    match format {
        "csv" => {
            for record in records(report) {
                assert_eq!(record.len(), 19, "{record:?}");
                let formula = |field: &&String| field.starts_with(['=', '+', '-', '@']);
                assert_eq!(record.iter().find(formula), None);
            }
        }
        "junit" => {
            let names = elements(report).into_iter().map(|(tag, _)| tag);
            let names: Vec<_> =
                names.map(|tag| tag.split(' ').next().unwrap_or("").to_owned()).collect();
            assert_eq!(names, ["testsuites", "testsuite", "testcase", "failure"], "{report}");
        }
        "sarif" => {
            let run = sarif_run(report);
            let text = run["results"].to_string();
            assert!(!text.contains("](http") || text.contains("\\\\](http"), "{text}");
        }
        "github" => {
            let lines: Vec<_> = report.lines().collect();
            assert_eq!(lines.len(), 2, "{report}");
            assert!(lines[0].starts_with("::error file="), "{report}");
            assert!(lines[1].starts_with("::notice title=unstuck::"), "{report}");
            let (properties, _) = lines[0][2..].split_once("::").expect("a message");
            assert_eq!(properties.matches(',').count(), 1, "{properties}");
        }
        _ => markdown(report),
    }
}

/// Checks the parts of a document that are not in a fenced block.
fn markdown(text: &str) {
    let mut fence: Option<String> = None;
    for line in text.lines() {
        if let Some(open) = &fence {
            if line == open {
                fence = None;
            }
            continue;
        }
        if let Some(ticks) = line.strip_suffix("text").filter(|line| line.starts_with("```")) {
            fence = Some(ticks.to_owned());
            continue;
        }
        let mut bare = line.to_owned();
        for tag in ["code", "details", "summary"] {
            bare = bare.replace(&format!("<{tag}>"), "").replace(&format!("</{tag}>"), "");
        }
        let bare = bare.replace("\\\\", "");
        let escaped = |c: char| format!("\\{c}");
        let html = !line.starts_with('|') && line.contains("<summary>");
        for c in "<`@[$".chars().filter(|c| !html || *c == '<') {
            let rest = bare.replace(&escaped(c), "");
            assert!(!rest.contains(c), "{c} in {line}");
        }
        if line.starts_with('|') {
            assert_eq!(bare.replace("\\|", "").matches('|').count(), 7, "{line}");
        }
    }
    assert_eq!(fence, None, "{text}");
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
    assert_eq!(records(&csv).len(), 1 + 300);
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
    elements(&junit);
}
