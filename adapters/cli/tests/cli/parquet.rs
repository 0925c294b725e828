//! The table of `unstuck scan --format parquet`, read back by the Rust reader.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use parquet::file::reader::SerializedFileReader;
use parquet::record::{Row, RowAccessor as _};
use serde_json::Value;

use crate::harness::{CLEAN, Folder, Ran, piped, program, repeated, run_in, runs, stuck};

/// Scans in the folder `here` and returns the rows.
fn table(here: &Path, words: &[&str]) -> (Ran, Vec<Row>) {
    let folder = Folder::new();
    let out = folder.path().join("table.parquet");
    let ran = scan(here, words, &out);
    (ran, rows(&out))
}

fn scan(here: &Path, words: &[&str], out: &Path) -> Ran {
    let mut command = program();
    command.current_dir(here).arg("scan").args(words).args(["--format", "parquet", "-o"]).arg(out);
    Ran::by(&mut command)
}

fn rows(path: &Path) -> Vec<Row> {
    let file = SerializedFileReader::new(File::open(path).expect("a file")).expect("a table");
    file.into_iter().map(|row| row.expect("a row")).collect()
}

fn text(row: &Row, column: usize) -> Option<&str> {
    row.get_string(column).ok().map(String::as_str)
}

const RUN: usize = 0;
const STATUS: usize = 1;
const RULE: usize = 4;
const TOKENS_AFTER: usize = 13;
const ERROR: usize = 14;

#[test]
fn the_rows_of_a_few_runs() {
    let sample =
        ["native/stuck-worker.jsonl", "native/stuck-talk.jsonl", "native/healthy-poll.jsonl"];
    let (ran, rows) = table(&runs(), &[&sample[..], &["missing.jsonl"]].concat());
    assert_eq!((ran.exit, ran.out.as_str()), (1, ""), "{}", ran.err);
    let lines: Vec<_> = rows.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!("parquet", lines.join("\n"));
}

#[test]
fn each_run_is_there_once_with_the_findings_of_the_other_formats() {
    let lines = run_in(&runs(), &["scan", ".", "--format", "jsonl"]).out;
    let mut expected = Vec::new();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let path = line["path"].as_str().expect("a path").to_owned();
        let findings = line["findings"].as_array().expect("findings");
        for found in findings {
            let field = |name: &str| found[name].as_str().map(str::to_owned);
            let fields = ["rule", "kind", "action", "tool", "worker", "loop"].map(field);
            expected.push((path.clone(), Some(fields)));
        }
        if findings.is_empty() {
            expected.push((path, None));
        }
    }
    let (_, rows) = table(&runs(), &["."]);
    let found = rows.iter().map(|row| {
        let field = |column| text(row, column).map(str::to_owned);
        let fields = [4, 5, 6, 7, 8, 12].map(field);
        (field(RUN).expect("a run"), fields[0].is_some().then_some(fields))
    });
    assert_eq!(found.collect::<Vec<_>>(), expected);
    let runs: BTreeSet<_> = expected.iter().map(|(path, _)| path).collect();
    assert_eq!(runs.len(), lines.lines().count());
}

#[test]
fn the_status_says_what_was_read() {
    let folder = Folder::new();
    folder.file("clean.jsonl", CLEAN);
    folder.file("half.jsonl", format!("{CLEAN}not json\n"));
    folder.file("none.jsonl", "not a run");
    folder.file("stuck.jsonl", format!("{}not json\n", stuck()));
    let (ran, rows) = table(folder.path(), &["."]);
    assert_eq!(ran.exit, 1, "{}", ran.err);
    let mut found = BTreeMap::new();
    for row in &rows {
        let run = text(row, RUN).expect("a run").trim_start_matches("./").to_owned();
        let errors = found.entry((run, text(row, STATUS).expect("a status"))).or_insert(0);
        *errors += usize::from(text(row, ERROR).is_some());
    }
    let expected = [
        ("clean", "clean", 0),
        ("half", "partly", 1),
        ("none", "unread", 1),
        ("stuck", "stuck", 1),
    ];
    let expected = expected.map(|(run, status, errors)| ((format!("{run}.jsonl"), status), errors));
    assert_eq!(found, BTreeMap::from(expected));
}

