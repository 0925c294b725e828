//! Tells a row of decimal digits apart: a time, a duration, a process id, a port, a labelled counter, or a plain number.

use super::digits::{Digits, byte, ends_with};
use super::kind::{Mask, Masks, Part, Span};
use super::label::without_end;
use super::scan::{gap, gap_before, is_blank, is_of, kind};
use super::word_end::{self, AHEAD, BEHIND, Letters};
use super::{id, label, labelled, time};
use crate::phrases::texts;

/// Returns whether the few bytes around `row` show that no mask recognises it. Most numbers are plain. No
/// label starts before `floor`.
pub(super) fn is_plain(text: &[u8], row: &Digits, floor: usize) -> bool {
    if may_be_hex(text, row, floor) && !is_short(text, row, floor) {
        return false;
    }
    match row.before {
        b'_' | b'-' => is_plain_behind(text, row) && !id::may_hold(text, row.start, floor),
        _ if row.is_free => is_plain_behind(text, row) && is_plain_ahead(text, row, floor),
        // Inside of a word, only a time behind its date and an id are recognised.
        before => {
            let is_joined = || {
                let prior = row.start.checked_sub(2).map_or(0, |at| byte(text, at));
                before == b'T' && prior.is_ascii_digit()
            };
            !is_joined() && !id::may_hold(text, row.start, floor)
        }
    }
}

/// Returns whether `row` may be a part of a hexadecimal word: the letters beside it are hexadecimal digits,
/// or it stands where a UUID has a group without a letter.
fn may_be_hex(text: &[u8], row: &Digits, floor: usize) -> bool {
    // A word does not reach into the text that was masked before it.
    let before = if row.start > floor { row.before } else { 0 };
    let after = row.after;
    let is_prefixed = || before | 0x20 == b'x' && text.get(..row.start - 1).is_some_and(ends_zero);
    match (is_of(kind::ALPHANUMERIC, before), is_of(kind::ALPHANUMERIC, after)) {
        (false, false) => matches!(row.length(), 4 | 8) && (before == b'-' || after == b'-'),
        (true, false) => before.is_ascii_hexdigit() || is_prefixed(),
        (false, true) => {
            let may_be_ulid = after.is_ascii_uppercase() && byte(text, row.start) == b'0';
            after.is_ascii_hexdigit() || after | 0x20 == b'x' || may_be_ulid
        }
        (true, true) => after.is_ascii_hexdigit() && (before.is_ascii_hexdigit() || is_prefixed()),
    }
}

/// Returns whether the word around `row` is shorter than any hash, and no part of a longer name. Nothing before `floor`
/// belongs to it.
fn is_short(text: &[u8], row: &Digits, floor: usize) -> bool {
    /// The letters and digits of a hash, or of an address with its prefix.
    const LONG: usize = 7;
    let is_inner = |byte: &u8| is_of(kind::ALPHANUMERIC, *byte);
    let (ahead, rest) = (text.get(floor..row.start), text.get(row.end..));
    let ahead = ahead.unwrap_or_default().iter().rev().take(LONG);
    let before = ahead.clone().take_while(|byte| is_inner(byte)).count();
    let behind =
        rest.unwrap_or_default().iter().take(LONG).take_while(|byte| is_inner(byte)).count();
    let sign = row.start.checked_sub(before + 1).map_or(0, |at| self::byte(text, at));
    before + row.length() + behind < LONG && sign != b'-' && byte(text, row.end + behind) != b'-'
}

fn ends_zero(text: &[u8]) -> bool {
    text.ends_with(b"0")
}

