//! Runs the real program and captures its output, with checks that hold for every run.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// All exit codes. 2 is never used, because coding agents read it as "block".
const EXITS: [i32; 5] = [0, 1, 3, 4, 64];

/// The result of a run of the program.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Returns the result of a command that needs no input.
    pub(crate) fn by(command: &mut Command) -> Self {
        Self::of(command.output().expect("a program that starts"))
    }

    /// Returns the result of a command with `input` on standard input. It may stop reading early.
    pub(crate) fn by_reading(command: &mut Command, input: &[u8]) -> Self {
        Self::fed(command, input).0
    }

    /// Returns the result of a command that reads all of `input`.
    pub(crate) fn by_reading_all(command: &mut Command, input: &[u8]) -> Self {
        let (ran, written) = Self::fed(command, input);
        written.expect("a program that reads all it is given");
        ran
    }

    /// Returns the result of a command that gets these lines as its input, and from which a line of output is awaited at
    /// each line `<`. The exit code may be that of another program, and the end of the output may be read before the input.
    ///
    /// A program that says nothing for [`PATIENCE`] is ended.
    pub(crate) fn by_talking(command: &mut Command, lines: &str) -> Self {
        let mut child = piped(command);
        let mut to = child.stdin.take().expect("a pipe");
        let out = heard_from(child.stdout.take().expect("a pipe"));
        let err = heard_from(child.stderr.take().expect("a pipe"));
        let mut heard = String::new();
        // Hears a line. Returns whether there was one before the end.
        let mut hear = |from: &Receiver<String>, heard: &mut String| {
            let line = from.recv_timeout(PATIENCE);
            if line == Err(RecvTimeoutError::Timeout) {
                child.kill().expect("a program that can be ended");
                let err: String = err.try_iter().collect();
                panic!("no answer; heard so far:\n{heard}standard error:\n{err}");
            }
            line.map(|line| heard.push_str(&line)).is_ok()
        };
        for line in lines.split_inclusive('\n') {
            if line == "<\n" {
                hear(&out, &mut heard);
            } else if to.write_all(line.as_bytes()).is_err() {
                break;
            }
        }
        drop(to);
        let mut complaints = String::new();
        while hear(&out, &mut heard) {}
        while hear(&err, &mut complaints) {}
        let exit = child.wait().expect("a program that ends").code();
        Self { exit: exit.expect("a program that ends by itself"), out: heard, err: complaints }
    }

    fn fed(command: &mut Command, input: &[u8]) -> (Self, std::io::Result<()>) {
        let mut child = piped(command);
        let written = child.stdin.take().expect("a pipe").write_all(input);
        (Self::of(child.wait_with_output().expect("a program that ends")), written)
    }

    /// Returns the result of a process, after the checks that hold for every run.
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

    /// Checks that the program ended with this code and without a complaint.
    #[track_caller]
    pub(crate) fn quiet(self, exit: i32) -> Self {
        assert_eq!((self.exit, self.err.as_str()), (exit, ""), "{}", self.out);
        self
    }

    /// Checks that the program ended with this code, that it printed nothing, and what its error says.
    #[track_caller]
    pub(crate) fn fails(self, exit: i32, says: &str) -> Self {
        assert_eq!((self.exit, self.out.as_str()), (exit, ""), "{}", self.err);
        assert!(self.err.contains(says), "{}", self.err);
        self
    }

    /// Returns standard output as JSON Lines.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// Returns standard output, which must be one line of JSON.
    pub(crate) fn only_line(&self) -> Value {
        let lines = self.lines();
        assert_eq!(lines.len(), 1, "one line expected:\n{}{}", self.out, self.err);
        lines[0].clone()
    }
}

/// How long a line of output is awaited.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the lines of an output as they come, with their ends.
fn heard_from(output: impl Read + Send + 'static) -> Receiver<String> {
    let (to, lines) = mpsc::channel();
    thread::spawn(move || {
        let (mut output, mut line) = (BufReader::new(output), String::new());
        while output.read_line(&mut line).expect("UTF-8") > 0 {
            if to.send(std::mem::take(&mut line)).is_err() {
                break;
            }
        }
    });
    lines
}

/// The environment variables that may affect the program.
const SURROUNDINGS: [&str; 28] = [
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "RUST_BACKTRACE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GITHUB_JOB",
    "GITHUB_STEP_SUMMARY",
    "GEMINI_CLI_HOME",
    "COPILOT_HOME",
    "QWEN_HOME",
    "GOOSE_PATH_ROOT",
    "XDG_CONFIG_HOME",
    "PI_CODING_AGENT_DIR",
    "FACTORY_HOME_OVERRIDE",
    "CODEBUDDY_CONFIG_DIR",
    "XDG_STATE_HOME",
    "UNSTUCK",
    "UNSTUCK_STATE_DIR",
    "UNSTUCK_SWARM_SECRET",
    "UNSTUCK_SWARM_PASSWORD",
    "UNSTUCK_WEBHOOK_SECRET",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// A home folder that does not exist.
const NO_HOME: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/nobody");

/// Returns the program with empty standard input and without the caller's terminal and home.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unstuck"));
    for variable in SURROUNDINGS {
        command.env_remove(variable);
    }
    command.env("COLUMNS", "80").stdin(Stdio::null());
    at_home(&mut command, Path::new(NO_HOME));
    command
}

/// Sets the home folder of the program.
pub(crate) fn at_home(command: &mut Command, home: &Path) {
    for variable in ["HOME", "USERPROFILE"] {
        command.env(variable, home);
    }
}

