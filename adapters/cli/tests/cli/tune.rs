//! `tune` on runs that are written here.

use std::fs;

use serde_json::json;

use crate::harness::{CLEAN, Folder, Ran, program, record, unstuck};

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

/// Returns a folder with runs of these sources, their labels, and a policy that asks for `times`.
/// Each run has the number of its repeated calls and its label.
pub(crate) fn labelled(times: u32, runs: &[(&str, usize, &str)]) -> Folder {
    let folder = Folder::new();
    let mut labels = String::new();
    for (n, (source, times, is_loop)) in runs.iter().enumerate() {
        let file = format!("{source}/{n}.jsonl");
        folder.file(&format!("runs/{file}"), run(*times));
        labels += &(json!({ "file": file, "loop": is_loop }).to_string() + "\n");
    }
    folder.file("labels.jsonl", labels);
    folder.file("own.toml", policy(times));
    folder
}

/// Three sources, each with a healthy run whose call is made twice, one with three calls, and a
/// stuck run with seven.
pub(crate) const THREE_SOURCES: [(&str, usize, &str); 9] = [
    ("alpha", 2, "no"),
    ("alpha", 3, "no"),
    ("alpha", 7, "yes"),
    ("beta", 2, "no"),
    ("beta", 3, "no"),
    ("beta", 7, "yes"),
    ("gamma", 2, "no"),
    ("gamma", 3, "no"),
    ("gamma", 7, "yes"),
];

/// Runs the program in `folder`, so that the text contains no path of this machine.
pub(crate) fn run_in(folder: &Folder, words: &[&str]) -> Ran {
    let mut command = program();
    command.current_dir(folder.path()).args(words);
    Ran::of(command.output().expect("a program that starts"))
}

const LABELLED: [&str; 6] = ["tune", "--labels", "labels.jsonl", "runs", "--config", "own.toml"];

/// Fits the policy in `folder` to its labelled runs.
pub(crate) fn tune(folder: &Folder, options: &[&str]) -> Ran {
    run_in(folder, &[&LABELLED[..], options].concat())
}

/// Returns the number of the only rule of a printed policy.
pub(crate) fn times(policy: &str) -> u32 {
    let (_, times) = policy.split_once("pattern = { times = ").expect("a pattern");
    times.split(' ').next().and_then(|times| times.parse().ok()).expect("a number")
}

#[test]
fn a_number_that_is_too_low_is_raised_and_one_too_high_is_lowered() {
    for (before, after) in [(2, 4), (3, 4), (4, 4), (5, 5), (7, 7), (8, 7), (11, 7)] {
        let ran = tune(&labelled(before, &THREE_SOURCES), &[]);
        assert_eq!(ran.exit, 0, "{}", ran.err);
        assert_eq!(times(&ran.out), after, "from {before}: the nearest that does best");
        let ladder =
            format!("{{ count = {after}, action = \"nudge\" }},\n    {{ count = {}", after + 2);
        assert!(ran.out.contains(&ladder), "the ladder moves along: {}", ran.out);
    }
}

