//! The benchmark `hook`: `unstuck hook` as agents run it, beside interpreters that do nothing.

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, Error, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;
use std::{fs, thread};

use serde_json::{Value, json};

use crate::calls::{RECORDED, RawCall, recorded};
use crate::harness::{Contest, Function, Peer as _};
use crate::process::{executable, silent, unstuck};
use crate::report::{left_out, table};

/// The number of rounds, and of real calls that are told in turns: one of each round.
const ROUNDS: usize = 101;

/// The number of different calls that are made, more than a detector remembers.
const MADE: usize = 50;

/// The lengths of the results in the events, in bytes: a usual one, and a rare one.
const RESULTS: [usize; 2] = [500, 1 << 20];

/// The program as releases have it, beside the folder of the other one.
const MUSL: &str = "../x86_64-unknown-linux-musl/dist/unstuck";

/// The programs that do nothing, with their arguments.
const OTHERS: [&[&str]; 3] = [&["true"], &["python3", "-c", "pass"], &["node", "-e", "0"]];

/// The hooks of one session that run side by side, and the events of each.
const CROWD: usize = 16;
const EACH: usize = 125;

/// Runs the program `unstuck` as the hook of an agent, and other programs, in turns.
pub(crate) fn measure() -> io::Result<()> {
    let unstuck = unstuck()?;
    crowd(&unstuck)?;
    let mut peers = Vec::new();
    let (made, real) = (RESULTS.map(made), Rc::new(real_calls()));
    if real.is_empty() {
        left_out("real calls", "they are not recorded beside the project");
    }
    let musl = unstuck.with_file_name(MUSL);
    for (form, program) in [("", unstuck), ("musl", musl)] {
        if !program.is_file() {
            left_out(form, "it was not built");
            continue;
        }
        let real = Some(&real).filter(|real| !real.is_empty());
        for (kind, ends) in made.iter().map(|ends| ("", ends)).chain(real.map(|it| ("real", it))) {
            let hook = Hook::new(&program, Rc::clone(ends), kind == "real")?;
            let name = format!("unstuck hook, {} bytes {kind} {form}", hook.bytes());
            peers.push(Function::failing(name, move || hook.run()));
        }
    }
    for words in OTHERS {
        match executable(words[0]) {
            Some(path) => peers.push(other(words, path)),
            None => left_out(words[0], "it is not installed"),
        }
    }
    let input = String::new();
    let contest = Contest { input, items: 1, bytes: 0, rounds: ROUNDS, counted: 0, peers };
    let timings = contest.take_turns()?;
    let rows = contest.peers.iter().zip(timings).map(|(peer, timing)| {
        vec![peer.name(), format!("{:.2}", timing.ns / 1e6), format!("{:.1}", timing.ratio)]
    });
    table(&["program", "ms", "ratio"], 1, rows.collect());
    println!(
        "From start to end, with the state on disk. The ratio is to the first line, in the same round."
    );
    Ok(())
}

