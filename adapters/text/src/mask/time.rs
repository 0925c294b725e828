//! Times, dates and durations, as programs write them.

use super::digits::{Digits, byte, digits_end, ends_with};
use super::scan::{gap, gap_before, is_blank};
use crate::phrases::texts;

/// The end of the clock time that begins with `row`.
///
/// `12:03` alone stays, for it may be a line and a column; with seconds, behind a date, or with `am`
/// or `pm` it is a time.
pub(super) fn clock(text: &[u8], row: &Digits) -> Option<usize> {
    let joined = is_joined_to_date(text, row.start);
    let is_free =
        row.is_free && (byte_before(text, row.start) != b':' || is_in_log(text, row.start));
    if !(is_free || joined) || row.length() > 2 {
        return None;
    }
    if byte(text, row.end) != b':' {
        return if joined { in_file_name(text, row.end) } else { half_day(text, row.end) };
    }
    let minutes = two_digits(text, row.end + 1, 60)?;
    let after_date = joined || is_behind_date(text, row.start);
    let (end, exact) = match byte(text, minutes) {
        b':' => (fraction(text, two_digits(text, minutes + 1, 61)?), true),
        _ => (minutes, after_date),
    };
    if let Some(end) = half_day(text, end) {
        return Some(end);
    }
    let is_open = byte(text, end).is_ascii_digit() || byte(text, end) == b':';
    (exact && !is_open).then(|| zone(text, end))
}

/// The end of the clock time of which the hour ends at `hour`, as names of files have it behind a date:
/// `2026-05-28T14_38_00_123Z`, `2026-05-28T14-38-00`.
fn in_file_name(text: &[u8], hour: usize) -> Option<usize> {
    let separator = byte(text, hour);
    let minutes = two_digits(text, hour + 1, 60)?;
    if !matches!(separator, b'_' | b'-') || byte(text, minutes) != separator {
        return None;
    }
    let seconds = two_digits(text, minutes + 1, 61)?;
    let fraction = digits_end(text, seconds + 1);
    let has_fraction = matches!(byte(text, seconds), b'_' | b'-' | b'.') && fraction > seconds + 1;
    let end = if has_fraction { fraction } else { seconds };
    (!byte(text, end).is_ascii_digit()).then(|| zone(text, end))
}

fn byte_before(text: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |at| byte(text, at))
}

/// Returns whether the digits at `start` follow the year of a web server's log: `28/May/2026:14`.
fn is_in_log(text: &[u8], start: usize) -> bool {
    let year = start.checked_sub(6).and_then(|begin| text.get(begin..start));
    year.is_some_and(|year| {
        year.starts_with(b"/") && year.iter().filter(|byte| byte.is_ascii_digit()).count() == 4
    })
}

/// Returns whether the digits at `start` follow the `T` of a date: `2026-05-28T14`.
fn is_joined_to_date(text: &[u8], start: usize) -> bool {
    let date = start.checked_sub(11).and_then(|begin| text.get(begin..start));
    date.is_some_and(|date| date.last() == Some(&b'T') && year_first(date, 0) == Some(10))
}

/// Returns whether a date stands directly before the digits at `start`: `2026-05-28 14`, `May 28
/// 14`.
fn is_behind_date(text: &[u8], start: usize) -> bool {
    let end = match byte_before(text, start) {
        b'T' | b'/' => start - 1,
        _ => gap_before(text, start),
    };
    if end == start {
        return false;
    }
    let ahead = text.get(end.saturating_sub(10)..end).unwrap_or_default();
    if ahead.len() >= 10 && year_first(ahead, ahead.len() - 10) == Some(ahead.len()) {
        return true;
    }
    let day = ahead.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
    (1..=2).contains(&(ahead.len() - day)) && month_before(ahead, day).is_some()
}

/// Behind `at`, if two digits below `limit` stand there.
fn two_digits(text: &[u8], at: usize, limit: u8) -> Option<usize> {
    let &[tens, ones] = text.get(at..).and_then(<[u8]>::first_chunk::<2>)?;
    let value = tens.checked_sub(b'0').filter(|&n| n < 10)? * 10;
    let value = value + ones.checked_sub(b'0').filter(|&n| n < 10)?;
    (value < limit).then_some(at + 2)
}

/// Behind the fraction of a second that may stand at `at`.
fn fraction(text: &[u8], at: usize) -> usize {
    let end = digits_end(text, at + 1);
    if matches!(byte(text, at), b'.' | b',') && end > at + 1 { end } else { at }
}

/// Behind the `am` or `pm` at `at`, perhaps with a space before it.
fn half_day(text: &[u8], at: usize) -> Option<usize> {
    let at = gap(text, at);
    let known = matches!(text.get(at..at + 2)?, [b'a' | b'A' | b'p' | b'P', b'm' | b'M']);
    (known && !byte(text, at + 2).is_ascii_alphanumeric()).then_some(at + 2)
}