#[test]
fn rules_that_accuse_a_run_together_move_together() {
    let folder = labelled(2, &THREE_SOURCES);
    let twin = policy(2).replace("name = \"in-a-row\"", "name = \"twin\"");
    let (_, twin) = twin.split_once("[[rule]]").expect("a rule");
    folder.file("own.toml", format!("{}[[rule]]{twin}", policy(2)));
    let ran = tune(&folder, &[]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    assert_eq!(ran.out.matches("{ times = 4 }").count(), 2, "{}", ran.out);
}

#[test]
fn accused_runs_stay_within_the_limit() {
    // The more calls a run has, the more such runs are stuck, but never all.
    let runs: Vec<(&str, usize, &str)> = (0..60)
        .map(|n| {
            (["alpha", "beta"][n % 2], 2 + n % 5, if n % 7 < 2 + n % 5 { "yes" } else { "no" })
        })
        .collect();
    let mut least = 0.0;
    for limit in ["0", "5", "12.5", "40", "99"] {
        let folder = labelled(4, &runs);
        let ran = tune(&folder, &["--false-alarms", limit, "-o", "tuned.toml"]);
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{limit}");
        let scores = eval(&folder, "tuned.toml");
        let (rate, f1) = (scores["false_alarm_rate"].as_f64(), scores["f1"].as_f64());
        let limit: f64 = limit.parse().expect("a percentage");
        assert!(rate.expect("a rate") <= limit / 100.0, "{limit}: {scores}");
        assert!(f1.expect("an F1") >= least, "whoever may accuse more finds no less: {scores}");
        least = f1.unwrap_or_default();
    }
    assert!(least > 0.5, "{least}");
}

/// Returns the score that `eval` prints for the policy in the file `config`.
pub(crate) fn eval(folder: &Folder, config: &str) -> serde_json::Value {
    let words =
        ["eval", "--labels", "labels.jsonl", "runs", "--format", "jsonl", "--config", config];
    let ran = run_in(folder, &words);
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{config}");
    ran.only_line()
}

#[test]
fn the_scores_equal_those_of_eval() {
    let runs = [&THREE_SOURCES[..], &[("delta", 5, "no"), ("delta", 3, "yes")]].concat();
    let folder = labelled(2, &runs);
    let ran = tune(&folder, &["-o", "tuned.toml"]);
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""));
    for (row, config) in [("as it is", "own.toml"), ("fitted", "tuned.toml")] {
        let score = eval(&folder, config);
        let line = ran.out.lines().find(|line| line.starts_with(row)).expect("a row");
        let figures: Vec<String> = ["recall", "precision", "f1"]
            .map(|figure| format!("{:.2}", score[figure].as_f64().expect("a figure")))
            .to_vec();
        let rate = score["false_alarm_rate"].as_f64().expect("a rate") * 100.0;
        let words: Vec<&str> = line.trim_start_matches(row).split_whitespace().collect();
        assert_eq!(words[0], "11", "{line}");
        assert_eq!(words[1..4], figures, "{line}");
        assert_eq!(words[4], format!("{rate:.1}"), "{line}");
    }
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
    let folder = labelled(4, &THREE_SOURCES);
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
        let ran = tune(&folder, &["-o", "tuned.toml"]);
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{config}");
        let scan = |config: &str| {
            run_in(&folder, &["scan", "runs", "--format", "jsonl", "--config", config])
        };
        let (before, after) = (scan("own.toml"), scan("tuned.toml"));
        assert_eq!((before.exit, before.err), (1, String::new()));
        assert_eq!(after.err, "");
        if ran.out.ends_with("No rule changed.\n") {
            assert_eq!(after.out, before.out, "{config}");
        }
        let again = run_in(
            &folder,
            &["tune", "--labels", "labels.jsonl", "runs", "--config", "tuned.toml"],
        );
        let tuned = fs::read_to_string(folder.path().join("tuned.toml")).expect("a policy");
        assert_eq!(rules(&again.out), rules(&tuned), "what was fitted is fitted");
    }
}

/// Returns a printed policy without its comments.
fn rules(policy: &str) -> Vec<&str> {
    policy.lines().filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn the_same_runs_give_the_same_policy_and_the_same_report() {
    let folder = labelled(2, &THREE_SOURCES);
    let first = tune(&folder, &[]);
    for _ in 0..3 {
        let again = tune(&folder, &[]);
        assert_eq!((again.out, again.err), (first.out.clone(), first.err.clone()));
    }
    let filed = tune(&folder, &["-o", "tuned.toml"]);
    let policy = fs::read_to_string(folder.path().join("tuned.toml")).expect("a policy");
    assert_eq!((policy, filed.out), (first.out, first.err), "the other way round");
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
fn tune_healthy(folder: &Folder, options: &[&str]) -> Ran {
    run_in(folder, &[&["tune", "--config", "own.toml", "--healthy", "runs"], options].concat())
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
        let ran = tune_healthy(&folder, &["--false-alarms", limit]);
        assert_eq!(ran.exit, 0, "{}", ran.err);
        assert_eq!(times(&ran.out), expected, "{limit}: {}", ran.err);
        assert_eq!(tune_healthy(&folder, &["--false-alarms", limit]).out, ran.out);
    }
}

#[test]
fn accused_runs_are_those_with_findings_of_scan() {
    let folder = healthy(80, |n| 2 + n % 9 % 4);
    let ran = tune_healthy(&folder, &["--false-alarms", "30", "-o", "tuned.toml"]);
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""));
    for (rows, config) in [(&["as it is"][..], "own.toml"), (&["fitted", "unseen"], "tuned.toml")] {
        let reports =
            run_in(&folder, &["scan", "runs", "--format", "jsonl", "--config", config]).lines();
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
        let ran = run_in(folder, &[words, &["-o", "tuned.toml"]].concat());
        assert_eq!((ran.exit, ran.out.as_str()), (exit, ""), "{words:?}: {}", ran.err);
        assert!(!folder.path().join("tuned.toml").exists(), "{words:?}");
        printed += &(ran.err + "\n");
    };
    let only = |is_loop: &str| {
        labelled(
            2,
            &THREE_SOURCES
                .map(|(source, times, _)| (source, times, is_loop.to_owned().leak() as &str)),
        )
    };
    tell(&only("yes"), &LABELLED, 3);
    tell(&only("no"), &LABELLED, 3);
    let talkative = labelled(2, &THREE_SOURCES);
    talkative.file("own.toml", policy(2) + talk);
    talkative.file("runs/alpha/0.jsonl", format!("{said}\n").repeat(4));
    tell(&talkative, &LABELLED, 3);

    let few = healthy(20, |_| 3);
    let by = |limit: &'static str| {
        ["tune", "--config", "own.toml", "--healthy", "runs", "--false-alarms", limit]
    };
    tell(&few, &by("1"), 3);
    tell(&few, &by("0"), 64);
    for n in 0..6 {
        few.file(&format!("runs/{n}.jsonl"), format!("{said}\n").repeat(4));
    }
    few.file("own.toml", policy(2) + talk);
    tell(&few, &by("10"), 3);
    let user = json!({ "type": "message", "role": "user", "text": "hello" });
    let nothing = healthy(0, |_| 0);
    nothing.file("runs/a.jsonl", format!("{user}\n"));
    tell(&nothing, &by("10"), 3);
    insta::assert_snapshot!(printed);
}

