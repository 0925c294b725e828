//! A step of a command: its outcome, and the summary of all steps.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

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

fn ended(words: &str, status: io::Result<ExitStatus>) -> Done {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Outcome::Failed(format!("`{words}` ended with {status}"))),
        Err(error) => Err(Outcome::Failed(format!("`{words}` did not start: {error}"))),
    }
}

impl Outcome {
    /// Like [`run`].
    pub(crate) fn of(command: &mut Command) -> Self {
        run(command).into()
    }

    /// Runs `command`, shows its output and returns it. Both streams share one pipe, so their order is
    /// kept.
    pub(crate) fn captured(command: Command) -> (Self, String) {
        Self::captured_showing(command, |_| true)
    }

    /// Like [`Outcome::captured`], but shows only the lines for which `is_shown` returns true.
    pub(crate) fn captured_showing(
        command: Command,
        is_shown: impl Fn(&str) -> bool,
    ) -> (Self, String) {
        let words = words(&command);
        println!("+ {words}");
        match capture(command, is_shown) {
            Ok((status, output)) => (ended(&words, Ok(status)).into(), output),
            Err(error) => (ended(&words, Err(error)).into(), String::new()),
        }
    }

    /// Runs `next` if this outcome is a pass. Otherwise returns this outcome.
    pub(crate) fn and_then(self, next: impl FnOnce() -> Self) -> Self {
        self.done().map_or_else(|outcome| outcome, |()| next())
    }

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

/// Formats `command` as a line that can be pasted into a shell.
fn words(command: &Command) -> String {
    // The search path is long, and the same for all.
    let variables = command.get_envs().filter(|(name, _)| *name != "PATH");
    let variables = variables.filter_map(|(name, value)| {
        let value = value?.to_string_lossy();
        Some(format!("{}={}", name.to_string_lossy(), quoted(value)))
    });
    let program = Path::new(command.get_program());
    let program = match program.file_name() {
        // The path of `cargo` is noise: it is the one that runs this program.
        Some(name) if name == "cargo" => name.to_string_lossy(),
        _ => program.to_string_lossy(),
    };
    let arguments = command.get_args().map(|argument| argument.to_string_lossy());
    variables
        .chain([program.into_owned()])
        .chain(arguments.map(quoted))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Quotes `word` for a shell.
fn quoted(word: Cow<'_, str>) -> String {
    if word.contains([' ', '\'']) {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        word.into_owned()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_one_line_and_a_step_that_was_asked_for_and_left_out_has_failed() {
        let outcomes =
            [Outcome::Passed, Outcome::LeftOut("no tool".into()), Outcome::Failed("bad".into())];
        let took = Duration::from_millis(2_900);
        let steps = outcomes.map(|outcome| Step { name: "sample".into(), outcome, took });
        assert_eq!(
            Summary(steps.to_vec()).to_string(),
            "passed   sample           2 s\n\
             skipped  sample           2 s  no tool\n\
             failed   sample           2 s  bad\n"
        );
        let [passed, left_out, failed] = steps;
        let named = Summary::of_named(vec![left_out.clone()]);
        assert_eq!(named.to_string(), "failed   sample           2 s  no tool\n");
        for (summary, code) in [
            (Summary(vec![passed.clone(), left_out]), ExitCode::SUCCESS),
            (named, ExitCode::FAILURE),
            (Summary(vec![failed, passed]), ExitCode::FAILURE),
        ] {
            assert_eq!(summary.exit_code(), code, "{summary}");
        }
    }

    #[test]
    fn a_command_is_printed_as_one_would_type_it() {
        let mut command = Command::new("/usr/lib/cargo");
        command.args(["doc", "it's"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(words(&command), r"RUSTDOCFLAGS='-D warnings' cargo doc 'it'\''s'");
    }

    #[test]
    fn a_command_that_cannot_start_has_failed() {
        let outcome = Outcome::of(&mut Command::new("./no-such-program"));
        let Outcome::Failed(why) = outcome else { panic!("{outcome:?}") };
        assert!(why.starts_with("`./no-such-program` did not start: "));
    }

    #[test]
    fn both_streams_of_a_command_are_captured() {
        let mut command = Command::new("rustc");
        command.args(["--version", "--verbose"]);
        let (outcome, output) = Outcome::captured(command);
        assert_eq!(outcome, Outcome::Passed);
        assert!(output.starts_with("rustc "), "{output}");

        let mut command = Command::new("rustc");
        command.arg("--no-such-flag");
        let (outcome, output) = Outcome::captured_showing(command, |_| false);
        assert!(matches!(outcome, Outcome::Failed(_)));
        assert!(output.contains("no-such-flag"), "{output}");
    }
}
