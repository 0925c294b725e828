//! A step of a command: its name, its outcome, and the summary of all steps.

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

impl Outcome {
    /// Runs `command` and shows its output. Standard input is empty, because every step runs
    /// unattended.
    pub(crate) fn of(command: &mut Command) -> Self {
        let words = words(command);
        println!("+ {words}");
        Self::of_status(&words, command.stdin(Stdio::null()).status())
    }

    /// Runs `command`, shows its output and returns it. Both streams share one pipe, so their order is
    /// kept.
    pub(crate) fn captured(command: Command) -> (Self, String) {
        Self::captured_showing(command, |_| true)
    }

    /// Like [`Outcome::captured`], but shows only the lines for which `is_shown` returns true.
    pub(crate) fn captured_showing(
        mut command: Command,
        is_shown: impl Fn(&str) -> bool,
    ) -> (Self, String) {
        let words = words(&command);
        println!("+ {words}");
        command.stdin(Stdio::null());
        match capture(command, is_shown) {
            Ok((status, output)) => (Self::of_status(&words, Ok(status)), output),
            Err(error) => (Self::of_status(&words, Err(error)), String::new()),
        }
    }

    fn of_status(words: &str, status: io::Result<ExitStatus>) -> Self {
        match status {
            Ok(status) if status.success() => Self::Passed,
            Ok(status) => Self::Failed(format!("`{words}` ended with {status}")),
            Err(error) => Self::Failed(format!("`{words}` did not start: {error}")),
        }
    }

    /// Runs `next` if this outcome is a pass. Otherwise returns this outcome.
    pub(crate) fn and_then(self, next: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Passed => next(),
            other => other,
        }
    }
}

/// A step that has run.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    name: &'static str,
    outcome: Outcome,
    /// Shown to the reader only; steps have no time limit.
    took: Duration,
}

impl Step {
    /// Runs `work` under a heading.
    pub(crate) fn run(name: &'static str, work: impl FnOnce() -> Outcome) -> Self {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = work();
        Self { name, outcome, took: start.elapsed() }
    }
}

/// Whether a step that cannot run makes the task fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Omission {
    /// The step is left out.
    Allowed,
    /// The step was asked for by name, or this is CI, where no step may be left out.
    Failure,
}

/// The steps of a task that have run. Displays one line for each.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) omission: Omission,
    /// The steps, in the order in which they ran.
    pub(crate) steps: Vec<Step>,
}

impl Summary {
    /// A summary of steps that the command line named, which therefore must run.
    pub(crate) const fn of_named(steps: Vec<Step>) -> Self {
        Self { omission: Omission::Failure, steps }
    }

    /// Returns 0 if every step passed, or was left out and may be; else 1.
    pub(crate) fn exit_code(&self) -> ExitCode {
        if self.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn is_success(&self) -> bool {
        self.steps.iter().all(|step| match step.outcome {
            Outcome::Passed => true,
            Outcome::Failed(_) => false,
            Outcome::LeftOut(_) => self.omission == Omission::Allowed,
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Step { name, outcome, took } in &self.steps {
            match (outcome, self.omission) {
                (Outcome::Passed, _) => writeln!(f, "passed    {name} ({} s)", took.as_secs())?,
                (Outcome::Failed(why), _) => writeln!(f, "failed    {name}: {why}")?,
                (Outcome::LeftOut(why), Omission::Allowed) => {
                    writeln!(f, "left out  {name}: {why}")?;
                }
                (Outcome::LeftOut(why), Omission::Failure) => {
                    writeln!(f, "not run   {name}: {why}")?;
                }
            }
        }
        Ok(())
    }
}

/// Formats `command` as a line that can be pasted into a shell.
fn words(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
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

/// Runs `command`, and returns its exit status and whole output. Shows the lines for which `is_shown`
/// returns true as they come.
fn capture(
    mut command: Command,
    is_shown: impl Fn(&str) -> bool,
) -> io::Result<(ExitStatus, String)> {
    let (reader, writer) = io::pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
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

    fn step(outcome: Outcome) -> Step {
        Step { name: "sample", outcome, took: Duration::from_millis(2_900) }
    }

    #[test]
    fn every_step_has_one_line() {
        let steps = vec![
            step(Outcome::Passed),
            step(Outcome::Failed("it broke".into())),
            step(Outcome::LeftOut("no tool".into())),
        ];
        let mut summary = Summary { omission: Omission::Allowed, steps };
        assert_eq!(
            summary.to_string(),
            "passed    sample (2 s)\n\
             failed    sample: it broke\n\
             left out  sample: no tool\n"
        );
        summary.omission = Omission::Failure;
        assert!(summary.to_string().ends_with("not run   sample: no tool\n"), "{summary}");
    }

    #[test]
    fn failures_and_forbidden_omissions_make_the_task_fail() {
        let failed = Outcome::Failed(String::new());
        let left_out = Outcome::LeftOut(String::new());
        for (omission, outcome, success) in [
            (Omission::Allowed, Outcome::Passed, true),
            (Omission::Allowed, failed.clone(), false),
            (Omission::Allowed, left_out.clone(), true),
            (Omission::Failure, Outcome::Passed, true),
            (Omission::Failure, failed, false),
            (Omission::Failure, left_out, false),
        ] {
            let case = format!("{omission:?} {outcome:?}");
            let steps = vec![step(outcome), step(Outcome::Passed)];
            assert_eq!(Summary { omission, steps }.is_success(), success, "{case}");
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
        let Outcome::Failed(why) = outcome else {
            panic!("{outcome:?}");
        };
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
