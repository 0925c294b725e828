//! Numbers: their spelling checked, their exact decimal value hashed.

use core::hash::Hasher as _;

use fnv::FnvHasher;
use unstuck_core::Digest;

use crate::cursor::Cursor;
use crate::error::{JsonError, JsonErrorKind};
use crate::fold;

/// The largest exponent that may be written, and the largest after a minus sign.
///
/// Values are compared by the place of their first digit, which is the written exponent plus a
/// count of digits, in 64 bits. Eighteen digits leave room for that count; a limit of nines is
/// passed exactly where a nineteenth digit follows.
pub const EXPONENT_MAX: i64 = 999_999_999_999_999_999;

/// Reads a number whose first byte, a digit or `-`, is at the cursor.
///
/// The digest stands for the exact decimal value, with any number of digits: nothing is
/// rounded, and nothing is copied, since the digits to hash are at most two runs of the input.
pub(crate) fn number(cursor: &mut Cursor<'_>) -> Result<Digest, JsonError> {
    let negative = cursor.eat(b'-');
    let integer = integer(cursor)?;
    let fraction = if cursor.eat(b'.') { digits(cursor)? } else { &[] };
    let exponent = if matches!(cursor.peek(), Some(b'e' | b'E')) { exponent(cursor)? } else { 0 };
    let Some(decimal) = Decimal::new(integer, fraction) else {
        return Ok(fold::ZERO);
    };
    decimal.digest(negative, exponent).ok_or_else(|| cursor.error(JsonErrorKind::ExponentLimit))
}

/// The digits of a value other than 0, from its first digit that is not 0 to its last.
struct Decimal<'a> {
    /// Those before the decimal point.
    integer: &'a [u8],
    /// Those behind it.
    fraction: &'a [u8],
    /// How many digits stand before the decimal point, with the zeros that end them.
    whole: usize,
    /// How many zeros stand between the decimal point and the first digit.
    leading: usize,
}

impl<'a> Decimal<'a> {
    /// Strips the zeros around the digits; `None` if nothing is left.
    fn new(integer: &'a [u8], fraction: &'a [u8]) -> Option<Self> {
        // The only leading zero that JSON has is that of a value below 1.
        let whole = if integer == b"0" { &[] } else { integer };
        let places = without_last_zeros(fraction);
        let integer = if places.is_empty() { without_last_zeros(whole) } else { whole };
        let fraction = if whole.is_empty() { without_first_zeros(places) } else { places };
        let leading = places.len().saturating_sub(fraction.len());
        let nothing = integer.is_empty() && fraction.is_empty();
        (!nothing).then_some(Self { integer, fraction, whole: whole.len(), leading })
    }

    /// The digest of the value times 10^`exponent`; `None` if its exponent does not fit.
    fn digest(&self, negative: bool, exponent: i64) -> Option<Digest> {
        let exponent = exponent
            .checked_add(i64::try_from(self.whole).ok()?)?
            .checked_sub(i64::try_from(self.leading).ok()?)?;
        let mut hasher = FnvHasher::default();
        hasher.write(self.integer);
        hasher.write(self.fraction);
        Some(fold::number(negative, &hasher, exponent))
    }
}

/// Reads the digits before the decimal point: `0`, or digits of which the first is not 0.
fn integer<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], JsonError> {
    let start = *cursor;
    let integer = digits(cursor)?;
    match integer {
        [b'0', _, ..] => Err(start.error_after(1, JsonErrorKind::LeadingZero)),
        _ => Ok(integer),
    }
}

/// Reads one digit or more.
fn digits<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], JsonError> {
    let digits = cursor.take_while(|byte| byte.is_ascii_digit());
    if digits.is_empty() {
        return Err(cursor.error(JsonErrorKind::ExpectedDigit));
    }
    Ok(digits)
}

/// Reads an exponent, whose `e` is at the cursor.
fn exponent(cursor: &mut Cursor<'_>) -> Result<i64, JsonError> {
    cursor.next();
    let negative = cursor.eat(b'-');
    if !negative {
        cursor.eat(b'+');
    }
    let start = *cursor;
    let mut magnitude = 0_i64;
    for (at, digit) in digits(cursor)?.iter().enumerate() {
        let digit = i64::from(digit.saturating_sub(b'0'));
        // Below the limit, ten times the magnitude fits with room to spare.
        magnitude = magnitude.saturating_mul(10).saturating_add(digit);
        if magnitude > EXPONENT_MAX {
            return Err(start.error_after(at, JsonErrorKind::ExponentLimit));
        }
    }
    Ok(if negative { magnitude.saturating_neg() } else { magnitude })
}

