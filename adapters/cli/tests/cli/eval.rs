//! `eval` on the recorded runs. `console/eval.txt` has the tables of a few runs of three sources.

use std::fs;

use serde_json::Value;

use crate::harness::{
    Folder, PRESETS, RULE_SETS, Ran, evaluated, labels, listed, runs, scan, unstuck,
};

/// Scores the recorded runs.
fn eval(options: &[&str]) -> Ran {
    evaluated(&labels(), &runs(), options)
}

#[test]
fn a_table_is_never_wider_than_a_terminal() {
    for options in
        [&[][..], &["--intervals"], &["--by", "source"], &["--by", "source", "--intervals"]]
    {
        let ran = eval(&[options, &["--preset", "all"]].concat());
        let widest = ran.out.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{}", ran.out);
    }
}

#[test]
fn all_is_every_policy_that_has_a_name() {
    let lines = eval(&["--preset", "all", "--format", "jsonl"]).lines();
    let names: Vec<&str> = lines.iter().filter_map(|score| score["preset"].as_str()).collect();
    let listed = unstuck(["presets"]).out;
    let heads = listed.lines().filter(|line| !line.starts_with(' ') && !line.is_empty());
    assert!(names.iter().copied().eq(heads.filter_map(|head| head.split([' ', ',']).next())));
    assert!(RULE_SETS.iter().all(|rules| names.contains(rules)));
}

#[test]
fn the_sources_add_up() {
    let ran = eval(&["--by", "source", "--preset", "nudge", "--format", "jsonl"]);
    let scores = ran.lines();
    let (all, sources) = scores.split_last().expect("a line of all");
    assert_eq!(all["source"], Value::Null);
    let names: Vec<&str> = sources.iter().filter_map(|score| score["source"].as_str()).collect();
    assert_eq!(names, ["claude-code", "native", "openai"]);
    for field in ["runs", "hits", "missed", "early", "false_alarms", "saved"] {
        let sum: u64 = sources.iter().filter_map(|score| score[field].as_u64()).sum();
        assert_eq!(all[field], sum, "{field}");
    }
    let whole = eval(&["--preset", "nudge", "--format", "jsonl"]).only_line();
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
fn the_mark_of_an_editor_before_the_labels_is_skipped() {
    let folder = Folder::new();
    let text = fs::read_to_string(labels()).expect("labels");
    let marked = folder.file("labels.jsonl", format!("\u{feff}{text}"));
    assert_eq!(evaluated(&marked, &runs(), &[]).quiet(0).out, eval(&[]).out);
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
fn the_bill_of_labelled_runs_agrees_with_their_scores() {
    let (labels, runs) = (labels(), runs());
    let all = [&PRESETS[..], &RULE_SETS[..]].concat();
    let words = ["--compare", &*all.join(","), "--format", "jsonl", "--good"].map(str::to_owned);
    let paths = [&labels, &runs].map(|path| path.to_str().expect("UTF-8").to_owned());
    let ran = unstuck(["scan".to_owned()].into_iter().chain(words).chain(paths));
    assert_eq!(ran.exit, 0, "{}", ran.err);
    for (name, bill) in all.iter().zip(ran.lines()) {
        let score = evaluated(&labels, &runs, &["--preset", name, "--format", "jsonl"]).only_line();
        let number = |field: &str| score[field].as_u64().expect("a number");
        assert_eq!(
            (&bill["policy"], bill["runs"].as_u64()),
            (&(*name).into(), Some(number("runs")))
        );
        assert_eq!(bill["good"]["spoke"], number("false_alarms"), "{name}");
        assert_eq!(
            bill["spoke"],
            number("hits") + number("early") + number("false_alarms"),
            "{name}"
        );
    }
}
