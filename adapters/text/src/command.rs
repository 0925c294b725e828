//! Shell commands, as far as one look tells: what they run, and whether they only read a file.

mod effect;
mod member;
mod split;

use effect::{INTERPRETERS, PRINTS, TEST_RUNS};
pub(crate) use effect::{Nature, effect, pattern};

use crate::find;
use crate::list::{Filter, Word};

/// The longest part of a command that is read, in bytes. A longer command nearly always continues
/// with the text of a script.
pub(crate) const COMMAND_MAX: usize = 1024;

/// Calls `look` with the command among `args`, if there is one.
pub(crate) fn with_command<T>(args: &str, look: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let mut buffer = [0; COMMAND_MAX];
    look(member::command(args, &mut buffer)?)
}

/// Characters that the shell treats specially.
const SPECIAL: &[u8] = b"|;&<>$`(){}*?[]~!#\n\\";

/// The one file that `command` reads, if that is all it does.
///
/// A command with a pipe, a redirect, a list, a substitution, a glob or a quote around more
/// than a word is not looked into.
pub(crate) fn file_read(command: &str) -> Option<&str> {
    // Byte by byte: in the search of `core` for a character a compiler sees panics.
    if command.bytes().any(|byte| SPECIAL.contains(&byte)) {
        return None;
    }
    let mut words = command.split_ascii_whitespace();
    let program = words.next()?;
    if !PRINTS.contains(&program) {
        return None;
    }
    let mut file = None;
    let mut after_count = false;
    for word in words {
        if word.starts_with('-') && word.len() > 1 {
            // `head -n 20` takes the next word; `head -n20`, `head -20` and `cat -n` do not.
            let counts = matches!(word, "-n" | "-c" | "--lines" | "--bytes");
            after_count = counts && matches!(program, "head" | "tail");
        } else if after_count {
            after_count = false;
        } else if file.replace(unquoted(word)?).is_some() {
            return None;
        }
    }
    file
}

/// A word without the quotes around it; `None` if a quote stands anywhere else.
fn unquoted(word: &str) -> Option<&str> {
    let inner = ['"', '\'']
        .into_iter()
        .find_map(|quote| word.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(word);
    (!inner.contains(['"', '\''])).then_some(inner)
}

/// The first words of commands that run tests.
static TEST_STARTS: Filter = {
    let (mut filter, mut n) = (Filter::NONE, 0);
    while n < TEST_RUNS.len() {
        let (run, mut end) = (TEST_RUNS[n], 0);
        while end < run.len() && run.as_bytes()[end] != b' ' {
            end += 1;
        }
        filter = filter.with(run.split_at(end).0);
        n += 1;
    }
    filter
};

/// Returns whether `words` begin as a command that runs tests.
fn begins_test_run<'c>(words: &(impl Iterator<Item = &'c str> + Clone)) -> bool {
    let is = |run: &&str| {
        let mut words = words.clone();
        find::split(run, " ").all(|word| words.next() == Some(word))
    };
    let first = words.clone().next().unwrap_or_default();
    Word::new(first).may_be_in(&TEST_STARTS) && TEST_RUNS.iter().any(is)
}

/// Returns whether some part of `command` runs tests, for example `cd app && RUST_LOG=info cargo
/// test -q`, or a script with `test` or `tests` as a word of its path.
pub(crate) fn runs_tests(command: &str) -> bool {
    command.split(['\n', ';', '|', '&']).any(|part| {
        let words = part.split_ascii_whitespace().skip_while(|word| word.contains('='));
        let mut script = words.clone().skip_while(|word| INTERPRETERS.contains(word));
        begins_test_run(&words) || script.next().is_some_and(is_test_script)
    })
}

/// Returns whether `word` is the path of a script for tests, for example `./run_tests.sh` or
/// `tests/all.py`.
fn is_test_script(word: &str) -> bool {
    let is_path = word.contains('/') || word.contains('.');
    is_path && word.split(['/', '.', '_', '-']).any(|part| matches!(part, "test" | "tests"))
}

/// Returns whether `command` only waits.
pub(crate) fn only_waits(command: &str) -> bool {
    let mut words = command.split_ascii_whitespace();
    words.next() == Some("sleep") && words.next().is_some() && words.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::{file_read, only_waits, runs_tests, with_command};
    use crate::tables::check;

    #[test]
    fn a_command_that_only_waits_does_nothing_else() {
        check("waits", |command| format!("{}", only_waits(command)));
    }

    #[test]
    fn a_command_that_only_reads_names_its_file() {
        check("reads a file", |command| format!("{:?}", file_read(command)));
    }

    #[test]
    fn a_command_that_runs_tests_is_known_by_its_first_words() {
        check("runs tests", |command| format!("{}", runs_tests(command)));
    }

    #[test]
    fn a_long_command_is_cut() {
        let length = |args: &str| with_command(args, |command| Some(command.len()));
        assert_eq!(length(r#"{"command":"ls"}"#), Some(2));
        assert_eq!(length("not json"), None);
        let long = ["{\"command\":\"", &"x".repeat(9999), "\"}"].concat();
        assert_eq!(length(&long), Some(super::COMMAND_MAX));
    }
}
