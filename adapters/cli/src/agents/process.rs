//! Other programs: running one with a time limit, and the oldest version of an agent that understands its settings.

use std::fmt;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The exit status and the output of a program.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Waits for `child`. If it takes longer than `patience`, kills it and returns an error.
pub(crate) fn ended(mut child: Child, patience: Duration) -> Result<Ended, String> {
    let (done, wait) = mpsc::channel();
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let errors = thread::spawn(move || read(err));
    thread::spawn(move || {
        let output = (read(out), errors.join().unwrap_or_default());
        // After the time limit the receiver is gone.
        let _ = done.send(output);
    });
    let output = wait.recv_timeout(patience);
    if output.is_err() {
        // The program may have ended just now.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error: io::Error| error.to_string())?;
    match output {
        Ok((out, err)) => Ok(Ended { status, out, err }),
        Err(_) => Err(format!("takes longer than {} s", patience.as_secs())),
    }
}

/// Reads a pipe to its end.
fn read(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // If reading fails, the bytes so far are used.
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The time that an agent may take to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// The version of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) [u32; 3]);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The oldest version of an agent that understands the settings that `install` writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// The agent's program, which prints its version for `--version`.
    pub(crate) program: &'static str,
    pub(crate) version: Version,
    /// The behaviour of an older version, as the end of a sentence that begins with its name.
    pub(crate) otherwise: &'static str,
}

impl Needs {
    /// Returns a message if the program in `PATH` is too old. Returns `None` if it is new enough, is not
    /// installed or prints no version. `title` is the agent's name for people.
    pub(crate) fn complaint(&self, title: &str) -> Option<String> {
        let version = version_of(self.program).filter(|version| *version < self.version)?;
        let Self { version: needed, otherwise, .. } = self;
        Some(format!("{title} {version} {otherwise}: update it to {needed} or later"))
    }
}

/// Returns the version that `program` prints.
pub(crate) fn version_of(program: &str) -> Option<Version> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    first(&ended(command.spawn().ok()?, PATIENCE).ok()?.out)
}

/// Returns the first version in `text`.
fn first(text: &str) -> Option<Version> {
    let mut words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.find_map(|word| {
        let numbers: Result<Vec<u32>, _> = word.split('.').map(str::parse).collect();
        numbers.ok()?.try_into().ok().map(Version)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_version_in_a_text_is_found() {
        for (text, version) in [
            ("2.1.240 (Claude Code)\n", Some([2, 1, 240])),
            ("claude v1.0.9-beta.2", Some([1, 0, 9])),
            ("in 4.2 s: 10.20.30", Some([10, 20, 30])),
            ("2.1", None),
            ("99999999999.0.0", None),
            ("", None),
        ] {
            assert_eq!(first(text), version.map(Version), "{text}");
        }
        assert!(Version([2, 1, 99]) < Version([2, 1, 139]));
        assert_eq!(Version([2, 1, 139]).to_string(), "2.1.139");
    }

    #[cfg(unix)]
    fn run(line: &str, patience: Duration) -> Result<Ended, String> {
        let mut command = Command::new("sh");
        command.args(["-c", line]).stdout(Stdio::piped()).stderr(Stdio::piped());
        ended(command.spawn().expect("a shell"), patience)
    }

    #[cfg(unix)]
    #[test]
    fn output_and_exit_status_are_returned() {
        let ended = run("echo a; echo b >&2; exit 3", Duration::from_secs(60)).expect("an end");
        assert_eq!((ended.status.code(), &ended.out[..], &ended.err[..]), (Some(3), "a\n", "b\n"));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_takes_too_long_is_killed() {
        let late = run("exec cat /dev/zero >/dev/null", Duration::ZERO).expect_err("no end");
        assert_eq!(late, "takes longer than 0 s");
    }
}
