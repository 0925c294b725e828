//! Outputs: pipes, files, terminals without colour, and readers that leave early.

use std::ffi::OsStr;
use std::fs;
use std::io::{Write as _, pipe};

use crate::harness::{Folder, Ran, labels, piped, program, runs, scan, stuck, unstuck};

/// A file with one document on each line.
const JSON: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/runs/native/stuck-two-in-turns.jsonl");

#[test]
fn a_reader_that_leaves_ends_the_program_quietly() {
    let (runs, labels) = (runs(), labels());
    let (runs, labels) = (runs.as_os_str(), labels.as_os_str());
    let word = OsStr::new;
    for words in [
        vec![word("scan"), runs],
        vec![word("scan"), runs, word("--format=json")],
        vec![word("scan"), runs, word("--format=jsonl")],
        vec![word("scan"), runs, word("--format=csv")],
        #[cfg(feature = "fleet")]
        vec![word("scan"), runs, word("--format=parquet")],
        vec![word("scan"), runs, word("--format=markdown")],
        vec![word("scan"), runs, word("--format=junit")],
        vec![word("scan"), runs, word("--format=sarif")],
        vec![word("scan"), runs, word("--format=github")],
        vec![word("eval"), word("--labels"), labels, runs],
        vec![word("presets")],
        vec![word("json"), OsStr::new(JSON)],
        vec![word("completions"), word("bash")],
        vec![word("man")],
        vec![word("--help")],
        vec![word("scan"), word("--help")],
    ] {
        let (reader, writer) = pipe().expect("a pipe");
        drop(reader);
        let ran = Ran::by(program().args(&words).stdout(writer));
        assert!([0, 1].contains(&ran.exit), "{words:?}: exit {}", ran.exit);
        assert_eq!(ran.err, "", "{words:?}");
    }
}

#[test]
fn a_reader_may_leave_in_the_middle() {
    let mut command = program();
    let mut child = piped(command.args(["scan", "-", "--format", "jsonl"]).arg(runs()));
    // Nothing is written before the end of standard input, so the pipe is closed by then.
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(stuck().as_bytes()).expect("a program that reads");
    drop(stdin);
    let ran = Ran::of(child.wait_with_output().expect("a program that ends"));
    assert!([0, 1].contains(&ran.exit), "exit {}", ran.exit);
    assert_eq!(ran.err, "");
}

#[test]
fn without_standard_error_the_exit_code_is_the_same() {
    for (words, exit) in [(&["scan", "missing.jsonl"][..], 3), (&["scan", "--nonsense"], 64)] {
        let (reader, writer) = pipe().expect("a pipe");
        drop(reader);
        assert_eq!(Ran::by(program().args(words).stderr(writer)).exit, exit, "{words:?}");
    }
}

#[test]
fn an_input_is_not_overwritten_by_another_name() {
    let folder = Folder::new();
    let run = folder.file("run.jsonl", stuck());
    let linked = folder.path().join("linked.jsonl");
    fs::hard_link(&run, &linked).expect("a second name");
    scan(&run, &["-o", linked.to_str().expect("UTF-8")]).fails(4, "is also an input");
    assert_eq!(fs::read_to_string(&run).expect("the run"), stuck());
}

#[test]
fn no_colour_reaches_a_pipe() {
    // The harness checks every run for escape sequences. These are the variables that could enable
    // them.
    for variables in [
        &[("TERM", "xterm-256color")][..],
        &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")],
        &[("TERM", "dumb")],
        &[("NO_COLOR", "1")],
        &[("NO_COLOR", "1"), ("TERM", "xterm-256color"), ("CLICOLOR", "1")],
    ] {
        for words in [&["scan", "missing.jsonl"][..], &["presets"], &["scan", "--help"], &["scan"]]
        {
            let mut command = program();
            command.args(words).arg(runs()).envs(variables.iter().copied());
            drop(Ran::by(&mut command));
        }
    }
}

/// An output must not use up what another one shows.
#[test]
fn several_outputs_of_a_scan_are_what_each_is_alone() {
    let runs = runs();
    let runs = runs.to_str().expect("a path");
    let alone = |words: &[&str]| unstuck([&["scan", runs], words].concat()).out;
    let folder = Folder::new();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (first, second, third) = (path("first"), path("second"), path("third"));
    for (words, formats) in [
        (&[][..], ["html", "html", "jsonl"]),
        (&[], ["json", "markdown", "junit"]),
        (&["--explain", "aed4"], ["human", "svg", "svg"]),
    ] {
        let [one, other, last] = formats;
        let together = [
            &["--format", one, "-o", &first][..],
            &["--format", other, "-o", &second],
            &["--format", last, "-o", &third],
            words,
        ];
        assert_eq!(alone(&together.concat()), "");
        for (format, file) in [(one, &first), (other, &second), (last, &third)] {
            let written = fs::read_to_string(file).expect("an output");
            assert!(!written.is_empty(), "{format} is empty");
            assert_eq!(written, alone(&[&["--format", format], words].concat()), "{format}");
        }
    }
}
