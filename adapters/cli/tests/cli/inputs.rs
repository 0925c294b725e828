//! Inputs: files, folders, their order, and the messages about unreadable ones.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use unstuck_trace::WORKERS_MAX;

use crate::harness::{
    CLEAN, Folder, Ran, effort, piped, program, repeated, runs, scan, scanned, stuck,
};

/// Returns the names of the reported files, in order.
fn names(ran: &Ran) -> Vec<String> {
    let name = |line: &Value| {
        let path = Path::new(line["path"].as_str().expect("a path")).to_owned();
        path.file_name().expect("a name").to_string_lossy().into_owned()
    };
    ran.lines().iter().map(name).collect()
}

#[test]
fn packed_transcripts_of_a_folder_are_read() {
    let folder = Folder::new();
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(stuck().as_bytes()).expect("memory");
    let packed = packed.finish().expect("memory");
    for name in ["runs/a.jsonl.gz", "runs/b.json.GZ", "runs/c.eval"] {
        folder.file(name, &packed);
    }
    folder.file("runs/d.jsonl.gz", &packed[..packed.len() - 4]);
    folder.file("runs/notes.txt.gz", &packed);
    folder.file("runs/x.gz", &packed);
    let ran = scanned(&folder.path().join("runs"));
    assert_eq!(names(&ran), ["a.jsonl.gz", "b.json.GZ", "c.eval", "d.jsonl.gz"]);
    let whole = ran.lines()[0]["calls"].clone();
    assert!(ran.lines().iter().all(|report| report["calls"] == whole));
    assert!(ran.err.contains("the gzip archive breaks off at byte"), "{}", ran.err);
}

#[test]
fn two_runs_of_the_program_print_the_same() {
    for format in ["human", "jsonl", "json"] {
        let scan = || scan(&runs(), &["--format", format]).out;
        assert_eq!(scan(), scan());
    }
}