#[test]
fn unreadable_runs_are_reported_once_and_left_out() {
    let folder = labelled(2, &THREE_SOURCES);
    folder.file("runs/beta/3.jsonl", "no transcript");
    let ran = tune(&folder, &[]);
    assert_eq!((ran.exit, times(&ran.out)), (3, 4), "{}", ran.err);
    assert_eq!(ran.err.matches("error: ").count(), 1, "{}", ran.err);
    assert!(ran.err.contains("3.jsonl: ") && ran.err.contains("fitted to 8 labelled runs"));

    folder.file("labels.jsonl", "no label");
    let ran = tune(&folder, &[]);
    assert_eq!((ran.exit, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains("line 1: not a label"), "{}", ran.err);

    let folder = healthy(40, |_| 3);
    folder.file("runs/7.jsonl", "no transcript");
    let ran = tune_healthy(&folder, &["missing.jsonl", "--false-alarms", "10"]);
    assert_eq!((ran.exit, times(&ran.out)), (3, 4), "{}", ran.err);
    assert_eq!(ran.err.matches("error: ").count(), 2, "{}", ran.err);
}

#[test]
fn a_policy_that_cannot_be_read_or_written_is_4() {
    let folder = labelled(2, &THREE_SOURCES);
    folder.file("tuned.toml", "what was there");
    for options in [
        &["-o", "own.toml"][..],
        &["-o", "labels.jsonl"],
        &["-o", "runs/alpha/../beta/3.jsonl"],
        &["-o", "runs"],
        &["-o", "missing/tuned.toml"],
    ] {
        let ran = tune(&folder, options);
        assert_eq!((ran.exit, ran.out.as_str()), (4, ""), "{options:?}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
    assert_eq!(tune(&folder, &["-o", "tuned.toml"]).exit, 0, "another file is written anew");
    let written = fs::read_to_string(folder.path().join("tuned.toml")).expect("a policy");
    assert_eq!(times(&written), 4);
    folder.file("own.toml", policy(1));
    assert_eq!(tune(&folder, &[]).exit, 4);
    let folder = healthy(9, |_| 3);
    assert_eq!(tune_healthy(&folder, &["--false-alarms", "50", "-o", "runs/3.jsonl"]).exit, 4);
}

#[test]
fn the_report_for_people() {
    let runs = [&THREE_SOURCES[..], &[("delta", 5, "no"), ("delta", 3, "yes")]].concat();
    let labelled = tune(&labelled(2, &runs), &["--false-alarms", "20"]);
    let folder = healthy(99, |n| 2 + n % 9 % 4);
    folder.file("runs/empty.jsonl", r#"{"type":"message","role":"user","text":"hello"}"#);
    let healthy = tune_healthy(&folder, &["--false-alarms", "2.5"]);
    let printed = format!("{}\n{}\n{}\n{}", labelled.err, labelled.out, healthy.err, healthy.out);
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    insta::assert_snapshot!(printed);
}

#[test]
fn help() {
    insta::assert_snapshot!(unstuck(["tune", "--help"]).out);
}
