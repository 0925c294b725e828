//! Rows of decimal digits: times, durations, process ids, ports, labelled counters, and numbers.

use super::pieces::{Part, Span};
use super::scan::{gap_before, is_blank};
use super::{Mask, Masks, label, labelled, time};

/// Returns the byte at `at`, or 0 outside of the text.
pub(super) fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// A row of decimal digits, and the extent of the number that it begins.
pub(super) struct Digits {
    pub(super) start: usize,
    /// Behind the digits.
    pub(super) end: usize,
    /// Behind further rows with single points between them.
    pub(super) decimal: usize,
    /// The byte before it, or 0 at the start of the text.
    pub(super) before: u8,
    /// True if no letter, digit or decimal point stands directly before it.
    pub(super) is_free: bool,
}

impl Digits {
    pub(super) fn at(text: &[u8], start: usize) -> Self {
        let end = digits_end(text, start);
        let mut decimal = end;
        while byte(text, decimal) == b'.' && byte(text, decimal + 1).is_ascii_digit() {
            decimal = digits_end(text, decimal + 1);
        }
        let before = text.get(..start).and_then(<[u8]>::last).copied().unwrap_or(0);
        let is_free = !before.is_ascii_alphanumeric() && before != b'.' && before < 0x80;
        Self { start, end, decimal, before, is_free }
    }

    /// The row with nothing before it.
    pub(super) const fn freed(self) -> Self {
        Self { before: 0, is_free: true, ..self }
    }

    pub(super) const fn length(&self) -> usize {
        self.end - self.start
    }

    /// Only this row, without what follows a point.
    const fn only(&self, mask: Mask) -> Span {
        Span { start: self.start, end: self.end, part: Part::of(mask) }
    }
}

pub(super) fn digits_end(text: &[u8], start: usize) -> usize {
    let digits = text.get(start..).unwrap_or_default().iter();
    start + digits.take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns the one of `masks` that recognises `row`. Most numbers are not volatile, and the bytes
/// on both sides show it. No label starts before `floor`.
pub(super) fn masked(masks: Masks, text: &[u8], row: &Digits, floor: usize) -> Option<Span> {
    let has = |mask| masks.contains(mask);
    let span = |(start, end): (usize, usize), mask| Span { start, end, part: Part::of(mask) };
    let (before, after) = (row.before, byte(text, row.end));
    if has(Mask::Times)
        && (matches!(after, b':' | b'a' | b'A' | b'p' | b'P')
            || is_blank(after)
            || before == b'T' && matches!(after, b'_' | b'-'))
        && let Some(end) = time::clock(text, row)
    {
        return Some(span((row.start, end), Mask::Times));
    }
    if !row.is_free {
        return None;
    }
    if has(Mask::Dates)
        && (is_blank(before) || matches!(after, b'-' | b'/' | b'.') || is_blank(after))
        && let Some(found) = time::date(text, row)
    {
        return Some(span(found, Mask::Dates));
    }
    if has(Mask::Times) && time::is_since_1970(text, row) {
        return Some(span((row.start, row.decimal), Mask::Times));
    }
    if has(Mask::Durations)
        && let Some(end) = time::duration(text, row)
    {
        return Some(span((row.start, end), Mask::Durations));
    }
    let tail = label::tail(text, row.start, floor);
    if has(Mask::Pids)
        && (b"[:=#(\"'".contains(&before) || is_blank(before))
        && is_pid(text, row, tail)
    {
        return Some(row.only(Mask::Pids));
    }
    if has(Mask::Ports) && before == b':' && is_local_port(text, row) {
        return Some(row.only(Mask::Ports));
    }
    if has(Mask::Inputs) && matches!(after, b']' | b'-') && is_input(text, row) {
        return Some(row.only(Mask::Inputs));
    }
    labelled::masked(masks, text, row, floor, tail)
}

/// The most digits of a line number: a longer one may be a time.
const LINE_NUMBER_MAX: usize = 6;

/// Returns whether `row` is a line number that a tool adds, as in `   12→let x = 1;`. No mask
/// applies to it. Most numbers in the answers of coding agents are line numbers.
pub(super) fn is_of_a_line(text: &[u8], row: &Digits) -> bool {
    row.length() <= LINE_NUMBER_MAX
        && text.get(row.end..).unwrap_or_default().starts_with("→".as_bytes())
        && text.get(..row.start).is_some_and(begins_a_line)
}

/// Returns whether `text` ends with `word`, in upper or lower case.
pub(super) fn ends_with(text: &[u8], word: &[u8]) -> bool {
    let end = text.len().checked_sub(word.len()).and_then(|start| text.get(start..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(word))
}

/// Returns whether `text` ends with `word`, and the word begins there.
fn ends_with_word(text: &[u8], word: &[u8]) -> bool {
    let before = text.len().checked_sub(word.len() + 1).map(|at| byte(text, at));
    ends_with(text, word) && !before.is_some_and(|byte| byte.is_ascii_alphanumeric())
}

/// `text` without the bytes at its end that are among `bytes`.
fn without_end<'t>(text: &'t [u8], bytes: &[u8]) -> &'t [u8] {
    let end = text
        .iter()
        .rposition(|byte| bytes.iter().all(|other| other != byte))
        .map_or(0, |at| at + 1);
    text.get(..end).unwrap_or_default()
}

