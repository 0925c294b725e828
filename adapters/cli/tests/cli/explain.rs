//! `scan --explain`: the table for one loop, and the errors.

use crate::harness::{Folder, echo, loops_that_begin_alike, runs, scan};

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