/// Returns whether the text behind `row` makes it no time, date, duration, share or index.
fn is_plain_behind(text: &[u8], row: &Digits) -> bool {
    let is_whole = row.decimal == row.end;
    // Two points, as in `28.05.2026`.
    if !is_whole && row.decimal > row.end + 5 && matches!(row.length(), 2 | 4) {
        return false;
    }
    let next = byte(text, row.decimal + 1);
    match byte(text, row.decimal) {
        // Thousands, or a list of numbers.
        b',' if next.is_ascii_digit() => is_plain_list(text, row.decimal),
        b',' | b'.' => !next.is_ascii_digit(),
        b':' => !next.is_ascii_digit() || row.length() > 2,
        b'/' => !next.is_ascii_digit() || !matches!(row.length(), 2 | 4),
        b'-' => {
            let is_date = match row.length() {
                4 => next.is_ascii_digit(),
                1 | 2 => next.is_ascii_uppercase(),
                _ => false,
            };
            // `ipython-input-12-`
            let is_input = row.before == b'-' && text.get(..row.start).is_some_and(ends_input);
            !is_whole || !is_date && !is_input
        }
        b' ' | b'\t' | b'\x0B'..=b'\r' => {
            let start = gap(text, row.decimal);
            start == row.decimal || is_plain_word(text, start)
        }
        b'%' => is_plain_word(text, gap(text, row.decimal + 1)),
        // A process, a job of a shell, or the input of a notebook.
        b']' => {
            let named = row.start.saturating_sub(1);
            let is_of_line = || text.get(..named).is_some_and(begins_a_line);
            let is_process = next == b':' && ends_in_letter(text, named);
            let is_input = || matches!(last_before_gap(text, named), b'n' | b't');
            !(is_process || next == b' ' && is_of_line() || is_input())
        }
        b'=' => next != b'=',
        b'k' | b'K' | b'M' => next.is_ascii_alphanumeric(),
        b'e' | b'E' => !(next.is_ascii_digit() || matches!(next, b'+' | b'-')),
        _ => is_plain_word(text, row.decimal),
    }
}

/// Returns whether the digits and commas from `start` on are no amount that the words behind it name, and no fraction of
/// a time.
fn is_plain_list(text: &[u8], start: usize) -> bool {
    let rest = text.get(start..).unwrap_or_default();
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b',').count();
    match rest.get(length) {
        Some(byte) if is_blank(*byte) => is_plain_word(text, gap(text, start + length)),
        Some(b'%' | b'k' | b'K' | b'M' | b'e' | b'E' | b'.') => false,
        Some(_) | None => true,
    }
}

/// Returns whether a letter stands in front of `at`.
fn ends_in_letter(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| byte(text, before).is_ascii_alphabetic())
}

/// Returns whether `text` may end with the name of a notebook's input, and a hyphen.
fn ends_input(text: &[u8]) -> bool {
    text.ends_with(b"t-")
}

/// Returns whether the word at `start` is no unit, half of a day or month, and not the name of costs, tokens or steps.
fn is_plain_word(text: &[u8], start: usize) -> bool {
    match text.get(start) {
        // Two characters look like the sign for a millionth.
        Some(0xC2 | 0xCE) => false,
        Some(byte) if byte.is_ascii_alphabetic() => {
            !BEHIND.may_hold(word_end::first(text.get(start..).unwrap_or_default()))
        }
        _ => true,
    }
}

/// Returns whether the text in front of `row` holds no label, month or port.
fn is_plain_ahead(text: &[u8], row: &Digits, floor: usize) -> bool {
    let prior = |back: usize| row.start.checked_sub(back).map_or(0, |at| byte(text, at));
    match row.before {
        // A letter behind it may belong to Base64.
        b'/' | b'+' if row.after.is_ascii_alphabetic() => return false,
        // A port of this machine.
        b':' if matches!(prior(2), b't' | b'T' | b'0' | b'1' | b']') => return false,
        _ => {}
    }
    let ahead = text.get(floor..row.start).unwrap_or_default();
    let label = label::without_links(ahead);
    // The start of a month may have been masked.
    let is_month = || row.length() <= 2 && is_blank(row.before) && is_behind_month(text, row);
    let may_be_named = match label {
        [] => is_month(),
        _ if label.len() == ahead.len() => false,
        [.., last] if last.is_ascii_alphabetic() && label.len() >= 4 => {
            label::may_be(text, row.start, label)
        }
        [.., last] if last.is_ascii_alphabetic() => {
            label::may_be(text, row.start, label) || is_month()
        }
        // A job of a shell.
        [.., last] => *last == b']' && last_before_gap(text, row.start) == b']',
    };
    !may_be_named && !matches!(row.length(), 10 | 13)
}

