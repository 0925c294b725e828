//! The command line with which an agent runs this program.

use std::path::Path;

use super::json::Json;
use crate::agents::hooks::{Form, Hooks};

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
            let mut words = shlex::split(command)?.into_iter();
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

    /// The members of the settings entry that runs this line.
    pub(super) fn members(&self, hooks: &Hooks) -> Vec<(&'static str, Json)> {
        let mut members = vec![("type", Json::text("command"))];
        members.extend(hooks.label.map(|label| ("name", Json::text(label))));
        match hooks.form {
            Form::Exec => {
                members.push(("command", Json::text(&self.program)));
                members.push(("args", Json::Texts(self.words.clone())));
            }
            // A plugin holds the line itself.
            Form::Plugin(_) => {}
            Form::LoginShell | Form::Bash => {
                members.push(("command", Json::Text(self.shell().unwrap_or_default())));
            }
        }
        members.push(("timeout", Json::Number(hooks.timeout.figure())));
        members
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_hook_is_recognised_by_its_file_name_and_first_word() {
        for (command, args, ours) in [
            ("/usr/bin/unstuck", Some(vec!["hook", "claude-code"]), true),
            ("/a b/unstuck", Some(vec!["hook"]), true),
            ("unstuck.exe", Some(vec!["hook", "codex"]), true),
            ("unstuck", Some(vec!["scan"]), false),
            ("unstuck", Some(vec![]), false),
            ("/usr/bin/unstuck hook claude-code", Some(vec![]), false),
            ("/usr/bin/unstuck hook codex", None, true),
            ("'/a b/unstuck' hook codex --observe", None, true),
            ("\"/a b/unstuck\" hook codex", None, true),
            ("unstuck hook", None, true),
            ("unstuck hooks", None, false),
            ("echo unstuck hook", None, false),
            ("/opt/unstuck-wrapper hook codex", None, false),
            ("unstuck 'hook", None, false),
            ("", None, false),
        ] {
            let args = args.map(|args| args.into_iter().map(str::to_owned).collect());
            assert_eq!(Line::read(command, args.clone()).is_some(), ours, "{command} {args:?}");
        }
    }

    proptest! {
        #[test]
        fn a_shell_reads_the_same_words(
            folder in "[^\0]{0,12}",
            options in proptest::collection::vec("[^\0]{0,12}", 0..4),
        ) {
            let line = Line::new(&format!("/{folder}/unstuck"), "codex", options);
            let shell = line.shell().expect("no zero byte");
            prop_assert_eq!(Line::read(&shell, None), Some(line));
        }
    }
}
