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
fn told(trace: &str) -> Vec<(Value, Value)> {
    let folder = Folder::new();
    let line = scanned(&folder.file("run.jsonl", trace)).only_line();
    let findings = line["findings"].as_array().expect("findings");
    findings.iter().map(|finding| (finding["rule"].clone(), finding["warning"].clone())).collect()
}

#[test]
fn a_warning_counts_from_where_the_rules_were_first_as_near() {
    for (calls, rule, held, needed, lead, found) in [
        ("AAA", "same-effect", 2, 3, 1, "same-effect"),
        ("ABAB", "cycle", 3, 4, 1, "cycle"),
        ("AABA", "same-effect", 2, 3, 2, "ragged-repeat"),
        ("AABCA", "same-effect", 2, 3, 3, "ragged-repeat"),
        ("ABCDEABCDE", "cycle", 9, 10, 1, "cycle"),
        ("AABCDEFGHAAA", "ragged-repeat", 3, 3, 2, "same-effect"),
    ] {
        let warning = json!({"rule": rule, "held": held, "needed": needed, "lead": lead});
        assert_eq!(told(&run(calls)), [(found.into(), warning)], "{calls}");
    }
}

#[test]
fn of_a_loop_that_goes_on_only_the_first_finding_was_warned_of() {
    let warnings: Vec<bool> =
        told(&run("AAAAAAAA")).iter().map(|(_, warning)| warning.is_object()).collect();
    assert_eq!(warnings, [true, false, false]);
}

#[test]
fn what_the_user_says_ends_a_warning() {
    let user = json!({"type": "message", "role": "user", "text": "and now the other one"});
    let trace = format!("{}{user}\n{}", run("AA"), run("ABAB"));
    let warning = json!({"rule": "cycle", "held": 3, "needed": 4, "lead": 1});
    assert_eq!(told(&trace), [("cycle".into(), warning)]);
}

#[test]
fn a_run_without_outcomes_is_watched_as_its_calls_settle() {
    let call = json!({"type": "call", "tool": "find", "args": {"name": "A"}, "result": null});
    let trace = format!("{call}\n").repeat(5);
    let warning = json!({"rule": "unreported", "held": 4, "needed": 5, "lead": 1});
    assert_eq!(told(&trace), [("unreported".into(), warning)]);
}
