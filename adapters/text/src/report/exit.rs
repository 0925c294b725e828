//! Exit statuses that a result names.

use crate::body::Body;
use crate::find;
use crate::phrases::{before, is_alphabetic, is_any};
use crate::words::status::{DEEDS, NAMES};

/// The number of lines at either end of a result that are read: hosts put the status there, some
/// among a few other lines of their own.
const LINES_MAX: usize = 8;

/// The most words before the name of a status on a line that is not the first or the last.
const WORDS_MAX: usize = 4;

/// The exit status of a command that `timeout` ended.
const TIMED_OUT: u32 = 124;

/// The exit statuses that a result names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exit {
    /// Whether a status is not 0, or `None` if there is no status.
    pub(crate) failed: Option<bool>,
    /// Whether a status is the one of `timeout`.
    pub(crate) timed_out: bool,
}

impl Exit {
    /// Returns the status that the host tells.
    pub(crate) fn told(code: Option<i32>) -> Self {
        code.map_or(Self::default(), |code| Self::default().and(code.unsigned_abs()))
    }

    /// Adds a status.
    fn and(self, code: u32) -> Self {
        Self {
            failed: Some(self.failed == Some(true) || code != 0),
            timed_out: self.timed_out || code == TIMED_OUT,
        }
    }
}

/// Returns the exit statuses that the lines at either end of `body` name, and the one that the host tells. O(n).
///
/// A line names a status if it contains nothing else (`Exit code: 1`), or if it ends with the
/// status and says that a process ended (`[Command finished with exit code 1]`).
pub(crate) fn exit(body: &Body<'_>, told: Exit) -> Exit {
    let (first, told) = named(body.lines(), LINES_MAX, told);
    match first {
        0..=1 => told,
        // All lines but the last were read in full.
        2..LINES_MAX => named(body.lines_back(), 1, told).1,
        _ => named(body.lines_back(), LINES_MAX, told).1,
    }
}

/// Adds to `told` the statuses that the first of `lines` name. Returns the number of these lines, too.
fn named<'t>(lines: impl Iterator<Item = &'t str>, count: usize, told: Exit) -> (usize, Exit) {
    lines.take(count).fold((0, told), |(at, told), line| {
        let code = status(line, if at == 0 { usize::MAX } else { WORDS_MAX });
        (at + 1, code.map_or(told, |code| told.and(code)))
    })
}

/// Returns the status that `line` names after at most `words` words, without a sign.
fn status(line: &str, words: usize) -> Option<u32> {
    let line = find::trim(line);
    if !may_name_one(line) {
        return None;
    }
    // AutoGen also adds the meaning of the status.
    let line = find::split_once(line, " (execution ").map_or(line, |(line, _)| line);
    let line = line.trim_matches(['[', ']', '(', ')', '.']);
    let said = line.trim_end_matches(|c: char| c.is_ascii_digit());
    let code = line.strip_prefix(said).filter(|code| !code.is_empty())?;
    let said = said.strip_suffix('-').unwrap_or(said);
    let said = said.strip_suffix(' ').unwrap_or(said).trim_end_matches([':', '=']);
    let subject = NAMES.iter().find_map(|name| without_end(said, name))?;
    let is_status = subject.is_empty() || is_deed(said, words);
    is_status.then(|| code.parse().unwrap_or(u32::MAX))
}

/// Returns whether `line` looks like one that names a status: it ends with a number, or with the meaning of a status.
fn may_name_one(line: &str) -> bool {
    if !matches!(line.as_bytes().last(), Some(b'0'..=b'9' | b'[' | b']' | b'(' | b')' | b'.')) {
        return false;
    }
    let end = line.trim_end_matches(['[', ']', '(', ')', '.']);
    let in_words = line.ends_with(')') && find::contains(line, " (execution ");
    end.ends_with(|c: char| c.is_ascii_digit()) || in_words
}

/// Returns `text` without the words `end` behind it, ignoring ASCII case.
fn without_end<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    before(text, end).filter(|start| start.is_empty() || start.ends_with(' '))
}

/// Returns whether `text` says that a process ended. It ends with the name of a status and has at
/// most `words` before it.
fn is_deed(text: &str, words: usize) -> bool {
    /// The most words of a name.
    const NAME_MAX: usize = 3;
    let mut said = text.split_whitespace();
    // A search hit, a log entry and a comment do not begin with a word.
    let is_named = said.next().is_some_and(|word| {
        word.starts_with(is_alphabetic) && !word.contains(|c: char| c.is_ascii_digit())
    });
    let is_short = said.nth(words.saturating_add(NAME_MAX - 1)).is_none();
    let mut last = text.split_whitespace().rev().take(NAME_MAX + 2);
    let is_done = last.any(|word| is_any(word, DEEDS));
    is_named && is_short && is_done
}

/// Returns whether `line` names a status and nothing else.
pub(super) fn is_status(line: &str) -> bool {
    status(line, usize::MAX).is_some()
}
