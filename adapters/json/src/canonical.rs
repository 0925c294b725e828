//! RFC 8785: one text for each JSON value, written as the value is read.

extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

use crate::DEPTH_MAX;
use crate::cursor::{Cursor, Fault};
use crate::error::{JsonError, JsonErrorKind};
use crate::name::{Key, units};
use crate::number::{EXACT_MAX, Number, Short};
use crate::string::Text;
use crate::walk::{Container, LENGTH_MAX, Visitor, Word, walk};

/// Writes the RFC 8785 text of the JSON value `json` to `out`.
///
/// Two documents have the same canonical text exactly when they mean the same to a reader whose
/// numbers are IEEE doubles: no white space, members in the order of their names' UTF-16 code
/// units, each string and number spelled in one way. It is what to hash by a cryptographic hash,
/// to sign, or to show; to compare documents, [`Fingerprinter`](crate::Fingerprinter) does it
/// faster and without memory, and by [`Rfc8785`](crate::Rfc8785) it finds the same ones equal.
///
/// One pass, O(n log n) in the length of `json`, and a copy of each object whose members are not
/// in order. O(n) memory, of most documents two or three times the length: for the text, for as
/// much of it as changes places, and 40 bytes for each member of the objects that are open. `out`
/// gets the text as a whole, when all of `json` was read.
///
/// # Errors
///
/// Returns [`CanonicalError::Json`] for every document that a `Fingerprinter<Rfc8785>` refuses, and
/// for an object with two members of one name. Nothing has been written then. Returns
/// [`CanonicalError::Write`] if `out` refuses the text.
///
/// ```
/// use unstuck_json::canonicalize;
///
/// let mut text = String::new();
/// canonicalize(br#"{"path": "src\/lib.rs", "limit": 1e2, "exact": [1.50, -0]}"#, &mut text)?;
/// assert_eq!(text, r#"{"exact":[1.5,0],"limit":100,"path":"src/lib.rs"}"#);
///
/// let error = canonicalize(br#"{"a": 1, "\u0061": 2}"#, &mut text).unwrap_err();
/// assert_eq!(error.to_string(), "byte 9: expected a name that the object does not have yet");
/// # Ok::<(), unstuck_json::CanonicalError>(())
/// ```
pub fn canonicalize(json: &[u8], out: &mut impl fmt::Write) -> Result<(), CanonicalError> {
    out.write_str(&text_of(json)?)?;
    Ok(())
}

/// Why no canonical text was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CanonicalError {
    /// The document has no canonical text.
    Json(JsonError),
    /// The writer refused it.
    Write(fmt::Error),
}

impl fmt::Display for CanonicalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => error.fmt(f),
            Self::Write(_) => f.write_str("expected the writer to take the canonical text"),
        }
    }
}

impl core::error::Error for CanonicalError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            // Its words are the message already.
            Self::Json(_) => None,
            Self::Write(error) => Some(error),
        }
    }
}

impl From<JsonError> for CanonicalError {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

impl From<fmt::Error> for CanonicalError {
    fn from(error: fmt::Error) -> Self {
        Self::Write(error)
    }
}

/// The canonical text of `json`.
fn text_of(json: &[u8]) -> Result<String, CanonicalError> {
    let mut writer = Writer {
        // Most texts are no longer than their document.
        text: Vec::with_capacity(json.len().min(LENGTH_MAX)),
        members: Vec::new(),
        open: heapless::Vec::new(),
        scratch: Vec::new(),
    };
    walk::<DEPTH_MAX>(json, &mut writer)?;
    // Copied text is UTF-8, because it was checked and is cut between characters only.
    String::from_utf8(writer.text).map_err(|_| CanonicalError::Write(fmt::Error))
}

/// The state of a document that is being written.
struct Writer<'a> {
    /// The text so far. In an open container, a comma follows each element and member.
    text: Vec<u8>,
    /// The members of all open objects, outermost object first.
    members: Vec<Member<'a>>,
    open: heapless::Vec<Frame, DEPTH_MAX>,
    /// The buffer in which members are sorted.
    scratch: Vec<u8>,
}

/// An open array or object.
struct Frame {
    outer: Option<Container>,
    /// The index of its bracket in the text.
    start: usize,
    /// The number of members of the objects around it.
    members: usize,
}

/// A member of an open object.
#[derive(Clone, Copy)]
struct Member<'a> {
    key: Key,
    /// The opening quote of its name in the document.
    place: Cursor<'a>,
    /// The index at which its text begins, including its name.
    start: usize,
    /// The index at which its text ends, behind the comma.
    end: usize,
}

impl Member<'_> {
    /// The order of the names, by their UTF-16 code units.
    #[inline]
    fn order(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then_with(|| units(self.place).cmp(units(other.place)))
    }
}

