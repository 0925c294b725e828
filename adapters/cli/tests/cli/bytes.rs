//! Any bytes as input give a valid exit code, whole lines, and no panic.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

use crate::harness::{runs, unstuck_reading};
use crate::schema::check_trace;

/// Each case starts a process, so there are few. The readers have their own properties with many
/// more cases; these test the output.
const CASES: u32 = 48;

/// A recorded run of each format.
const RECORDED: [&str; 4] = [
    "native/stuck-worker.jsonl",
    "native/stuck-talk.jsonl",
    "claude-code/6f1c0de0-000b-4000-8000-000000000000.jsonl",
    "openai/stuck-parallel.json",
];

/// Scans the bytes, in the output formats for programs and for people.
fn scan(bytes: &[u8]) {
    let ran = unstuck_reading(&["scan", "-", "--format", "jsonl"], bytes);
    let reports = ran.lines();
    reports.iter().for_each(check_trace);
    assert!(ran.exit == 3 || reports.len() == 1, "{reports:?}");
    // A finding outweighs a part that could not be read.
    let found = |report: &Value| report["findings"].as_array().is_some_and(|all| !all.is_empty());
    // Damage may leave a run of mere talk without a loop. That it has no call is a remark, and no error.
    let is_remark = |line: &str| line.contains(": no call was found, reading it as ");
    let exit = match reports.iter().any(found) {
        true => 1,
        false if ran.err.lines().all(is_remark) => 0,
        false => 3,
    };
    assert_eq!(ran.exit, exit, "{}", ran.err);
    let human = unstuck_reading(&["scan", "-"], bytes);
    assert_eq!((human.exit, human.err), (ran.exit, ran.err));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_report_or_an_error(bytes in vec(any::<u8>(), 0..400)) {
        scan(&bytes);
    }

    #[test]
    fn a_damaged_run_gives_a_report_or_an_error(
        path in select(&RECORDED[..]),
        cuts in vec((any::<Index>(), 0_usize..9, vec(any::<u8>(), 0..5)), 1..6),
    ) {
        let mut bytes = fs::read(runs().join(path)).expect("a recorded run");
        for (at, removed, put) in cuts {
            let at = at.index(bytes.len());
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, put);
        }
        scan(&bytes);
    }
}
