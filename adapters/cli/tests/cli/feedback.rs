//! Feedback: the loops that a file lists are ignored.

use std::path::Path;

use serde_json::Value;

use crate::harness::{CLEAN, Folder, Ran, program, runs, scan, scanned, stuck};

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
fn a_listed_loop_in_no_input_is_reported_if_verbose() {
    let folder = Folder::new();
    let run = folder.file("run.jsonl", stuck());
    let id = scanned(&run).only_line()["findings"][0]["loop"].as_str().expect("an id").to_owned();
    let file = folder.file("feedback", format!("0123456789abcdef\n{id}\n"));
    let file = file.to_str().expect("UTF-8");
    assert_eq!(scan(&run, &["--feedback", file]).err, "");
    let printed = scan(&run, &["--feedback", file, "--verbose"]).err;
    assert!(
        printed.ends_with(&format!("{file}: no input contains the loop 0123456789abcdef\n")),
        "{printed}"
    );
    assert!(!printed.contains(&id), "{printed}");
}

#[test]
fn a_wrong_id_is_4_and_shown_in_its_line() {
    let folder = Folder::new();
    folder.file("run.jsonl", CLEAN);
    let mut printed = String::new();
    for line in ["9f0c", "loop 9f0c5e8b2a7d4411", "{\"schema\":1}", "{\"loop\":\"cycle\"}"] {
        folder.file("wrong", format!("# these were none\n\n{line}\n"));
        let mut command = program();
        command.current_dir(folder.path()).args(["scan", "run.jsonl", "--feedback", "wrong"]);
        let ran = Ran::of(command.output().expect("a program that starts"));
        assert_eq!((ran.exit, ran.out.as_str()), (4, ""), "{}", ran.err);
        printed.push_str(&ran.err);
    }
    insta::assert_snapshot!(printed);
    let missing = heeding(&folder.path().join("missing"), &[]);
    assert_eq!((missing.exit, missing.out.as_str()), (4, ""), "{}", missing.err);
}
