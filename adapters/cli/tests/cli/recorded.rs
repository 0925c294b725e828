//! The recorded runs are judged as their labels say.

use std::path::PathBuf;

use serde_json::Value;
use walkdir::WalkDir;

use crate::harness::{evaluated, labels, listed, runs, scan, scanned};
use crate::schema::check_trace;

/// Returns the score of one preset on the recorded runs.
fn score_of(preset: &str) -> Value {
    evaluated(&labels(), &runs(), &["--preset", preset, "--format", "jsonl"]).only_line()
}

/// Returns the call or message of the first finding in a report.
fn first_finding(report: &Value) -> Option<u64> {
    let findings = report["findings"].as_array().expect("findings");
    let place = |finding: &Value| finding["at_call"].as_u64().or(finding["at_message"].as_u64());
    findings.iter().filter_map(place).min()
}

#[test]
fn every_recorded_run_has_a_label() {
    let files = WalkDir::new(runs()).into_iter().map(|entry| entry.expect("a folder"));
    let files = files.filter(|entry| entry.file_type().is_file());
    let mut files: Vec<_> = files
        .map(|entry| entry.path().strip_prefix(runs()).expect("a file of it").to_owned())
        .collect();
    let labels = listed(&labels());
    let mut labelled: Vec<_> =
        labels.iter().map(|label| PathBuf::from(label["file"].as_str().expect("a file"))).collect();
    files.sort();
    labelled.sort();
    assert_eq!(files, labelled);
    let stuck = labels.iter().filter(|label| label["loop"] == "yes").count();
    assert_eq!((stuck, labels.len() - stuck), (12, 8));
}

#[test]
fn every_loop_is_found_and_nothing_else() {
    let score = score_of("balanced");
    let loops = listed(&labels()).iter().filter(|label| label["loop"] == "yes").count();
    assert_eq!(score["hits"], loops, "{score}");
    for mistakes in ["missed", "early", "false_alarms"] {
        assert_eq!(score[mistakes], 0, "{score}");
    }
    for (share, expected) in
        [("recall", 1.0), ("precision", 1.0), ("f1", 1.0), ("false_alarm_rate", 0.0)]
    {
        assert_eq!(score[share].as_f64(), Some(expected), "{score}");
    }
}

#[test]
fn a_loop_is_found_within_it_and_near_where_a_person_would_step_in() {
    for label in listed(&labels()) {
        let report = scanned(&runs().join(label["file"].as_str().expect("a file"))).only_line();
        check_trace(&report);
        assert_eq!(report["calls"], label["calls"], "{label}");
        let at = first_finding(&report);
        if label["loop"] == "no" {
            assert_eq!(at, None, "{label}");
            continue;
        }
        let [start, stuck_at, end] =
            ["start", "stuck_at", "end"].map(|f| label[f].as_u64().expect("a place"));
        let at = at.unwrap_or_else(|| panic!("nothing found: {label}"));
        assert!((start..=end).contains(&at), "at {at}: {label}");
        assert!(at.abs_diff(stuck_at) <= 3, "at {at}: {label}");
    }
}

#[test]
fn eval_counts_what_scan_finds() {
    for preset in ["balanced", "graduated", "nudge", "repeat"] {
        let score = score_of(preset);
        let (mut hits, mut early, mut missed, mut false_alarms) = (0, 0, 0, 0);
        for label in listed(&labels()) {
            let path = runs().join(label["file"].as_str().expect("a file"));
            let ran = scan(&path, &["--format", "jsonl", "--preset", preset]);
            match (label["loop"] == "yes", first_finding(&ran.only_line())) {
                (true, Some(at)) if Some(at) < label["start"].as_u64() => early += 1,
                (true, Some(_)) => hits += 1,
                (true, None) => missed += 1,
                (false, Some(_)) => false_alarms += 1,
                (false, None) => {}
            }
        }
        let counted = ["hits", "early", "missed", "false_alarms"].map(|field| score[field].clone());
        assert_eq!(counted, [hits, early, missed, false_alarms].map(Value::from), "{score}");
    }
}

#[test]
fn wrongly_judged_runs_are_listed() {
    let score = score_of("graduated");
    let named = evaluated(&labels(), &runs(), &["--preset", "graduated"]).out;
    for (word, field) in
        [("missed: ", "missed"), ("early at ", "early"), ("false alarm at ", "false_alarms")]
    {
        let lines = named.lines().filter(|line| line.starts_with(word)).count();
        assert_eq!(score[field], lines, "{word}: {named}");
    }
}
