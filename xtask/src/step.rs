//! The steps of a command: their work, and their outcomes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::iter;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::machine::{cargo, program, root};

/// What stands before the line that says why a command has not passed.
pub(crate) const ERROR: &str = "error: ";

/// The exit code of a step that could not run.
pub(crate) const LEFT_OUT: u8 = 69;

/// Why a step has not passed. Displays one line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A check failed. The line says which.
    Failed(String),
    /// The step could not run. The line says why, and how to install the missing tool.
    LeftOut(String),
}

/// A value, or why the step failed to make it.
pub(crate) type Done<T = ()> = Result<T, Failure>;

/// Runs `command` and shows its output.
pub(crate) fn run(command: &mut Command) -> Done {
    println!("+ {}", words(command));
    quietly(command)
}

/// Like [`run`], without a line that shows the command.
pub(crate) fn quietly(command: &mut Command) -> Done {
    ended(&words(command), command)
}

/// Runs the lines of a script, each by [`shell`], until one fails.
pub(crate) fn script(lines: &str, variables: &[(&str, OsString)]) -> Done {
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).try_for_each(|line| {
        println!("+ {line}");
        ended(line, shell(line).envs(variables.iter().cloned()))
    })
}

/// The text of a file in `xtask/scripts`: parts of commands for [`script`]. A part begins with a line of `##` and its
/// name. A line that ends with a backslash goes on in the next one, and one that begins with `#` is a comment.
///
/// Each line runs in a `sh -c` of its own at the root of the repository: a folder or a variable that it sets is lost at
/// its end. `$ROOT` is the path of the root. The code that runs a part fills in its words in braces, like `{library}`, and
/// in `javascript.sh` those in capitals, like `ARCHIVE`, and sets the variables in capitals, like `$PREFIX`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scripts(pub(crate) &'static str);

impl Scripts {
    /// Returns the commands of a part, one a line.
    pub(crate) fn part(self, name: &str) -> Done<String> {
        let mut parts = self.0.split("\n## ").filter_map(|part| part.split_once('\n'));
        let Some((_, lines)) = parts.find(|(known, _)| *known == name) else {
            return failed(format!("`xtask/scripts` has no part `{name}`"));
        };
        let lines = lines.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        let joined = |line: &str| line.strip_suffix('\\').map_or(format!("{line}\n"), String::from);
        Ok(lines.map(joined).collect())
    }
}

/// Returns a `sh` that runs a line of a script at the root of the repository. `ROOT` is the path of the root. A variable
/// that is not set is an error.
pub(crate) fn shell(line: &str) -> Command {
    let mut shell = program("sh");
    shell.args(["-uc", line]).env("ROOT", root());
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

/// Runs a command. Standard input is empty, because every step runs unattended.
fn ended(words: &str, command: &mut Command) -> Done {
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => failed(format!("`{words}` ended with {status}")),
        Err(error) => failed(format!("`{words}` did not start: {error}")),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Failed(why) | Self::LeftOut(why)) = self;
        f.write_str(why)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Returns a failure.
pub(crate) fn failed<T>(why: impl Into<String>) -> Done<T> {
    Err(Failure::Failed(why.into()))
}

/// Returns the failure of work on `path`, which names it.
pub(crate) fn failed_at(path: &Path) -> impl FnOnce(io::Error) -> Failure {
    move |error| Failure::Failed(format!("{}: {error}", path.display()))
}

/// A step that has run. Displays one line.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) done: Done,
    /// Shown to the reader only; steps have no time limit.
    pub(crate) took: Duration,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (state, why) = match &self.done {
            Ok(()) => ("passed", String::new()),
            Err(Failure::Failed(why)) => ("failed", format!("  {why}")),
            Err(Failure::LeftOut(why)) => ("skipped", format!("  {why}")),
        };
        write!(f, "{state:<7}  {:<13} {:>4} s{why}", self.name, self.took.as_secs())
    }
}

/// The steps of a command that have run, in this order.
#[derive(Debug, Default)]
pub(crate) struct Steps(pub(crate) Vec<Step>);

impl Steps {
    /// Runs a step under a heading. One that cannot run has failed, because someone asked for it.
    pub(crate) fn run(&mut self, name: &str, work: impl FnOnce() -> Done) {
        println!("\n== {name}");
        let start = Instant::now();
        let done = work().map_err(|why| Failure::Failed(why.to_string()));
        self.0.push(Step { name: name.into(), done, took: start.elapsed() });
    }

    /// Runs a step, unless the first one, which builds what the others need, did not pass.
    pub(crate) fn then(&mut self, name: &str, work: impl FnOnce() -> Done) {
        if self.0.first().is_none_or(|first| first.done.is_ok()) {
            self.run(name, work);
        }
    }

    /// Prints the outcome of each step. The command has failed if one of them has.
    pub(crate) fn finish(self) -> Done {
        println!();
        self.0.iter().for_each(|step| println!("{step}"));
        let has_failed = |step: &&Step| matches!(step.done, Err(Failure::Failed(_)));
        match self.0.iter().filter(has_failed).count() {
            0 => Ok(()),
            count => failed(format!("{count} of {} steps failed", self.0.len())),
        }
    }
}

/// Formats `command` as one would type it.
pub(crate) fn words(command: &Command) -> String {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    #[test]
    fn a_variable_that_is_not_set_is_an_error() {
        assert_eq!(script(": $SET $ROOT", &[("SET", OsString::new())]), Ok(()));
        assert!(script(": $UNSTUCK_TEST_UNSET", &[]).is_err());
    }

    #[test]
    fn every_part_of_a_script_is_there_and_run() {
        for file in fs::read_dir(root().join("xtask/scripts")).expect("the scripts") {
            let file = file.expect("a script").path();
            let text = fs::read_to_string(&file).expect("a script");
            let name = file.file_stem().expect("a name");
            let source = root().join("xtask/src").join(name);
            let more = fs::read_dir(&source).into_iter().flatten().flatten();
            let sources = [source.with_extension("rs")].into_iter().chain(more.map(|it| it.path()));
            let code = sources.map(|path| fs::read_to_string(path).expect("a source"));
            let code = code.collect::<String>();
            let run = code.split(".part(\"").skip(1).filter_map(|rest| rest.split('"').next());
            let parts = text.lines().filter_map(|line| line.strip_prefix("## "));
            assert_eq!(parts.collect::<BTreeSet<_>>(), run.collect(), "{}", file.display());
        }
    }
}
