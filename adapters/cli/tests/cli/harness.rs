//! Runs the real program and keeps what it says; what must hold of every run is checked here.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Every exit code that there is. 2 is none of them: coding agents read it as "block".
const EXITS: [i32; 5] = [0, 1, 3, 4, 64];

/// How a run of the program ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// What a process left, after the checks that no run is exempt from.
    pub(crate) fn of(output: Output) -> Self {
        let exit = output.status.code().expect("a program that ends by itself");
        let out = String::from_utf8(output.stdout).expect("UTF-8 on standard output");
        let err = String::from_utf8(output.stderr).expect("UTF-8 on standard error");
        assert!(EXITS.contains(&exit), "exit {exit}: {err}");
        assert!(!err.contains("panicked"), "{err}");
        for text in [&out, &err] {
            let control = text.chars().find(|&c| c.is_control() && c != '\n');
            assert_eq!(control, None, "in {text}");
            assert!(text.is_empty() || text.ends_with('\n'), "a line breaks off: {text}");
        }
        Self { exit, out, err }
    }

    /// Standard output as JSON Lines.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// Standard output as the one line of JSON that it should be.
    pub(crate) fn only_line(&self) -> Value {
        let lines = self.lines();
        assert_eq!(lines.len(), 1, "one line expected:\n{}{}", self.out, self.err);
        lines[0].clone()
    }
}

/// What the program might take from the caller's surroundings.
const SURROUNDINGS: [&str; 10] = [
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "RUST_BACKTRACE",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "UNSTUCK",
    "UNSTUCK_SWARM_SECRET",
];

/// A home folder with nothing in it, since it is not there.
const NO_HOME: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/nobody");

/// The program, with nothing on standard input and nothing of the caller's terminal or home.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unstuck"));
    for variable in SURROUNDINGS {
        command.env_remove(variable);
    }
    command.env("COLUMNS", "80").stdin(Stdio::null());
    at_home(&mut command, Path::new(NO_HOME));
    command
}

/// Gives the program the user's folder `home`.
pub(crate) fn at_home(command: &mut Command, home: &Path) {
    for variable in ["HOME", "USERPROFILE"] {
        command.env(variable, home);
    }
}

/// Runs the program with these arguments.
pub(crate) fn unstuck<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Ran {
    Ran::of(program().args(arguments).output().expect("a program that starts"))
}

/// Runs the program with these arguments and with `input` on standard input.
pub(crate) fn unstuck_reading(arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = program();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a program that starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that has seen enough reads no further, and that is its right.
    let _ = stdin.write_all(input);
    drop(stdin);
    Ran::of(child.wait_with_output().expect("a program that ends"))
}

/// Runs `unstuck scan` on `path`, with these options.
pub(crate) fn scan(path: &Path, options: &[&str]) -> Ran {
    let options = options.iter().map(OsStr::new);
    unstuck([OsStr::new("scan"), path.as_os_str()].into_iter().chain(options))
}

/// Runs `unstuck scan --format jsonl` on `path`.
pub(crate) fn scanned(path: &Path) -> Ran {
    scan(path, &["--format", "jsonl"])
}

/// Runs `unstuck eval` on the runs below `root`, with these options.
pub(crate) fn evaluated(labels: &Path, root: &Path, options: &[&str]) -> Ran {
    let words = [OsStr::new("eval"), root.as_os_str(), OsStr::new("--labels"), labels.as_os_str()];
    unstuck(words.into_iter().chain(options.iter().map(OsStr::new)))
}

/// The recorded runs of the trace adapter.
pub(crate) fn runs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/runs")
}

/// What somebody who read the recorded runs says of them.
pub(crate) fn labels() -> PathBuf {
    runs().with_file_name("runs.labels.jsonl")
}

/// A folder of shared test data; none, with a remark, where it is absent.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: no test data in {}", path.display());
    None
}

/// The lines of a file of JSON Lines.
pub(crate) fn listed(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a list");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of the list")).collect()
}

/// A folder that goes away by itself, for the files of one test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A file in it, below folders that are made where they are missing.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder to write to");
        fs::write(&path, content).expect("a file that can be written");
        path
    }

    /// A program in it, which a shell runs.
    ///
    /// Another process writes it: while this one did, a thread that starts a program might hand it
    /// the open file, and a file that is open for writing cannot be run.
    #[cfg(unix)]
    pub(crate) fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder to write to");
        let mut shell = Command::new("sh");
        shell.args([
            "-c",
            r#"printf '#!/bin/sh\n%s\n' "$1" >"$2" && chmod 755 "$2""#,
            "sh",
            script,
        ]);
        assert!(shell.arg(&path).status().expect("a shell").success());
        path
    }
}

/// A native trace in which nothing goes round.
pub(crate) const CLEAN: &str = concat!(
    r#"{"type":"call","tool":"bash","args":{"command":"ls"},"result":"a.rs","is_error":false}"#,
    "\n",
    r#"{"type":"call","tool":"read","args":{"path":"a.rs"},"result":"fn a() {}","is_error":false}"#,
    "\n",
);

/// A native trace of one call, made again and again and failing alike.
pub(crate) fn stuck() -> String {
    repeated(
        r#"{"type":"call","tool":"bash","args":{"command":"make"},"result":"no rule to make target","is_error":true}"#,
    )
}

/// A native trace of this record, six times.
pub(crate) fn repeated(record: &str) -> String {
    format!("{record}\n").repeat(6)
}

/// A call of a native trace, as text, in which keys keep their order.
pub(crate) fn record(tool: &str, args: &str, result: &str, failed: bool) -> String {
    format!(
        r#"{{"type":"call","tool":"{tool}","args":{args},"result":"{result}","is_error":{failed}}}"#
    ) + "\n"
}

/// A native trace of an agent that says one thing, and then another many times over in one turn.
pub(crate) fn echo() -> String {
    let said = |text: &str| format!(r#"{{"type":"message","role":"assistant","text":"{text}"}}"#);
    let round = "I will now check the file again. ".repeat(9);
    format!("{}\n{}\n", said("Let me see."), said(&format!("I see. {round}")))
}
