//! `scan --baseline`: loops that are new, there again, or gone since a former scan.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{CLEAN, Folder, Ran, repeated, scan, stuck};

/// A second loop.
fn other() -> String {
    repeated(
        r#"{"type":"call","tool":"read","args":{"path":"b"},"result":"no such file","is_error":true}"#,
    )
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A folder with runs, and the former scan of them in a file.
fn night(folder: &Folder, runs: &[(&str, String)]) -> PathBuf {
    for (name, run) in runs {
        folder.file(&format!("runs/{name}.jsonl"), run);
    }
    let former = folder.path().join("night.jsonl");
    let ran = scan(&folder.path().join("runs"), &["--format=jsonl", "-o", text(&former)]);
    assert_eq!(ran.err, "");
    former
}

fn compared(folder: &Folder, baseline: &Path, options: &[&str]) -> Ran {
    let mut words = vec!["--baseline", text(baseline)];
    words.extend(options);
    scan(&folder.path().join("runs"), &words)
}

#[test]
fn each_loop_is_new_again_or_gone() {
    let folder = Folder::new();
    let former = night(&folder, &[("a", stuck()), ("b", stuck()), ("c", CLEAN.to_owned())]);
    let gone = night(&folder, &[("a", CLEAN.to_owned()), ("b", other())]);
    assert_eq!(former, gone, "the file is written again");
    let both = folder.file("both.jsonl", fs::read(&former).expect("a scan"));
    // The run of the first night that was left, and a new one.
    night(&folder, &[("a", stuck()), ("b", CLEAN.to_owned())]);

    let ran = compared(&folder, &both, &[]).quiet(1);
    assert!(ran.out.contains("\nloops: 1 new, 0 again, 1 gone\n  gone: loop "), "{}", ran.out);
    assert!(ran.out.contains("; new\n"), "{}", ran.out);

    let standing = |ran: &Ran| -> Vec<Value> {
        let lines = ran.lines();
        let all = lines.iter().flat_map(|line| line["findings"].as_array().expect("a list"));
        all.map(|finding| finding["baseline"].clone()).collect()
    };
    let ran = compared(&folder, &both, &["--format=jsonl"]);
    assert!(standing(&ran).iter().all(|standing| standing == "new"), "{}", ran.out);
    assert_eq!(ran.lines().len(), 3, "a line for each run and none for the loops that are gone");

    // Both nights in one file.
    let latest = fs::read(folder.path().join("night.jsonl")).expect("a scan");
    let all = [fs::read(&both).expect("a scan"), latest].concat();
    let all = folder.file("all.jsonl", all);
    let ran = compared(&folder, &all, &["--format=jsonl"]);
    assert!(standing(&ran).iter().all(|standing| standing == "again"), "{}", ran.out);
    let document = compared(&folder, &all, &["--format=json"]);
    let document: Value = serde_json::from_str(&document.out).expect("JSON");
    let gone = document["gone"].as_array().expect("a list");
    assert_eq!((gone.len(), &gone[0]["tool"], &gone[0]["runs"]), (1, &"read".into(), &1.into()));
}

#[test]
fn without_a_baseline_nothing_says_so() {
    let folder = Folder::new();
    night(&folder, &[("a", stuck())]);
    for format in ["human", "json", "jsonl"] {
        let ran = scan(&folder.path().join("runs"), &["--format", format]);
        for word in ["baseline", "gone", "again", "new"] {
            assert!(!ran.out.contains(&format!("\"{word}\"")), "{}", ran.out);
        }
        assert!(!ran.out.contains("loops: "), "{}", ran.out);
    }
}

#[test]
fn fail_on_new_fails_only_for_loops_that_were_not_there() {
    let folder = Folder::new();
    let former = night(&folder, &[("a", stuck())]);
    let empty = folder.file("empty.jsonl", "");
    for (runs, baseline, exit) in [
        (vec![("a", stuck()), ("b", stuck())], &former, 0),
        (vec![("a", stuck()), ("b", other())], &former, 1),
        (vec![("a", stuck()), ("b", format!("{}{}", stuck(), other()))], &former, 1),
        (vec![("a", CLEAN.to_owned()), ("b", CLEAN.to_owned())], &former, 0),
        (vec![("a", stuck()), ("b", CLEAN.to_owned())], &empty, 1),
    ] {
        let kept = fs::read(baseline).expect("a scan");
        night(&folder, &runs);
        let baseline = folder.file("kept.jsonl", kept);
        let ran = compared(&folder, &baseline, &["--fail-on", "new"]);
        assert_eq!((ran.exit, ran.err.as_str()), (exit, ""), "{runs:?}");
        let ran = compared(&folder, &baseline, &["--fail-on", "never"]);
        assert_eq!(ran.exit, 0);
        folder.file("night.jsonl", fs::read(&baseline).expect("a scan"));
    }
}

#[test]
fn a_wrong_baseline_is_4_and_named() {
    let folder = Folder::new();
    let former = night(&folder, &[("a", stuck())]);
    let good = fs::read_to_string(&former).expect("a scan");
    for (name, content, why) in [
        ("json", format!("{good}{{\n"), "line 2: expected a line that scan --format jsonl prints"),
        ("schema", good.replace("\"schema\":1", "\"schema\":9"), "line 1: schema 9"),
        ("id", good.replace("\"loop\":\"", "\"loop\":\"x"), "line 1: not a loop id"),
        ("human", "stuck  a.jsonl\n".to_owned(), "line 1: expected"),
    ] {
        let file = folder.file(name, content);
        let ran = compared(&folder, &file, &[]);
        assert_eq!((ran.exit, ran.out.as_str()), (4, ""), "{name}");
        assert!(ran.err.contains(why) && ran.err.contains(text(&file)), "{}", ran.err);
    }
    compared(&folder, &folder.path().join("missing"), &[]).fails(4, "missing: cannot be read");
}

#[test]
fn the_baseline_may_be_in_the_folder_and_may_be_the_output() {
    let folder = Folder::new();
    let former = night(&folder, &[("a", stuck())]);
    let inside = folder.path().join("runs/former.jsonl");
    fs::rename(&former, &inside).expect("a file");
    for exit in [0, 0] {
        let options = ["--fail-on=new", "--format=jsonl", "-o", text(&inside)];
        compared(&folder, &inside, &options).quiet(exit);
    }
    let ran = compared(&folder, &inside, &["--fail-on=new"]);
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "it is no recording");
    assert!(ran.out.contains("1 run: 1 stuck"), "{}", ran.out);
}

#[test]
fn a_loop_of_the_feedback_is_not_gone() {
    let folder = Folder::new();
    let former = night(&folder, &[("a", stuck())]);
    let line: Value = serde_json::from_str(&fs::read_to_string(&former).expect("a scan"))
        .expect("a line of JSON");
    let id = line["findings"][0]["loop"].as_str().expect("an id");
    let feedback = folder.file("feedback.txt", id);
    let ran = compared(&folder, &former, &["--feedback", text(&feedback)]);
    assert!(ran.out.contains("loops: 0 new, 0 again, 0 gone"), "{}", ran.out);
}
