//! A hook tried out: started as its agent starts it, on a call that nobody makes.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::agents::hook::SWARM_LINE;
use crate::agents::hooks::Form;
use crate::agents::host::Host;
use crate::agents::process::{self, Ended};
use crate::agents::settings::Entry;
use crate::agents::state::LOG;
use crate::output::shown::{plain, shortened};

/// How often each is run; the median of it is told.
const RUNS: usize = 5;

/// How long a run may take: as long as the agents are told to wait.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much of what a program says is shown, in columns.
const SAID_MAX: usize = 160;

/// How a shell does nothing but take its input.
const NOTHING: &str = "cat >/dev/null";

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trial {
    /// How long a run takes, in milliseconds.
    pub(super) median: f64,
    /// How much of that the shell takes alone, where the agent starts one.
    pub(super) shell: Option<f64>,
}

impl Trial {
    /// Tries `entry` of `host` out, with its state in the folder `state`; the error says what is
    /// wrong with it.
    pub(super) fn of(host: &Host, entry: &Entry, state: &Path) -> Result<Self, String> {
        let median = median(host.sample, || {
            let mut command = match Shell::of(host.hooks.form, entry) {
                Some(shell) => shell.command(&entry.command),
                None => Command::new(&entry.line.program),
            };
            if entry.has_args {
                command.args(&entry.line.words);
            }
            // Where it is off, it is tried as if it were on.
            command.env("UNSTUCK_STATE_DIR", state).env_remove("UNSTUCK");
            command
        })?;
        // A hook that cannot do its work says so there alone: its agent must go on.
        let log = fs::read_to_string(state.join(LOG)).unwrap_or_default();
        // Without its swarm it does its work.
        if let Some(line) = log.lines().rfind(|line| !line.contains(SWARM_LINE)) {
            return Err(format!("lets all pass, and notes why: {}", said(line)));
        }
        if fs::read_dir(state).is_ok_and(|mut kept| kept.next().is_none()) {
            return Err("is silent, but keeps nothing of the call: is it unstuck?".to_owned());
        }
        let shell = Shell::of(host.hooks.form, entry);
        let alone = shell.map(|shell| self::median(host.sample, || shell.command(NOTHING)));
        Ok(Self { median, shell: share(median, alone.and_then(Result::ok)) })
    }
}

/// How much of `median` is the shell's that took so long `alone`; none where that is more, and so
/// says nothing: both are of a few runs on a machine that does other things, too.
fn share(median: f64, alone: Option<f64>) -> Option<f64> {
    alone.filter(|alone| *alone < median)
}

/// The shell that an agent hands a line to.
struct Shell {
    program: OsString,
    option: &'static str,
}

impl Shell {
    /// That of an agent of this form; none if it starts the program of `entry` by itself.
    fn of(form: Form, entry: &Entry) -> Option<Self> {
        let (program, option) = match form {
            Form::Exec if entry.has_args => return None,
            Form::Exec => ("sh".into(), "-c"),
            Form::LoginShell => (env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into()), "-lc"),
            Form::Bash => ("bash".into(), "-c"),
        };
        Some(Self { program, option })
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args([self.option, line]);
        command
    }
}

/// The median of how long such commands take on `input`, in milliseconds.
fn median(input: &str, command: impl Fn() -> Command) -> Result<f64, String> {
    let times: Result<Vec<_>, _> = (0..RUNS).map(|_| run(command(), input)).collect();
    let mut times = times?;
    times.sort();
    Ok(times[RUNS / 2].as_secs_f64() * 1000.0)
}

/// Runs `command` on `input`: it should end well, and say nothing.
fn run(mut command: Command, input: &str) -> Result<Duration, String> {
    let began = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = plain(&command.get_program().to_string_lossy());
    let mut child =
        command.spawn().map_err(|error| format!("{program} cannot be started: {error}"))?;
    // A program that ends before it has read all is judged by how it ends.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input.as_bytes()));
    let Ended { status, out, err } = process::ended(child, PATIENCE)?;
    let time = began.elapsed();
    match (status.code(), &out[..], &err[..]) {
        (Some(0), "", _) => Ok(time),
        (Some(0), out, _) => Err(format!("says {} where silence means go on", said(out))),
        (Some(code), _, "") => Err(format!("exits with {code} where 0 is right")),
        (Some(code), _, err) => Err(format!("exits with {code} where 0 is right: {}", said(err))),
        (None, ..) => Err("was ended by a signal".to_owned()),
    }
}

fn said(text: &str) -> String {
    shortened(&plain(text.trim()), SAID_MAX)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn no_part_is_more_than_the_whole() {
        for (median, alone, told) in [
            (8.0, Some(8.9), None),
            (8.0, Some(8.0), None),
            (8.0, Some(2.5), Some(2.5)),
            (8.0, None, None),
        ] {
            assert_eq!(share(median, alone), told);
        }
    }
}
