//! `unstuck hook` as agents run it, from its start to its end, beside interpreters that do nothing.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use comfy_table::Table;
use serde::Serialize;
use serde_json::json;

use crate::rounds::{Case, Timing, take_turns};
use crate::table::table;

/// How many rounds all programs go.
const ROUNDS: usize = 101;

/// The lengths of the results in the events, in bytes: what most calls give back, and what few do.
const RESULTS: [usize; 2] = [500, 1 << 20];

/// No line of a result is longer.
const LINE_MAX: usize = 64;

/// A program that is started and waited for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What the report calls it.
    pub program: String,
    /// How many bytes it is given to read.
    pub bytes: usize,
    /// The median time from its start to its end, in milliseconds.
    pub milliseconds: f64,
    /// The median of how many times as long it took as the first program, in the same round.
    pub ratio: f64,
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Each program.
    pub rows: Vec<Row>,
    /// What was left out, and why.
    pub left_out: Vec<String>,
}

/// Runs the program `unstuck` as the hook of an agent, and others beside it, in turns.
///
/// # Errors
///
/// If there is no folder for the state.
pub fn measure(unstuck: &Path) -> io::Result<Report> {
    let (mut programs, mut left_out) = (Vec::new(), Vec::new());
    let hooks = RESULTS.map(|length| Hook::new(unstuck, length));
    for hook in hooks {
        programs.push(Program::Hook(hook?));
    }
    for (name, arguments) in
        [("true", &[][..]), ("python3", &["-c", "pass"]), ("node", &["-e", "0"])]
    {
        match itself(name) {
            Some(path) => programs.push(Program::Other { name, path, arguments }),
            None => left_out.push(format!("{name}: it is not installed")),
        }
    }
    let case = |program| Case { calls: 1, run: Box::new(move || Program::run(program)) };
    let timings = take_turns(&programs.iter().map(case).collect::<Vec<_>>(), ROUNDS);
    let row = |(program, Timing { ns_per_call, ratio, .. }): (&Program, Timing)| Row {
        program: program.name(),
        bytes: program.bytes(),
        milliseconds: ns_per_call / 1e6,
        ratio,
    };
    Ok(Report { rows: programs.iter().zip(timings).map(row).collect(), left_out })
}

/// What takes a turn.
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

    /// Starts it and waits for its end: 1 if that was not as it should be.
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

/// A hook, and the session that it is the hook of.
struct Hook {
    unstuck: PathBuf,
    state: tempfile::TempDir,
    /// The end of every payload: the result, a line for each item of some build.
    end: String,
    /// How many events came before.
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

    /// What stands before that in the event `n`: each is of another call, so that there is nothing to
    /// say.
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

    /// Whether it ended well and said nothing.
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

/// A program that reads nothing and of which nothing is heard.
fn silent(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The program `name` itself: what is found by that name may be a script that looks for it.
fn itself(name: &str) -> Option<PathBuf> {
    let tells = match name {
        "python3" => ["-c", "import sys; print(sys.executable)"],
        "node" => ["-p", "process.execPath"],
        _ => ["", ""],
    };
    let output = Command::new(name).args(tells).stdin(Stdio::null()).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    let path = if path.trim().is_empty() { name } else { path.trim() };
    output.status.success().then(|| path.into())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = ["program", "bytes to read", "ms", "ratio"];
        let rows: Table = table(header, 1, self.rows.iter().map(Row::cells));
        writeln!(f, "{rows}\n")?;
        writeln!(
            f,
            "From its start to its end, the state on disk between; the ratio is to the first line, \
             in the same round."
        )?;
        self.left_out.iter().try_for_each(|what| writeln!(f, "left out: {what}"))
    }
}

impl Row {
    fn cells(&self) -> [String; 4] {
        let Self { program, bytes, milliseconds, ratio } = self;
        [program.clone(), bytes.to_string(), format!("{milliseconds:.2}"), format!("{ratio:.1}")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_one_table_and_a_line_for_all_else() {
        let row = |program: &str, bytes, milliseconds, ratio| Row {
            program: program.to_owned(),
            bytes,
            milliseconds,
            ratio,
        };
        let report = Report {
            rows: vec![
                row("unstuck hook", 900, 1.234, 1.0),
                row("unstuck hook", 1_049_000, 4.5, 3.66),
                row("python3 -c pass", 0, 13.7, 11.1),
            ],
            left_out: vec!["node: it is not installed".to_owned()],
        };
        insta::assert_snapshot!(report);
    }

    #[test]
    fn a_payload_is_as_long_as_its_result_and_each_is_of_another_call() {
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
