//! `tune --limit` on runs of many lengths. `console/tune.txt` has the rest.

use std::fs;

use serde_json::json;

use crate::harness::{Folder, Ran, run_in};

/// Returns a run of this many calls, one a minute, each with 1000 tokens of input and 100 of output.
fn paid(calls: usize) -> String {
    let call = |n: usize| {
        let call = json!({
            "type": "call", "tool": "read", "args": n, "result": format!("line {n}"),
            "time": 60_000 * (1 + n), "tokens": { "input": 1000, "output": 100 },
        });
        format!("{call}\n")
    };
    (0..calls).map(call).collect()
}

/// Returns a folder of healthy runs, of which the `n`th has `calls(n)` calls.
fn paid_runs(runs: usize, calls: impl Fn(usize) -> usize) -> Folder {
    let folder = Folder::new();
    for n in 0..runs {
        folder.file(&format!("runs/{n}.jsonl"), paid(calls(n)));
    }
    folder
}

/// Computes a limit from the runs in `folder`.
fn limit(folder: &Folder, of: &str, options: &[&str]) -> Ran {
    run_in(folder.path(), &[&["tune", "--healthy", "runs", "--limit", of], options].concat())
}

/// Returns the value in the table `[budget]` of a printed policy.
fn budget(policy: &str, key: &str) -> f64 {
    let policy: toml::Table = toml::from_str(policy).expect("TOML");
    let budget = policy["budget"].as_table().expect("a table");
    assert_eq!((policy.len(), budget.len()), (1, 1), "{policy}");
    budget[key].to_string().parse().expect("a number")
}

/// Returns the numbers of runs, and of those that spent more, in a row of the report.
fn counts(report: &str, row: &str) -> [usize; 2] {
    let row = report.lines().find_map(|line| line.strip_prefix(row)).expect("a row");
    let mut words = row.split_whitespace().map(|word| word.parse().expect("a number"));
    [(); 2].map(|()| words.next().expect("two numbers"))
}

#[test]
fn a_limit_of_calls_for_a_team() {
    let ran = limit(&paid_runs(40, |n| n + 1), "calls", &["--false-alarms", "5"]);
    assert_eq!(ran.exit, 0);
    insta::assert_snapshot!(format!("{}---\n{}", ran.err, ran.out));
}

#[test]
fn as_many_runs_are_longer_than_the_limit_as_are_counted() {
    let folder = paid_runs(40, |n| n + 1);
    for (rate, of_fitted) in [("5", 0), ("10", 1), ("50", 9)] {
        let ran = limit(&folder, "calls", &["--false-alarms", rate, "-o", "limit.toml"]).quiet(0);
        let policy = fs::read_to_string(folder.path().join("limit.toml")).expect("a limit");
        let longer = (1..=40).filter(|calls| f64::from(*calls) > budget(&policy, "calls")).count();
        assert_eq!(counts(&ran.out, "fitted"), [20, of_fitted], "{}", ran.out);
        assert_eq!(counts(&ran.out, "unseen"), [20, longer - of_fitted], "{}", ran.out);
        assert!(!ran.out.contains("loop") && !policy.contains("loop"), "{}", ran.out);
        assert!(ran.out.contains("need not be"), "{}", ran.out);
    }
}
