//! A step of a command: its outcome, and the summary of all steps.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::iter;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::machine::{cargo, program, root};

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Every check holds.
    Passed,
    /// A check failed. One line says which.
    Failed(String),
    /// The step could not run. One line says why, and how to install the missing tool.
    LeftOut(String),
}

/// A value, or the outcome of the step that failed to make it.
pub(crate) type Done<T = ()> = Result<T, Outcome>;

/// Runs `command` and shows its output. Standard input is empty, because every step runs unattended.
pub(crate) fn run(command: &mut Command) -> Done {
    let words = words(command);
    println!("+ {words}");
    ended(&words, command.stdin(Stdio::null()).status())
}

/// Like [`run`], without a line that shows the command.
pub(crate) fn quietly(command: &mut Command) -> Done {
    ended(&words(command), command.stdin(Stdio::null()).status())
}

/// Runs the lines of a script, each in a `sh` of its own at the root of the repository, until one fails. `ROOT` is the
/// path of the root.
pub(crate) fn script(lines: &str, variables: &[(&str, OsString)]) -> Done {
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).try_for_each(|line| {
        println!("+ {line}");
        let mut shell = shell(line);
        ended(line, shell.envs(variables.iter().cloned()).stdin(Stdio::null()).status())
    })
}

/// Returns a `sh` that runs a line of a script.
pub(crate) fn shell(line: &str) -> Command {
    let mut shell = program("sh");
    shell.args(["-c", line]).env("ROOT", root());
    shell
}

/// Runs a command with spaces between its words. Words like `NAME=value` before the program set variables.
pub(crate) fn command(line: &str) -> Done {
    let line = line.trim_start();
    let is_variable = |word: &&str| word.contains('=');
    let variables = line.split(' ').take_while(is_variable).filter_map(|word| word.split_once('='));
    let mut words = line.split(' ').skip_while(is_variable);
    let mut command = match words.next() {
        Some("cargo") | None => cargo(),
        Some(name) => program(name),
    };
    run(command.args(words).envs(variables))
}

fn ended(words: &str, status: io::Result<ExitStatus>) -> Done {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Outcome::Failed(format!("`{words}` ended with {status}"))),
        Err(error) => Err(Outcome::Failed(format!("`{words}` did not start: {error}"))),
    }
}

impl Outcome {
    /// Returns the outcome as a result, which `?` passes on if it is not a pass.
    pub(crate) fn done(self) -> Done {
        if self == Self::Passed { Ok(()) } else { Err(self) }
    }
}

impl From<Done> for Outcome {
    fn from(done: Done) -> Self {
        done.err().unwrap_or(Self::Passed)
    }
}

impl From<io::Error> for Outcome {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Returns a failure.
pub(crate) fn failed<T>(why: impl Into<String>) -> Done<T> {
    Err(Outcome::Failed(why.into()))
}

/// Returns the failure of work on `path`, which names it.
pub(crate) fn failed_at(path: &Path) -> impl FnOnce(io::Error) -> Outcome {
    move |error| Outcome::Failed(format!("{}: {error}", path.display()))
}

/// A step that has run. Displays one line.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    /// Shown to the reader only; steps have no time limit.
    pub(crate) took: Duration,
}

impl Step {
    /// Runs `work` under a heading.
    pub(crate) fn run(name: impl Into<String>, work: impl FnOnce() -> Outcome) -> Self {
        let name = name.into();
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = work();
        Self { name, outcome, took: start.elapsed() }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (state, why) = match &self.outcome {
            Outcome::Passed => ("passed", String::new()),
            Outcome::Failed(why) => ("failed", format!("  {why}")),
            Outcome::LeftOut(why) => ("skipped", format!("  {why}")),
        };
        write!(f, "{state:<7}  {:<13} {:>4} s{why}", self.name, self.took.as_secs())
    }
}

/// The steps of a task that have run, in this order. Displays one line for each.
#[derive(Clone, Debug)]
pub(crate) struct Summary(pub(crate) Vec<Step>);

impl Summary {
    /// A summary of steps that someone asked for, so that one that could not run has failed.
    pub(crate) fn of_named(mut steps: Vec<Step>) -> Self {
        for step in &mut steps {
            if let Outcome::LeftOut(why) = &step.outcome {
                step.outcome = Outcome::Failed(why.clone());
            }
        }
        Self(steps)
    }

    /// Returns 1 if a step failed, else 0.
    pub(crate) fn exit_code(&self) -> ExitCode {
        let has_failed = self.0.iter().any(|step| matches!(step.outcome, Outcome::Failed(_)));
        if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

/// The steps of a command of its own. The first builds what the others need.
#[derive(Debug, Default)]
pub(crate) struct Steps(Vec<Step>);

impl Steps {
    /// Runs a step, unless the first one did not pass.
    pub(crate) fn then(&mut self, name: impl Into<String>, work: impl FnOnce() -> Done) {
        if self.0.first().is_none_or(|first| first.outcome == Outcome::Passed) {
            self.0.push(Step::run(name, || work().into()));
        }
    }

    /// Prints the outcome of each step, and returns the exit code of the command.
    pub(crate) fn finish(self) -> ExitCode {
        let summary = Summary::of_named(self.0);
        print!("\n{summary}");
        summary.exit_code()
    }
}

/// Formats `command` as one would type it.
fn words(command: &Command) -> String {
    let quoted = |word: &OsStr| {
        let word = word.to_string_lossy();
        if word.contains(' ') { format!("'{word}'") } else { word.into_owned() }
    };
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", quoted(name), quoted(value?))));
    // The path of `cargo` is noise: it is the one that runs this program.
    let program = Path::new(command.get_program());
    let program = if program.ends_with("cargo") { "cargo".as_ref() } else { program.as_os_str() };
    let words = iter::once(program).chain(command.get_args()).map(quoted);
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

/// Runs `command` without input, and returns its exit status and whole output. Shows the lines for which
/// `is_shown` returns true as they come.
pub(crate) fn capture(
    mut command: Command,
    is_shown: impl Fn(&str) -> bool,
) -> io::Result<(ExitStatus, String)> {
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The pipe ends only when this side's writers are closed, too.
    drop(command);

    let mut reader = BufReader::new(reader);
    let mut output = String::new();
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        if is_shown(&text) {
            io::stdout().write_all(&line)?;
        }
        output.push_str(&text);
        line.clear();
    }
    Ok((child.wait()?, output))
}
