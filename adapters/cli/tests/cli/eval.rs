//! `eval` on a few labelled runs that are written here.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{
    CLEAN, Folder, Ran, evaluated, labels, listed, record, run_in, runs, scan, stuck, unstuck,
};
use crate::published::RULE_SETS;

/// A source whose name is longer than its column.
const LONG: &str = "a-source-with-quite-a-long-name";

/// A custom policy whose name is longer than its column.
const OWN: &str = r#"
name = "a policy of one's own, and a strict one"
window = 10

[[rule]]
name = "twice"
args = "same_tool"
results = "ignored"
pattern = { times = 2 }
progress = "ignore"
ladder.rungs = [{ count = 2, action = "warn" }]
"#;

/// A call of a native trace.
fn call(tool: &str, what: &str, result: &str) -> String {
    record(tool, &json!({ "what": what }).to_string(), result, false)
}

/// Returns `count` calls of a native trace.
fn calls(count: usize, call: impl Fn(usize) -> String) -> String {
    (0..count).map(call).collect()
}

/// Returns a folder with runs of three sources, their labels, and a policy.
fn labelled() -> Folder {
    let folder = Folder::new();
    let turn = json!({ "type": "message", "role": "assistant", "text": "I will look at it now." });
    // Three equal calls before the labelled loop.
    let early = calls(3, |_| call("read", "a.rs", "fn a() {}"))
        + &calls(3, |n| call("read", &n.to_string(), &format!("line {n}")))
        + &calls(4, |_| call("edit", "a.rs", "no such text"));
    for (file, run) in [
        ("alpha/stuck.jsonl", stuck()),
        ("alpha/clean.jsonl", CLEAN.to_owned()),
        ("alpha/early.jsonl", early),
        ("beta/poll.jsonl", calls(5, |n| call("bash", "jobs", &format!("{n} done")))),
        (
            "beta/search.jsonl",
            calls(8, |n| call("grep", &format!("retry of {}", n.max(1)), "no match")),
        ),
        ("beta/talk.jsonl", format!("{turn}\n").repeat(5)),
        (&format!("{LONG}/clean.jsonl"), CLEAN.to_owned()),
    ] {
        folder.file(&format!("runs/{file}"), run);
    }
    let label = |file: &str,
                 is_loop: &str,
                 [start, stuck_at, end]: [Option<u64>; 3],
                 kind: &str| {
        json!({ "file": file, "loop": is_loop, "start": start, "stuck_at": stuck_at, "end": end, "kind": kind })
    };
    let labels = [
        label("alpha/stuck.jsonl", "yes", [Some(0), Some(2), Some(4)], "exact"),
        label("alpha/clean.jsonl", "no", [None; 3], "short"),
        label("alpha/early.jsonl", "yes", [Some(6), Some(8), None], "exact"),
        label("beta/poll.jsonl", "no", [None; 3], "poll"),
        label("beta/search.jsonl", "yes", [None, Some(4), None], "similar"),
        label("beta/talk.jsonl", "yes", [None, Some(2), None], "talk"),
        label(&format!("{LONG}/clean.jsonl"), "no", [None; 3], "short"),
    ];
    folder.file("labels.jsonl", labels.map(|label| label.to_string()).join("\n"));
    folder.file("own.toml", OWN);
    folder
}

/// Runs `unstuck eval` in `folder`.
fn eval(folder: &Folder, options: &[&str]) -> Ran {
    run_in(folder.path(), &[&["eval", "--labels", "labels.jsonl", "runs"], options].concat())
}

/// Returns the report for people. There must be no error.
fn printed(options: &[&str]) -> String {
    let ran = eval(&labelled(), options);
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{options:?}");
    ran.out
}

#[test]
fn policies_by_name_and_from_files_share_one_table() {
    let options =
        ["--preset", "balanced", "--preset", "stella", "--config", "own.toml", "--preset", "nudge"];
    insta::assert_snapshot!(printed(&options));
}

#[test]
fn figures_by_source() {
    insta::assert_snapshot!(printed(&["--by", "source"]));
}

#[test]
fn figures_with_their_intervals() {
    insta::assert_snapshot!(printed(&["--intervals", "--preset", "all", "--config", "own.toml"]));
}

