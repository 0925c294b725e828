//! The benchmark `hook`: `unstuck hook` as agents run it, beside interpreters that do nothing.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Error, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::calls::{RECORDED, RawCall, recorded};
use crate::harness::{Contest, Function, Peer as _};
use crate::process::{executable, silent, unstuck};
use crate::report::{Report, rounded};

/// The number of rounds, and of real calls that are told in turns: one of each round.
const ROUNDS: usize = 101;

/// The lengths of the results in the events, in bytes: a usual one, and a rare one.
const RESULTS: [usize; 2] = [500, 1 << 20];

/// The programs that do nothing, with their arguments.
const OTHERS: [&[&str]; 3] = [&["true"], &["python3", "-c", "pass"], &["node", "-e", "0"]];

/// Runs the program `unstuck` as the hook of an agent, and other programs, in turns.
pub(crate) fn measure() -> io::Result<Report> {
    let unstuck = unstuck()?;
    let mut report = Report::default();
    let mut hooks = Vec::new();
    let real = real_calls();
    if real.is_empty() {
        report.leave_out("real calls: they are not recorded beside the project");
    }
    for (form, program) in [(String::new(), unstuck.clone())].into_iter().chain(forms(&unstuck)) {
        for length in RESULTS {
            hooks.push(Hook::new(&program, &form, vec![made(length)])?);
        }
        if !real.is_empty() {
            hooks.push(Hook::new(&program, &format!("real calls, {form}"), real.clone())?);
        }
    }
    let hooks = hooks.into_iter().map(|hook| Function::failing(hook.name(), move || hook.run()));
    let mut peers: Vec<Function> = hooks.collect();
    for words in OTHERS {
        match executable(words[0]) {
            Some(path) => peers.push(other(words, path)),
            None => report.leave_out(format!("{}: it is not installed", words[0])),
        }
    }
    let input = String::new();
    let contest = Contest { input, items: 1, bytes: 0, rounds: ROUNDS, counted: 0, peers };
    let timings = contest.take_turns()?;
    let rows = contest.peers.iter().zip(timings).map(|(peer, timing)| {
        vec![json!(peer.name()), rounded(timing.ns / 1e6, 2), rounded(timing.ratio, 1)]
    });
    report.table("rows", &["program", "ms", "ratio"], rows.collect());
    report.remark(
        "From start to end, with the state on disk. The ratio is to the first line, in the same round.",
    );
    Ok(report)
}

/// Returns a program that does nothing.
fn other(words: &[&str], path: PathBuf) -> Function {
    let name = words.join(" ");
    let words: Vec<OsString> =
        [path.into()].into_iter().chain(words[1..].iter().map(Into::into)).collect();
    Function::failing(name, move || match silent(&words).status()? {
        status if status.success() => Ok(0),
        status => Err(Error::other(format!("{} ended with {status}", words[0].display()))),
    })
}

/// A hook and its session.
struct Hook {
    program: PathBuf,
    /// The kind of events, and the target of the program if that is not the default.
    what: String,
    state: tempfile::TempDir,
    /// The payloads behind their beginnings, in turns. If there is one, its call is a part of the beginning.
    ends: Vec<String>,
    /// The number of earlier events.
    events: Cell<usize>,
}

impl Hook {
    fn new(program: &Path, what: &str, ends: Vec<String>) -> io::Result<Self> {
        let (program, what) = (program.to_owned(), what.trim_end_matches([',', ' ']).to_owned());
        Ok(Self { program, what, state: tempfile::tempdir()?, ends, events: Cell::new(0) })
    }

