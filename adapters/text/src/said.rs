//! The lines of an answer without what a host, a terminal or `ts` puts before each of them: a clock or a colour.
//!
//! All readers of an answer take their lines from here, so that a clock before each line changes nothing of what an
//! answer means. A log is no such answer. Its entries name a level behind the clock, and were written by something else
//! than the call.

use memchr::memchr;

use crate::find;

/// The number of lines at the start of an answer that have to begin with a clock. The last one has to, too.
const LINES_MAX: usize = 4;

/// Levels of the entries of a log.
const LEVELS: [&str; 10] =
    ["CRITICAL", "DEBUG", "ERR", "ERROR", "FATAL", "INFO", "NOTICE", "TRACE", "WARN", "WARNING"];

/// The clocks and terminal controls in the lines of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clocks {
    /// A clock before each line.
    any: bool,
    /// Terminal controls, somewhere.
    has_controls: bool,
}

impl Clocks {
    /// Looks at `answer`. O(n).
    pub(crate) fn of(answer: &str) -> Self {
        let has_controls = memchr(0x1B, answer.as_bytes()).is_some();
        Self { any: stand_before(answer.trim_ascii()), has_controls }
    }

    /// Returns whether there are clocks.
    pub(crate) fn any(self) -> bool {
        self.any
    }

    /// Returns `line` without its clock, and without colours at its ends.
    #[inline]
    pub(crate) fn off(self, line: &str) -> &str {
        if self.any || self.has_controls { self.off_stamped(line) } else { line }
    }

    #[inline(never)]
    fn off_stamped(self, line: &str) -> &str {
        let clock = if self.any { behind_clock(line) } else { None };
        clock.unwrap_or_else(|| uncoloured(line))
    }
}

/// Returns whether a clock stands before some lines at both ends of `answer`.
fn stand_before(answer: &str) -> bool {
    // Nearly every answer begins otherwise.
    if !matches!(answer.as_bytes().first(), Some(b'0'..=b'9' | b'[' | b'(' | b'\x1B')) {
        return false;
    }
    let is_stamped = |line: &str| behind_clock(line).is_some_and(|said| !opens_with_level(said));
    let first = find::lines(answer).take(LINES_MAX);
    let mut lines = first.chain(find::lines_back(answer).next());
    // A clock alone is the answer.
    let is_clock = find::lines(answer).all(|line| behind_clock(line) == Some(""));
    lines.all(|line| line.trim_ascii().is_empty() || is_stamped(line)) && !is_clock
}

/// Returns the lines of `answer`.
pub(crate) fn lines(answer: &str) -> impl Iterator<Item = &str> + Clone {
    let clocks = Clocks::of(answer);
    find::lines(answer).map(move |line| clocks.off(line))
}

/// Returns the text behind the clock that `line` begins with: a time of the day with seconds, maybe with a date before
/// it, in brackets or not.
fn behind_clock(line: &str) -> Option<&str> {
    let line = uncoloured(line);
    let (inner, close) = match line.as_bytes().first()? {
        b'[' => (line.get(1..)?, "]"),
        b'(' => (line.get(1..)?, ")"),
        b'0'..=b'9' => (line, ""),
        _ => return None,
    };
    let date = digits(inner, 4).and_then(|rest| digits(part(rest, "-/.")?, 2));
    let date = date.and_then(|rest| part(digits(part(rest, "-/.")?, 2)?, "T "));
    let time = digits(date.unwrap_or(inner), 2).and_then(|rest| digits(part(rest, ":")?, 2));
    let rest = digits(part(time?, ":")?, 2)?;
    let fraction =
        part(rest, ".,").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let rest = zoned(fraction.unwrap_or(rest)).strip_prefix(close)?;
    let said = ["\t", " | ", " - ", ": ", " "].iter().find_map(|sign| rest.strip_prefix(sign));
    // Behind anything else, it was a number with colons.
    said.or(rest.is_empty().then_some("")).map(uncoloured)
}

/// Returns `text` behind a time zone.
fn zoned(text: &str) -> &str {
    let offset = || {
        let rest = digits(part(text, "+-")?, 2)?;
        digits(rest.strip_prefix(':').unwrap_or(rest), 2)
    };
    text.strip_prefix('Z').or_else(offset).unwrap_or(text)
}

/// Returns `text` behind this number of digits.
fn digits(text: &str, count: usize) -> Option<&str> {
    let (number, rest) = text.split_at_checked(count)?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(rest)
}

/// Returns `text` behind one of these signs.
fn part<'t>(text: &'t str, signs: &str) -> Option<&'t str> {
    let (sign, rest) = text.split_at_checked(1)?;
    signs.bytes().any(|known| sign.bytes().eq([known])).then_some(rest)
}

/// Returns whether `said` begins with the level of an entry. `ERROR: ` may be the word of any tool.
fn opens_with_level(said: &str) -> bool {
    let inner = said.trim_start_matches(['[', '(', '<', ' ']);
    let rest = inner.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let word = inner.strip_suffix(rest).unwrap_or_default();
    let is_marked = inner.len() < said.len() || !word.bytes().any(|byte| byte.is_ascii_lowercase());
    is_marked
        && LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word))
        && !(rest.starts_with(": ") && matches!(word, "ERROR" | "FATAL"))
}

/// Returns `line` without the colours that it begins and ends with.
pub(crate) fn uncoloured(line: &str) -> &str {
    let mut line = line;
    while let Some((code, rest)) =
        line.strip_prefix("\x1b[").and_then(|rest| find::split_once(rest, "m"))
    {
        if !code.bytes().all(is_code) {
            break;
        }
        line = rest;
    }
    while line.ends_with('m') {
        let Some((start, end)) = find::rsplit_once(line, "\x1b[") else { break };
        if !end.strip_suffix('m').is_some_and(|code| code.bytes().all(is_code)) {
            break;
        }
        line = start;
    }
    line
}

/// Returns whether `byte` may stand in the sequence that sets a colour.
fn is_code(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b';'
}

#[cfg(test)]
mod tests {
    use super::{behind_clock, lines};
    use crate::tables::check;

    #[test]
    fn a_clock_is_a_time_of_the_day() {
        check("behind a clock", |line| format!("{:?}", behind_clock(line)));
    }

    #[test]
    fn clocks_count_if_they_stand_before_each_line_and_it_is_no_log() {
        check("lines without clocks", |answer| format!("{:?}", lines(answer).collect::<Vec<_>>()));
    }
}