#[test]
fn figures_by_source_with_their_intervals() {
    let options = ["--by", "source", "--intervals", "--preset", "nudge", "--preset", "forge"];
    insta::assert_snapshot!(printed(&options));
}

#[test]
fn wrong_judgements_with_evidence() {
    insta::assert_snapshot!(printed(&[
        "--verbose",
        "--preset",
        "balanced",
        "--config",
        "own.toml"
    ]));
}

#[test]
fn a_table_is_never_wider_than_a_terminal() {
    let folder = labelled();
    for options in
        [&[][..], &["--intervals"], &["--by", "source"], &["--by", "source", "--intervals"]]
    {
        let all = ["--preset", "all", "--config", "own.toml"];
        let ran = eval(&folder, &[options, &all].concat());
        let widest = ran.out.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{}", ran.out);
    }
}

#[test]
fn all_is_every_policy_that_has_a_name() {
    let lines =
        eval(&labelled(), &["--preset", "all", "--config", "own.toml", "--format", "jsonl"]);
    let lines = lines.lines();
    let names: Vec<&str> = lines.iter().filter_map(|score| score["preset"].as_str()).collect();
    let listed = unstuck(["presets"]).out;
    let heads = listed.lines().filter(|line| !line.starts_with(' ') && !line.is_empty());
    let heads = heads.filter_map(|head| head.split([' ', ',']).next());
    assert!(names.iter().copied().eq(heads.chain(["a policy of one's own, and a strict one"])));
    assert!(RULE_SETS.iter().all(|rules| names.contains(rules)));
}

#[test]
fn the_sources_add_up() {
    let ran = eval(&labelled(), &["--by", "source", "--preset", "nudge", "--format", "jsonl"]);
    let scores = ran.lines();
    let (all, sources) = scores.split_last().expect("a line of all");
    assert_eq!(all["source"], Value::Null);
    let names: Vec<&str> = sources.iter().filter_map(|score| score["source"].as_str()).collect();
    assert_eq!(names, [LONG, "alpha", "beta"]);
    for field in ["runs", "hits", "missed", "early", "false_alarms", "saved"] {
        let sum: u64 = sources.iter().filter_map(|score| score[field].as_u64()).sum();
        assert_eq!(all[field], sum, "{field}");
    }
    let whole = eval(&labelled(), &["--preset", "nudge", "--format", "jsonl"]).only_line();
    let (Value::Object(whole), Value::Object(all)) = (whole, all) else { panic!("objects") };
    // One resamples runs, the other one sources.
    let is_drawn = |name: &str| name.ends_with("_interval");
    for (name, value) in whole.iter().filter(|(name, _)| !is_drawn(name)) {
        assert_eq!(all[name], *value, "{name}");
    }
    assert_eq!(whole.len(), all.len());
    assert_ne!(whole["f1_interval"], all["f1_interval"]);
}

#[test]
fn an_interval_holds_its_figure_and_is_the_same_each_time() {
    let eval = || evaluated(&labels(), &runs(), &["--preset", "all", "--format", "jsonl"]);
    let ran = eval();
    for score in ran.lines() {
        for figure in ["f1", "false_alarm_rate"] {
            let value = score[figure].as_f64().expect("a figure");
            let interval = &score[format!("{figure}_interval")];
            let [low, high] = [0, 1].map(|end| interval[end].as_f64().expect("an end"));
            assert!(low <= value && value <= high, "{figure}: {score}");
            assert!(low < high || value == 0.0 || (value - 1.0).abs() < 1e-9, "{figure}: {score}");
        }
    }
    assert_eq!(eval().out, ran.out);
}

#[test]
fn saved_calls_are_those_after_the_findings_of_scan() {
    for preset in ["balanced", "cycles", "stella"] {
        let mut saved = 0;
        for label in listed(&labels()).iter().filter(|label| label["loop"] == "yes") {
            let path = runs().join(label["file"].as_str().expect("a file"));
            let report = scan(&path, &["--format", "jsonl", "--preset", preset]).only_line();
            let first = &report["findings"][0];
            let at = first["at_call"].as_u64().or(first["at_message"].as_u64());
            let end = label["end"].as_u64().expect("an end");
            saved += at.filter(|at| Some(*at) >= label["start"].as_u64()).map_or(0, |at| end - at);
        }
        let score = evaluated(&labels(), &runs(), &["--preset", preset, "--format", "jsonl"]);
        assert_eq!(score.only_line()["saved"], saved, "{preset}");
        assert!(saved > 0, "{preset}");
    }
}