    /// Returns the two parts of the payload of event `n`. Made events are of different calls, so the hook has
    /// nothing to report.
    fn payload(&self, n: usize) -> (String, &str) {
        let input = json!({ "command": format!("make part-{n}"), "description": "Build a part" });
        let call = format!(r#""tool_name":"Bash","tool_input":{input},"#);
        let call = if self.ends.len() == 1 { &*call } else { "" };
        let begin = format!(r#"{{"tool_use_id":"toolu_{n:08}",{call}"#);
        (begin, &self.ends[n % self.ends.len()])
    }

    /// Returns the mean length of a payload.
    fn bytes(&self) -> usize {
        self.payload(0).0.len() + self.ends.iter().map(String::len).sum::<usize>() / self.ends.len()
    }

    fn name(&self) -> String {
        let bytes = format!("{} bytes", self.bytes());
        let words = ["unstuck hook", &*bytes, &*self.what];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
    }

    fn run(&self) -> io::Result<u32> {
        let (begin, end) = self.payload(self.events.replace(self.events.get() + 1));
        let words = [self.program.as_os_str(), "hook".as_ref(), "claude-code".as_ref()];
        let mut command = silent(&words.map(Into::into));
        // A real call may be a part of a loop.
        command.args((self.ends.len() > 1).then_some("--observe"));
        command.env("UNSTUCK_STATE_DIR", self.state.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(begin.as_bytes())?;
            stdin.write_all(end.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if output.status.success() && output.stdout.is_empty() {
            return Ok(0);
        }
        Err(Error::other(format!("{} ended with {}", self.name(), output.status)))
    }
}

/// Returns a payload without its beginning.
fn end(call: Option<(&str, Value)>, result: &str) -> String {
    let mut payload = json!({
        "session_id": "5b6f9a52-0e0c-4f0b-9a63-0d6c1e2f7a10",
        "cwd": "/home/me/app",
        "hook_event_name": "PostToolUse",
        "tool_response": { "stdout": result, "stderr": "", "interrupted": false },
    });
    if let Some((tool, args)) = call {
        payload["tool_name"] = tool.into();
        payload["tool_input"] = args;
    }
    payload.to_string().split_off(1)
}

/// Returns the end of the payload of a build whose output has `length` bytes.
fn made(length: usize) -> String {
    let mut result = String::new();
    let mut lines = (0..).map(|n| format!("compiling item {n} of the project\n"));
    while result.len() < length {
        result.extend(lines.next());
    }
    end(None, &result)
}

/// Returns the ends of payloads of real calls of many runs, or none if the runs are absent.
fn real_calls() -> Vec<String> {
    let calls: Vec<RawCall> = recorded(RECORDED[0]).into_iter().flatten().collect();
    let some = calls.iter().step_by((calls.len() / ROUNDS).max(1));
    some.filter_map(|call| {
        let args = serde_json::from_str(&call.args).ok()?;
        Some(end(Some((&call.tool, args)), &call.result))
    })
    .collect()
}

/// Returns the programs that were built for named targets, with the names: they may be linked in another way.
fn forms(unstuck: &Path) -> Vec<(String, PathBuf)> {
    let profile = unstuck.parent().unwrap_or(unstuck);
    let targets = profile.parent().and_then(|target| fs::read_dir(target).ok());
    let mut forms: Vec<_> = targets
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let program = entry.path().join(profile.file_name()?).join(unstuck.file_name()?);
            let name = entry.file_name().to_string_lossy().into_owned();
            program.is_file().then_some((name, program))
        })
        .collect();
    forms.sort();
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_contains_its_result_and_a_call_of_its_own() {
        for length in RESULTS {
            let hook = Hook::new(Path::new("unstuck"), "", vec![made(length)]).unwrap();
            let payload = |n| {
                let (begin, end) = hook.payload(n);
                begin + end
            };
            assert_ne!(payload(1), payload(2));
            let payload = payload(1);
            assert_eq!(payload.len(), hook.bytes());
            assert!((length..length + length / 10 + 400).contains(&payload.len()), "{length}");
            let payload: Value = serde_json::from_str(&payload).unwrap();
            let stdout = payload["tool_response"]["stdout"].as_str();
            assert!(stdout.is_some_and(|out| out.len() >= length));
        }
    }
}
