//! The speed and the memory of the program `unstuck scan`.

use std::env;
use std::ffi::OsString;
use std::fmt;
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

/// The number of runs of each scan.
const ROUNDS: usize = 5;

/// The number of generated files, enough to keep all cores busy to the end.
const FILES: u64 = 64;

/// The number of calls in a generated file of 2.4 MB.
const CALLS: usize = 3_000;

/// The number of bytes to which a folder of traces is repeated.
const REPEATED: u64 = 1_000_000_000;

/// The interval at which the memory of a running scan is read. Only a peak after the last reading is
/// missed.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Traces to scan.
pub struct Traces {
    /// Their name in the report.
    pub name: String,
    folder: tempfile::TempDir,
    files: usize,
    bytes: u64,
}

impl Traces {
    /// Writes native traces in which 5 % of the calls repeat another.
    ///
    /// # Errors
    ///
    /// If the files cannot be written.
    pub fn generated() -> io::Result<Self> {
        let calls = Stream::Repeats.texts(CALLS);
        let text: String = calls.iter().zip(0..).map(|(call, step)| line(call, step)).collect();
        let mut traces = Self::empty("generated")?;
        for _ in 0..FILES {
            fs::write(traces.next_file(), &text)?;
            traces.bytes += text.len() as u64;
        }
        Ok(traces)
    }

    /// Copies the files of `folder` that `unstuck` can read until the copies have a gigabyte.
    ///
    /// # Errors
    ///
    /// If there are no such files, or they cannot be copied.
    pub fn repeated(unstuck: &Path, folder: &Path) -> io::Result<Self> {
        let files = readable(unstuck, folder)?;
        let mut traces = Self::empty(&folder.display().to_string())?;
        while traces.bytes < REPEATED {
            let before = traces.bytes;
            for file in &files {
                traces.bytes += fs::copy(file, traces.next_file())?;
            }
            if traces.bytes == before {
                let why = format!("{}: all traces are empty", folder.display());
                return Err(io::Error::other(why));
            }
        }
        Ok(traces)
    }

    fn empty(name: &str) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        Ok(Self { name: name.to_owned(), folder, files: 0, bytes: 0 })
    }

    fn next_file(&mut self) -> PathBuf {
        self.files += 1;
        self.folder.path().join(format!("{:07}.jsonl", self.files))
    }
}

/// Returns the files of `folder` that `unstuck` reports on. Labels and similar files are not among them.
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

/// Returns a call as a line of a native trace.
fn line(call: &Texts, step: u64) -> String {
    let mut line = format!(r#"{{"type":"call","tool":"{TOOL}","args":{},"result":"#, call.args);
    let result = serde_json::Value::from(call.result.as_str());
    // Writing to a `String` cannot fail.
    let _ = writeln!(line, r#"{result},"is_error":false,"worker":"main","step":{step}}}"#);
    line
}

/// The result of scanning traces on some cores.
#[derive(Clone, Debug, Serialize)]
pub struct Scan {
    /// The name of the traces.
    pub traces: String,
    /// The cores.
    pub cores: Cores,
    /// The number of bytes that were read.
    pub bytes: u64,
    /// The median speed, in millions of bytes a second.
    pub megabytes_per_second: f64,
    /// The peak memory in kibibytes, or `None` if the system does not report it.
    pub peak_kibibytes: Option<u64>,
}

/// The cores that a scan may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cores {
    /// One core, by `taskset`.
    One,
    /// All cores.
    All,
}

impl fmt::Display for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { traces, cores, bytes, megabytes_per_second, peak_kibibytes } = self;
        let (megabytes, cores) = (bytes / 1_000_000, cores.name());
        write!(f, "scan, {megabytes} MB {traces}, {cores}: {megabytes_per_second:.0} MB/s")?;
        match peak_kibibytes {
            Some(peak) => write!(f, ", {} MiB of memory at most", peak.div_ceil(1024)),
            None => Ok(()),
        }
    }
}

impl Cores {
    /// Returns the name in the report.
    pub fn name(self) -> String {
        match self {
            Self::One => "1 core".to_owned(),
            Self::All => match thread::available_parallelism() {
                Ok(cores) => format!("all {cores} cores"),
                Err(_) => "all cores".to_owned(),
            },
        }
    }

    /// Returns a command that runs `program` on these cores.
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

/// Returns the number of the first core that this program may use.
fn first_core() -> OsString {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let first = field(&status, "Cpus_allowed_list:").and_then(|list| list.split([',', '-']).next());
    first.unwrap_or("0").into()
}

/// Returns whether `taskset`, which limits a scan to one core, is installed.
pub fn has_taskset() -> bool {
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

/// Scans `traces` with the program `unstuck`, on each of `cores` in turns.
///
/// # Errors
///
/// If a scan fails, or leaves out a file.
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

/// Runs one scan, and returns its time and its peak memory.
fn scan_once(mut command: Command, traces: &Traces) -> io::Result<(Duration, Option<u64>)> {
    let found = tempfile::NamedTempFile::new()?;
    command.args(["scan", "--format", "jsonl", "--fail-on", "never", "--output"]).arg(found.path());
    command.arg(traces.folder.path()).stdin(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let child = command.spawn()?;
    let (child, peak) = with_peak(child)?;
    let took = start.elapsed();
    let files = fs::read_to_string(found.path())?.lines().count();
    if files == traces.files {
        return Ok((took, peak));
    }
    let (status, log) = (child.status, String::from_utf8_lossy(&child.stderr));
    let why = format!("{command:?} ended with {status} after {files} files:\n{log}");
    Err(io::Error::other(why))
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