#[test]
fn an_unreadable_run_is_left_out_and_reported_once() {
    let folder = labelled();
    folder.file("runs/beta/poll.jsonl", "no transcript");
    for options in [&["--preset", "all"][..], &["--by", "source"], &["--verbose"]] {
        let ran = eval(&folder, options);
        assert_eq!(ran.exit, 3, "{options:?}");
        assert_eq!(ran.err.matches("poll.jsonl").count(), 1, "{}", ran.err);
        assert!(ran.out.contains("6 runs"), "{}", ran.out);
    }
}

#[test]
fn missing_runs_are_reported_together_and_the_others_scored() {
    let folder = labelled();
    for file in ["runs/alpha/early.jsonl", "runs/beta/talk.jsonl"] {
        fs::remove_file(folder.path().join(file)).expect("a run");
    }
    let ran = eval(&folder, &["--preset", "all"]);
    assert_eq!((ran.exit, ran.err.lines().count()), (3, 1), "{}", ran.err);
    assert!(ran.err.contains("runs: 2 of 7 labelled runs are not in this folder"), "{}", ran.err);
    assert!(ran.err.contains("for example alpha/early.jsonl"), "{}", ran.err);
    assert!(ran.out.contains("5 runs"), "{}", ran.out);
}

#[test]
fn without_any_run_there_are_no_scores() {
    let folder = labelled();
    fs::rename(folder.path().join("runs"), folder.path().join("elsewhere")).expect("runs");
    eval(&folder, &[]).fails(3, "7 of 7 labelled runs");
}

#[test]
fn one_unreadable_policy_is_4() {
    let folder = labelled();
    folder.file("wrong.toml", OWN.replace("times = 2", "times = 1"));
    for options in [
        &["--config", "wrong.toml"][..],
        &["--config", "own.toml", "--config", "wrong.toml"],
        &["--preset", "all", "--config", "missing.toml"],
    ] {
        let ran = eval(&folder, options);
        assert_eq!((ran.exit, ran.out.as_str()), (4, ""), "{options:?}: {}", ran.err);
        let name = Path::new(options[options.len() - 1]);
        assert!(ran.err.contains(&*name.to_string_lossy()), "{}", ran.err);
    }
}

#[test]
fn labels_that_their_runs_cannot_have_cost_no_recall_in_silence() {
    let folder = labelled();
    let path = folder.path().join("labels.jsonl");
    let good = std::fs::read_to_string(&path).expect("labels");
    let score = |labels: &str, exit: i32, err: &str| {
        std::fs::write(&path, labels).expect("labels");
        let ran = eval(&folder, &["--preset", "balanced", "--format", "jsonl"]);
        assert_eq!(ran.exit, exit, "{}", ran.err);
        assert!(ran.err.contains(err), "{}", ran.err);
        let score = ran.only_line();
        (score["runs"].as_u64(), score["recall"].as_f64())
    };
    let (runs, recall) = score(&good, 0, "");
    assert_eq!(runs, Some(7));
    for (wrong, why) in [
        (good.replace("\"start\":0", "\"start\":99"), "\"stuck_at\" is 2, before \"start\""),
        (good.replace("\"end\":4", "\"end\":99"), "\"end\":99, and the run has"),
        (good.replace("\"end\":4", "\"end\":1"), "\"end\" is 1, before"),
        (good.replace("\"end\":4", "\"end\":4,\"calls\":99"), "\"calls\":99, and the run has"),
        (
            good.replace("\"end\":4", "\"end\":4,\"text_only\":true"),
            "\"text_only\", and the run has",
        ),
    ] {
        assert_ne!(wrong, good);
        assert_eq!(score(&wrong, 3, why).0, Some(6));
    }
    let twice = format!("{good}\n{}", good.replace("\"yes\"", "\"no\""));
    assert_eq!(score(&twice, 3, "has a label in line 1 already"), (runs, recall));
    assert_eq!(score(&format!("\u{feff}{good}"), 0, ""), (runs, recall));
    let excluded = good.replace("\"end\":4", "\"end\":4,\"exclude\":true");
    assert_eq!(score(&excluded, 0, "").0, Some(6));
}
