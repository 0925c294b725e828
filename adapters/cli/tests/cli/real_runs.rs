//! Transcripts of real agents, if they are available.

use std::ffi::OsStr;

use serde_json::Value;
use walkdir::WalkDir;

use crate::harness::{evaluated, listed, scan, scanned, shared};
use crate::schema::check_trace;

/// The lowest F1 of the default preset on labelled runs, and the highest rate of false alarms.
const F1_MIN: f64 = 0.70;
const FALSE_ALARMS_MAX: f64 = 0.03;

#[test]
fn our_formats_are_recognised_and_counted() {
    let Some(root) = shared("formats") else { return };
    let mut checked = 0;
    for expected in listed(&root.join("expected.jsonl")) {
        let format = match expected["format"].as_str() {
            Some("claude-code") => "claude-code",
            Some("openai-chat") => "openai",
            _ => continue,
        };
        let path = root.join(expected["path"].as_str().expect("a path"));
        let ran = scan(&path, &["--from", "auto", "--format", "jsonl"]);
        let report = ran.only_line();
        check_trace(&report);
        assert_eq!(report["format"], format, "{expected}");
        for field in ["calls", "errors", "workers"] {
            assert_eq!(report[field], expected[field], "{field}: {expected}");
        }
        let whole = report["skipped"] == 0;
        assert_eq!(ran.exit == 3, !whole, "{expected}: {}", ran.err);
        checked += 1;
    }
    assert!(checked > 15, "only {checked} files were checked");
}

#[test]
fn labelled_runs_are_judged_well() {
    let Some(root) = shared("traces") else { return };
    let labels = root.join("labels.jsonl");
    let ran = evaluated(&labels, &root, &["--format", "jsonl", "--preset", "balanced"]);
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""));
    let score = ran.only_line();
    assert_eq!(score["runs"], listed(&labels).len());
    assert!(score["f1"].as_f64() >= Some(F1_MIN), "{score}");
    assert!(score["false_alarm_rate"].as_f64() <= Some(FALSE_ALARMS_MAX), "{score}");
}

#[test]
fn every_file_gives_a_report_or_an_error() {
    for folder in ["traces", "formats"] {
        let Some(root) = shared(folder) else { return };
        // Each input that cannot be read has a line of its own.
        let ran = scan(&root, &["--format", "jsonl", "--verbose"]);
        assert!([1, 3].contains(&ran.exit), "{folder}: exit {}", ran.exit);
        let reports = ran.lines();
        reports.iter().for_each(check_trace);
        for entry in WalkDir::new(&root) {
            let entry = entry.expect("a folder that can be listed");
            let ending = entry.path().extension().and_then(OsStr::to_str);
            if !entry.file_type().is_file()
                || !matches!(ending, Some("json" | "jsonl" | "ndjson" | "traj"))
            {
                continue;
            }
            let path = entry.path().to_str().expect("UTF-8");
            let read = reports.iter().filter(|report| report["path"] == path).count();
            let complaint = format!("error: {path}: ");
            let complained = ran.err.lines().any(|line| line.starts_with(&complaint));
            assert!(read == 1 || read == 0 && complained, "{path}");
            let whole =
                reports.iter().all(|report| report["path"] != path || report["skipped"] == 0);
            assert_eq!(complained, read == 0 || !whole, "{path}");
        }
    }
}

#[test]
fn a_file_is_judged_alike_alone_and_in_its_folder() {
    let Some(root) = shared("formats/claude-code") else { return };
    for report in scanned(&root).lines() {
        let path = root.join(report["path"].as_str().expect("a path"));
        assert_eq!(scanned(&path).lines(), [Value::clone(&report)]);
    }
}