impl Writer<'_> {
    #[inline]
    fn quoted(&mut self, text: Text<'_>) {
        self.text.push(b'"');
        match text.canonical() {
            Some(text) => self.text.extend_from_slice(text),
            None => text.escaped(|piece| self.text.extend_from_slice(piece)),
        }
        self.text.push(b'"');
    }

    /// An integer that is a double.
    #[inline]
    fn exact(&mut self, Short { negative, magnitude, digits, .. }: Short) {
        if negative && magnitude > 0 {
            self.text.push(b'-');
        }
        let mut buffer = [b'0'; 16];
        let mut rest = magnitude;
        for digit in buffer.iter_mut().take(digits).rev() {
            *digit = b'0'.wrapping_add(u8::try_from(rest % 10).unwrap_or(0));
            rest /= 10;
        }
        self.text.extend_from_slice(buffer.get(..digits.max(1)).unwrap_or_default());
    }

    /// As ECMAScript writes it.
    fn double(&mut self, double: f64) {
        self.text.extend_from_slice(ryu_js::Buffer::new().format_finite(double).as_bytes());
    }

    /// Puts the members of the object that ends, those from the `first` on, in their order.
    #[inline]
    fn put_in_order(&mut self, first: usize) -> Result<(), Fault> {
        let members = self.members.get_mut(first..).unwrap_or_default();
        if !members.is_sorted_by(|one, next| one.order(next).is_lt()) {
            let start = members.first().map_or(0, |member| member.start);
            sort(members)?;
            self.scratch.clear();
            for member in members {
                let text = self.text.get(member.start..member.end).unwrap_or_default();
                self.scratch.extend_from_slice(text);
            }
            self.text.truncate(start);
            self.text.extend_from_slice(&self.scratch);
        }
        self.members.truncate(first);
        Ok(())
    }
}

/// Sorts members by their names, no two of which may be the same.
fn sort(members: &mut [Member<'_>]) -> Result<(), Fault> {
    members
        .sort_unstable_by(|one, other| one.order(other).then_with(|| one.start.cmp(&other.start)));
    let pairs = members.iter().zip(members.iter().skip(1));
    let repeated = pairs.filter(|(one, next)| one.order(next).is_eq()).map(|(_, next)| next);
    match repeated.min_by_key(|member| member.start) {
        Some(first) => Err(first.place.error(JsonErrorKind::RepeatedName)),
        None => Ok(()),
    }
}

impl<'a> Visitor<'a> for Writer<'a> {
    #[inline]
    fn word(&mut self, word: Word) {
        self.text.extend_from_slice(match word {
            Word::Null => b"null",
            Word::True => b"true",
            Word::False => b"false",
        });
    }

    #[inline]
    fn short(&mut self, short: Short) -> bool {
        if short.fraction == 0 && short.magnitude <= EXACT_MAX {
            self.exact(short);
            return true;
        }
        short.double().map(|double| self.double(double)).is_some()
    }

    fn number(&mut self, number: &Number<'a>) -> Result<(), Fault> {
        self.double(number.double()?);
        Ok(())
    }

    #[inline]
    fn string(&mut self, text: Text<'a>) {
        self.quoted(text);
    }

    #[inline]
    fn open(&mut self, outer: Option<Container>) -> Option<()> {
        let frame = Frame { outer, start: self.text.len(), members: self.members.len() };
        self.open.push(frame).ok()?;
        // The parameter of `close` says which bracket it is.
        self.text.push(b'[');
        Some(())
    }

    #[inline]
    fn name(&mut self, name: Text<'a>, place: Cursor<'a>) {
        let start = self.text.len();
        self.members.push(Member { key: Key::new(name, place), place, start, end: start });
        self.quoted(name);
        self.text.push(b':');
    }

    #[inline]
    fn add(&mut self, container: Container) {
        self.text.push(b',');
        if container == Container::Object
            && let Some(member) = self.members.last_mut()
        {
            member.end = self.text.len();
        }
    }

    #[inline]
    fn close(&mut self, container: Container) -> Result<Option<Container>, Fault> {
        let Some(Frame { outer, start, members }) = self.open.pop() else {
            return Ok(None);
        };
        let close = match container {
            Container::Array => b']',
            Container::Object => {
                self.put_in_order(members)?;
                if let Some(bracket) = self.text.get_mut(start) {
                    *bracket = b'{';
                }
                b'}'
            }
        };
        // The bracket takes the place of the last comma.
        self.text.pop_if(|last| *last == b',');
        self.text.push(close);
        Ok(outer)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use core::error::Error as _;
    use core::fmt;
    use std::string::ToString as _;

    use super::{CanonicalError, Member, canonicalize};

    #[test]
    fn what_a_writer_refuses_is_an_error() {
        /// A writer that refuses everything.
        struct Full;
        impl fmt::Write for Full {
            fn write_str(&mut self, _: &str) -> fmt::Result {
                Err(fmt::Error)
            }
        }
        let error = canonicalize(b"[1]", &mut Full).unwrap_err();
        assert_eq!(error, CanonicalError::Write(fmt::Error));
        assert_eq!(error.to_string(), "expected the writer to take the canonical text");
        assert!(error.source().is_some_and(<dyn core::error::Error>::is::<fmt::Error>));

        let error = canonicalize(b"[1", &mut Full).unwrap_err();
        assert_eq!(error.to_string(), "byte 2: expected ',' or ']' after an array element");
        assert!(error.source().is_none());
    }

    #[test]
    fn a_member_keeps_the_promise_about_memory() {
        assert!(size_of::<Member<'_>>() <= 40);
    }
}
