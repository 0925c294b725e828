//! Numbers: their spelling checked, and the value that they stand for.
//!
//! The two meanings of numbers are two types, so that a device that compares exactly does not carry
//! the 10 KiB of tables that doubles need.

use core::fmt::Write as _;

use crate::cursor::{Cursor, Fault};
use crate::error::JsonErrorKind;
use crate::walk::WIDE;

/// The largest exponent that may be written of a number that is not 0, and the largest after a
/// minus sign.
///
/// Exact values are compared by the place of their first digit, which is the written exponent plus
/// a count of digits, in 32 bits. Nine digits leave room for that count, since a document is not
/// longer than [`LENGTH_MAX`](crate::LENGTH_MAX). A limit of nines is passed exactly if a tenth digit
/// follows.
pub const EXPONENT_MAX: i32 = 999_999_999;

/// The digits that always fit into 64 bits.
pub(crate) const DIGITS_MAX: usize = 19;

/// A number of at most nineteen digits without an exponent, as most numbers are.
#[derive(Clone, Copy)]
pub(crate) struct Short {
    pub(crate) negative: bool,
    /// The digits as one integer, as if there were no decimal point.
    pub(crate) magnitude: u64,
    /// The number of digits in the magnitude, or 0 if it is 0.
    pub(crate) digits: usize,
    /// The number of digits behind the decimal point.
    pub(crate) fraction: usize,
    /// The exponent of a value other than 0 as 0.d₁d₂d₃… × 10^exponent.
    pub(crate) exponent: i32,
}

impl Short {
    /// Reads the number at the cursor and gives it to `tell`, if it is such a number. Returns the
    /// answer, or `false` and leaves the cursor as it is.
    #[inline]
    pub(crate) fn read(cursor: &mut Cursor<'_>, mut tell: impl FnMut(Self) -> bool) -> bool {
        let mut end = *cursor;
        let negative = end.eat(b'-');
        let first = end;
        let mut magnitude = 0;
        let whole = take_digits(&mut end, &mut magnitude);
        if whole == 0 || whole > DIGITS_MAX {
            return false;
        }
        // A zero in front of the first other digit does not count.
        let is_zero = first.peek() == Some(b'0');
        if is_zero && whole > 1 {
            return false;
        }
        let digits = whole.wrapping_sub(usize::from(is_zero));
        match end.peek() {
            Some(b'.') => {}
            Some(b'e' | b'E') => return false,
            _ => {
                *cursor = end;
                return tell(Self {
                    negative,
                    magnitude,
                    digits,
                    fraction: 0,
                    exponent: signed(digits),
                });
            }
        }
        end.advance(1);
        let mut zeros = end;
        let fraction = take_digits(&mut end, &mut magnitude);
        let mut digits = digits.saturating_add(fraction);
        let goes_on = matches!(end.peek(), Some(b'e' | b'E'));
        if fraction == 0 || digits > DIGITS_MAX || goes_on {
            return false;
        }
        let mut exponent = signed(whole);
        if is_zero {
            while digits > 0 && zeros.eat(b'0') {
                digits = digits.wrapping_sub(1);
            }
            exponent = signed(digits).wrapping_sub(signed(fraction));
        }
        *cursor = end;
        tell(Self { negative, magnitude, digits, fraction, exponent })
    }

    /// The digits with zeros behind to make them nineteen; `None` if the value is 0.
    #[inline]
    pub(crate) fn few_digits(self) -> Option<u64> {
        few_digits(self.magnitude, self.digits)
    }

    /// The nearest IEEE double, rounded to even, never −0. Returns `None` if one division does not
    /// give it.
    #[inline]
    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        reason = "that it rounds to nearest is what this is for"
    )]
    pub(crate) fn double(self) -> Option<f64> {
        let mut magnitude = self.magnitude as f64;
        if self.fraction > 0 {
            if self.magnitude > EXACT_MAX {
                return None;
            }
            // Both are doubles, so that the quotient is rounded once (Clinger, 1990).
            magnitude /= DOUBLE_POWERS.get(self.fraction)?;
        }
        Some(if self.negative { 0.0 - magnitude } else { magnitude })
    }
}

/// The integers up to which each is a double: 2⁵³.
pub(crate) const EXACT_MAX: u64 = 1 << 53;

/// 10⁰ up to 10¹⁹, each of which is a double.
const DOUBLE_POWERS: [f64; DIGITS_MAX + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19,
];