/// At most the 32 bytes in front of `at`: no longer word is looked for.
fn before(text: &[u8], at: usize) -> &[u8] {
    text.get(at.saturating_sub(32)..at).unwrap_or_default()
}

/// The smallest number of digits in a process id that only brackets identify. Shorter numbers may
/// be counts.
const BARE_PID_MIN: usize = 3;

fn is_pid(text: &[u8], row: &Digits, tail: [u8; 2]) -> bool {
    let ahead = before(text, row.start);
    match byte(text, row.end) {
        // `[4711] ` at the start of a line, and `sshd[4711]:`.
        b']' if ahead.ends_with(b"[") => {
            let outer = ahead.strip_suffix(b"[").unwrap_or(ahead);
            let after = byte(text, row.end + 1);
            let is_first = begins_a_line(outer);
            let is_name = outer.last().is_some_and(u8::is_ascii_alphabetic);
            is_first && after == b' ' && row.length() >= BARE_PID_MIN || is_name && after == b':'
        }
        b'=' => ahead.ends_with(b"==") && text.get(row.end..row.end + 2) == Some(b"=="),
        b'.' if row.decimal > row.end => false,
        next if next.is_ascii_alphanumeric() => false,
        _ => {
            matches!(&tail, b"id" | b"ss" | b"up" | b"wp") && is_named_pid(text, row)
                || is_job(text, row)
        }
    }
}

/// The names of ids that a kernel gives to processes, to their groups and to threads.
const PID_NAMES: [&[u8]; 11] = [
    b"pid",
    b"ppid",
    b"pgid",
    b"tgid",
    b"tid",
    b"lwp",
    b"process",
    b"process id",
    b"process group",
    b"process group id",
    b"thread id",
];

fn is_named_pid(text: &[u8], row: &Digits) -> bool {
    let near = before(text, gap_before(text, row.start));
    let named = without_end(near, b" \t\r\x0B\x0C:=#(\"'");
    let is_apart = named.len() < near.len() || is_blank(row.before);
    is_apart && PID_NAMES.iter().any(|word| ends_with_word(named, word))
}

/// Returns whether `row` is the shell's message about a background process: `[1] 4711` on a line.
fn is_job(text: &[u8], row: &Digits) -> bool {
    let ahead = before(text, gap_before(text, row.start));
    let Some(number) = ahead.strip_suffix(b"]") else { return false };
    let outer = without_end(number, b"0123456789");
    let is_short = (1..BARE_PID_MIN).contains(&(number.len() - outer.len()));
    let rest = text.get(row.end..).unwrap_or_default().iter();
    let mut rest = rest.skip_while(|&&byte| is_blank(byte) && byte != b'\n');
    is_short
        && row.length() >= BARE_PID_MIN
        && outer.strip_suffix(b"[").is_some_and(begins_a_line)
        && rest.next().is_none_or(|&byte| byte == b'\n')
}

/// Returns whether only white space stands between the end of `text` and the start of its line.
fn begins_a_line(text: &[u8]) -> bool {
    matches!(without_end(text, b" \t\r\x0B\x0C").last(), None | Some(b'\n'))
}

/// The names of this machine, in front of a port.
const LOCAL: [&[u8]; 5] = [b"localhost:", b"127.0.0.1:", b"0.0.0.0:", b"[::1]:", b"[::]:"];

fn is_local_port(text: &[u8], row: &Digits) -> bool {
    let ahead = before(text, row.start);
    (2..=5).contains(&row.length())
        && ahead.ends_with(b":")
        && LOCAL.iter().any(|host| ends_with(ahead, host))
}

/// Returns whether `row` counts the inputs and outputs of a session.
fn is_input(text: &[u8], row: &Digits) -> bool {
    let ahead = before(text, row.start);
    match byte(text, row.end) {
        b']' => [&b"In ["[..], b"In[", b"Out[", b"Out ["].iter().any(|open| ahead.ends_with(open)),
        b'-' => ahead.ends_with(b"ipython-input-"),
        _ => false,
    }
}
