//! The benchmark `scan`: `unstuck scan` beside programs that only read JSON.

use std::cell::Cell;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Error};
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::calls::{RECORDED, RawCall, Stream, recorded};
use crate::harness::{Contest, Peer, is_installed, number};
use crate::process::{executable, field, memory_kib, silent, unstuck};
use crate::report::{left_out, table};

/// The number of rounds.
const ROUNDS: usize = 5;

/// The number of bytes of each input.
const BYTES: usize = 64_000_000;

/// The number of calls in a generated file, of 2.4 MB or more.
const CALLS: usize = 3_000;

/// The number of calls of the input with many loops, and the number of calls from one loop to the next.
const LOOPING_CALLS: usize = 1_000_000;
const LOOP_EVERY: usize = 6;

/// The interval at which the memory of a running program is read. Only a peak after the last reading is missed.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The program in Python: it reads each line, or each whole document.
const PYTHON: &str = "
import json, sys
for path in sys.argv[1:]:
    with open(path, 'rb') as file:
        for text in file if path.endswith('.jsonl') else [file.read()]:
            json.loads(text)
";

/// The programs that read the JSON and do nothing with it: a name, a program, and its arguments.
const READERS: [(&str, &str, &[&str]); 2] =
    [("json.loads", "python3", &["-c", PYTHON]), ("jq empty", "jq", &["empty"])];

/// The function that returns a run as a file.
type Format = fn(&[RawCall]) -> String;

/// The formats of transcripts: the name that `unstuck scan` gives one, an extension, and the function.
const FORMATS: [(&str, &str, Format); 5] = [
    ("native", "jsonl", native),
    ("claude-code", "jsonl", claude_code),
    ("openai", "json", openai),
    ("openhands", "json", openhands),
    ("swe-agent", "traj", swe_agent),
];

/// Measures `unstuck scan` and other programs on generated and on recorded calls, in several formats.
pub(crate) fn measure() -> io::Result<()> {
    let numbers = Stream::Repeats.numbers(CALLS).into_iter();
    let generated = numbers.map(|number| RawCall::made(number, 500)).collect();
    let mut rows = Vec::new();
    for (texts, runs) in [("generated", vec![generated]), ("real calls", recorded(RECORDED[0]))] {
        if runs.is_empty() {
            left_out("real calls", "they are not recorded beside the project");
            continue;
        }
        for (format, extension, file) in FORMATS {
            let traces = Traces::of(extension, runs.iter().map(|run| file(run)))?;
            let mut peers = vec![Program::scan("jsonl", &traces)?];
            for (name, program, arguments) in READERS {
                match executable(program) {
                    Some(path) => peers.push(Program::reader(name, path, arguments, &traces)),
                    None => left_out(program, "it is not installed"),
                }
            }
            rows.extend(measured(&format!("{texts}, {format}"), &traces, peers, ROUNDS)?);
        }
    }
    let traces = Traces::of("jsonl", [looping()].into_iter())?;
    let peers = vec![Program::scan("human", &traces)?, Program::scan("jsonl", &traces)?];
    rows.extend(measured("a new loop every six calls", &traces, peers, 1)?);
    table(&["traces", "program", "MB/s", "ratio", "MiB at most"], 2, rows);
    println!(
        "Whole processes on one core. The ratio is the time divided by that of the first program, in the same \
         round.\n`json.loads` and `jq` only read the JSON.",
    );
    if !is_installed("taskset") {
        left_out("one core", "taskset is not installed, so all cores took part");
    }
    Ok(())
}

/// Returns a row for each program.
fn measured(
    name: &str,
    traces: &Traces,
    peers: Vec<Program<'_>>,
    rounds: usize,
) -> io::Result<Vec<Vec<String>>> {
    let (input, bytes) = (name.to_owned(), traces.bytes);
    let contest = Contest { input, items: 1, bytes, rounds, counted: 0, peers };
    let timings = contest.take_turns()?;
    let row = |(program, timing): (&Program<'_>, crate::harness::Timing)| {
        let peak = program.peak.get();
        vec![
            contest.input.clone(),
            program.name.clone(),
            format!("{:.0}", number(bytes) * 1e3 / timing.ns),
            format!("{:.2}", timing.ratio),
            peak.div_ceil(1024).to_string(),
        ]
    };
    Ok(contest.peers.iter().zip(timings).map(row).collect())
}

