//! The benchmark `scan`: `unstuck scan` beside programs that only read JSON.

use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use crate::hook::executable;
use crate::real_calls::{ABSENT, RealCall, Recorded};
use crate::report::{Measurement, Report};
use crate::rounds::median;
use crate::stream::{Stream, TOOL};

/// The number of rounds.
const ROUNDS: usize = 5;

/// The number of bytes of each input.
const BYTES: u64 = 64_000_000;

/// The number of calls in a generated file, of 2.4 MB or more.
const CALLS: usize = 3_000;

/// The number of calls of the input with many loops, and the number of calls from one loop to the next.
const LOOPING_CALLS: usize = 1_000_000;
const LOOP_EVERY: usize = 6;

/// The interval at which the memory of a running program is read. Only a peak after the last reading is
/// missed.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The program in Python: it reads each line, or each whole document.
const PYTHON: &str = "
import json, sys
for path in sys.argv[1:]:
    with open(path, 'rb') as file:
        for text in file if path.endswith('.jsonl') else [file.read()]:
            json.loads(text)
";

/// A format of transcripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// JSON Lines of this project.
    Native,
    /// A document of chat messages.
    Openai,
    /// A document of events.
    Openhands,
    /// A document of steps.
    SweAgent,
}

impl Layout {
    /// Returns the name that `unstuck scan` gives it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Openai => "openai",
            Self::Openhands => "openhands",
            Self::SweAgent => "swe-agent",
        }
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::Native => "jsonl",
            Self::Openai | Self::Openhands => "json",
            Self::SweAgent => "traj",
        }
    }

    /// Returns a run as a file.
    fn file(self, calls: &[RealCall]) -> String {
        let calls = calls.iter().enumerate();
        let document = match self {
            Self::Native => return calls.map(|(step, call)| line(call, step)).collect(),
            Self::Openai => {
                let messages = calls.flat_map(|(n, call)| {
                    let function = json!({ "name": call.tool, "arguments": call.args });
                    let asked = json!({ "id": format!("call_{n}"), "type": "function", "function": function });
                    let id = format!("call_{n}");
                    [
                        json!({ "role": "assistant", "content": null, "tool_calls": [asked] }),
                        json!({ "role": "tool", "tool_call_id": id, "content": call.result }),
                    ]
                });
                json!({ "messages": messages.collect::<Vec<_>>() })
            }
            Self::Openhands => {
                let events = calls.flat_map(|(n, call)| {
                    let args = serde_json::from_str(&call.args).unwrap_or(Value::Null);
                    let extras = json!({ "exit_code": i32::from(call.failed) });
                    [
                        json!({ "id": 2 * n, "source": "agent", "action": call.tool, "args": args }),
                        json!({
                            "id": 2 * n + 1, "source": "environment", "observation": call.tool,
                            "cause": 2 * n, "content": call.result, "extras": extras,
                        }),
                    ]
                });
                Value::from(events.collect::<Vec<_>>())
            }
            Self::SweAgent => {
                let step = |(_, call): (usize, &RealCall)| {
                    let action = format!("{} {}", call.tool, call.args);
                    json!({ "action": action, "observation": call.result, "thought": "" })
                };
                json!({ "trajectory": calls.map(step).collect::<Vec<_>>(), "history": [], "info": {} })
            }
        };
        document.to_string()
    }
}

