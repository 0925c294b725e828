//! `tune` on healthy runs that are written here.

use std::fs;

use serde_json::json;

use crate::harness::{CLEAN, Folder, Ran, record, run_in, unstuck};

/// Returns a policy with one rule that finds a call made `times` times in a row.
fn policy(times: u32) -> String {
    format!(
        r#"
name = "own"
window = 20

[[rule]]
name = "in-a-row"
args = "same"
results = "same"
pattern = {{ times = {times} }}
ladder.rungs = [{{ count = {times}, action = "nudge" }}, {{ count = {}, action = "warn" }}]
"#,
        times + 2
    )
}

/// Returns a run that begins and ends well, with a call made `times` times in a row between.
fn run(times: usize) -> String {
    let again = record("bash", r#"{"command":"make"}"#, "no such target", true).repeat(times);
    format!("{CLEAN}{again}{CLEAN}")
}

/// Returns a folder of healthy runs, of which the `n`th has a call made `times(n)` times, and a
/// policy.
fn healthy(runs: usize, times: impl Fn(usize) -> usize) -> Folder {
    let folder = Folder::new();
    for n in 0..runs {
        folder.file(&format!("runs/{n}.jsonl"), run(times(n)));
    }
    folder.file("own.toml", policy(2));
    folder
}

/// Fits the policy in `folder` to its healthy runs.
fn tune(folder: &Folder, options: &[&str]) -> Ran {
    run_in(
        folder.path(),
        &[&["tune", "--config", "own.toml", "--healthy", "runs"], options].concat(),
    )
}

/// Returns the number of the only rule of a printed policy.
fn times(policy: &str) -> u32 {
    let (_, times) = policy.split_once("pattern = { times = ").expect("a pattern");
    times.split(' ').next().and_then(|times| times.parse().ok()).expect("a number")
}

/// The tables of a configuration for single tools and calls.
const BESIDE: &str = r#"
exempt = ["think"]

[tools.bash]
patience = 1
masks = ["spaces"]

[tools."a.b c"]
poll = true

[[allow]]
tool = "read"
args = { path = "a.rs", deep = [{ n = 1.5, s = "\"" }] }
"#;

#[test]
fn a_policy_without_false_alarms_is_written_unchanged() {
    let folder = healthy(20, |_| 2);
    for config in [
        policy(4),
        format!("preset = \"balanced\"{BESIDE}"),
        format!(
            "{}{}",
            BESIDE.replace("[tools.bash]", "name = \"own\"\nwindow = 20\n[tools.bash]"),
            policy(4).replace("name = \"own\"\nwindow = 20", "")
        ),
    ] {
        folder.file("own.toml", &config);
        folder.file("stuck/1.jsonl", run(7));
        let ran = tune(&folder, &["--false-alarms", "10", "-o", "tuned.toml"]);
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{config}");
        assert!(ran.out.ends_with("No rule changed.\n"), "{config}: {}", ran.out);
        let scan = |config: &str| {
            run_in(folder.path(), &["scan", "stuck", "--format", "jsonl", "--config", config])
        };
        let (before, after) = (scan("own.toml"), scan("tuned.toml"));
        assert_eq!((before.exit, before.err), (1, String::new()));
        assert_eq!((after.out, after.err.as_str()), (before.out, ""), "{config}");
        let tuned = fs::read_to_string(folder.path().join("tuned.toml")).expect("a policy");
        folder.file("own.toml", &tuned);
        let again = tune(&folder, &["--false-alarms", "10"]);
        assert_eq!(rules(&again.out), rules(&tuned), "what was fitted is fitted");
    }
}

/// Returns a printed policy without its comments.
fn rules(policy: &str) -> Vec<&str> {
    policy.lines().filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn the_same_runs_give_the_same_policy_and_the_same_report() {
    let folder = healthy(40, |n| 2 + n % 3);
    let tune = |options: &[&str]| tune(&folder, &[&["--false-alarms", "10"], options].concat());
    let first = tune(&[]);
    for _ in 0..3 {
        let again = tune(&[]);
        assert_eq!((again.out, again.err), (first.out.clone(), first.err.clone()));
    }
    let filed = tune(&["-o", "tuned.toml"]);
    let policy = fs::read_to_string(folder.path().join("tuned.toml")).expect("a policy");
    assert_eq!((policy, filed.out), (first.out, first.err), "the other way round");
}

#[test]
fn a_policy_becomes_as_patient_as_its_healthy_runs() {
    for (limit, expected) in [("1", 6), ("10", 6), ("25", 5), ("60", 4)] {
        // Of 200 runs, 30 have five equal calls in a row, 60 have four, and 110 have three.
        let folder = healthy(200, |n| {
            if n < 30 {
                5
            } else if n < 90 {
                4
            } else {
                3
            }
        });
        let ran = tune(&folder, &["--false-alarms", limit]);
        assert_eq!(ran.exit, 0, "{}", ran.err);
        assert_eq!(times(&ran.out), expected, "{limit}: {}", ran.err);
        let ladder = format!(
            "{{ count = {expected}, action = \"nudge\" }},\n    {{ count = {}",
            expected + 2
        );
        assert!(ran.out.contains(&ladder), "the ladder moves along: {}", ran.out);
        assert_eq!(tune(&folder, &["--false-alarms", limit]).out, ran.out);
    }
}

#[test]
fn accused_runs_are_those_with_findings_of_scan() {
    let folder = healthy(80, |n| 2 + n % 9 % 4);
    let ran = tune(&folder, &["--false-alarms", "30", "-o", "tuned.toml"]).quiet(0);
    for (rows, config) in [(&["as it is"][..], "own.toml"), (&["fitted", "unseen"], "tuned.toml")] {
        let reports =
            run_in(folder.path(), &["scan", "runs", "--format", "jsonl", "--config", config])
                .lines();
        let stuck = reports.iter().filter(|report| report["findings"] != json!([])).count();
        let accused = |row: &&str| {
            let line = ran.out.lines().find(|line| line.starts_with(row)).expect("a row");
            let figures = line.trim_start_matches(row).split_whitespace();
            figures.map(|figure| figure.parse().expect("a number")).take(2).collect::<Vec<usize>>()
        };
        let rows: Vec<Vec<usize>> = rows.iter().map(accused).collect();
        assert_eq!(rows.iter().map(|row| row[0]).sum::<usize>(), 80, "{}", ran.out);
        assert_eq!(rows.iter().map(|row| row[1]).sum::<usize>(), stuck, "{}", ran.out);
    }
}

#[test]
fn an_impossible_fit_is_an_error_and_writes_nothing() {
    let talk = "\n[[text]]\nname = \"talk\"\ntexts = \"any\"\ntimes = 2\nladder.rungs = [{ count = 2, action = \"nudge\" }]\n";
    let said = json!({ "type": "message", "role": "assistant", "text": "I will look at it now." });
    let mut printed = String::new();
    let mut tell = |folder: &Folder, words: &[&str], exit: i32| {
        let ran = run_in(folder.path(), &[words, &["-o", "tuned.toml"]].concat());
        assert_eq!((ran.exit, ran.out.as_str()), (exit, ""), "{words:?}: {}", ran.err);
        assert!(!folder.path().join("tuned.toml").exists(), "{words:?}");
        printed += &(ran.err + "\n");
    };
    let few = healthy(20, |_| 3);
    let by = |limit: &'static str| {
        ["tune", "--config", "own.toml", "--healthy", "runs", "--false-alarms", limit]
    };
    tell(&few, &by("1"), 3);
    for n in 0..6 {
        few.file(&format!("runs/{n}.jsonl"), format!("{said}\n").repeat(4));
    }
    few.file("own.toml", policy(2) + talk);
    tell(&few, &by("10"), 3);
    few.file(
        "own.toml",
        policy(2).replacen("results", "select = { tool = \"deploy\" }\nresults", 1),
    );
    tell(&few, &by("10"), 4);
    let user = json!({ "type": "message", "role": "user", "text": "hello" });
    let nothing = healthy(0, |_| 0);
    nothing.file("runs/a.jsonl", format!("{user}\n"));
    tell(&nothing, &by("10"), 3);
    insta::assert_snapshot!(printed);
}

#[test]
fn the_report_for_people() {
    let folder = healthy(99, |n| 2 + n % 9 % 4);
    folder.file("runs/empty.jsonl", r#"{"type":"message","role":"user","text":"hello"}"#);
    let ran = tune(&folder, &["--false-alarms", "2.5"]);
    let printed = format!("{}\n{}", ran.err, ran.out);
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    insta::assert_snapshot!(printed);
}

#[test]
fn help() {
    insta::assert_snapshot!(unstuck(["tune", "--help"]).out);
}

/// Returns a run of this many calls, one a minute, each with 1000 tokens of input and 100 of output.
fn paid(calls: usize) -> String {
    let call = |n: usize| {
        let call = json!({
            "type": "call", "tool": "read", "args": n, "result": format!("line {n}"),
            "time": 60_000 * (1 + n), "tokens": { "input": 1000, "output": 100 },
        });
        format!("{call}\n")
    };
    (0..calls).map(call).collect()
}

/// Returns a folder of healthy runs, of which the `n`th has `calls(n)` calls.
fn paid_runs(runs: usize, calls: impl Fn(usize) -> usize) -> Folder {
    let folder = Folder::new();
    for n in 0..runs {
        folder.file(&format!("runs/{n}.jsonl"), paid(calls(n)));
    }
    folder
}

/// Computes a limit from the runs in `folder`.
fn limit(folder: &Folder, of: &str, options: &[&str]) -> Ran {
    run_in(folder.path(), &[&["tune", "--healthy", "runs", "--limit", of], options].concat())
}

/// Returns the value in the table `[budget]` of a printed policy.
fn budget(policy: &str, key: &str) -> f64 {
    let policy: toml::Table = toml::from_str(policy).expect("TOML");
    let budget = policy["budget"].as_table().expect("a table");
    assert_eq!((policy.len(), budget.len()), (1, 1), "{policy}");
    budget[key].to_string().parse().expect("a number")
}

/// Returns the numbers of runs, and of those that spent more, in a row of the report.
fn counts(report: &str, row: &str) -> [usize; 2] {
    let row = report.lines().find_map(|line| line.strip_prefix(row)).expect("a row");
    let mut words = row.split_whitespace().map(|word| word.parse().expect("a number"));
    [(); 2].map(|()| words.next().expect("two numbers"))
}

#[test]
fn a_limit_of_calls_for_a_team() {
    let ran = limit(&paid_runs(40, |n| n + 1), "calls", &["--false-alarms", "5"]);
    assert_eq!(ran.exit, 0);
    insta::assert_snapshot!(format!("{}---\n{}", ran.err, ran.out));
}

#[test]
fn as_many_runs_are_longer_than_the_limit_as_are_counted() {
    let folder = paid_runs(40, |n| n + 1);
    for (rate, of_fitted) in [("5", 0), ("10", 1), ("50", 9)] {
        let ran = limit(&folder, "calls", &["--false-alarms", rate, "-o", "limit.toml"]).quiet(0);
        let policy = fs::read_to_string(folder.path().join("limit.toml")).expect("a limit");
        let longer = (1..=40).filter(|calls| f64::from(*calls) > budget(&policy, "calls")).count();
        assert_eq!(counts(&ran.out, "fitted"), [20, of_fitted], "{}", ran.out);
        assert_eq!(counts(&ran.out, "unseen"), [20, longer - of_fitted], "{}", ran.out);
        assert!(!ran.out.contains("loop") && !policy.contains("loop"), "{}", ran.out);
        assert!(ran.out.contains("need not be"), "{}", ran.out);
    }
}