/// Traces to scan.
struct Traces {
    folder: tempfile::TempDir,
    files: Vec<PathBuf>,
    bytes: usize,
}

impl Traces {
    /// Writes the files again and again until they have [`BYTES`].
    fn of(extension: &str, files: impl Iterator<Item = String>) -> io::Result<Self> {
        let texts: Vec<String> = files.collect();
        let mut traces = Self { folder: tempfile::tempdir()?, files: Vec::new(), bytes: 0 };
        while traces.bytes < BYTES {
            for text in &texts {
                let name = format!("{:07}.{extension}", traces.files.len());
                let file = traces.folder.path().join(name);
                fs::write(&file, text)?;
                traces.files.push(file);
                traces.bytes += text.len();
            }
        }
        Ok(traces)
    }
}

/// A program that reads traces on one core.
struct Program<'t> {
    name: String,
    words: Vec<OsString>,
    traces: &'t Traces,
    /// The file to which the program writes a line for each of the traces, if it does.
    lines: Option<tempfile::TempPath>,
    /// The peak memory in kibibytes, or 0 if the system does not report it.
    peak: Cell<u64>,
}

impl<'t> Program<'t> {
    /// Returns `unstuck scan` with this output format.
    fn scan(format: &str, traces: &'t Traces) -> io::Result<Self> {
        let output = tempfile::NamedTempFile::new()?.into_temp_path();
        let mut words = on_one_core(unstuck()?);
        words
            .extend(["scan", "--format", format, "--fail-on", "never", "--output"].map(Into::into));
        words.extend([output.as_os_str().into(), traces.folder.path().into()]);
        let lines = (format == "jsonl").then_some(output);
        let name = format!("scan --format {format}");
        Ok(Self { name, words, traces, lines, peak: Cell::default() })
    }

    fn reader(name: &str, path: PathBuf, arguments: &[&str], traces: &'t Traces) -> Self {
        let mut words = on_one_core(path);
        words.extend(arguments.iter().map(Into::into));
        words.extend(traces.files.iter().map(Into::into));
        Self { name: name.to_owned(), words, traces, lines: None, peak: Cell::default() }
    }
}

impl Peer for Program<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    /// Returns the number of files that were read.
    fn run(&self) -> io::Result<u32> {
        let mut child = silent(&self.words).stderr(Stdio::inherit()).spawn()?;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            let peak = memory_kib(child.id(), "VmHWM:").unwrap_or(0);
            self.peak.set(peak.max(self.peak.get()));
            thread::sleep(LOOK_EVERY);
        };
        let files = match &self.lines {
            Some(output) => fs::read_to_string(output)?.lines().count(),
            None => self.traces.files.len(),
        };
        if status.success() && files == self.traces.files.len() {
            return Ok(u32::try_from(files).unwrap_or(u32::MAX));
        }
        Err(Error::other(format!("{} ended with {status} after {files} files", self.name)))
    }
}

/// Returns the words that start `program` on the first core that this program may use, or on any if `taskset` is
/// not installed.
fn on_one_core(program: PathBuf) -> Vec<OsString> {
    let mut words = Vec::new();
    if is_installed("taskset") {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let list = field(&status, "Cpus_allowed_list:").unwrap_or("0");
        let first = list.split([',', '-']).next().unwrap_or_default();
        words.extend(["taskset", "--cpu-list", first].map(Into::into));
    }
    words.push(program.into());
    words
}

/// Returns a native trace with a new loop every few calls.
fn looping() -> String {
    let mut text = String::new();
    for step in 0..LOOPING_CALLS {
        let args = json!({ "number": step / LOOP_EVERY }).to_string();
        let call = RawCall::new(args, "no such number".to_owned());
        text += &line(&RawCall { failed: true, ..call }, step);
    }
    text
}

