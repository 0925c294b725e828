//! The benchmark `hook`: `unstuck hook` as agents run it, beside interpreters that do nothing.

use std::cell::Cell;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;
use serde_json::json;

use crate::report::{Measurement, Report};
use crate::rounds::{Case, Timing, take_turns};
use crate::scan;

/// The number of rounds.
const ROUNDS: usize = 101;

/// The lengths of the results in the events, in bytes: a usual one, and a rare one.
const RESULTS: [usize; 2] = [500, 1 << 20];

/// The length of the longest line of a result.
const LINE_MAX: usize = 64;

/// A program that was started and waited for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Startup {
    /// The program and its arguments.
    pub program: String,
    /// The number of bytes that the program reads.
    pub bytes: usize,
    /// The median time from start to end, in milliseconds.
    pub milliseconds: f64,
    /// The median ratio to the first program's time in the same round.
    pub ratio: f64,
}

impl Measurement for Startup {
    const HEADINGS: &'static [&'static str] = &["program", "bytes to read", "ms", "ratio"];
    const WORDS: usize = 1;

    fn cells(&self) -> Vec<String> {
        let Self { program, bytes, milliseconds, ratio } = self;
        vec![
            program.clone(),
            bytes.to_string(),
            format!("{milliseconds:.2}"),
            format!("{ratio:.1}"),
        ]
    }
}

/// Runs the program `unstuck` as the hook of an agent, and other programs, in turns.
///
/// # Errors
///
/// If there is no program `unstuck`, or no folder for its state.
pub fn measure() -> io::Result<Report> {
    let unstuck = scan::program()?;
    let (mut programs, mut left_out) = (Vec::new(), Vec::new());
    for length in RESULTS {
        programs.push(Program::Hook(Hook::new(&unstuck, length)?));
    }
    for (name, arguments) in
        [("true", &[][..]), ("python3", &["-c", "pass"]), ("node", &["-e", "0"])]
    {
        match executable(name) {
            Some(path) => programs.push(Program::Other { name, path, arguments }),
            None => left_out.push(format!("{name}: it is not installed")),
        }
    }
    let case = |program| Case { calls: 1, run: Box::new(move || Program::run(program)) };
    let timings = take_turns(&programs.iter().map(case).collect::<Vec<_>>(), ROUNDS);
    let startup = |(program, Timing { ns_per_call, ratio, .. }): (&Program, Timing)| Startup {
        program: program.name(),
        bytes: program.bytes(),
        milliseconds: ns_per_call / 1e6,
        ratio,
    };
    report(&programs.iter().zip(timings).map(startup).collect::<Vec<_>>(), left_out)
}

fn report(startups: &[Startup], left_out: Vec<String>) -> io::Result<Report> {
    let mut report = Report::default();
    report.table("rows", startups)?;
    report.remark(
        "From start to end, with the state on disk. The ratio is to the first line, in the same round.",
    );
    for reason in left_out {
        report.leave_out(reason);
    }
    Ok(report)
}

/// A program that takes turns with others.
enum Program {
    Hook(Hook),
    Other { name: &'static str, path: PathBuf, arguments: &'static [&'static str] },
}

impl Program {
    fn name(&self) -> String {
        match self {
            Self::Hook(_) => "unstuck hook".to_owned(),
            Self::Other { name, arguments, .. } => [&[*name], *arguments].concat().join(" "),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Hook(hook) => Hook::begin(0).len() + hook.end.len(),
            Self::Other { .. } => 0,
        }
    }

    /// Starts the program and waits for its end. Returns 1 if it failed, else 0.
    fn run(&self) -> u32 {
        let ran = match self {
            Self::Hook(hook) => hook.run(),
            Self::Other { path, arguments, .. } => {
                silent(path).args(*arguments).status().map(|status| status.success())
            }
        };
        u32::from(!ran.unwrap_or(false))
    }
}

/// A hook and its session.
struct Hook {
    unstuck: PathBuf,
    state: tempfile::TempDir,
    /// The end of every payload: the result, which is the output of a build.
    end: String,
    /// The number of earlier events.
    events: Cell<u64>,
}

impl Hook {
    fn new(unstuck: &Path, length: usize) -> io::Result<Self> {
        let mut result = String::with_capacity(length + LINE_MAX);
        let mut lines = (0_u32..).map(|n| format!("compiling item {n} of the project\n"));
        while result.len() < length {
            result.extend(lines.next());
        }
        let response = json!({ "stdout": result, "stderr": "", "interrupted": false });
        let end = format!(r#","tool_response":{response}}}"#);
        let state = tempfile::tempdir()?;
        Ok(Self { unstuck: unstuck.to_owned(), state, end, events: Cell::new(0) })
    }

    /// Returns the beginning of the payload of event `n`. Each event is of a different call, so the hook
    /// has nothing to report.
    fn begin(n: u64) -> String {
        let fields = json!({
            "session_id": "5b6f9a52-0e0c-4f0b-9a63-0d6c1e2f7a10",
            "cwd": "/home/me/app",
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_use_id": format!("toolu_{n:08}"),
            "tool_input": { "command": format!("make part-{n}"), "description": "Build a part" },
        });
        let mut begin = fields.to_string();
        begin.pop();
        begin
    }

    /// Runs the hook on the next event. Returns whether it succeeded without output.
    fn run(&self) -> io::Result<bool> {
        let begin = Self::begin(self.events.get());
        self.events.set(self.events.get() + 1);
        let mut command = silent(&self.unstuck);
        command.args(["hook", "claude-code"]).env("UNSTUCK_STATE_DIR", self.state.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(begin.as_bytes())?;
            stdin.write_all(self.end.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        Ok(output.status.success() && output.stdout.is_empty())
    }
}

/// Returns a command for `program` without input and output.
fn silent(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Returns the path of the executable `name`. On the search path there may be a script that starts it.
pub(crate) fn executable(name: &str) -> Option<PathBuf> {
    let arguments = match name {
        "python3" => ["-c", "import sys; print(sys.executable)"],
        "node" => ["-p", "process.execPath"],
        // Its path is not needed: it is no script of a version manager.
        "jq" => ["-n", "empty"],
        _ => ["", ""],
    };
    let output = Command::new(name).args(arguments).stdin(Stdio::null()).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    let path = if path.trim().is_empty() { name } else { path.trim() };
    output.status.success().then(|| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_one_table_and_a_line_for_all_else() {
        let startup = |program: &str, bytes, milliseconds, ratio| Startup {
            program: program.to_owned(),
            bytes,
            milliseconds,
            ratio,
        };
        let startups = [
            startup("unstuck hook", 900, 1.234, 1.0),
            startup("unstuck hook", 1_049_000, 4.5, 3.66),
            startup("python3 -c pass", 0, 13.7, 11.1),
        ];
        let left_out = vec!["node: it is not installed".to_owned()];
        insta::assert_snapshot!(report(&startups, left_out).unwrap());
    }

    #[test]
    fn a_payload_contains_its_result_and_a_call_of_its_own() {
        for length in RESULTS {
            let hook = Hook::new(Path::new("unstuck"), length).expect("a folder");
            let payload = Hook::begin(1) + &hook.end;
            assert!((length..length + length / 10 + 400).contains(&payload.len()), "{length}");
            let payload: serde_json::Value = serde_json::from_str(&payload).expect("JSON");
            assert!(
                payload["tool_response"]["stdout"].as_str().is_some_and(|out| out.len() >= length)
            );
            assert_ne!(Hook::begin(1), Hook::begin(2));
        }
    }
}