/// Returns the program with a home folder.
pub(crate) fn program_at(home: &Path) -> Command {
    let mut command = program();
    at_home(&mut command, home);
    command
}

/// Starts a command with pipes for its input and output.
pub(crate) fn piped(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("a program that starts")
}

/// Returns another program in the surroundings of `command`.
#[cfg(unix)]
pub(crate) fn in_environment_of(command: &Command, program: &str) -> Command {
    let mut other = Command::new(program);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => other.env(name, value),
            None => other.env_remove(name),
        };
    }
    other
}

/// Runs the program with these arguments.
pub(crate) fn unstuck<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Ran {
    Ran::by(program().args(arguments))
}

/// Runs the program with these arguments in `folder`, so that the text contains no path of this machine.
pub(crate) fn run_in(folder: &Path, arguments: &[&str]) -> Ran {
    Ran::by(program().current_dir(folder).args(arguments))
}

/// Runs the program with these arguments and with `input` on standard input.
pub(crate) fn unstuck_reading(arguments: &[&str], input: &[u8]) -> Ran {
    Ran::by_reading(program().args(arguments), input)
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

/// The presets, in their order. The first one is the default.
pub(crate) const PRESETS: [&str; 8] = [
    "balanced",
    "start_over",
    "graduated",
    "graduated_conservative",
    "graduated_aggressive",
    "nudge",
    "cycles",
    "repeat",
];

/// The rule sets of other agents, in the order in which they are listed.
pub(crate) const RULE_SETS: [&str; 6] =
    ["openhands", "gemini-cli", "crush", "cline", "stella", "forge"];

/// The recorded runs of the trace adapter.
pub(crate) fn runs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/runs")
}

/// Returns the labels of the recorded runs, which a person made.
pub(crate) fn labels() -> PathBuf {
    runs().with_file_name("runs.labels.jsonl")
}

/// Returns whether tests take more of their cases than a sample.
pub(crate) fn is_exhaustive() -> bool {
    effort() > 0
}

/// Returns the effort of tests that take long: 0 by default, 1 for more, and from 2 on for all that they know.
pub(crate) fn effort() -> usize {
    let value = std::env::var("UNSTUCK_EXHAUSTIVE").unwrap_or_default();
    let parsed = if value.is_empty() { Ok(0) } else { value.parse::<usize>() };
    parsed.expect("UNSTUCK_EXHAUSTIVE is a number").min(2)
}

/// Returns whether the expected output in files is written anew.
pub(crate) fn writes_golden() -> bool {
    std::env::var_os("UNSTUCK_GOLDEN").is_some_and(|word| word == "write")
}

/// Returns a folder of shared test data. Prints a remark and returns `None` if it does not exist.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: no test data in {}", path.display());
    None
}

/// Returns the lines of a JSON Lines file.
pub(crate) fn listed(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a list");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of the list")).collect()
}

/// A temporary folder for the files of one test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file in the folder, and creates missing parent folders.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder to write to");
        fs::write(&path, content).expect("a file that can be written");
        path
    }

    /// Writes a shell script in the folder.
    ///
    /// Another process writes the script. If this process wrote it, a thread that starts a program
    /// at the same time could pass on the open file, and a file that is open for writing cannot be
    /// executed.
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

/// A native trace without a loop.
pub(crate) const CLEAN: &str = concat!(
    r#"{"type":"call","tool":"bash","args":{"command":"ls"},"result":"a.rs","is_error":false}"#,
    "\n",
    r#"{"type":"call","tool":"read","args":{"path":"a.rs"},"result":"fn a() {}","is_error":false}"#,
    "\n",
);

/// A native trace of one call that is repeated and always fails in the same way.
pub(crate) fn stuck() -> String {
    repeated(
        r#"{"type":"call","tool":"bash","args":{"command":"make"},"result":"no rule to make target","is_error":true}"#,
    )
}

/// Returns a native trace with this record six times.
pub(crate) fn repeated(record: &str) -> String {
    format!("{record}\n").repeat(6)
}

/// Returns a call of a native trace as text, in which keys keep their order.
pub(crate) fn record(tool: &str, args: &str, result: &str, failed: bool) -> String {
    format!(
        r#"{{"type":"call","tool":"{tool}","args":{args},"result":"{result}","is_error":{failed}}}"#
    ) + "\n"
}

/// Writes a run with a thousand loops. Returns its file, and the ids of loops that share the first four
/// digits.
pub(crate) fn loops_that_begin_alike(folder: &Folder) -> (PathBuf, Vec<String>) {
    let call = |n| record("a", &format!(r#"{{"n":{}}}"#, n / 3), "b", false);
    let calls: Vec<String> = (0..3000).map(call).collect();
    let path = folder.file("run.jsonl", calls.concat());
    let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for finding in scanned(&path).only_line()["findings"].as_array().expect("findings") {
        let id = finding["loop"].as_str().expect("an id").to_owned();
        alike.entry(id[..4].to_owned()).or_default().push(id);
    }
    let ids = alike.into_values().find(|ids| ids.len() > 1).expect("ids that begin alike");
    (path, ids)
}

/// Returns a native trace in which the agent repeats a sentence many times in one turn.
pub(crate) fn echo() -> String {
    let turn = |text: &str| format!(r#"{{"type":"message","role":"assistant","text":"{text}"}}"#);
    let round = "I will now check the file again. ".repeat(9);
    format!("{}\n{}\n", turn("Let me see."), turn(&format!("I see. {round}")))
}
