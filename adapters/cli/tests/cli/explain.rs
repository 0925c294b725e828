//! `scan --explain`: the table for one loop, and the errors.

use crate::harness::{
    Folder, Ran, echo, loops_that_begin_alike, program, repeated, runs, scan, unstuck_reading,
};

/// Explains a loop in the recorded runs, from their folder.
fn explained(words: &[&str]) -> Ran {
    Ran::by(program().current_dir(runs()).arg("scan").args(words))
}

/// Returns the explanation of the first loop that `scan` finds in `input`, its standard input.
fn explained_from_input(input: &[u8]) -> String {
    let found = unstuck_reading(&["scan", "-", "--format=jsonl"], input).only_line();
    let id = found["findings"][0]["loop"].as_str().expect("an id");
    let ran = unstuck_reading(&["scan", "-", "--explain", id], input).quiet(1);
    ran.out
}

/// Returns the explanation of the first loop that `scan` finds in the recorded runs at `words`. The
/// test asks for the id, so that it cannot go stale.
fn first_loop_explained(words: &[&str]) -> String {
    let found = explained(&[words, &["--format", "jsonl"]].concat()).only_line();
    let id = found["findings"][0]["loop"].as_str().expect("an id");
    let ran = explained(&[words, &["--explain", &id[..8]]].concat()).quiet(1);
    ran.out
}

#[test]
fn loops_are_explained() {
    for (name, words) in [
        ("a_cycle_step_by_step", &["native/stuck-two-in-turns.jsonl"][..]),
        ("a_loop_of_one_worker", &["native/stuck-worker.jsonl"]),
        ("talk_turn_by_turn", &["native/stuck-talk.jsonl"]),
        ("a_history_that_is_cleared", &["native/stuck-parallel.jsonl", "--preset", "cycles"]),
    ] {
        insta::assert_snapshot!(name, first_loop_explained(words));
    }
    let call = repeated(r#"{"type":"call","tool":"bash","args":{"command":"make"}}"#);
    for (name, run) in [("calls_without_an_outcome", call), ("an_echo", echo())] {
        insta::assert_snapshot!(name, explained_from_input(run.as_bytes()));
    }
}

#[test]
fn each_finding_is_at_the_call_or_turn_that_made_it() {
    let echoed = Folder::new();
    echoed.file("run.jsonl", echo());
    for preset in ["balanced", "start_over", "graduated", "nudge", "cycles", "repeat"] {
        for folder in [runs().as_path(), echoed.path()] {
            let ran = scan(folder, &["--format", "jsonl", "--preset", preset]);
            for trace in ran.lines() {
                let path = trace["path"].as_str().expect("a path");
                for finding in trace["findings"].as_array().expect("findings") {
                    let id = finding["loop"].as_str().expect("an id");
                    let ran = scan(path.as_ref(), &["--preset", preset, "--explain", id]).quiet(1);
                    let at = finding["last_call"].as_u64().or(finding["at_message"].as_u64());
                    let row = format!("  #{} ", at.expect("a place"));
                    let row = ran.out.lines().find(|line| line.starts_with(&row));
                    let action = finding["action"].as_str().expect("an action");
                    let row = row.unwrap_or_else(|| panic!("{finding} in\n{}", ran.out));
                    assert!(row.contains(&format!(" {action} ")), "{finding} in\n{}", ran.out);
                    assert!(row.contains('*'), "{finding} in\n{}", ran.out);
                }
            }
        }
    }
}

#[test]
fn loops_with_the_same_first_digits_are_all_listed() {
    let folder = Folder::new();
    let (path, ids) = loops_that_begin_alike(&folder);
    let first = &ids[0][..4];
    let ran = scan(&path, &["--explain", first]);
    assert_eq!((ran.exit, ran.out.as_str()), (64, ""));
    let named: Vec<&str> =
        ran.err.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(named, ids);
    let one = scan(&path, &["--explain", &ids[0]]);
    assert_eq!(one.out.lines().filter(|line| line.starts_with("  #")).count(), 3, "{}", one.out);
    let other = scan(&path, &["--explain", "0000000000000000"]);
    assert!(other.err.ends_with("  and 980 more: scan without --explain shows all\n"));
}
