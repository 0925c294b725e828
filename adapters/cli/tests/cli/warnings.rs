//! The early warning of a finding, in the output for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::harness::{Folder, scanned};

/// Returns a run of calls, one letter each, which are all answered with their own letter.
fn run(calls: &str) -> String {
    calls.chars().fold(String::new(), |mut run, letter| {
        let call = json!({
            "type": "call", "tool": "find", "args": {"name": letter}, "result": format!("{letter}.rs"),
        });
        writeln!(run, "{call}").expect("room for a line");
        run
    })
}

/// Returns the rule and the warning of each finding in a run.
fn findings(trace: &str) -> Vec<(Value, Value)> {
    let folder = Folder::new();
    let line = scanned(&folder.file("run.jsonl", trace)).only_line();
    let findings = line["findings"].as_array().expect("findings");
    findings.iter().map(|finding| (finding["rule"].clone(), finding["warning"].clone())).collect()
}

#[test]
fn a_warning_dates_from_the_first_call_as_near() {
    for (calls, rule, held, needed, lead, found) in [
        ("AAA", "same-effect", 2, 3, 1, "same-effect"),
        ("ABAB", "cycle", 3, 4, 1, "cycle"),
        ("AABA", "same-effect", 2, 3, 2, "ragged-repeat"),
        ("AABCA", "same-effect", 2, 3, 3, "ragged-repeat"),
        ("ABCDEABCDE", "cycle", 9, 10, 1, "cycle"),
        ("AABCDEFGHAAA", "ragged-repeat", 3, 3, 2, "same-effect"),
    ] {
        let warning = json!({"rule": rule, "held": held, "needed": needed, "lead": lead});
        assert_eq!(findings(&run(calls)), [(found.into(), warning)], "{calls}");
    }
}

#[test]
fn only_the_first_finding_of_a_loop_has_a_warning() {
    let warnings: Vec<bool> =
        findings(&run("AAAAAAAA")).iter().map(|(_, warning)| warning.is_object()).collect();
    assert_eq!(warnings, [true, false, false]);
}

#[test]
fn a_user_message_ends_a_warning() {
    let user = json!({"type": "message", "role": "user", "text": "and now the other one"});
    let trace = format!("{}{user}\n{}", run("AA"), run("ABAB"));
    let warning = json!({"rule": "cycle", "held": 3, "needed": 4, "lead": 1});
    assert_eq!(findings(&trace), [("cycle".into(), warning)]);
}

#[test]
fn a_run_without_outcomes_is_watched_as_its_calls_settle() {
    let call = json!({"type": "call", "tool": "find", "args": {"name": "A"}, "result": null});
    let trace = format!("{call}\n").repeat(5);
    let warning = json!({"rule": "unreported", "held": 4, "needed": 5, "lead": 1});
    assert_eq!(findings(&trace), [("unreported".into(), warning)]);
}