#[test]
fn the_tokens_of_a_run_are_counted_once() {
    let call = r#"{"type":"call","tool":"t","args":{},"result":"no","is_error":true,"tokens":{"input":3,"cached":0,"output":2}}"#;
    let folder = Folder::new();
    folder.file("run.jsonl", repeated(call) + &repeated(call));
    let (_, rows) = table(folder.path(), &["run.jsonl"]);
    assert!(rows.len() > 1 && rows.iter().all(|row| text(row, RULE).is_some()));
    let tokens: Vec<_> = rows.iter().map(|row| row.get_long(TOKENS_AFTER).ok()).collect();
    assert!(tokens[0] > Some(0) && tokens[1..].iter().all(Option::is_none), "{tokens:?}");
}

#[test]
fn nothing_to_read_is_an_empty_table_or_rows_with_reasons() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("empty")).expect("a folder");
    let (ran, rows) = table(folder.path(), &["empty"]);
    assert_eq!(ran.exit, 3);
    assert_eq!(text(&rows[0], STATUS), Some("unread"), "{rows:?}");
    folder.file("clean.jsonl", CLEAN);
    let (ran, rows) = table(folder.path(), &["clean.jsonl", "--only", "stuck"]);
    assert_eq!((ran.exit, rows.len()), (0, 0));
}

#[test]
fn the_file_is_replaced_whole_or_not_at_all() {
    let folder = Folder::new();
    folder.file("run.jsonl", stuck());
    let out = folder.file("table.parquet", "the former table");
    // A scan that has reported on a run, and waits for standard input.
    let mut command = program();
    command.current_dir(folder.path()).args([
        "scan",
        "run.jsonl",
        "-",
        "--format",
        "parquet",
        "-o",
    ]);
    let mut child = piped(command.arg(&out).args(["--format", "jsonl"]));
    let stdin = child.stdin.take().expect("a pipe");
    let mut line = String::new();
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    lines.read_line(&mut line).expect("a line");
    assert!(line.contains("run.jsonl"), "{line}");
    child.kill().expect("a program that ends");
    child.wait().expect("a program that ends");
    drop(stdin);
    assert_eq!(fs::read_to_string(&out).expect("a file"), "the former table");
    let ran = scan(folder.path(), &["run.jsonl"], &out);
    assert_eq!(ran.exit, 1, "{}", ran.err);
    assert!(!rows(&out).is_empty());
}

#[test]
fn an_output_that_cannot_be_written_is_an_error_and_leaves_nothing() {
    let folder = Folder::new();
    folder.file("run.jsonl", stuck());
    for out in ["missing/table.parquet", "."] {
        let ran = scan(folder.path(), &["run.jsonl"], Path::new(out));
        assert_eq!(ran.exit, 4, "{}", ran.err);
        assert!(ran.err.contains("cannot be written"), "{}", ran.err);
    }
    let ran = scan(folder.path(), &["run.jsonl", "--explain", "9f0c"], &folder.path().join("x"));
    assert_eq!(ran.exit, 64, "{}", ran.err);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[cfg(unix)]
#[test]
fn a_link_and_permissions_stay_and_a_pipe_is_written() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = Folder::new();
    folder.file("run.jsonl", stuck());
    let out = folder.file("table.parquet", "");
    fs::set_permissions(&out, fs::Permissions::from_mode(0o640)).expect("a file");
    let link = folder.path().join("link.parquet");
    symlink("table.parquet", &link).expect("a link");
    scan(folder.path(), &["run.jsonl"], &link);
    assert!(link.is_symlink());
    assert_eq!(out.metadata().expect("a file").permissions().mode() & 0o777, 0o640);
    let mut command = program();
    command.current_dir(folder.path()).args(["scan", "run.jsonl", "--format", "parquet"]);
    let piped = command.output().expect("a program that starts").stdout;
    assert!(piped == fs::read(&out).expect("a file"));
}

#[cfg(unix)]
#[test]
fn runs_whose_names_are_not_utf_8_stay_apart() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let folder = Folder::new();
    for name in [&b"\xe2\x82\xff.jsonl"[..], b"\xe2\x82\xfe.jsonl", "é\\.jsonl".as_bytes()] {
        if fs::write(folder.path().join(OsStr::from_bytes(name)), CLEAN).is_err() {
            eprintln!("skipped: no such names in this file system");
            return;
        }
    }
    let out = Folder::new();
    let out = out.path().join("table.parquet");
    assert_eq!(scan(folder.path(), &["."], &out).exit, 0);
    let rows = rows(&out);
    let mut runs: Vec<_> = rows.iter().map(|row| text(row, RUN).expect("a run")).collect();
    runs.sort_unstable();
    assert_eq!(runs, ["./\\xe2\\x82\\xfe.jsonl", "./\\xe2\\x82\\xff.jsonl", "./é\\.jsonl"]);
}