/// Returns the one of `masks` that recognises `row`. Most numbers are not volatile, and the bytes
/// on both sides show it. No label starts before `floor`, and `tail` is the end of one.
pub(super) fn masked(
    masks: Masks,
    text: &[u8],
    row: &Digits,
    floor: usize,
    tail: Letters,
) -> Option<Span> {
    let has = |mask| masks.contains(mask);
    let span = |(start, end): (usize, usize), mask| Span { start, end, part: Part::of(mask) };
    let &Digits { before, after, .. } = row;
    let behind = gap(text, row.end);
    if has(Mask::Times)
        && may_be_clock(text, row, behind)
        && let Some(end) = time::clock(text, row)
    {
        return Some(span((row.start, end), Mask::Times));
    }
    if !row.is_free {
        return None;
    }
    let prior = last_before_gap(text, row.start);
    if has(Mask::Dates)
        && may_be_date(text, row, behind, prior)
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
    if has(Mask::Pids)
        && (matches!(before, b'[' | b':' | b'=' | b'#' | b'(' | b'"' | b'\'') || is_blank(before))
        && is_pid(text, row, tail, prior)
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

/// Returns whether `row` may be the hour of a clock time. `behind` is the end of the gap behind it.
fn may_be_clock(text: &[u8], row: &Digits, behind: usize) -> bool {
    row.length() <= 2
        && match row.after {
            b':' => byte(text, row.end + 1).is_ascii_digit(),
            b'_' | b'-' => row.before == b'T',
            _ => {
                matches!(byte(text, behind) | 0x20, b'a' | b'p')
                    && byte(text, behind + 1) | 0x20 == b'm'
            }
        }
}

/// Returns whether `row` may be a part of a date. `behind` is the end of the gap behind it, and `prior`
/// the byte in front of the gap before it.
fn may_be_date(text: &[u8], row: &Digits, behind: usize, prior: u8) -> bool {
    let is_numeric = match (row.length(), row.after) {
        (4, b'-' | b'/' | b'.') | (2, b'/' | b'.') => byte(text, row.end + 1).is_ascii_digit(),
        _ => false,
    };
    let month = if row.after == b'-' { row.end + 1 } else { behind };
    is_numeric
        || row.length() <= 2
            && (is_blank(row.before) && prior.is_ascii_alphabetic()
                || month > row.end && byte(text, month).is_ascii_uppercase())
}

/// Returns the byte in front of the gap before `start`, or 0 at the start of the text.
fn last_before_gap(text: &[u8], start: usize) -> u8 {
    gap_before(text, start).checked_sub(1).map_or(0, |at| byte(text, at))
}

/// Returns whether the word before `row` may be a month.
fn is_behind_month(text: &[u8], row: &Digits) -> bool {
    let ahead = text.get(..gap_before(text, row.start)).unwrap_or_default();
    AHEAD.may_hold(word_end::last(ahead))
}

/// The most digits of a line number: a longer one may be a time.
const LINE_NUMBER_MAX: usize = 6;

/// Returns whether `row` is a line number that a tool adds, as in `   12→let x = 1;`. No mask
/// applies to it. Most numbers in the answers of coding agents are line numbers.
pub(super) fn is_of_a_line(text: &[u8], row: &Digits) -> bool {
    // The first byte of the arrow.
    row.after == 0xE2
        && row.length() <= LINE_NUMBER_MAX
        && text.get(row.end..).unwrap_or_default().starts_with("→".as_bytes())
        && text.get(..row.start).is_some_and(begins_a_line)
}

/// Returns whether `text` ends with `word`, and the word begins there.
fn ends_with_word(text: &[u8], word: &[u8]) -> bool {
    let before = text.len().checked_sub(word.len() + 1).map(|at| byte(text, at));
    ends_with(text, word) && !before.is_some_and(|byte| byte.is_ascii_alphanumeric())
}

/// At most the 32 bytes in front of `at`: no longer word is looked for.
fn before(text: &[u8], at: usize) -> &[u8] {
    text.get(at.saturating_sub(32)..at).unwrap_or_default()
}

/// The smallest number of digits in a process id that only brackets identify. Shorter numbers may
/// be counts.
const BARE_PID_MIN: usize = 3;

/// Returns whether `row` is the id of a process. `tail` is the end of a label, and `prior` the byte in front
/// of the gap before the row.
fn is_pid(text: &[u8], row: &Digits, tail: Letters, prior: u8) -> bool {
    let ahead = before(text, row.start);
    match row.after {
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
            matches!(&tail, [.., b'i', b'd'] | b"cess" | b"roup" | b" lwp")
                && is_named_pid(text, row)
                || prior == b']' && is_job(text, row)
        }
    }
}

/// The names of ids that a kernel gives to processes, to their groups and to threads.
const PID_NAMES: [&[u8]; 11] = texts![
    b"pid" b"ppid" b"pgid" b"tgid" b"tid" b"lwp" b"process" b"process id" b"process group"
    b"process group id" b"thread id"
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
    match row.after {
        b']' => [&b"In ["[..], b"In[", b"Out[", b"Out ["].iter().any(|open| ahead.ends_with(open)),
        b'-' => ahead.ends_with(b"ipython-input-"),
        _ => false,
    }
}