#[test]
fn standard_input_without_data_is_no_input() {
    let folder = Folder::new();
    let nothing = fs::File::open(folder.file("nothing", "")).expect("an empty file");
    for stdin in [Stdio::null(), nothing.into(), Stdio::piped()] {
        let mut command = program();
        let mut child = command
            .args(["scan", "--format", "jsonl"])
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a program that starts");
        drop(child.stdin.take());
        let ran = Ran::of(child.wait_with_output().expect("a program that ends"));
        assert_eq!((ran.exit, ran.out.as_str()), (64, ""));
        assert!(ran.err.contains("no path is given, and there is no session in"), "{}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_that_stays_silent_is_not_waited_for() {
    let mut command = program();
    let mut child = piped(command.arg("scan"));
    // The pipe stays open until the program has ended.
    let pipe = child.stdin.take();
    let ran = Ran::of(child.wait_with_output().expect("a program that ends"));
    drop(pipe);
    assert_eq!((ran.exit, ran.out.as_str()), (64, ""));
    assert!(ran.err.starts_with("-: standard input has been silent"), "{}", ran.err);
}

/// Returns the lines of calls, each by the worker with this number.
fn calls_of(workers: impl Iterator<Item = usize>) -> String {
    let call = |worker: usize| {
        let name = format!("worker-{worker}");
        json!({"type": "call", "tool": "t", "args": {}, "result": "no", "worker": name}).to_string()
    };
    workers.map(call).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_of_many_workers_is_judged_separately() {
    let folder = Folder::new();
    let counts: &[usize] = [&[300][..], &[300, 1024, 1025], &[300, 1024, 1025, 5000]][effort()];
    for &count in counts {
        // The workers alternate, so that no worker has two consecutive calls.
        let calls = calls_of((0..3 * count).map(|n| n % count));
        let ran = scanned(&folder.file("run.jsonl", calls)).quiet(1);
        let report = ran.only_line();
        assert_eq!((&report["calls"], &report["workers"]), (&(3 * count).into(), &count.into()));
        let findings = report["findings"].as_array().expect("findings");
        let places: Vec<_> = findings.iter().map(|one| one["at_call"].as_u64()).collect();
        let last_round = 2 * count as u64..3 * count as u64;
        assert_eq!(places, last_round.map(Some).collect::<Vec<_>>());
        let workers: BTreeSet<&str> =
            findings.iter().filter_map(|one| one["worker"].as_str()).collect();
        assert_eq!(workers.len(), count);
    }
}

mod needs_minutes {
    use super::*;

    #[test]
    fn workers_beyond_the_limit_are_given_up_loudly() {
        let folder = Folder::new();
        // The first worker loops. All others come in between, one more than can be followed with it.
        let others = calls_of(0..=WORKERS_MAX);
        for (rounds, exit) in [(1, 3), (3, 1)] {
            let run = calls_of(std::iter::repeat_n(0, rounds - 1)) + "\n" + &others;
            let path = folder.file("run.jsonl", run + "\n" + &calls_of(0..1));
            let ran = scanned(&path);
            assert_eq!(ran.exit, exit);
            let says = "2 workers had to be forgotten: at most 100000 are followed at a time";
            assert!(ran.err.contains(says) && ran.err.lines().count() == 1, "{}", ran.err);
            let report = ran.only_line();
            assert_eq!(report["forgotten_workers"], 2);
            assert_eq!(report["workers"], WORKERS_MAX + 2);
            let findings = report["findings"].as_array().map(Vec::len);
            assert_eq!(
                findings,
                Some(rounds / 3),
                "the loop was seen before the worker was forgotten"
            );
            let ran = scan(&path, &[]);
            assert_eq!(ran.exit, exit);
            let word = if rounds == 1 { "partly  " } else { "stuck  " };
            assert!(ran.out.starts_with(word), "{}", ran.out);
            assert!(ran.out.contains("2 of them not followed to the end"), "{}", ran.out);
            assert!(ran.out.contains(", 1 only in part"), "{}", ran.out);
        }
    }
}

#[test]
fn deeply_nested_arguments_are_read() {
    let folder = Folder::new();
    for depth in [60, 100, 200, 20_000] {
        let args = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let call = format!(r#"{{"type":"call","tool":"t","args":{args},"result":"no"}}"#);
        let ran = scanned(&folder.file("run.jsonl", repeated(&call)));
        assert_eq!((ran.exit, ran.err.as_str()), (1, ""), "{depth} deep");
        assert_eq!(ran.only_line()["findings"][0]["kind"], "streak", "{depth} deep");
    }
}

#[cfg(unix)]
mod unix {
    //! Cases that need a Unix file system.

    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_that_may_not_be_read_is_3() {
        let folder = Folder::new();
        folder.file("locked/run.jsonl", CLEAN);
        folder.file("open/run.jsonl", CLEAN);
        let locked = folder.path().join("locked");
        let allow = |mode| {
            fs::set_permissions(&locked, fs::Permissions::from_mode(mode)).expect("permission");
        };
        allow(0o000);
        if fs::read_dir(&locked).is_ok() {
            eprintln!("skipped: this user may read everything");
            return allow(0o700);
        }
        let ran = scanned(folder.path());
        allow(0o700);
        assert_eq!(ran.exit, 3);
        assert!(ran.err.contains(&format!("{}: ", locked.display())), "{}", ran.err);
        assert_eq!(names(&ran), ["run.jsonl"]);
    }

    #[test]
    fn a_file_that_may_not_be_read_is_3() {
        let folder = Folder::new();
        let path = folder.file("run.jsonl", CLEAN);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("permission");
        if fs::read(&path).is_ok() {
            eprintln!("skipped: this user may read everything");
            return;
        }
        let ran = scanned(&path);
        assert_eq!(ran.exit, 3);
        assert!(ran.err.contains(&format!("{}: ", path.display())), "{}", ran.err);
    }

    #[test]
    fn a_name_that_is_not_utf_8_is_a_name() {
        let folder = Folder::new();
        let paths = [&b"caf\xe8.jsonl"[..], b"caf\xe9.jsonl"]
            .map(|name| folder.path().join(OsStr::from_bytes(name)));
        if paths.iter().any(|path| fs::write(path, CLEAN).is_err()) {
            eprintln!("skipped: no such names in this file system");
            return;
        }
        for (path, expected) in [
            (&*paths[0], &["caf\\xe8.jsonl"][..]),
            (&paths[1], &["caf\\xe9.jsonl"]),
            (folder.path(), &["caf\\xe8.jsonl", "caf\\xe9.jsonl"]),
        ] {
            let ran = scanned(path).quiet(0);
            assert_eq!(names(&ran), expected);
        }
    }
}