fn without_first_zeros(mut digits: &[u8]) -> &[u8] {
    while let [b'0', rest @ ..] = digits {
        digits = rest;
    }
    digits
}

fn without_last_zeros(mut digits: &[u8]) -> &[u8] {
    while let [rest @ .., b'0'] = digits {
        digits = rest;
    }
    digits
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;
    use std::string::{String, ToString};

    use super::{EXPONENT_MAX, number};
    use crate::cursor::Cursor;
    use crate::error::JsonErrorKind::ExponentLimit;
    use crate::fold;

    fn digest(text: &str) -> u64 {
        let mut cursor = Cursor::new(text.as_bytes());
        let digest = number(&mut cursor).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(cursor.peek(), None, "{text} was not read to its end");
        digest.bits()
    }

    #[test]
    fn the_exact_value_counts_and_not_its_spelling() {
        let classes: &[&[&str]] = &[
            &["0", "-0", "0.000", "-0.0e0", "0e99", "0E-99"],
            &["1", "1.0", "1e0", "10e-1", "0.1E+1", "0.001e3", "100e-00002"],
            &["-1", "-1.0", "-0.1e1"],
            &["10", "1e1", "10.0", "0.01e3"],
            &["0.1", "1e-1", "0.10", "10e-2"],
            &["101", "1.01e2", "101.0", "0.101e3"],
            &["1001", "100.1e1"],
            &["11", "1.1e1"],
            &["120.05", "0.12005e3", "12005e-2"],
            &["9007199254740992", "9007199254740992.000", "9007199254740.992e3"],
            &["9007199254740993"],
            &["0.1000000000000000055"],
            &["1e999999999999999999", "1.0E999999999999999999"],
            &["1e-999999999999999999"],
        ];
        for (i, class) in classes.iter().enumerate() {
            for text in *class {
                assert_eq!(digest(text), digest(class[0]), "{text} = {}", class[0]);
                for other in classes.iter().skip(i + 1) {
                    assert_ne!(digest(text), digest(other[0]), "{text} != {}", other[0]);
                }
            }
        }
        assert_eq!(digest("-0"), fold::ZERO.bits());
    }

    #[test]
    fn no_digit_is_too_many() {
        let zeros = "0".repeat(100_000);
        assert_eq!(digest(&format!("1{zeros}")), digest("1e100000"));
        assert_eq!(digest(&format!("0.{zeros}1")), digest("1e-100001"));
        assert_eq!(digest(&format!("1{zeros}1.{zeros}")), digest(&format!("1.{zeros}1e100001")));
        assert_ne!(digest(&format!("1{zeros}1")), digest(&format!("1{zeros}2")));
        assert_eq!(digest(&format!("2{zeros}e-100000")), digest("2"));
    }

    #[test]
    fn an_exponent_beyond_the_limit_is_an_error_and_never_wraps() {
        let beyond = (EXPONENT_MAX + 1).to_string();
        let wraps: String = (u128::from(u64::MAX) + 2).to_string();
        for exponent in [beyond, wraps, "9".repeat(1_000)] {
            for sign in ["", "+", "-"] {
                let text = format!("1e{sign}{exponent}");
                let error = number(&mut Cursor::new(text.as_bytes())).unwrap_err();
                assert_eq!(error.kind, ExponentLimit, "{text}");
                assert_eq!(error.offset, "1e".len() + sign.len() + 18, "{text}");
            }
        }
    }

    #[test]
    fn a_number_ends_where_its_grammar_does() {
        for (text, end) in [("1.5.3", b'.'), ("0x1", b'x'), ("1e5e", b'e'), ("1-", b'-')] {
            let mut cursor = Cursor::new(text.as_bytes());
            assert!(number(&mut cursor).is_ok(), "{text}");
            assert_eq!(cursor.peek(), Some(end), "{text}");
        }
    }
}
