//! The benchmark `hook`: `unstuck hook` as agents run it, beside interpreters that do nothing.

use std::cell::Cell;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;
use serde_json::json;

use crate::real_calls::{ABSENT, RealCall, Recorded};
use crate::report::{Measurement, Report};
use crate::rounds::{Case, Timing, take_turns};
use crate::scan;

/// The number of rounds.
const ROUNDS: usize = 101;

/// The lengths of the results in the events, in bytes: a usual one, and a rare one.
const RESULTS: [usize; 2] = [500, 1 << 20];

/// The number of real calls that are told in turns: one of each round.
const REAL_CALLS: usize = ROUNDS;

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
    for (form, unstuck) in [(None, unstuck.clone())].into_iter().chain(other_forms(&unstuck)) {
        for length in RESULTS {
            programs.push(Program::Hook(form.clone(), Hook::new(&unstuck, length)?));
        }
        match Hook::of_real_calls(&unstuck)? {
            Some(hook) => programs.push(Program::Hook(form, hook)),
            None => left_out.push(ABSENT.to_owned()),
        }
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
    /// A hook, and the target of its program if that is not the default.
    Hook(Option<String>, Hook),
    Other {
        name: &'static str,
        path: PathBuf,
        arguments: &'static [&'static str],
    },
}

impl Program {
    fn name(&self) -> String {
        match self {
            Self::Hook(form, Hook { what, .. }) => {
                let name = ["unstuck hook"].into_iter().chain(*what).chain(form.as_deref());
                name.collect::<Vec<_>>().join(", ")
            }
            Self::Other { name, arguments, .. } => [&[*name], *arguments].concat().join(" "),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Hook(_, hook) => hook.bytes(),
            Self::Other { .. } => 0,
        }
    }

    /// Starts the program and waits for its end. Returns 1 if it failed, else 0.
    fn run(&self) -> u32 {
        let ran = match self {
            Self::Hook(_, hook) => hook.run(),
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
    /// The name of the events, if they are real.
    what: Option<&'static str>,
    state: tempfile::TempDir,
    /// The ends of the payloads, in turns: the result, and the call if it is a real one.
    ends: Vec<String>,
    /// The number of earlier events.
    events: Cell<u64>,
}

impl Hook {
    /// Creates a hook for results of `length` bytes, the output of a build.
    fn new(unstuck: &Path, length: usize) -> io::Result<Self> {
        let mut result = String::with_capacity(length + LINE_MAX);
        let mut lines = (0_u32..).map(|n| format!("compiling item {n} of the project\n"));
        while result.len() < length {
            result.extend(lines.next());
        }
        Self::of(unstuck, None, vec![end(&json!({ "tool_response": response(&result) }))])
    }

    /// Creates a hook for real calls of many runs, or `None` if the runs are absent.
    fn of_real_calls(unstuck: &Path) -> io::Result<Option<Self>> {
        let calls: Vec<RealCall> = Recorded::Traces.runs().into_iter().flatten().collect();
        let step = (calls.len() / REAL_CALLS).max(1);
        let ends: Vec<_> = calls
            .iter()
            .step_by(step)
            .filter_map(|call| {
                let args: serde_json::Value = serde_json::from_str(&call.args).ok()?;
                Some(end(&json!({
                    "tool_name": call.tool,
                    "tool_input": args,
                    "tool_response": response(&call.result),
                })))
            })
            .collect();
        let is_any = !ends.is_empty();
        is_any.then(|| Self::of(unstuck, Some("real calls"), ends)).transpose()
    }

    fn of(unstuck: &Path, what: Option<&'static str>, ends: Vec<String>) -> io::Result<Self> {
        let state = tempfile::tempdir()?;
        Ok(Self { unstuck: unstuck.to_owned(), what, state, ends, events: Cell::new(0) })
    }

    /// Returns the mean length of a payload.
    fn bytes(&self) -> usize {
        let ends: usize = self.ends.iter().map(String::len).sum();
        self.begin(0).len() + ends / self.ends.len()
    }

    /// Returns the beginning of the payload of event `n`. Without real calls, each is of a different call, so
    /// the hook has nothing to report.
    fn begin(&self, n: u64) -> String {
        let mut fields = json!({
            "session_id": "5b6f9a52-0e0c-4f0b-9a63-0d6c1e2f7a10",
            "cwd": "/home/me/app",
            "hook_event_name": "PostToolUse",
            "tool_use_id": format!("toolu_{n:08}"),
        });
        if self.what.is_none() {
            fields["tool_name"] = "Bash".into();
            let command = format!("make part-{n}");
            fields["tool_input"] = json!({ "command": command, "description": "Build a part" });
        }
        let mut begin = fields.to_string();
        begin.pop();
        begin
    }

    /// Runs the hook on the next event. Returns whether it succeeded without output.
    fn run(&self) -> io::Result<bool> {
        let number = self.events.get();
        self.events.set(number + 1);
        let mut ends = self.ends.iter().cycle();
        let place = usize::try_from(number).unwrap_or_default() % self.ends.len();
        let Some(end) = ends.nth(place) else { return Ok(false) };
        let mut command = silent(&self.unstuck);
        command.args(["hook", "claude-code"]).env("UNSTUCK_STATE_DIR", self.state.path());
        // A real call may be a part of a loop.
        command.args(self.what.map(|_| "--observe"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(self.begin(number).as_bytes())?;
            stdin.write_all(end.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        Ok(output.status.success() && output.stdout.is_empty())
    }
}

/// Returns the result of a call of `Bash`.
fn response(stdout: &str) -> serde_json::Value {
    json!({ "stdout": stdout, "stderr": "", "interrupted": false })
}

/// Returns the end of a payload with these fields.
fn end(fields: &serde_json::Value) -> String {
    fields.to_string().replacen('{', ",", 1)
}

/// Returns the programs that were built for named targets, with the names: they may be linked in another way.
fn other_forms(unstuck: &Path) -> Vec<(Option<String>, PathBuf)> {
    let folder = |path: &Path| path.parent().map(Path::to_owned);
    let Some(profile) = folder(unstuck) else { return Vec::new() };
    let targets = folder(&profile).and_then(|target| fs::read_dir(target).ok());
    let entries = targets.into_iter().flatten().flatten();
    let mut forms: Vec<_> = entries
        .filter_map(|entry| {
            let program = entry.path().join(profile.file_name()?).join(unstuck.file_name()?);
            let name = entry.file_name().to_string_lossy().into_owned();
            program.is_file().then_some((Some(name), program))
        })
        .collect();
    forms.sort();
    forms
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
            let payload = hook.begin(1) + &hook.ends[0];
            assert!((length..length + length / 10 + 400).contains(&payload.len()), "{length}");
            assert_eq!(hook.bytes(), payload.len(), "{length}");
            let payload: serde_json::Value = serde_json::from_str(&payload).expect("JSON");
            assert!(
                payload["tool_response"]["stdout"].as_str().is_some_and(|out| out.len() >= length)
            );
            assert_ne!(hook.begin(1), hook.begin(2));
        }
    }

    #[test]
    fn a_program_for_a_named_target_takes_part_by_its_name() {
        let target = tempfile::tempdir().expect("a folder");
        let program = |folder: &str| target.path().join(folder).join("unstuck");
        for folder in ["dist", "release", "a-target/dist", "another/release"] {
            fs::create_dir_all(target.path().join(folder)).expect("a folder");
            fs::write(program(folder), "").expect("a program");
        }
        let expected = vec![(Some("a-target".to_owned()), program("a-target/dist"))];
        assert_eq!(other_forms(&program("dist")), expected);
    }
}