/// Any number, as it is written.
#[derive(Clone, Copy)]
pub(crate) struct Number<'a> {
    start: Cursor<'a>,
    end: Cursor<'a>,
    pub(crate) negative: bool,
    /// The digits from the first that is not 0 on, and perhaps the decimal point among them.
    mantissa: &'a [u8],
    /// The number of these digits, 0 for the value 0.
    digits: usize,
    /// The digits as one integer, as if there were no decimal point; only the lowest 64 bits.
    significand: u64,
    /// The number of digits before the decimal point, or minus the zeros right behind it.
    whole: i32,
    exponent: i32,
    /// The position of a digit that the exponent has too many.
    beyond: Option<Cursor<'a>>,
}

/// The value of a number other than 0: ±0.d₁d₂d₃… × 10^exponent, with d₁ ≠ 0.
pub(crate) struct Decimal<'a> {
    pub(crate) digits: Digits<'a>,
    pub(crate) exponent: i32,
}

/// The digits of a number, without zeros in front or behind.
pub(crate) enum Digits<'a> {
    /// At most nineteen, with zeros behind to make them nineteen.
    Few(u64),
    /// More than nineteen, and perhaps a decimal point among them.
    Many(&'a [u8]),
}

impl<'a> Number<'a> {
    /// Reads a number whose first byte, a digit or `-`, is at `start`; returns what follows it,
    /// too.
    #[inline(never)]
    pub(crate) fn read(start: Cursor<'a>) -> Result<(Self, Cursor<'a>), Fault> {
        let mut cursor = start;
        let negative = cursor.eat(b'-');
        // The position of the first digit that is not 0, once it is known.
        let mut first = cursor;
        let mut significand = 0;
        let mut digits = take_digits(&mut cursor, &mut significand);
        let leading_zero = first.peek() == Some(b'0');
        match digits {
            0 => return Err(cursor.error(JsonErrorKind::ExpectedDigit)),
            2.. if leading_zero => return Err(first.error_after(1, JsonErrorKind::LeadingZero)),
            _ => {}
        }
        if leading_zero {
            digits = 0;
        }
        let mut whole = signed(digits);
        if cursor.eat(b'.') {
            let point = cursor;
            if digits == 0 {
                while cursor.eat(b'0') {}
                whole = signed(point.distance(&cursor)).saturating_neg();
                first = cursor;
            }
            digits = digits.saturating_add(take_digits(&mut cursor, &mut significand));
            if point.distance(&cursor) == 0 {
                return Err(cursor.error(JsonErrorKind::ExpectedDigit));
            }
        }
        let mantissa = first.until(&cursor);
        let (mut exponent, mut beyond) = (0, None);
        if matches!(cursor.peek(), Some(b'e' | b'E')) {
            cursor.advance(1);
            (exponent, beyond) = read_exponent(&mut cursor)?;
        }
        let end = cursor;
        let number =
            Self { start, end, negative, mantissa, digits, significand, whole, exponent, beyond };
        Ok((number, cursor))
    }

