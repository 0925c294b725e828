//! Lines as a terminal shows them, and the numbers in them.

use core::ops::Deref;
use core::str;

use memchr::memchr2;

use crate::find;

/// The longest line that is rid of its colours, in bytes: a summary is far shorter.
const LINE_MAX: usize = 512;

/// A line as a terminal shows it.
#[expect(
    clippy::large_enum_variant,
    reason = "few lines have colours, and there may be no allocator"
)]
pub(crate) enum Shown<'t> {
    /// A part of the text.
    Part(&'t str),
    /// The parts between colours, and their length.
    Uncoloured([u8; LINE_MAX], usize),
}

impl Deref for Shown<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Part(line) => line,
            Self::Uncoloured(bytes, length) => {
                let shown = bytes.get(..*length).and_then(|bytes| str::from_utf8(bytes).ok());
                shown.unwrap_or_default().trim_end()
            }
        }
    }
}

/// Returns the visible part of `line`: without text that was overwritten from its start, without
/// colours, and without white space at its end. A line with colours that is too long stays as it
/// is. O(n).
pub(crate) fn plain(line: &str) -> Shown<'_> {
    let line = line.trim_end();
    // Most lines have neither.
    if memchr2(b'\r', b'\x1B', line.as_bytes()).is_none() {
        return Shown::Part(line);
    }
    let line = find::rsplit_once(line, "\r").map_or(line, |(_, shown)| shown);
    if find::contains(line, "\x1b") { uncoloured(line) } else { Shown::Part(line) }
}

/// Returns `line` without its colours.
#[inline(never)]
fn uncoloured(line: &str) -> Shown<'_> {
    let (mut bytes, mut length) = ([0; LINE_MAX], 0_usize);
    for part in find::split(line, "\x1b").enumerate().map(behind_sequence) {
        let end = length.saturating_add(part.len());
        let Some(room) = bytes.get_mut(length..end) else { return Shown::Part(line) };
        room.iter_mut().zip(part.bytes()).for_each(|(place, byte)| *place = byte);
        length = end;
    }
    Shown::Uncoloured(bytes, length)
}

/// Returns a part of a line without the rest of an escape sequence. An escape precedes every part
/// but the first.
fn behind_sequence((index, part): (usize, &str)) -> &str {
    match part.strip_prefix('[') {
        Some(sequence) if index > 0 => {
            let mut rest = sequence.trim_start_matches(|c| matches!(c, ' '..='?')).chars();
            rest.next();
            rest.as_str()
        }
        _ => part,
    }
}

/// The number that `text` begins with, and what follows it.
pub(crate) fn number(text: &str) -> Option<(u32, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.strip_suffix(rest)?;
    Some((digits.parse().ok()?, rest))
}

/// A number and the words behind it, as in `3 failed`.
pub(crate) fn counted(text: &str) -> Option<(u32, &str)> {
    let (count, what) = number(text.trim())?;
    Some((count, what.trim_start()))
}

/// Returns whether `line` is an entry of a log: it opens with a date, a clock time or a level.
pub(crate) fn is_log_entry(line: &str) -> bool {
    const LEVELS: [&str; 6] = ["INFO", "DEBUG", "TRACE", "WARN", "WARNING", "NOTICE"];
    let entry = line.strip_prefix('[').unwrap_or(line);
    let word = entry.split(|c: char| !c.is_ascii_alphabetic()).next();
    word.is_some_and(|word| LEVELS.contains(&word)) || is_time(entry)
}

/// Returns whether `text` opens with a date (`2024-05-01`) or a clock time (`12:00:01`).
fn is_time(text: &str) -> bool {
    let part = |text| number(text).map(|(_, rest)| rest);
    let is_parted = |separator: &char| {
        let second = part(text).and_then(|rest| part(rest.strip_prefix(*separator)?));
        second.and_then(|rest| part(rest.strip_prefix(*separator)?)).is_some()
    };
    text.starts_with(|c: char| c.is_ascii_digit()) && ['-', '/', ':'].iter().any(is_parted)
}

#[cfg(test)]
mod tests {
    use super::{counted, is_log_entry, number, plain};
    use crate::tables::check;

    #[test]
    fn a_line_is_read_as_it_is_shown() {
        check("a line as shown", |line| format!("{:?}", &*plain(line)));
        let long = "\x1b[1m".repeat(9) + &"x".repeat(600);
        assert_eq!(&*plain(&long), long);
    }

    #[test]
    fn a_number_is_read_and_what_follows_it() {
        assert_eq!(number("12s"), Some((12, "s")));
        assert_eq!(number("12"), Some((12, "")));
        assert_eq!(counted(" 3  failed "), Some((3, "failed")));
        for text in ["", "x", "-1", "+1", "99999999999"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_log_opens_its_entries_alike() {
        check("an entry of a log", |line| format!("{}", is_log_entry(line)));
    }
}
