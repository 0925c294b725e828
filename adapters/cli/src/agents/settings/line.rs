//! The command line with which an agent runs this program.

use std::path::Path;

use super::splice::Json;
use crate::agents::hooks::{Form, HookEvent, Hooks};

/// The first word after the program in the command line of every hook.
const HOOK: &str = "hook";

/// The name of this program's file, without an extension.
const PROGRAM: &str = "unstuck";

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) program: String,
    pub(crate) words: Vec<String>,
}

impl Line {
    /// The line with which an agent runs `program` as its hook, with these options.
    pub(crate) fn new(program: &str, agent: &str, options: Vec<String>) -> Self {
        let words = [HOOK.to_owned(), agent.to_owned()];
        Self { program: program.to_owned(), words: words.into_iter().chain(options).collect() }
    }

    /// Reads the line of an entry: `command` split like in a shell, or `command` and `args`. Returns `None`
    /// if it does not run this program as a hook.
    pub(crate) fn read(command: &str, args: Option<Vec<String>>) -> Option<Self> {
        let (program, words) = if let Some(args) = args {
            (command.to_owned(), args)
        } else {
            let mut words = without_test(shlex::split(command)?).into_iter();
            (words.next()?, words.collect())
        };
        let is_ours = Path::new(&program).file_stem().is_some_and(|stem| stem == PROGRAM)
            && words.first().is_some_and(|word| word == HOOK);
        is_ours.then_some(Self { program, words })
    }

    /// Returns the line as text, quoted for a shell. Returns `None` if a word has a zero byte, which no
    /// shell can read.
    pub(crate) fn shell(&self) -> Option<String> {
        let words = [&self.program].into_iter().chain(&self.words);
        shlex::try_join(words.map(String::as_str)).ok()
    }

    /// Returns the `command` member of an entry of this form.
    pub(crate) fn command(&self, form: Form) -> String {
        match form {
            Form::Exec | Form::Plugin(_) => self.program.clone(),
            Form::LoginShell => self.shell().unwrap_or_default(),
            Form::Bash => self.tested().unwrap_or_default(),
        }
    }

    /// Returns whether `command` has this meaning in an entry of this form, possibly in other quotes.
    pub(super) fn is_spelled(&self, command: &str, form: Form) -> bool {
        let words = |command: &str| shlex::split(command);
        form != Form::Exec && words(command) == words(&self.command(form))
    }

    /// Returns a line for a shell that does nothing if the program is gone. Gemini CLI takes the exit code
    /// of a missing program for a denial, of prompts as well.
    fn tested(&self) -> Option<String> {
        let program = shlex::try_quote(&self.program).ok()?;
        Some(format!("[ ! -x {program} ] || {}", self.shell()?))
    }

    /// The members of the settings entry that runs this line at `event`.
    pub(super) fn members(&self, hooks: &Hooks, event: &HookEvent) -> Vec<(&'static str, Json)> {
        let mut members = vec![("type", Json::text("command"))];
        members.extend(hooks.label.map(|label| ("name", Json::text(label))));
        members.push(("command", Json::Text(self.command(hooks.form))));
        if hooks.form == Form::Exec {
            members.push(("args", Json::Texts(self.words.clone())));
        }
        let timeout = event.limit.unwrap_or(hooks.timeout);
        members.push(("timeout", Json::Number(timeout)));
        members
    }
}

/// Returns the words of a line without the test of its program that [`Line::tested`] writes.
fn without_test(words: Vec<String>) -> Vec<String> {
    match &words[..] {
        [open, not, is_program, _, close, or, line @ ..]
            if [open, not, is_program, close, or] == ["[", "!", "-x", "]", "||"] =>
        {
            line.to_vec()
        }
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cases::cases;

    #[test]
    fn a_hook_is_recognised_by_its_file_name_and_first_word() {
        for (given, expected) in cases(include_str!("line.txt"), "lines") {
            let (command, args) = match given.split_once(" [") {
                Some((command, args)) => (command, Some(format!("[{args}"))),
                None => (given, None),
            };
            let args = args.map(|args| serde_json::from_str(&args).expect("a list of words"));
            let found = Line::read(command, args).map_or("other", |_| "hook");
            assert_eq!(found, expected, "{given}");
        }
        assert_eq!(Line::read("", None), None);
    }

    proptest! {
        #[test]
        fn a_shell_reads_the_same_words(
            folder in "[^\0]{0,12}",
            options in proptest::collection::vec("[^\0]{0,12}", 0..4),
        ) {
            let line = Line::new(&format!("/{folder}/unstuck"), "codex", options);
            for command in [line.command(Form::LoginShell), line.command(Form::Bash)] {
                prop_assert_eq!(Line::read(&command, None), Some(line.clone()));
            }
        }
    }
}
