//! `unstuck scan` for people: one text for each loop, the digest of many runs, and the options that choose and
//! order runs.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::harness::{
    CLEAN, Folder, Ran, program, record, repeated, runs, scan, scanned, stuck, unstuck,
};

/// Returns a folder with `clean` runs without a loop, and a run with `calls` calls of a loop for each of
/// `stuck`.
fn folder(clean: usize, stuck: &[usize]) -> Folder {
    let folder = Folder::new();
    for n in 0..clean {
        folder.file(&format!("clean-{n:02}.jsonl"), CLEAN);
    }
    for calls in stuck {
        let call = record("bash", r#"{"command":"make"}"#, "no rule", true);
        folder.file(&format!("stuck-{calls:02}.jsonl"), call.repeat(*calls));
    }
    folder
}

/// Returns the names of the files in the lines about runs, in their order.
fn names(ran: &Ran) -> Vec<String> {
    let words = ["stuck  ", "clean  ", "empty  "];
    let lines = ran.out.lines().filter(|line| words.iter().any(|word| line.starts_with(word)));
    let name = |line: &str| {
        let path = line.split("  ").nth(1).expect("a path");
        PathBuf::from(path).file_stem().expect("a name").to_string_lossy().into_owned()
    };
    lines.map(name).collect()
}

#[test]
fn the_line_that_repeats_is_shown() {
    let folder = Folder::new();
    let grep = |word: &str| {
        let args = format!(r#"{{"command":"grep {word} src/clock.sh"}}"#);
        record("bash", &args, "grep: src/clock.sh: No such file or directory", true)
    };
    let ran = scan(&folder.file("run.jsonl", grep("tick").repeat(4)), &[]);
    let line = "`bash` 3 times in a row, failing alike:\n    `grep: src/clock.sh: No such file or directory`";
    assert!(ran.out.contains(line), "{}", ran.out);
    // It is shown once, and not again below each call.
    assert_eq!(ran.out.matches("No such file").count(), 1, "{}", ran.out);
    let ran = scan(&folder.file("run.jsonl", stuck()), &[]);
    assert!(ran.out.contains("failing alike: `no rule to make target`\n"), "{}", ran.out);
}

#[test]
fn results_that_differ_are_not_shown_as_one() {
    let folder = Folder::new();
    let edit = |n: usize| {
        let args = format!(r#"{{"old":"{n}"}}"#);
        record(
            "edit",
            &args,
            &format!("error: `{n}` is not in the file, which has 120 lines"),
            true,
        )
    };
    let ran = scan(&folder.file("run.jsonl", (0..6).map(edit).collect::<String>()), &[]);
    assert!(ran.out.contains(", the last time:"), "{}", ran.out);
    assert!(ran.out.contains("→ error: `0` is not in the file"), "{}", ran.out);
}

#[test]
fn the_loops_of_one_lap_are_one_text() {
    let path = runs().join("native/stuck-lap-of-three.jsonl");
    let ran = scan(&path, &[]);
    assert_eq!(ran.out.matches("The agent should have been told").count(), 1, "{}", ran.out);
    let report = scanned(&path).only_line();
    let findings = report["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 3, "programs read all of them");
    for finding in findings {
        assert!(ran.out.contains(finding["loop"].as_str().expect("an id")), "{}", ran.out);
    }
}

#[test]
fn many_runs_begin_with_a_digest() {
    let few = folder(15, &[4, 5, 6, 7, 8]);
    let ran = scan(few.path(), &[]);
    assert!(ran.out.starts_with("clean  ") && !ran.out.contains("What recurs"), "{}", ran.out);
    let many = folder(16, &[4, 5, 6, 7, 8]);
    let ran = scan(many.path(), &[]);
    assert!(ran.out.starts_with("21 runs: 5 stuck, 16 clean\n\nWhat recurs in 5 stuck runs\n"));
    assert!(ran.out.contains("    5  the same call in a row, failing\n"), "{}", ran.out);
    assert!(ran.out.contains("Spent after the first finding: 15 calls\n"), "{}", ran.out);
    assert_eq!(names(&ran).len(), 21, "the runs come after it");
    assert!(ran.out.ends_with("\n21 runs: 5 stuck, 16 clean\n"), "{}", ran.out);
    let clean = scan(folder(21, &[]).path(), &[]);
    assert!(clean.out.starts_with("21 runs: 0 stuck, 21 clean\nclean  "), "{}", clean.out);
}

#[test]
fn a_summary_is_only_the_digest() {
    let folder = folder(2, &[4, 6]);
    let ran = scan(folder.path(), &["--summary"]).quiet(1);
    let place = format!("{}/", folder.path().display());
    insta::assert_snapshot!(ran.out.replace(&place, ""));
}

#[test]
fn a_summary_is_for_people_only() {
    let folder = folder(1, &[4]);
    let ran = scan(folder.path(), &["--summary", "--format", "csv"]);
    assert_eq!((ran.exit, ran.out.as_str()), (64, ""));
    assert_eq!(ran.err, "error: --summary: works only with --format human\n");
    let page = folder.path().join("page.html");
    let page = page.to_str().expect("UTF-8");
    let both =
        scan(folder.path(), &["--summary", "--format", "human", "--format", "html", "-o", page]);
    assert_eq!((both.exit, both.err.as_str()), (1, ""));
}

#[test]
fn only_stuck_leaves_out_the_other_runs() {
    let folder = folder(2, &[4, 6]);
    let ran = scan(folder.path(), &["--only", "stuck"]);
    assert_eq!(names(&ran), ["stuck-04", "stuck-06"]);
    assert!(ran.out.ends_with("4 runs: 2 stuck, 2 clean\n"), "{}", ran.out);
    let lines = scan(folder.path(), &["--only", "stuck", "--format", "jsonl"]);
    assert_eq!(lines.lines().len(), 2, "{}", lines.out);
}

#[test]
fn runs_are_sorted_by_path_by_cost_and_by_time() {
    let folder = folder(1, &[4, 9, 6]);
    let sorted = |order| names(&scan(folder.path(), &["--sort", order]));
    assert_eq!(sorted("path"), ["clean-00", "stuck-04", "stuck-06", "stuck-09"]);
    assert_eq!(sorted("cost"), ["stuck-09", "stuck-06", "stuck-04", "clean-00"]);
    for (days, name) in ["stuck-06", "clean-00", "stuck-09", "stuck-04"].iter().enumerate() {
        let path = folder.path().join(name).with_extension("jsonl");
        changed(&path, days as u64);
    }
    assert_eq!(sorted("time"), ["stuck-04", "stuck-09", "clean-00", "stuck-06"]);
}

/// Sets the time of the last change of a file, in days since 1970.
fn changed(path: &std::path::Path, days: u64) {
    let file = fs::File::options().write(true).open(path).expect("a file");
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400);
    file.set_modified(time).expect("a time");
}

#[test]
fn old_files_of_a_folder_are_left_out() {
    let folder = folder(3, &[4]);
    for name in ["clean-00.jsonl", "clean-02.jsonl"] {
        changed(&folder.path().join(name), 1);
    }
    let ran = scan(folder.path(), &["--since", "1d"]);
    assert_eq!((ran.exit, names(&ran)), (1, vec!["clean-01".to_owned(), "stuck-04".to_owned()]));
    assert!(
        ran.out.ends_with("2 runs: 1 stuck, 1 clean (2 older files left out)\n"),
        "{}",
        ran.out
    );
    // A file that is named is read, and a folder with old files only is no error.
    let named = scan(&folder.path().join("clean-00.jsonl"), &["--since", "1d"]);
    assert_eq!(names(&named), ["clean-00"]);
    for name in ["clean-01.jsonl", "stuck-04.jsonl"] {
        changed(&folder.path().join(name), 1);
    }
    let none = scan(folder.path(), &["--since", "1d"]).quiet(0);
    assert_eq!(none.out, "0 runs: 0 stuck, 0 clean (4 older files left out)\n");
    assert_eq!(scan(folder.path(), &["--since", "99999999w"]).exit, 1, "older than any clock");
}

#[test]
fn quiet_leaves_the_exit_code_and_the_errors() {
    let folder = folder(1, &[4]);
    let bad = folder.file("bad.txt", "no trace");
    let (stuck, clean) =
        (folder.path().join("stuck-04.jsonl"), folder.path().join("clean-00.jsonl"));
    let out = folder.path().join("out.json");
    let out = out.to_str().expect("UTF-8");
    for (path, exit) in [(&stuck, 1), (&clean, 0), (&bad, 3)] {
        let ran = scan(path, &["-q"]);
        assert_eq!((ran.exit, ran.out.as_str()), (exit, ""));
        assert_eq!(ran.err.is_empty(), exit != 3, "{}", ran.err);
        let both = scan(path, &["--quiet", "--format", "human", "--format", "json", "-o", out]);
        assert_eq!((both.exit, both.out.as_str()), (exit, ""));
        let written = fs::read_to_string(out).expect("a file is written all the same");
        assert!(written.starts_with(r#"{"schema":1,"#), "{written}");
    }
}

#[test]
fn colours_are_chosen() {
    let path = runs().join("native/stuck-edit.jsonl");
    for (option, variable, coloured) in [
        ("--color=auto", None, false),
        ("--color=auto", Some(("CLICOLOR_FORCE", "1")), true),
        ("--color=always", Some(("NO_COLOR", "1")), true),
        ("--color=never", Some(("CLICOLOR_FORCE", "1")), false),
    ] {
        let mut command = program();
        command.envs(variable).args(["scan", option]).arg(&path);
        let output = command.output().expect("a program that starts");
        assert_eq!(output.stdout.contains(&0x1b), coloured, "{option}, {variable:?}");
    }
    let missing = |option| {
        let output = program().args(["scan", option, "missing.jsonl"]).output();
        output.expect("a program that starts").stderr
    };
    assert!(missing("--color=always").contains(&0x1b) && !missing("--color=auto").contains(&0x1b));
    // A file has none.
    let folder = Folder::new();
    let out = folder.path().join("out.txt");
    let ran = unstuck([
        "scan".as_ref(),
        path.as_os_str(),
        "--color=always".as_ref(),
        "-o".as_ref(),
        out.as_os_str(),
    ]);
    assert_eq!(ran.exit, 1);
    assert!(!fs::read(&out).expect("a report").contains(&0x1b));
}

#[test]
fn arguments_that_differ_late_are_cut_so_that_it_is_seen() {
    let folder = Folder::new();
    let call = |n: usize| {
        let long = "a/folder/with/a/long/name/".repeat(4);
        record(
            "bash",
            &format!(r#"{{"command":"pytest {long}test_{n}.py -x"}}"#),
            "no such file",
            true,
        )
    };
    let ran = scan(&folder.file("run.jsonl", (0..5).map(call).collect::<String>()), &[]);
    for n in 0..3 {
        assert!(ran.out.contains(&format!("test_{n}.py")), "{}", ran.out);
    }
    // Calls that are the same look the same.
    let same = repeated(call(7).trim_end());
    let ran = scan(&folder.file("run.jsonl", same), &[]);
    assert!(!ran.out.contains("test_7.py"), "{}", ran.out);
}