/// Behind the zone that may stand at `at`: `Z`, `+02:00`, ` +0200`, ` UTC`.
fn zone(text: &[u8], at: usize) -> usize {
    if byte(text, at) == b'Z' && !byte(text, at + 1).is_ascii_alphanumeric() {
        return at + 1;
    }
    let begin = gap(text, at);
    if matches!(text.get(begin..begin + 3), Some(b"UTC" | b"GMT")) && begin > at {
        return begin + 3;
    }
    if !matches!(byte(text, begin), b'+' | b'-') {
        return at;
    }
    let Some(hours) = two_digits(text, begin + 1, 24) else { return at };
    let minutes = if byte(text, hours) == b':' { hours + 1 } else { hours };
    match two_digits(text, minutes, 60) {
        Some(end) if !byte(text, end).is_ascii_alphanumeric() => end,
        _ => at,
    }
}

/// Behind the date `2026-05-28` or `2026/05/28` at `start`.
fn year_first(text: &[u8], start: usize) -> Option<usize> {
    let century = byte(text, start) * u8::from(byte(text, start).is_ascii_digit());
    let separator = byte(text, start + 4);
    let year = text.get(start..start + 4)?.iter().all(u8::is_ascii_digit);
    if !year || !matches!(century, b'1' | b'2') || !matches!(separator, b'-' | b'/' | b'.') {
        return None;
    }
    let month = two_digits(text, start + 5, 13)?;
    let day = two_digits(text, month + 1, 32)?;
    (byte(text, month) == separator).then_some(day)
}

/// Behind the date `05/28/2026` or `28.05.2026` at `start`.
fn year_last(text: &[u8], start: usize) -> Option<usize> {
    let separator = byte(text, start + 2);
    let first = two_digits(text, start, 32)?;
    let second = two_digits(text, first + 1, 32)?;
    let year = text.get(second + 1..second + 5)?;
    let is_date = matches!(separator, b'/' | b'.')
        && byte(text, second) == separator
        && year.iter().all(u8::is_ascii_digit)
        && matches!(year.first(), Some(b'1' | b'2'));
    is_date.then_some(second + 5)
}

/// The date that `row` is a part of.
pub(super) fn date(text: &[u8], row: &Digits) -> Option<(usize, usize)> {
    let numeric = match (row.length(), byte(text, row.end)) {
        (4, b'-' | b'/' | b'.') => year_first(text, row.start),
        (2, b'/' | b'.') => year_last(text, row.start),
        _ => None,
    };
    if let Some(end) = numeric {
        return (!byte(text, end).is_ascii_digit()).then_some((row.start, end));
    }
    if row.length() > 2 || !(1..=31).contains(&value(text, row)) {
        return None;
    }
    let before = if is_blank(row.before) { month_before(text, row.start) } else { None };
    match before {
        Some(start) if !is_name(byte(text, row.end)) => Some((start, year(text, row.end))),
        Some(_) => None,
        None => Some((row.start, year(text, month_after(text, row.end)?))),
    }
}

/// The value of a short row.
fn value(text: &[u8], row: &Digits) -> u32 {
    let digits = text.get(row.start..row.end).unwrap_or_default().iter();
    digits.fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
}

/// Returns whether `byte` continues a word but not a date.
const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'%' || byte >= 0x80
}

const MONTHS: [&[u8]; 12] = texts![
    b"january" b"february" b"march" b"april" b"may" b"june" b"july" b"august" b"september"
    b"october" b"november" b"december"
];

/// Returns whether `word` is a month, or its first three letters, with a capital.
fn is_month(word: &[u8]) -> bool {
    let &[first @ b'A'..=b'Z', second, third, ..] = word else { return false };
    let short = [first, second, third].map(|letter| letter.to_ascii_lowercase());
    let mut months = MONTHS.iter().filter(|month| month.starts_with(&short));
    months.next().is_some_and(|month| word.len() == 3 || month.eq_ignore_ascii_case(word))
}

/// Returns the start of the month before the day at `day`.
fn month_before(text: &[u8], day: usize) -> Option<usize> {
    let end = gap_before(text, day);
    let letters =
        text.get(..end)?.iter().rev().take(10).take_while(|byte| byte.is_ascii_alphabetic());
    let start = end - letters.count();
    (end < day && is_month(text.get(start..end)?)).then_some(start)
}

/// Behind the month after the day that ends at `end`: `28 May`, `28-May`.
fn month_after(text: &[u8], end: usize) -> Option<usize> {
    let begin = if byte(text, end) == b'-' { end + 1 } else { gap(text, end) };
    if begin == end || !byte(text, begin).is_ascii_uppercase() {
        return None;
    }
    let letters = text.get(begin..)?.iter().take(10).take_while(|byte| byte.is_ascii_alphabetic());
    let end = begin + letters.count();
    // In a listing, a size stands before the month, and the day behind it.
    let next = gap(text, end);
    let row = Digits::at(text, next);
    let is_day = matches!(row.length(), 1 | 2) && byte(text, row.end) != b':';
    // A masked text may have been one.
    let is_listed = is_day || byte(text, next) == b'<';
    (is_month(text.get(begin..end)?) && !is_name(byte(text, end)) && !is_listed).then_some(end)
}

