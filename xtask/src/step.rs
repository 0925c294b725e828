//! One step of a chore: its name, what came of it, and the summary of all.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::machine::Machine;

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All that it checks is as it should be.
    Passed,
    /// Something is wrong; one line says what.
    Failed(String),
    /// It could not run; one line says why, and how to get what is missing.
    LeftOut(String),
}

impl Outcome {
    /// Runs `command` to its end and shows what it prints. Nothing is typed into
    /// it: every step must run unattended.
    pub(crate) fn of(command: &mut Command) -> Self {
        let words = words(command);
        println!("+ {words}");
        Self::of_status(&words, command.stdin(Stdio::null()).status())
    }

    /// Runs `command` to its end, shows what it prints and gives it back too.
    ///
    /// Both of its streams go through one pipe, in the order of writing.
    pub(crate) fn of_heard(command: Command) -> (Self, String) {
        Self::of_heard_showing(command, |_| true)
    }

    /// As [`Outcome::of_heard`], but shows only the lines that are to be.
    pub(crate) fn of_heard_showing(
        mut command: Command,
        is_shown: impl Fn(&str) -> bool,
    ) -> (Self, String) {
        let words = words(&command);
        println!("+ {words}");
        command.stdin(Stdio::null());
        match hear(command, is_shown) {
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

    /// This outcome, or that of `next` where this one is a pass.
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
    /// For the reader alone: no step has a limit of time.
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

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, took, .. } = self;
        let seconds = took.as_secs();
        match &self.outcome {
            Outcome::Passed => write!(f, "passed    {name} ({seconds} s)"),
            Outcome::Failed(why) => write!(f, "failed    {name}: {why}"),
            Outcome::LeftOut(why) => write!(f, "left out  {name}: {why}"),
        }
    }
}

/// All steps of a chore; its text has one line for each.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    /// The machine that the steps ran on.
    pub(crate) machine: Machine,
    /// The steps, in the order in which they ran.
    pub(crate) steps: Vec<Step>,
}

impl Summary {
    /// Whether nothing failed and, in CI, nothing was left out.
    pub(crate) fn all_is_well(&self) -> bool {
        self.steps.iter().all(|step| match step.outcome {
            Outcome::Passed => true,
            Outcome::Failed(_) => false,
            Outcome::LeftOut(_) => self.machine == Machine::Developer,
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

/// `command` as one would type it: what a person copies to try again.
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

/// `word` as a shell would have it.
fn quoted(word: Cow<'_, str>) -> String {
    if word.contains([' ', '\'']) {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        word.into_owned()
    }
}

/// Runs `command`, passing on each line that is to be shown as it comes, and keeps them all.
fn hear(mut command: Command, is_shown: impl Fn(&str) -> bool) -> io::Result<(ExitStatus, String)> {
    let (reader, writer) = io::pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The command holds this side's writing ends. The pipe has no end before
    // they are closed.
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
        let summary = Summary {
            machine: Machine::Developer,
            steps: vec![
                step(Outcome::Passed),
                step(Outcome::Failed("it broke".into())),
                step(Outcome::LeftOut("no tool".into())),
            ],
        };
        assert_eq!(
            summary.to_string(),
            "passed    sample (2 s)\n\
             failed    sample: it broke\n\
             left out  sample: no tool\n"
        );
    }

    #[test]
    fn a_failure_anywhere_and_an_omission_in_ci_are_no_pass() {
        let failed = Outcome::Failed(String::new());
        let left_out = Outcome::LeftOut(String::new());
        for (machine, outcome, well) in [
            (Machine::Developer, Outcome::Passed, true),
            (Machine::Developer, failed.clone(), false),
            (Machine::Developer, left_out.clone(), true),
            (Machine::Ci, Outcome::Passed, true),
            (Machine::Ci, failed, false),
            (Machine::Ci, left_out, false),
        ] {
            let case = format!("{machine:?} {outcome:?}");
            let steps = vec![step(outcome), step(Outcome::Passed)];
            let summary = Summary { machine, steps };
            assert_eq!(summary.all_is_well(), well, "{case}");
        }
    }

    #[test]
    fn a_command_is_told_as_one_would_type_it() {
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
    fn both_streams_of_a_command_are_heard() {
        let mut command = Command::new("rustc");
        command.args(["--version", "--verbose"]);
        let (outcome, output) = Outcome::of_heard(command);
        assert_eq!(outcome, Outcome::Passed);
        assert!(output.starts_with("rustc "), "{output}");

        let mut command = Command::new("rustc");
        command.arg("--no-such-flag");
        let (outcome, output) = Outcome::of_heard_showing(command, |_| false);
        assert!(matches!(outcome, Outcome::Failed(_)));
        assert!(output.contains("no-such-flag"), "{output}");
    }
}
