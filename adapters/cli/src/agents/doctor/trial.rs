//! Test runs of a hook: it is started like its agent starts it, with a call that is never made.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use unstuck_report::shown::{plain, shortened};

use crate::agents::hook::SWARM_LINE;
use crate::agents::hooks::Form;
use crate::agents::host::Host;
use crate::agents::process::{self, Ended};
use crate::agents::settings::Entry;
use crate::agents::state::LOG;

/// The number of runs, of which the median is reported.
const RUNS: usize = 5;

/// The time limit of a run, which is also the limit in the agents' settings.
const PATIENCE: Duration = Duration::from_secs(5);

/// The width of a program's output in a report, in columns.
const OUTPUT_MAX: usize = 160;

/// A shell line that only reads its input.
const NOTHING: &str = "cat >/dev/null";

/// Runs `entry` of `host` with its state in the folder `state`. Returns the median time of a run in milliseconds, and the
/// part of it that the shell takes, if the agent starts one. The error completes a sentence about the command.
pub(super) fn measure(
    host: &Host,
    entry: &Entry,
    state: &Path,
) -> Result<(f64, Option<f64>), String> {
    let program = Path::new(&entry.line.program);
    // A line may test for its program, and then only does nothing if it is missing.
    if program.is_absolute() {
        fs::metadata(program).map_err(|error| {
            format!("{} cannot be started: {error}", plain(&entry.line.program))
        })?;
    }
    let median = median(host.sample, host.silence, || {
        let mut command = match Shell::of(host.hooks.form, entry) {
            Some(shell) => shell.command(&entry.command),
            None => Command::new(&entry.line.program),
        };
        if entry.has_args {
            command.args(&entry.line.words);
        }
        // The trial ignores that `UNSTUCK=off` is set.
        command.env("UNSTUCK_STATE_DIR", state).env_remove("UNSTUCK");
        command
    })?;
    // A hook that fails reports that only in its log, so that the agent goes on.
    let log = fs::read_to_string(state.join(LOG)).unwrap_or_default();
    // Failures of the swarm do not stop the hook's work.
    if let Some(line) = log.lines().rfind(|line| !line.contains(SWARM_LINE)) {
        return Err(format!("lets every call pass; its log says: {}", excerpt(line)));
    }
    if fs::read_dir(state).is_ok_and(|mut kept| kept.next().is_none()) {
        return Err("exits with 0 but stores nothing about the call: is it unstuck?".to_owned());
    }
    let shell = Shell::of(host.hooks.form, entry);
    let alone = shell.map(|shell| self::median(host.sample, "", || shell.command(NOTHING)));
    Ok((median, share(median, alone.and_then(Result::ok))))
}

/// Returns the shell's part of `median`, or `None` if the shell `alone` took longer. Both times come from a
/// few runs on a busy machine.
fn share(median: f64, alone: Option<f64>) -> Option<f64> {
    alone.filter(|alone| *alone < median)
}

/// The shell that runs an agent's line.
struct Shell {
    program: OsString,
    option: &'static str,
}

impl Shell {
    /// Returns the shell for `entry`, or `None` if the agent starts its program directly.
    fn of(form: Form, entry: &Entry) -> Option<Self> {
        let (program, option) = match form {
            Form::Exec | Form::Plugin(_) if entry.has_args => return None,
            Form::Exec | Form::Plugin(_) => ("sh".into(), "-c"),
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

/// Returns the median time of a command on `input` that prints `silence`, in milliseconds.
fn median(input: &str, silence: &str, command: impl Fn() -> Command) -> Result<f64, String> {
    let times: Result<Vec<_>, _> = (0..RUNS).map(|_| run(command(), input, silence)).collect();
    let mut times = times?;
    times.sort();
    Ok(times[RUNS / 2].as_secs_f64() * 1000.0)
}

/// Runs `command` on `input` and returns its time. A command that fails or prints anything but `silence` is
/// an error.
fn run(mut command: Command, input: &str, silence: &str) -> Result<Duration, String> {
    let began = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = plain(&command.get_program().to_string_lossy());
    let mut child =
        command.spawn().map_err(|error| format!("{program} cannot be started: {error}"))?;
    // A program that ends before it has read everything is judged by its exit.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input.as_bytes()));
    let Ended { status, out, err } = process::ended(child, PATIENCE)?;
    let time = began.elapsed();
    match (status.code(), &out[..], &err[..]) {
        (Some(0), out, _) if out.trim_end() == silence => Ok(time),
        (Some(0), out, _) => {
            let [out, silence] = [out, silence].map(|text| match text {
                "" => "nothing".to_owned(),
                text => excerpt(text),
            });
            Err(format!("prints {out}, but should print {silence}"))
        }
        (Some(code), _, "") => Err(format!("exits with {code} instead of 0")),
        (Some(code), _, err) => Err(format!("exits with {code} instead of 0: {}", excerpt(err))),
        (None, ..) => Err("was ended by a signal".to_owned()),
    }
}

fn excerpt(text: &str) -> String {
    shortened(&plain(text.trim()), OUTPUT_MAX)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn the_part_of_the_shell_is_less_than_the_whole() {
        for (median, alone, expected) in [
            (8.0, Some(8.9), None),
            (8.0, Some(8.0), None),
            (8.0, Some(2.5), Some(2.5)),
            (8.0, None, None),
        ] {
            assert_eq!(share(median, alone), expected);
        }
    }
}
