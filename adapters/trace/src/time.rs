//! Reads the times of records.

use serde_json::value::RawValue;

use crate::field::{Raw, string};

/// The milliseconds of a day.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Returns the time in a field: a text by RFC 3339, or milliseconds since 1970.
pub(crate) fn time(raw: Raw<'_>) -> Option<u64> {
    let json = raw.map(RawValue::get)?;
    if json.starts_with('"') { rfc3339(string(raw)?.as_bytes()) } else { json.parse().ok() }
}

/// Returns the time in a field like [`time`], in nanoseconds.
pub(crate) fn nanoseconds(raw: Raw<'_>) -> Option<u64> {
    let time = time(raw)?.checked_mul(1_000_000)?;
    let text = string(raw).unwrap_or_default();
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    let digits = fraction.bytes().take_while(u8::is_ascii_digit);
    let digits = digits.chain(core::iter::repeat(b'0')).skip(3).take(6);
    let rest = digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    Some(time.saturating_add(rest))
}

/// Returns the time in a text by RFC 3339.
pub(crate) fn time_of(text: &str) -> Option<u64> {
    rfc3339(text.as_bytes())
}

/// Returns the time in a field that holds seconds since 1970, with or without a fraction.
pub(crate) fn time_in_seconds(raw: Raw<'_>) -> Option<u64> {
    let (seconds, fraction) = split_fraction(raw.map(RawValue::get)?)?;
    seconds.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(fraction)
}

/// Splits a decimal number into its whole part and the milliseconds of its fraction.
fn split_fraction(number: &str) -> Option<(&str, u64)> {
    let Some((whole, fraction)) = number.split_once('.') else { return Some((number, 0)) };
    Some((whole, milliseconds(fraction.as_bytes())?))
}

/// Returns the milliseconds of the digits behind the point of a second.
fn milliseconds(digits: &[u8]) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let digits = digits.iter().copied().chain(core::iter::repeat(b'0')).take(3);
    is_number.then(|| digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

/// Returns the milliseconds from 1970-01-01 00:00 UTC to a time by RFC 3339. A time without zone is
/// taken as UTC: what matters is how far times are apart. A time before 1970 is none.
fn rfc3339(text: &[u8]) -> Option<u64> {
    #[rustfmt::skip]
    let &[
        y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T' | b't' | b' ',
        h1, h2, b':', n1, n2, b':', s1, s2, ref rest @ ..
    ] = text else { return None };
    let days = days(number([y1, y2, y3, y4])?, number([m1, m2])?, number([d1, d2])?)?;
    let (hour, minute, second) = (number([h1, h2])?, number([n1, n2])?, number([s1, s2])?);
    // A leap second is the first second of the next minute.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = match rest {
        [b'.', rest @ ..] => {
            let end = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (digits, zone) = rest.split_at(end);
            (milliseconds(digits)?, zone)
        }
        _ => (0, rest),
    };
    let time = days * DAY + ((hour * 60 + minute) * 60 + second) * 1000 + fraction;
    match zone {
        [] | [b'Z' | b'z'] => Some(time),
        [b'+', offset @ ..] => time.checked_sub(self::offset(offset)?),
        [b'-', offset @ ..] => Some(time + self::offset(offset)?),
        _ => None,
    }
}

/// Returns the number of some decimal digits.
fn number<const N: usize>(digits: [u8; N]) -> Option<u64> {
    digits.into_iter().try_fold(0, |number, digit| {
        digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0'))
    })
}

/// Returns the days from 1970-01-01 to a date.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let length = match month {
        2 => 28 + u64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) || year < 1970 {
        return None;
    }
    // Years begin in March, so that a leap day is the last day of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let before_month = (153 * month + 2) / 5;
    // 1970-01-01 is day 719,468 of this count, which begins with the March of the year 0.
    Some(year * 365 + leap_days + before_month + day - 1 - 719_468)
}

/// Returns the milliseconds of a zone such as `02:00`.
fn offset(zone: &[u8]) -> Option<u64> {
    let &[h1, h2, b':', m1, m2] = zone else { return None };
    let (hours, minutes) = (number([h1, h2])?, number([m1, m2])?);
    (hours < 24 && minutes < 60).then_some((hours * 60 + minutes) * 60 * 1000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tables::{raw, rows};

    /// A case a line: the unit, a field, and its time, or a dash if it has none.
    const TIMES: &str = include_str!("../tests/tables/times.txt");

    #[test]
    fn a_time_is_a_text_or_a_number() {
        for [unit, json, expected] in rows(TIMES) {
            let found = match &*unit {
                "time" => time(raw(&json)),
                "nanoseconds" => nanoseconds(raw(&json)),
                "seconds" => time_in_seconds(raw(&json)),
                other => panic!("unknown unit {other}"),
            };
            let expected = (expected != "-").then(|| expected.parse::<u64>().expect("a time"));
            assert_eq!(found, expected, "{unit} {json}");
        }
    }

    /// Returns the days from 1970-01-01 to a date by the definition: it counts years and months.
    fn days_by_definition(year: u64, month: usize, day: u64) -> u64 {
        let is_leap = |year: u64| {
            (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
        };
        let years: u64 = (1970..year).map(|year| 365 + u64::from(is_leap(year))).sum();
        let february = 28 + u64::from(is_leap(year));
        let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        years + months[..month - 1].iter().sum::<u64>() + day - 1
    }

    #[test]
    fn every_day_follows_the_day_before() {
        let mut next = 0;
        for year in 1970..2405 {
            for month in 0..=13 {
                for day in 0..=32 {
                    if let Some(found) = days(year, month, day) {
                        assert_eq!(found, next, "{year}-{month}-{day}");
                        next += 1;
                    }
                }
            }
        }
        assert_eq!(next, days_by_definition(2405, 1, 1));
    }

    proptest! {
        #[test]
        fn a_time_is_counted_by_the_definition(
            year in 1970..10_000_u64,
            month in 1..=12_usize,
            day in 1..=28_u64,
            seconds in 0..86_400_u64,
            fraction in 0..1000_u64,
        ) {
            let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            let text = format!(
                "{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z"
            );
            let expected = days_by_definition(year, month, day) * DAY + seconds * 1000 + fraction;
            prop_assert_eq!(rfc3339(text.as_bytes()), Some(expected));
        }

        #[test]
        fn any_text_is_a_time_or_none(text in "[-0-9T:.+Z \u{fc}]{0,32}|\\PC{0,32}") {
            prop_assert!(rfc3339(text.as_bytes()).is_none_or(|time| time < 8000 * 366 * DAY));
        }
    }
}
