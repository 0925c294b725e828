//! Feedback: the loops that a file lists are ignored.

use std::path::Path;

use serde_json::Value;

use crate::harness::{Folder, Ran, loops_that_begin_alike, runs, scan, scanned};

/// Scans the recorded runs with the feedback in `file`.
fn heeding(file: &Path, options: &[&str]) -> Ran {
    let feedback = ["--feedback", file.to_str().expect("UTF-8")];
    scan(&runs(), &[&feedback, options].concat())
}

/// Returns the findings in all traces without their warnings, which depend on the findings before
/// them.
fn findings(ran: &Ran) -> Vec<Value> {
    let traces = ran.lines().into_iter();
    let findings =
        traces.flat_map(|trace| trace["findings"].as_array().cloned().unwrap_or_default());
    findings
        .map(|mut finding| {
            finding["warning"].take();
            finding
        })
        .collect()
}

#[test]
fn listed_loops_are_ignored_and_all_others_are_found() {
    let folder = Folder::new();
    let all = findings(&scanned(&runs()));
    for one in &all {
        let id = one["loop"].as_str().expect("an id");
        let file = folder.file("feedback", format!("# wrong\n{id}\n"));
        let rest: Vec<Value> =
            all.iter().filter(|other| other["loop"] != one["loop"]).cloned().collect();
        assert!(rest.len() < all.len());
        assert_eq!(findings(&heeding(&file, &["--format", "jsonl"])), rest);
    }
}

#[test]
fn findings_can_be_pasted_as_they_are_printed() {
    let folder = Folder::new();
    let lines: Vec<String> = findings(&scanned(&runs())).iter().map(ToString::to_string).collect();
    let ran = heeding(&folder.file("feedback.jsonl", lines.join("\n")), &[]);
    assert_eq!(ran.exit, 0);
    assert!(ran.err.lines().all(|line| line.contains("stuck-talk.jsonl: no call")), "{}", ran.err);
    assert!(ran.out.contains(": 0 stuck, "), "{}", ran.out);
}

#[test]
fn first_digits_of_several_loops_are_refused_before_an_output_is_emptied() {
    let folder = Folder::new();
    let (run, ids) = loops_that_begin_alike(&folder);
    let file = folder.file("feedback", format!("# wrong\n {} # either\n", &ids[0][..4]));
    let report = folder.file("report.txt", "an old report");
    let (name, old) = (file.to_str().expect("UTF-8"), report.to_str().expect("UTF-8"));
    let ran = scan(&run, &["--feedback", name, "--output", old]);
    assert_eq!((ran.exit, ran.out.as_str()), (4, ""), "{}", ran.err);
    assert!(ran.err.contains("feedback:2:2: several loops begin with these digits"), "{}", ran.err);
    assert!(ids.iter().all(|id| ran.err.contains(id)), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(&report).expect("a file"), "an old report");
}
