//! One scenario recorded in several formats has the same loops in each.

use serde_json::Value;

use crate::harness::{runs, scanned};

/// The same scenario in its recordings.
const SCENARIOS: [&[&str]; 5] = [
    &["native/healthy-fix.jsonl", "claude-code/6f1c0de0-0001-4000-8000-000000000000.jsonl"],
    &["native/stuck-edit.jsonl", "claude-code/6f1c0de0-0009-4000-8000-000000000000.jsonl"],
    &[
        "native/stuck-parallel.jsonl",
        "claude-code/6f1c0de0-000b-4000-8000-000000000000.jsonl",
        "openai/stuck-parallel.json",
    ],
    &["native/stuck-same-test.jsonl", "openai/stuck-same-test.json"],
    &["native/healthy-batch.jsonl", "openai/healthy-batch.json"],
];

/// A worker in a file of its own, and in the file of all workers.
const WORKER: [&str; 2] = [
    "claude-code/6f1c0de0-000c-4000-8000-000000000000/subagents/agent-a3c58e1f07b94d26a.jsonl",
    "native/stuck-worker.jsonl",
];

/// The fields that may differ between formats. Tools have other names, and OpenAI's format does not
/// report failures, so the loop's id and the advice differ.
const OF_THE_FORMAT: [&str; 3] = ["tool", "loop", "message"];

fn report(path: &str) -> Value {
    scanned(&runs().join(path)).only_line()
}

/// Returns the findings without these fields.
fn findings(report: &Value, without: &[&str]) -> Vec<Value> {
    let strip = |finding: &Value| {
        let mut finding = finding.as_object().expect("a finding").clone();
        finding.retain(|field, _| !without.contains(&field.as_str()));
        Value::from(finding)
    };
    report["findings"].as_array().expect("findings").iter().map(strip).collect()
}

#[test]
fn a_scenario_has_the_same_findings_in_every_format() {
    for recordings in SCENARIOS {
        let reports: Vec<Value> = recordings.iter().map(|path| report(path)).collect();
        for (path, report) in recordings.iter().zip(&reports) {
            assert_eq!(report["calls"], reports[0]["calls"], "{path}");
            assert_eq!(report["workers"], reports[0]["workers"], "{path}");
            // OpenAI's format does not report failures.
            if report["format"] == "openai" {
                assert_eq!(report["errors"], Value::Null, "{path}");
            } else {
                assert_eq!(report["errors"], reports[0]["errors"], "{path}");
            }
            let findings_of = |report| findings(report, &OF_THE_FORMAT);
            if report["format"] == "openai" {
                // If failures are not reported, a test that still fails after an edit may have
                // passed. So later findings can differ.
                assert_eq!(findings_of(report).first(), findings_of(&reports[0]).first(), "{path}");
            } else {
                assert_eq!(findings_of(report), findings_of(&reports[0]), "{path}");
            }
            assert_eq!(findings_of(report).is_empty(), recordings[0].contains("healthy"), "{path}");
        }
    }
}

#[test]
fn a_worker_is_judged_alike_in_its_own_file() {
    let [alone, among] = WORKER.map(report);
    assert_eq!((&alone["workers"], &among["workers"]), (&1.into(), &2.into()));
    let without = [&OF_THE_FORMAT[..], &["first_call", "at_call", "last_call"]].concat();
    let in_own_file = findings(&alone, &without);
    assert_eq!(in_own_file, findings(&among, &without));
    assert!(
        in_own_file.iter().all(|finding| finding["worker"] == "a3c58e1f07b94d26a"),
        "{in_own_file:?}"
    );
}

#[test]
fn a_loop_has_the_same_id_in_every_run_of_the_program() {
    let ids = |report: &Value| -> Vec<Value> {
        findings(report, &[]).iter().map(|finding| finding["loop"].clone()).collect()
    };
    for path in SCENARIOS.iter().flat_map(|recordings| recordings.iter()) {
        assert_eq!(ids(&report(path)), ids(&report(path)), "{path}");
    }
}