/// Behind the year that may follow a day and a month which end at `end`.
fn year(text: &[u8], end: usize) -> usize {
    let start = gap(text, end + usize::from(matches!(byte(text, end), b',' | b'-')));
    let digits = text.get(start..start + 4).is_some_and(|year| year.iter().all(u8::is_ascii_digit));
    let is_year = digits && matches!(byte(text, start), b'1' | b'2');
    let is_open = is_name(byte(text, start + 4)) || byte(text, start + 4) == b':';
    if start > end && is_year && !is_open { start + 4 } else { end }
}

/// Units that say for themselves that a number is a duration.
const UNITS: [&[u8]; 19] = texts![
    b"s" b"ms" b"us" b"ns" b"h" b"sec" b"secs" b"second" b"seconds" b"min" b"mins" b"minute"
    b"minutes" b"hr" b"hrs" b"hour" b"hours" b"msec" b"milliseconds"
];

/// The most parts of a duration: days, hours, minutes, seconds, and what is below.
const PARTS_MAX: usize = 5;

/// The end of the duration that begins with `row`.
pub(super) fn duration(text: &[u8], row: &Digits) -> Option<usize> {
    let (mut end, mut at) = (None, row.decimal);
    for _ in 0..PARTS_MAX {
        let Some((behind, unit)) = unit(text, at) else { break };
        if unit == Unit::Certain && !byte(text, behind).is_ascii_alphabetic() {
            end = Some(behind);
        }
        // A duration goes on with a smaller unit: `1h 30m`, `1m3.5s`.
        let next = gap(text, behind);
        let further = Digits::at(text, next);
        if further.length() == 0 {
            // Minutes behind hours are no doubt minutes.
            let minutes = unit == Unit::Doubtful && end.is_some();
            end = if minutes && !is_name(byte(text, behind)) { Some(behind) } else { end };
            break;
        }
        at = further.decimal;
    }
    end.filter(|&end| !byte(text, end).is_ascii_alphanumeric())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Certain,
    /// `m`, which may be metres or millions, and counts beside other units.
    Doubtful,
}

/// Behind the unit at `at`, with at most one space before it.
fn unit(text: &[u8], at: usize) -> Option<(usize, Unit)> {
    let begin = gap(text, at);
    let rest = text.get(begin..)?;
    if !matches!(rest.first(), Some(b'h' | b'm' | b'n' | b's' | b'u' | 0xC2 | 0xCE)) {
        return None;
    }
    // Two characters look like µ.
    if rest.starts_with(b"\xC2\xB5s") || rest.starts_with(b"\xCE\xBCs") {
        return Some((begin + 3, Unit::Certain));
    }
    let letters = rest.iter().take(13).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (word, end) = (rest.get(..letters)?, begin + letters);
    if UNITS.contains(&word) {
        return Some((end, Unit::Certain));
    }
    (word == b"m" && begin == at).then_some((end, Unit::Doubtful))
}

/// Returns whether `row` counts the seconds or milliseconds since 1970. It must stand in a member
/// whose name says that it is a time.
pub(super) fn is_since_1970(text: &[u8], row: &Digits) -> bool {
    if !matches!(row.length(), 10 | 13) || !matches!(byte(text, row.start), b'1' | b'2') {
        return false;
    }
    let ahead = text.get(row.start.saturating_sub(32)..row.start).unwrap_or_default();
    let name = ahead.iter().rposition(|byte| !b" :=\"'".contains(byte)).map_or(0, |at| at + 1);
    let name = ahead.get(..name).unwrap_or_default();
    let is_named = |ends: &[&[u8]]| ends.iter().any(|end| ends_with(name, end));
    // The milliseconds of today, unless they count something.
    let digits = text.get(row.start..row.end).unwrap_or_default();
    let is_of_today =
        row.length() == 13 && (digits.starts_with(b"17") || digits.starts_with(b"18"));
    name.len() < ahead.len() && is_named(TIMES) || is_of_today && !is_named(THINGS)
}

/// The ends of names of times.
const TIMES: &[&[u8]] =
    &[b"time", b"timestamp", b"date", b"_at", b"edat", b"esat", b"_ts", b"\"ts", b"time_ms"];

/// The ends of names of other long numbers.
const THINGS: &[&[u8]] = &[
    b"id", b"number", b"no", b"no.", b"code", b"ean", b"isbn", b"gtin", b"sku", b"key", b"phone",
    b"tel", b"size", b"bytes", b"total", b"count", b"amount",
];