    /// The exact value; `None` if it is 0.
    pub(crate) fn decimal(&self) -> Result<Option<Decimal<'a>>, Fault> {
        if self.digits == 0 {
            return Ok(None);
        }
        if let Some(place) = self.beyond {
            return Err(place.error(JsonErrorKind::ExponentLimit));
        }
        let digits = match few_digits(self.significand, self.digits) {
            Some(digits) => Digits::Few(digits),
            None => self.many_digits(),
        };
        // An exponent and a count of bytes are together within 32 bits.
        Ok(Some(Decimal { digits, exponent: self.exponent.saturating_add(self.whole) }))
    }

    /// Returns the digits of a number with more than nineteen.
    #[cold]
    fn many_digits(&self) -> Digits<'a> {
        let mut text = self.mantissa;
        while let [rest @ .., b'0' | b'.'] = text {
            text = rest;
        }
        let (mut significand, mut count) = (0, 0);
        for part in parts(text) {
            count = take_digits(&mut Cursor::new(part), &mut significand).saturating_add(count);
        }
        few_digits(significand, count).map_or(Digits::Many(text), Digits::Few)
    }

    /// The nearest IEEE double, rounded to even, never −0; an error if that is infinite.
    pub(crate) fn double(&self) -> Result<f64, Fault> {
        // The position of the first digit. Beyond these bounds the double is 0, or there is no
        // double.
        let place = self.exponent.saturating_add(self.whole);
        let double = if self.digits == 0 || place < -PLACE_MAX {
            Some(0.0)
        } else if place > PLACE_MAX {
            None
        } else if self.exponent.saturating_abs() <= PLACE_MAX {
            // Rust accepts every number of RFC 8259.
            core::str::from_utf8(self.start.until(&self.end))
                .ok()
                .and_then(|text| text.parse().ok())
        } else {
            self.shortened(place)
        };
        match double {
            // Adding 0 makes +0 of −0.
            Some(double) if double.is_finite() => Ok(double + 0.0),
            _ => Err(self.start.error(JsonErrorKind::NumberRange)),
        }
    }

    /// Returns the nearest double if a large exponent and many zeros cancel out. The parser of `core` does
    /// not read such a number: it gives up exponents of six digits.
    #[cold]
    fn shortened(&self, place: i32) -> Option<f64> {
        let mut text = heapless::String::<{ DIGITS_OF_DOUBLES + 16 }>::new();
        text.push_str(if self.negative { "-0." } else { "0." }).ok()?;
        let mut left = DIGITS_OF_DOUBLES;
        for &digit in parts(self.mantissa).flatten() {
            if left > 0 {
                text.push(char::from(digit)).ok()?;
                left = left.saturating_sub(1);
            } else if digit != b'0' {
                // The digits that follow only decide on which side of a tie the value lies.
                text.push('1').ok()?;
                break;
            }
        }
        write!(text, "e{place}").ok()?;
        text.parse().ok()
    }
}

/// The place of the first digit beyond which a number is no double, or one of 0, for certain.
const PLACE_MAX: i32 = 400;

/// The digits that a double, or the middle between two, has at most: 767 and one more.
const DIGITS_OF_DOUBLES: usize = 768;

/// Reads an exponent after its `e`. Also returns the position of a digit too many.
fn read_exponent<'a>(cursor: &mut Cursor<'a>) -> Result<(i32, Option<Cursor<'a>>), Fault> {
    let negative = cursor.eat(b'-');
    if !negative {
        cursor.eat(b'+');
    }
    let first = *cursor;
    let (mut magnitude, mut beyond) = (0_i32, None);
    loop {
        let place = *cursor;
        let Some(digit) = cursor.digit() else { break };
        magnitude = magnitude.saturating_mul(10).saturating_add(i32::from(digit));
        if magnitude > EXPONENT_MAX {
            beyond = beyond.or(Some(place));
        }
    }
    if first.distance(cursor) == 0 {
        return Err(cursor.error(JsonErrorKind::ExpectedDigit));
    }
    Ok((if negative { magnitude.saturating_neg() } else { magnitude }, beyond))
}

/// The runs of digits on each side of the decimal point in `digits`, if there is one.
pub(crate) fn parts(digits: &[u8]) -> impl Iterator<Item = &[u8]> {
    digits.split(|&byte| byte == b'.')
}

/// Takes all digits at the cursor, adds them behind `significand`, and counts them.
#[cfg_attr(target_pointer_width = "64", inline)]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
fn take_digits(cursor: &mut Cursor<'_>, significand: &mut u64) -> usize {
    let start = *cursor;
    while let Some(digit) = cursor.digit() {
        *significand = significand.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    start.distance(cursor)
}

/// Returns the `count` digits of `significand`, padded with zeros to nineteen. Returns `None` for
/// no digits or more than nineteen.
#[inline]
pub(crate) fn few_digits(significand: u64, count: usize) -> Option<u64> {
    /// 10¹⁹ down to 10⁰.
    const POWERS: [u64; DIGITS_MAX + 1] = {
        let mut powers = [1; DIGITS_MAX + 1];
        let mut power = 1_u64;
        let mut rest: &mut [u64] = &mut powers;
        while let [others @ .., last] = rest {
            *last = power;
            power = power.wrapping_mul(10);
            rest = others;
        }
        powers
    };
    if WIDE {
        let power = POWERS.get(count).filter(|_| count > 0)?;
        return Some(significand.wrapping_mul(*power));
    }
    (1..=DIGITS_MAX)
        .contains(&count)
        .then(|| (count..DIGITS_MAX).fold(significand, |digits, _| digits.wrapping_mul(10)))
}

/// A count of bytes of a document, which is at most [`LENGTH_MAX`](crate::LENGTH_MAX).
#[inline]
fn signed(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