/// Returns a call as a line of a native trace.
fn line(call: &RawCall, step: usize) -> String {
    let (tool, result) = (Value::from(&*call.tool), Value::from(&*call.result));
    let (args, failed) = (&call.args, call.failed);
    let mut line = format!(r#"{{"type":"call","tool":{tool},"args":{args},"result":{result},"#);
    // Writing to a `String` cannot fail.
    let _ = writeln!(line, r#""is_error":{failed},"worker":"main","step":{step}}}"#);
    line
}

fn native(calls: &[RawCall]) -> String {
    calls.iter().enumerate().map(|(step, call)| line(call, step)).collect()
}

/// Returns the lines of a session, as the agent writes them but for a second copy of each result.
fn claude_code(calls: &[RawCall]) -> String {
    let record = |n: usize, kind: &str, content: Value| {
        let message = json!({ "role": kind, "content": [content] });
        json!({
            "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": "/home/u/app",
            "sessionId": "5d0d6a3e-8f0c-4c0e-9f0b-1f3b8a1c2d4e", "version": "2.1.0", "type": kind,
            "message": message, "uuid": format!("5d0d6a3e-8f0c-4c0e-9f0b-{n:012x}"),
        })
    };
    let records = calls.iter().enumerate().flat_map(|(n, call)| {
        let id = format!("toolu_{n}");
        let input: Value = serde_json::from_str(&call.args).unwrap_or_default();
        let asked = json!({ "type": "tool_use", "id": id, "name": call.tool, "input": input });
        let answer = json!({
            "type": "tool_result", "tool_use_id": id, "content": call.result, "is_error": call.failed,
        });
        [record(2 * n, "assistant", asked), record(2 * n + 1, "user", answer)]
    });
    records.flat_map(|record| [record.to_string(), "\n".to_owned()]).collect()
}

/// Returns a document of chat messages.
fn openai(calls: &[RawCall]) -> String {
    let messages = calls.iter().enumerate().flat_map(|(n, call)| {
        let id = format!("call_{n}");
        let function = json!({ "name": call.tool, "arguments": call.args });
        let asked = json!({ "id": id, "type": "function", "function": function });
        [
            json!({ "role": "assistant", "content": null, "tool_calls": [asked] }),
            json!({ "role": "tool", "tool_call_id": id, "content": call.result }),
        ]
    });
    json!({ "messages": messages.collect::<Vec<_>>() }).to_string()
}

/// Returns a document of events.
fn openhands(calls: &[RawCall]) -> String {
    let events = calls.iter().enumerate().flat_map(|(n, call)| {
        let args: Value = serde_json::from_str(&call.args).unwrap_or_default();
        let extras = json!({ "exit_code": i32::from(call.failed) });
        [
            json!({ "id": 2 * n, "source": "agent", "action": call.tool, "args": args }),
            json!({
                "id": 2 * n + 1, "source": "environment", "observation": call.tool,
                "cause": 2 * n, "content": call.result, "extras": extras,
            }),
        ]
    });
    Value::from(events.collect::<Vec<_>>()).to_string()
}

/// Returns a document of steps.
fn swe_agent(calls: &[RawCall]) -> String {
    let step = |call: &RawCall| {
        let action = format!("{} {}", call.tool, call.args);
        json!({ "action": action, "observation": call.result, "thought": "" })
    };
    let steps: Vec<_> = calls.iter().map(step).collect();
    json!({ "trajectory": steps, "history": [], "info": {} }).to_string()
}

#[cfg(test)]
mod tests {
    use unstuck_trace::Event;

    use super::*;

    #[test]
    fn every_file_is_read_as_what_it_is() {
        let call = |n| RawCall::new(format!(r#"{{"command":"make {n}"}}"#), "a\n\"b\"".to_owned());
        let calls: Vec<RawCall> = (0..3).map(call).collect();
        for (name, _, file) in FORMATS {
            let (mut found, mut results) = (0, 0);
            let file = file(&calls);
            let trace = unstuck_trace::read(file.as_bytes(), None, &mut |event| match event {
                Event::Call(_) => found += 1,
                Event::Outcome(outcome) => results += usize::from(outcome.text == calls[0].result),
                _ => {}
            });
            assert_eq!((trace.unwrap().format.name(), found, results), (name, 3, 3));
        }
    }
}
