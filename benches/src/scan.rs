//! `unstuck scan` as a whole program: how fast it reads, and how much memory it takes.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::rounds::median;
use crate::stream::{Stream, TOOL, Texts};

/// How often each scan is run.
const ROUNDS: usize = 5;

/// How many files are generated: enough to keep all cores busy to the end.
const FILES: u64 = 64;

/// How many calls each of them holds: 2.4 MB.
const CALLS: usize = 3_000;

/// To how many bytes a folder of traces is repeated.
const REPEATED: u64 = 1_000_000_000;

/// How often the memory of a running scan is looked at. Only the peak of the last moment is missed.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Traces to be scanned.
pub struct Traces {
    /// What the report calls them.
    pub name: String,
    folder: tempfile::TempDir,
    files: usize,
    bytes: u64,
}

impl Traces {
    /// Native traces of calls of which 5 % repeat another.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn generated() -> io::Result<Self> {
        let calls = Stream::Repeats.texts(CALLS);
        let text: String = calls.iter().zip(0..).map(|(call, step)| line(call, step)).collect();
        let mut traces = Self::none("generated")?;
        for _ in 0..FILES {
            fs::write(traces.next_file(), &text)?;
            traces.bytes += text.len() as u64;
        }
        Ok(traces)
    }

    /// The files of `folder` that `unstuck` can read, as often as it takes to have a gigabyte.
    ///
    /// # Errors
    ///
    /// If there are none, or they cannot be copied.
    pub fn repeated(unstuck: &Path, folder: &Path) -> io::Result<Self> {
        let files = readable(unstuck, folder)?;
        let mut traces = Self::none(&folder.display().to_string())?;
        while traces.bytes < REPEATED {
            let before = traces.bytes;
            for file in &files {
                traces.bytes += fs::copy(file, traces.next_file())?;
            }
            if traces.bytes == before {
                let why = format!("{}: no trace with anything in it", folder.display());
                return Err(io::Error::other(why));
            }
        }
        Ok(traces)
    }

    fn none(name: &str) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        Ok(Self { name: name.to_owned(), folder, files: 0, bytes: 0 })
    }

    fn next_file(&mut self) -> PathBuf {
        self.files += 1;
        self.folder.path().join(format!("{:07}.jsonl", self.files))
    }
}

/// The files of `folder` of which `unstuck` has something to say; labels and the like are none.
fn readable(unstuck: &Path, folder: &Path) -> io::Result<Vec<PathBuf>> {
    #[derive(Deserialize)]
    struct Line {
        path: PathBuf,
    }
    let output = Command::new(unstuck).args(["scan", "--format", "jsonl"]).arg(folder).output()?;
    let lines = String::from_utf8_lossy(&output.stdout);
    let path = |line| serde_json::from_str(line).map(|Line { path }| path);
    Ok(lines.lines().map(path).collect::<Result<_, _>>()?)
}

/// A call as a line of a native trace.
fn line(call: &Texts, step: u64) -> String {
    let mut line = format!(r#"{{"type":"call","tool":"{TOOL}","args":{},"result":"#, call.args);
    let result = serde_json::Value::from(call.result.as_str());
    // Writing into a string does not fail.
    let _ = writeln!(line, r#"{result},"is_error":false,"worker":"main","step":{step}}}"#);
    line
}

/// What the scans of some traces on some cores came to.
#[derive(Clone, Debug, Serialize)]
pub struct Scan {
    /// Which traces.
    pub traces: String,
    /// On which cores.
    pub cores: Cores,
    /// How much was read, in bytes.
    pub bytes: u64,
    /// The median, in millions of bytes a second.
    pub megabytes_per_second: f64,
    /// The most memory that it ever held, in kibibytes; none where the system does not say.
    pub peak_kibibytes: Option<u64>,
}

/// Which cores a scan may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cores {
    /// One, by `taskset`.
    One,
    /// All that there are.
    All,
}

impl Cores {
    /// What the report calls them.
    pub fn name(self) -> String {
        match self {
            Self::One => "1 core".to_owned(),
            Self::All => match thread::available_parallelism() {
                Ok(cores) => format!("all {cores} cores"),
                Err(_) => "all cores".to_owned(),
            },
        }
    }

    /// What starts `program` on these cores.
    fn start(self, program: &Path) -> Command {
        match self {
            Self::All => Command::new(program),
            Self::One => {
                let mut command = Command::new("taskset");
                command.args(["--cpu-list".into(), first_core()]).arg(program);
                command
            }
        }
    }
}

/// The first of the cores that this program may use.
fn first_core() -> OsString {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let first = field(&status, "Cpus_allowed_list:").and_then(|list| list.split([',', '-']).next());
    first.unwrap_or("0").into()
}

/// Whether a scan can be held to one core here.
pub fn has_taskset() -> bool {
    let mut probe = Command::new("taskset");
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Scans `traces` with the program `unstuck`, on each of `cores` in turns.
///
/// # Errors
///
/// If a scan does not end as it should, or leaves out a file.
pub fn measure(unstuck: &Path, traces: &Traces, cores: &[Cores]) -> io::Result<Vec<Scan>> {
    let mut runs = vec![(Vec::new(), None); cores.len()];
    for _ in 0..ROUNDS {
        for (cores, (seconds, peak)) in cores.iter().zip(&mut runs) {
            let (took, memory) = scan_once(cores.start(unstuck), traces)?;
            seconds.push(took.as_secs_f64());
            *peak = memory.max(*peak);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let megabytes = traces.bytes as f64 / 1e6;
    let scan = |(&cores, (seconds, peak_kibibytes)): (&Cores, (Vec<f64>, _))| Scan {
        traces: traces.name.clone(),
        cores,
        bytes: traces.bytes,
        megabytes_per_second: megabytes / median(seconds),
        peak_kibibytes,
    };
    Ok(cores.iter().zip(runs).map(scan).collect())
}

/// The time and the memory of one scan.
fn scan_once(mut command: Command, traces: &Traces) -> io::Result<(Duration, Option<u64>)> {
    let found = tempfile::NamedTempFile::new()?;
    command.args(["scan", "--format", "jsonl", "--fail-on", "never", "--output"]).arg(found.path());
    command.arg(traces.folder.path()).stdin(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let child = command.spawn()?;
    let (child, peak) = watched(child)?;
    let took = start.elapsed();
    let files = fs::read_to_string(found.path())?.lines().count();
    if files == traces.files {
        return Ok((took, peak));
    }
    let (status, said) = (child.status, String::from_utf8_lossy(&child.stderr));
    let why = format!("{command:?} ended with {status} after {files} files:\n{said}");
    Err(io::Error::other(why))
}

/// Waits for `child`, and looks meanwhile how much memory it holds.
fn watched(child: Child) -> io::Result<(std::process::Output, Option<u64>)> {
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    thread::scope(|scope| {
        let peak = scope.spawn(|| {
            let mut peak = None;
            // Once the child has ended it holds none, and then there is no such file.
            while let Some(held) = peak_of(&status) {
                peak = Some(held);
                thread::sleep(LOOK_EVERY);
            }
            peak
        });
        let output = child.wait_with_output()?;
        Ok((output, peak.join().unwrap_or(None)))
    })
}

/// The most memory that a process has held so far, in kibibytes.
fn peak_of(status: &Path) -> Option<u64> {
    let status = fs::read_to_string(status).ok()?;
    field(&status, "VmHWM:")?.trim_end_matches("kB").trim_end().parse().ok()
}

/// The value of a line of `status` that begins with `name`.
fn field<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}