/// Returns a call as a line of a native trace.
fn line(call: &RealCall, step: usize) -> String {
    let (tool, result) = (Value::from(&*call.tool), Value::from(&*call.result));
    let (args, failed) = (&call.args, call.failed);
    let mut line = format!(r#"{{"type":"call","tool":{tool},"args":{args},"result":{result},"#);
    // Writing to a `String` cannot fail.
    let _ = writeln!(line, r#""is_error":{failed},"worker":"main","step":{step}}}"#);
    line
}

/// Traces to scan.
struct Traces {
    name: String,
    folder: tempfile::TempDir,
    files: Vec<PathBuf>,
    bytes: u64,
}

impl Traces {
    /// Writes `runs` again and again until the files have [`BYTES`].
    fn of(texts: &str, layout: Layout, runs: &[Vec<RealCall>]) -> io::Result<Self> {
        let files: Vec<String> = runs.iter().map(|calls| layout.file(calls)).collect();
        let mut traces = Self::empty(format!("{texts}, {}", layout.name()))?;
        while traces.bytes < BYTES {
            let before = traces.bytes;
            for text in &files {
                traces.add(layout.extension(), text)?;
            }
            if traces.bytes == before {
                return Err(io::Error::other(format!("{texts}: all runs are empty")));
            }
        }
        Ok(traces)
    }

    /// Writes one native trace with a new loop every few calls.
    fn looping() -> io::Result<Self> {
        let mut text = String::new();
        for step in 0..LOOPING_CALLS {
            let args = json!({ "number": step / LOOP_EVERY }).to_string();
            let result = "no such number".to_owned();
            text += &line(&RealCall { tool: TOOL.to_owned(), args, result, failed: true }, step);
        }
        let mut traces = Self::empty("a new loop every six calls".to_owned())?;
        traces.add(Layout::Native.extension(), &text)?;
        Ok(traces)
    }

    fn empty(name: String) -> io::Result<Self> {
        Ok(Self { name, folder: tempfile::tempdir()?, files: Vec::new(), bytes: 0 })
    }

    fn add(&mut self, extension: &str, text: &str) -> io::Result<()> {
        let file = self.folder.path().join(format!("{:07}.{extension}", self.files.len()));
        fs::write(&file, text)?;
        self.files.push(file);
        self.bytes += text.len() as u64;
        Ok(())
    }
}

/// A program that reads traces.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Program {
    /// `unstuck scan` on some cores, with this output format.
    Scan { path: PathBuf, cores: Cores, format: &'static str },
    /// A program that reads the JSON and does nothing with it.
    Reader { path: PathBuf, name: &'static str, arguments: &'static [&'static str] },
}

impl Program {
    fn name(&self) -> String {
        match self {
            Self::Scan { cores, format, .. } => format!("scan --format {format}, {}", cores.name()),
            Self::Reader { name, .. } => format!("{name}, {}", Cores::One.name()),
        }
    }

    fn command(&self, traces: &Traces, output: &Path) -> Command {
        match self {
            Self::Scan { path, cores, format } => {
                let mut command = cores.start(path);
                command.args(["scan", "--format", format, "--fail-on", "never", "--output"]);
                command.arg(output).arg(traces.folder.path());
                command
            }
            Self::Reader { path, arguments, .. } => {
                let mut command = Cores::One.start(path);
                command.args(*arguments).args(&traces.files);
                command
            }
        }
    }

    /// Runs the program once, and returns its time and its peak memory.
    fn run(&self, traces: &Traces) -> io::Result<(Duration, Option<u64>)> {
        let output = tempfile::NamedTempFile::new()?;
        let mut command = self.command(traces, output.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let start = Instant::now();
        let (child, peak) = with_peak(command.spawn()?)?;
        let took = start.elapsed();
        let files = match self {
            Self::Scan { format: "jsonl", .. } => {
                fs::read_to_string(output.path())?.lines().count()
            }
            _ => traces.files.len(),
        };
        if child.status.success() && files == traces.files.len() {
            return Ok((took, peak));
        }
        let (status, log) = (child.status, String::from_utf8_lossy(&child.stderr));
        let why = format!("{} ended with {status} after {files} files:\n{log}", self.name());
        Err(io::Error::other(why))
    }
}

/// The result of reading traces with a program.
#[derive(Clone, Debug, Serialize)]
pub struct Scan {
    /// The name of the traces.
    pub traces: String,
    /// The program, and the cores that it may use.
    pub program: String,
    /// The number of bytes that were read.
    pub bytes: u64,
    /// The median speed, in millions of bytes a second.
    pub megabytes_per_second: f64,
    /// The median ratio to the first program's speed in the same round. Above 1 is faster.
    pub ratio: f64,
    /// The peak memory in kibibytes, or `None` if the system does not report it.
    pub peak_kibibytes: Option<u64>,
}

impl Measurement for Scan {
    const HEADINGS: &'static [&'static str] =
        &["traces", "program", "MB", "MB/s", "ratio", "MiB at most"];
    const WORDS: usize = 2;

    fn cells(&self) -> Vec<String> {
        vec![
            self.traces.clone(),
            self.program.clone(),
            (self.bytes / 1_000_000).to_string(),
            format!("{:.0}", self.megabytes_per_second),
            format!("{:.2}", self.ratio),
            self.peak_kibibytes.map_or_else(String::new, |peak| peak.div_ceil(1024).to_string()),
        ]
    }
}

/// The cores that a program may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cores {
    /// One core, by `taskset`.
    One,
    All,
}

impl Cores {
    fn name(self) -> String {
        match self {
            Self::One if has_taskset() => "1 core".to_owned(),
            Self::One => "no matter what core".to_owned(),
            Self::All => match thread::available_parallelism() {
                Ok(cores) => format!("all {cores} cores"),
                Err(_) => "all cores".to_owned(),
            },
        }
    }

    /// Returns a command that runs `program` on these cores.
    fn start(self, program: &Path) -> Command {
        if self == Self::All || !has_taskset() {
            return Command::new(program);
        }
        let mut command = Command::new("taskset");
        command.args(["--cpu-list".into(), first_core()]).arg(program);
        command
    }
}

/// Measures `unstuck scan` and other programs on generated and on recorded calls, in several formats.
///
/// # Errors
///
/// If a program fails, or `unstuck scan` leaves out a file.
pub fn measure() -> io::Result<Report> {
    let path = program()?;
    let scan = |cores, format| Program::Scan { path: path.clone(), cores, format };
    let (mut programs, mut left_out) = (Vec::new(), Vec::new());
    if has_taskset() {
        programs.push(scan(Cores::One, "jsonl"));
    } else {
        left_out.push("scans on one core: taskset is not installed".to_owned());
    }
    programs.push(scan(Cores::All, "jsonl"));
    let readers: [(_, _, &[&str]); 2] =
        [("json.loads", "python3", &["-c", PYTHON]), ("jq empty", "jq", &["empty"])];
    for (name, program, arguments) in readers {
        match executable(program) {
            Some(path) => programs.push(Program::Reader { path, name, arguments }),
            None => left_out.push(format!("{program}: it is not installed")),
        }
    }
    let generated = Stream::Repeats.texts(CALLS).into_iter().map(|call| RealCall {
        tool: TOOL.to_owned(),
        args: call.args,
        result: call.result,
        failed: false,
    });
    let mut texts = vec![("generated", vec![generated.collect()])];
    let recorded = Recorded::Traces.runs();
    if recorded.is_empty() {
        left_out.push(ABSENT.to_owned());
    } else {
        texts.push(("real calls", recorded));
    }
    let mut scans = Vec::new();
    for (name, runs) in texts {
        for layout in Layout::value_variants() {
            scans.extend(take_turns(&Traces::of(name, *layout, &runs)?, &programs, ROUNDS)?);
        }
    }
    let formats = ["human", "jsonl"].map(|format| scan(Cores::All, format));
    scans.extend(take_turns(&Traces::looping()?, &formats, 1)?);
    let mut report = report(&scans)?;
    for reason in left_out {
        report.leave_out(reason);
    }
    Ok(report)
}

fn report(scans: &[Scan]) -> io::Result<Report> {
    let mut report = Report::default();
    report.table("rows", scans)?;
    report.remark(
        "Whole processes, which take turns. The ratio is the speed divided by that of the first program, in the \
         same\nround. `json.loads` and `jq` only read the JSON.",
    );
    Ok(report)
}

/// Runs all programs on `traces`, in turns.
fn take_turns(traces: &Traces, programs: &[Program], rounds: usize) -> io::Result<Vec<Scan>> {
    let mut runs = vec![(Vec::new(), Vec::new(), None); programs.len()];
    for _ in 0..rounds {
        let mut first = None;
        for (program, (seconds, ratios, peak)) in programs.iter().zip(&mut runs) {
            let (took, memory) = program.run(traces)?;
            let took = took.as_secs_f64();
            ratios.push(*first.get_or_insert(took) / took);
            seconds.push(took);
            *peak = memory.max(*peak);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let megabytes = traces.bytes as f64 / 1e6;
    let scan =
        |(program, (seconds, ratios, peak_kibibytes)): (&Program, (Vec<f64>, Vec<f64>, _))| Scan {
            traces: traces.name.clone(),
            program: program.name(),
            bytes: traces.bytes,
            megabytes_per_second: megabytes / median(seconds),
            ratio: median(ratios),
            peak_kibibytes,
        };
    Ok(programs.iter().zip(runs).map(scan).collect())
}

/// Returns the number of the first core that this program may use.
fn first_core() -> OsString {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let first = field(&status, "Cpus_allowed_list:").and_then(|list| list.split([',', '-']).next());
    first.unwrap_or("0").into()
}

/// Returns whether `taskset`, which limits a scan to one core, is installed.
fn has_taskset() -> bool {
    let mut probe = Command::new("taskset");
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Returns the path of the program `unstuck`, which is built into the folder of this program.
///
/// # Errors
///
/// If it is not there.
pub fn program() -> io::Result<PathBuf> {
    let own = env::current_exe()?;
    let unstuck = own.with_file_name("unstuck").with_extension(env::consts::EXE_EXTENSION);
    if unstuck.is_file() {
        return Ok(unstuck);
    }
    let path = unstuck.display();
    let how = "`cargo build --profile dist -p unstuck-cli` builds it";
    Err(io::Error::other(format!("{path} does not exist; {how}")))
}

/// Waits for `child`, and returns its output and its peak memory.
fn with_peak(child: Child) -> io::Result<(std::process::Output, Option<u64>)> {
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    thread::scope(|scope| {
        let peak = scope.spawn(|| {
            let mut peak = None;
            // The line disappears when the child ends, and the file soon after.
            while let Some(kibibytes) = peak_of(&status) {
                peak = Some(kibibytes);
                thread::sleep(LOOK_EVERY);
            }
            peak
        });
        let output = child.wait_with_output()?;
        Ok((output, peak.join().unwrap_or(None)))
    })
}

/// Returns the peak memory of a process so far, in kibibytes.
fn peak_of(status: &Path) -> Option<u64> {
    let status = fs::read_to_string(status).ok()?;
    field(&status, "VmHWM:")?.trim_end_matches("kB").trim_end().parse().ok()
}

/// Returns the value of the line of `status` that begins with `name`.
fn field<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_is_read_as_what_it_is() {
        let call = |number| RealCall {
            tool: "bash".to_owned(),
            args: format!(r#"{{"command":"make {number}"}}"#),
            result: "a\n\"b\"".to_owned(),
            failed: false,
        };
        let calls: Vec<RealCall> = (0..3).map(call).collect();
        for layout in Layout::value_variants() {
            let (mut found, mut results) = (0, 0);
            let file = layout.file(&calls);
            let trace = unstuck_trace::read(file.as_bytes(), None, &mut |event| match event {
                unstuck_trace::Event::Call(_) => found += 1,
                unstuck_trace::Event::Outcome(outcome) => {
                    results += usize::from(outcome.text == calls[0].result);
                }
                _ => {}
            });
            let trace = trace.expect("a trace");
            assert_eq!((trace.format.name(), found, results), (layout.name(), 3, 3));
        }
    }

    #[test]
    fn a_report_is_one_table() {
        let scan = |program: &str, ratio, peak_kibibytes| Scan {
            traces: "generated, native".to_owned(),
            program: program.to_owned(),
            bytes: 64_000_000,
            megabytes_per_second: 230.4 * ratio,
            ratio,
            peak_kibibytes,
        };
        let scans = [
            scan("scan --format jsonl, 1 core", 1.0, Some(4097)),
            scan("jq empty, 1 core", 0.25, None),
        ];
        insta::assert_snapshot!(report(&scans).expect("a report"));
    }
}