/// Runs hooks side by side, and counts those that did not get the lock of their session. They log that. More than one of
/// them in sixteen is an error.
fn crowd(program: &Path) -> io::Result<()> {
    let state = tempfile::tempdir()?;
    thread::scope(|scope| {
        let hooks = |worker| {
            (0..EACH).try_for_each(|n| {
                let id = format!("{worker}-{n}");
                let end = end("Bash", &json!({ "command": format!("make {id}") }), "done");
                tell(program, state.path(), None, [&format!(r#"{{"tool_use_id":"{id}","#), &end])
            })
        };
        let threads: Vec<_> = (0..CROWD).map(|worker| scope.spawn(move || hooks(worker))).collect();
        let panicked = |_| Err(Error::other("a thread panicked"));
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(panicked))
    })?;
    let log = fs::read_to_string(state.path().join("hook.log")).unwrap_or_default();
    let (missed, all) = (log.lines().count(), CROWD * EACH);
    println!("{CROWD} hooks side by side: {missed} of {all} events were not counted\n");
    if missed < EACH { Ok(()) } else { Err(Error::other(format!("{EACH} are too many"))) }
}

/// Runs a hook with these options, and this payload in two parts. It has to say nothing.
fn tell(program: &Path, state: &Path, options: Option<&str>, payload: [&str; 2]) -> io::Result<()> {
    let words = [program.as_os_str(), "hook".as_ref(), "claude-code".as_ref()];
    let mut command = silent(&words.map(Into::into));
    command.args(options).env("UNSTUCK_STATE_DIR", state);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        payload.iter().try_for_each(|part| stdin.write_all(part.as_bytes()))?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() && output.stdout.is_empty() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stdout);
    Err(Error::other(format!("the hook ended with {}, and said: {said}", output.status)))
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
    state: tempfile::TempDir,
    /// The payloads behind the id of the call, in turns.
    ends: Rc<Vec<String>>,
    /// Whether the calls are real and may be in a loop. The others differ, so the hook has nothing to report.
    is_real: bool,
    /// The number of earlier events.
    events: Cell<usize>,
}

impl Hook {
    fn new(program: &Path, ends: Rc<Vec<String>>, is_real: bool) -> io::Result<Self> {
        let (program, state) = (program.to_owned(), tempfile::tempdir()?);
        Ok(Self { program, state, ends, is_real, events: Cell::new(0) })
    }

    /// Returns the two parts of the payload of event `n`.
    fn payload(&self, n: usize) -> (String, &str) {
        (format!(r#"{{"tool_use_id":"toolu_{n:08}","#), &self.ends[n % self.ends.len()])
    }

    /// Returns the mean length of a payload.
    fn bytes(&self) -> usize {
        self.payload(0).0.len() + self.ends.iter().map(String::len).sum::<usize>() / self.ends.len()
    }

    fn run(&self) -> io::Result<u32> {
        let (begin, end) = self.payload(self.events.replace(self.events.get() + 1));
        let options = self.is_real.then_some("--observe");
        tell(&self.program, self.state.path(), options, [&begin, end])?;
        Ok(0)
    }
}

/// Returns the payload of a call, behind its id.
fn end(tool: &str, args: &Value, result: &str) -> String {
    let payload = json!({
        "session_id": "5b6f9a52-0e0c-4f0b-9a63-0d6c1e2f7a10",
        "cwd": "/home/me/app",
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": args,
        "tool_response": { "stdout": result, "stderr": "", "interrupted": false },
    });
    payload.to_string().split_off(1)
}

/// Returns the ends of the payloads of different builds, whose output differs, too, and has `length` bytes or a few more.
fn made(length: usize) -> Rc<Vec<String>> {
    let build = |part: usize| {
        let mut output = String::new();
        let mut lines = (0..).map(|n| format!("compiling item {n} of part-{part}\n"));
        while output.len() < length {
            output.extend(lines.next());
        }
        let command = format!("make part-{part}");
        end("Bash", &json!({ "command": command, "description": "Build a part" }), &output)
    };
    Rc::new((0..MADE).map(build).collect())
}

/// Returns the ends of payloads of real calls of many runs, or none if the runs are absent.
fn real_calls() -> Vec<String> {
    let calls: Vec<RawCall> = recorded(RECORDED[0]).into_iter().flatten().collect();
    let some = calls.iter().step_by((calls.len() / ROUNDS).max(1));
    some.filter_map(|call| {
        let args = serde_json::from_str(&call.args).ok()?;
        Some(end(&call.tool, &args, &call.result))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_contains_its_result_and_a_call_of_its_own() {
        for length in RESULTS {
            let hook = Hook::new(Path::new("unstuck"), made(length), false).unwrap();
            let (begin, end) = hook.payload(1);
            let payload: Value = serde_json::from_str(&(begin + end)).unwrap();
            assert_eq!(payload["tool_input"]["command"], "make part-1");
            let output = payload["tool_response"]["stdout"].as_str().unwrap();
            assert!((length..length + length / 10).contains(&output.len()));
        }
    }
}
