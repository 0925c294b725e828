//! Errors in a document, with their offset.

use core::fmt;

/// Why bytes are not JSON, or not JSON that a fingerprint can be taken of, and where.
///
/// ```
/// use unstuck_json::{JsonError, JsonErrorKind, fingerprint};
///
/// let error = fingerprint(b"[01]").unwrap_err();
/// assert_eq!(error, JsonError { kind: JsonErrorKind::LeadingZero, offset: 2 });
/// assert_eq!(error.to_string(), "byte 2: expected no more digits after a leading 0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JsonError {
    /// The kind of error.
    pub kind: JsonErrorKind,
    /// The 0-based offset of the byte that was wrong: the first byte that should not be there,
    /// or the length of the input if something is missing at its end.
    pub offset: usize,
}

/// The kinds of errors in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// No value begins here.
    ExpectedValue,
    /// No member name begins here, nor does the object end; it has no members so far.
    ExpectedNameOrBrace,
    /// No member name begins here, after a comma.
    ExpectedName,
    /// A member name is not followed by a colon.
    ExpectedColon,
    /// An object neither goes on nor ends after a member.
    ExpectedCommaOrBrace,
    /// An array neither goes on nor ends after an element.
    ExpectedCommaOrBracket,
    /// Something other than white space follows the value.
    TrailingData,
    /// A word starts like `null`, `true` or `false` and ends differently.
    MisspelledWord,
    /// A number lacks a digit after its minus sign, its decimal point or its `e`.
    ExpectedDigit,
    /// A number has a digit after a leading 0.
    LeadingZero,
    /// The exponent of a number is beyond [`EXPONENT_MAX`](crate::EXPONENT_MAX).
    ExponentLimit,
    /// A string does not end.
    UnterminatedString,
    /// A string holds a control character that is not escaped.
    ControlCharacter,
    /// A backslash is not followed by one of the nine letters and signs that may follow it.
    UnknownEscape,
    /// `\u` is not followed by four hexadecimal digits.
    ExpectedHexDigit,
    /// An escaped surrogate lacks its other half. The offset points to its backslash.
    LoneSurrogate,
    /// A string is not UTF-8. The offset points to the first byte of the broken sequence.
    InvalidUtf8,
    /// A number is beyond the largest IEEE double. Only RFC 8785 has this limit. The offset points
    /// to the first byte of the number.
    NumberRange,
    /// An object has two members of one name. Only `canonicalize` refuses this. The offset points
    /// to the opening quote of the second name. Any other error before the end of the object is
    /// found first.
    RepeatedName,
    /// The document is longer than [`LENGTH_MAX`](crate::LENGTH_MAX).
    LengthLimit,
    /// Arrays and objects nest deeper than so many.
    DepthLimit(u16),
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.kind)
    }
}

impl core::error::Error for JsonError {}

impl fmt::Display for JsonErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ExpectedValue => {
                "expected a value (an object, array, string, number, true, false or null)"
            }
            Self::ExpectedNameOrBrace => "expected a member name in double quotes, or '}'",
            Self::ExpectedName => "expected a member name in double quotes after ','",
            Self::ExpectedColon => "expected ':' after a member name",
            Self::ExpectedCommaOrBrace => "expected ',' or '}' after an object member",
            Self::ExpectedCommaOrBracket => "expected ',' or ']' after an array element",
            Self::TrailingData => "expected the end of input after the value",
            Self::MisspelledWord => "expected null, true or false, spelled in full",
            Self::ExpectedDigit => "expected a digit in a number",
            Self::LeadingZero => "expected no more digits after a leading 0",
            Self::ExponentLimit => "expected an exponent of at most 9 digits",
            Self::UnterminatedString => "expected '\"' at the end of a string",
            Self::ControlCharacter => {
                "expected a control character in a string to be escaped, as in \\n or \\u001f"
            }
            Self::UnknownEscape => "expected one of \" \\ / b f n r t u after '\\' in a string",
            Self::ExpectedHexDigit => "expected four hexadecimal digits after '\\u' in a string",
            Self::LoneSurrogate => {
                "expected a surrogate pair, one of \\ud800 to \\udbff and one of \\udc00 to \\udfff"
            }
            Self::InvalidUtf8 => "expected a string in UTF-8",
            Self::NumberRange => "expected a number within the range of an IEEE double",
            Self::RepeatedName => "expected a name that the object does not have yet",
            Self::LengthLimit => "expected the document to end; it may have 1 GiB",
            Self::DepthLimit(depth_max) => {
                return write!(f, "expected arrays and objects to nest at most {depth_max} deep");
            }
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;
    use std::string::ToString as _;

    use super::JsonErrorKind::*;
    use crate::{CanonicalError, canonicalize, fingerprint};
    use crate::{EXPONENT_MAX, Fingerprinter, JsonError, LENGTH_MAX, Rfc8785};

    /// Returns the reason why `json` has no canonical text.
    fn canonical_error_of(json: &[u8]) -> Option<CanonicalError> {
        canonicalize(json, &mut std::string::String::new()).err()
    }

    /// Returns the error in `json`, including a number beyond the doubles.
    fn error_of(json: &[u8]) -> JsonError {
        let doubles = Fingerprinter::<Rfc8785>::new(0);
        fingerprint(json).and(doubles.fingerprint(json)).unwrap_err()
    }

    #[test]
    fn a_document_beyond_the_length_is_not_begun() {
        let zeros = std::vec![0; LENGTH_MAX + 1];
        let error = JsonError { kind: LengthLimit, offset: LENGTH_MAX };
        assert_eq!(error_of(&zeros), error);
        assert_eq!(canonical_error_of(&zeros), Some(error.into()));
        assert_eq!(error.to_string(), format!("byte {LENGTH_MAX}: {LengthLimit}"));
        assert_eq!(error_of(&zeros[..LENGTH_MAX]).kind, ExpectedValue);
    }

    #[test]
    fn the_limits_in_the_messages_are_the_limits() {
        assert!(DepthLimit(7).to_string().ends_with("at most 7 deep"));
        let digits = format!("at most {} digits", EXPONENT_MAX.to_string().len());
        assert!(ExponentLimit.to_string().ends_with(&digits));
        assert!(LengthLimit.to_string().ends_with(&format!("{} GiB", LENGTH_MAX >> 30)));
    }

    #[test]
    fn an_error_is_two_words() {
        assert!(size_of::<JsonError>() <= 2 * size_of::<usize>());
    }
}
