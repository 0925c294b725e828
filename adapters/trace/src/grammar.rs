//! Finds the ends of JSON values, and checks them by the grammar.

use memchr::memchr_iter;

/// A text that may come in pieces.
pub(crate) trait Text {
    /// The reason why the text cannot be read.
    type Error;

    /// Returns the bytes in memory.
    fn bytes(&self) -> &[u8];

    /// Reads on behind the last byte, and returns `false` at the end. Bytes before `at` may be
    /// dropped, which moves `at`.
    fn read_on(&mut self, at: &mut usize) -> Result<bool, Self::Error>;

    /// Returns the error that the text is broken at this byte, or behind the last one.
    fn broken(&self, at: usize, what: &'static str) -> Self::Error;
}

/// A whole text in memory. An error in it has no description.
pub(crate) struct Whole<'t>(pub(crate) &'t str);

/// The reason why a text in memory is not JSON, which `serde_json` can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken;

impl Text for Whole<'_> {
    type Error = Broken;

    fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    fn read_on(&mut self, _: &mut usize) -> Result<bool, Broken> {
        Ok(false)
    }

    fn broken(&self, _: usize, _: &'static str) -> Broken {
        Broken
    }
}

/// A JSON text, and the place up to which it was read.
///
/// The errors have the words of `serde_json`.
pub(crate) struct Scanner<T> {
    pub(crate) text: T,
    /// The next byte, as an index into the bytes in memory.
    pub(crate) at: usize,
    /// The brackets that close the open arrays and objects, the innermost last.
    open: Vec<u8>,
    /// `true` if the text was checked before.
    is_valid: bool,
}

impl<T: Text> Scanner<T> {
    pub(crate) const fn new(text: T, is_valid: bool) -> Self {
        Self { text, at: 0, open: Vec::new(), is_valid }
    }

    /// Returns the next byte that is not white space, without passing it, or `None` at the end.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, T::Error> {
        loop {
            while let Some(&byte) = self.text.bytes().get(self.at) {
                if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                    return Ok(Some(byte));
                }
                self.at += 1;
            }
            if !self.read_on()? {
                return Ok(None);
            }
        }
    }

    /// Passes a byte that [`Stream::peek`] returned.
    pub(crate) const fn pass(&mut self) {
        self.at += 1;
    }

    /// Goes on to the next element or key of an array or object that `close` ends. Returns `false`
    /// behind its end. `is_first` says that the opening bracket was just passed.
    pub(crate) fn more(&mut self, close: u8, is_first: bool) -> Result<bool, T::Error> {
        match self.peek()? {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) if is_first => Ok(true),
            Some(b',') => {
                self.at += 1;
                match self.peek()? {
                    Some(byte) if byte == close => Err(self.broken("trailing comma")),
                    Some(_) => Ok(true),
                    None => Err(self.broken("EOF while parsing a value")),
                }
            }
            Some(_) if close == b']' => Err(self.broken("expected `,` or `]`")),
            Some(_) => Err(self.broken("expected `,` or `}`")),
            None if close == b']' => Err(self.broken("EOF while parsing a list")),
            None => Err(self.broken("EOF while parsing an object")),
        }
    }

    /// Passes a value of any length.
    pub(crate) fn skip(&mut self) -> Result<(), T::Error> {
        loop {
            let mut is_first = false;
            match self.peek()? {
                Some(b'"') if self.is_valid => self.valid_string()?,
                Some(b'"') => self.string()?,
                Some(b'{') => {
                    self.at += 1;
                    self.open.push(b'}');
                    is_first = true;
                }
                Some(b'[') => {
                    self.at += 1;
                    self.open.push(b']');
                    is_first = true;
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word(b"true")?,
                Some(b'f') => self.word(b"false")?,
                Some(b'n') => self.word(b"null")?,
                Some(_) => return Err(self.broken("expected value")),
                None => return Err(self.broken("EOF while parsing a value")),
            }
            loop {
                let Some(&close) = self.open.last() else { return Ok(()) };
                if self.more(close, is_first)? {
                    if close == b'}' {
                        self.quoted_key()?;
                        self.colon()?;
                    }
                    break;
                }
                self.open.pop();
                is_first = false;
            }
        }
    }

    /// Passes a key, without its colon.
    pub(crate) fn quoted_key(&mut self) -> Result<(), T::Error> {
        match self.peek()? {
            Some(b'"') => self.string(),
            Some(_) => Err(self.broken("key must be a string")),
            None => Err(self.broken("EOF while parsing an object")),
        }
    }

    /// Passes a colon.
    pub(crate) fn colon(&mut self) -> Result<(), T::Error> {
        match self.peek()? {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.broken("expected `:`")),
            None => Err(self.broken("EOF while parsing an object")),
        }
    }

    fn string(&mut self) -> Result<(), T::Error> {
        self.at += 1;
        loop {
            // Escapes stand close together, so the usual ones are passed without touching `self`.
            let bytes = self.text.bytes();
            let mut rest = bytes.get(self.at..).unwrap_or_default();
            let special = loop {
                rest = from_special(rest);
                match rest {
                    [b'\\', b'"' | b'\\' | b'n' | b't', behind @ ..] => rest = behind,
                    _ => break rest.first().copied(),
                }
            };
            self.at = bytes.len() - rest.len();
            match special {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => {
                    let what = "control character (\\u0000-\\u001F) found while parsing a string";
                    return Err(self.broken(what));
                }
                None if self.read_on()? => {}
                None => return Err(self.broken(EOF_STRING)),
            }
        }
    }

    /// Passes a string of a valid text, of which only the end is looked for.
    fn valid_string(&mut self) -> Result<(), T::Error> {
        self.at += 1;
        let rest = self.text.bytes().get(self.at..).unwrap_or_default();
        let is_end = |quote: &usize| {
            let before = rest.get(..*quote).unwrap_or_default();
            before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
        };
        let Some(end) = memchr_iter(b'"', rest).find(is_end) else {
            return Err(self.broken(EOF_STRING));
        };
        self.at += end + 1;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), T::Error> {
        self.at += 1;
        let digits = match self.byte()? {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
            Some(b'u') => 4,
            Some(_) => return Err(self.broken("invalid escape")),
            None => return Err(self.broken(EOF_STRING)),
        };
        self.at += 1;
        for _ in 0..digits {
            match self.byte()? {
                Some(byte) if byte.is_ascii_hexdigit() => self.at += 1,
                Some(_) => return Err(self.broken("invalid escape")),
                None => return Err(self.broken(EOF_STRING)),
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), T::Error> {
        if self.byte()? == Some(b'-') {
            self.at += 1;
        }
        if self.byte()? == Some(b'0') {
            self.at += 1;
            if let Some(b'0'..=b'9') = self.byte()? {
                return Err(self.broken("invalid number"));
            }
        } else {
            self.digits()?;
        }
        if self.byte()? == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte()? {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte()? {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Passes the digits of a number, at least one.
    fn digits(&mut self) -> Result<(), T::Error> {
        match self.byte()? {
            Some(b'0'..=b'9') => {}
            Some(_) => return Err(self.broken("invalid number")),
            None => return Err(self.broken("EOF while parsing a value")),
        }
        while let Some(b'0'..=b'9') = self.byte()? {
            self.at += 1;
        }
        Ok(())
    }

    fn word(&mut self, word: &[u8]) -> Result<(), T::Error> {
        for expected in word {
            match self.byte()? {
                Some(byte) if byte == *expected => self.at += 1,
                Some(_) => return Err(self.broken("expected ident")),
                None => return Err(self.broken("EOF while parsing a value")),
            }
        }
        Ok(())
    }

    /// Returns the next byte without passing it, or `None` at the end.
    fn byte(&mut self) -> Result<Option<u8>, T::Error> {
        if self.at == self.text.bytes().len() && !self.read_on()? {
            return Ok(None);
        }
        Ok(self.text.bytes().get(self.at).copied())
    }

    fn read_on(&mut self) -> Result<bool, T::Error> {
        self.text.read_on(&mut self.at)
    }

    fn broken(&self, what: &'static str) -> T::Error {
        self.text.broken(self.at, what)
    }
}

const EOF_STRING: &str = "EOF while parsing a string";

/// A bit for each byte of a word, the lowest one.
const ONES: u64 = u64::MAX / 255;

/// Marks the bytes of a word that are below a bound, by their highest bits. The lowest mark is exact:
/// a borrow moves to higher bytes only.
const fn below(word: u64, bound: u8) -> u64 {
    word.wrapping_sub(ONES * bound as u64) & !word & (ONES << 7)
}

/// Marks the bytes of a word that are equal to one, like [`below`].
const fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * byte as u64), 1)
}

/// Returns the bytes from the first quote, backslash or control character on.
fn from_special(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    while let Some((word, behind)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*word);
        // With its second bit flipped, a quote is the byte behind the control characters, which stay below.
        let marks = below(word ^ (ONES * 2), 0x21) | equal(word, b'\\');
        if marks != 0 {
            return rest.get(marks.trailing_zeros() as usize / 8..).unwrap_or_default();
        }
        rest = behind;
    }
    while let [b' ' | b'!' | b'#'..=b'[' | b']'.., behind @ ..] = rest {
        rest = behind;
    }
    rest
}

/// Returns the number of bytes before the first `end`. For short distances this is faster than
/// `memchr`.
pub(crate) fn bytes_before(bytes: &[u8], end: u8) -> usize {
    let mut rest = bytes;
    while let Some((word, behind)) = rest.split_first_chunk() {
        let marks = equal(u64::from_le_bytes(*word), end);
        if marks != 0 {
            return bytes.len() - rest.len() + marks.trailing_zeros() as usize / 8;
        }
        rest = behind;
    }
    let before = rest.iter().position(|byte| *byte == end).unwrap_or(rest.len());
    bytes.len() - rest.len() + before
}

#[cfg(test)]
pub(crate) mod samples {
    //! JSON that is whole or nearly so.

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    /// Returns JSON in which up to two places were changed.
    pub(crate) fn damaged_json() -> impl Strategy<Value = Vec<u8>> {
        let put = ["", "\"", "\\", "]", "}", ",", "0", "\u{1}", "{", "[", "e", "\n", "u"];
        let cut = (any::<Index>(), 0..3_usize, select(put.to_vec()));
        (json(), vec(cut, 0..3)).prop_map(|(json, cuts)| {
            let mut bytes = json.into_bytes();
            for (at, removed, put) in cuts {
                let at = at.index(bytes.len() + 1);
                let end = (at + removed).min(bytes.len());
                bytes.splice(at..end, put.bytes());
            }
            bytes
        })
    }

    fn json() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            Just("false".to_owned()),
            "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,2})?([eE][+-]?[0-9]{1,2})?",
            r#""([ -!#-\[\]-~üß漢]|\\["\\/bfnrt]|\\u00[0-9a-fA-F]{2}){0,20}""#,
        ];
        let name = prop_oneof![
            Just("messages"),
            Just("history"),
            Just("sessionId"),
            Just("mess\\u0061ges"),
            Just("x")
        ];
        let space = prop_oneof![3 => Just(""), 1 => Just("\n"), 1 => Just(" \r\n\t")];
        scalar.prop_recursive(4, 40, 5, move |inner| {
            let element = (space.clone(), inner.clone(), space.clone());
            let list = vec(element, 0..5).prop_map(|list| {
                let list = list.into_iter().map(|(a, value, b)| format!("{a}{value}{b}"));
                format!("[{}]", list.collect::<Vec<_>>().join(","))
            });
            let member = (name.clone(), space.clone(), inner);
            let object = vec(member, 0..5).prop_map(|members| {
                let members =
                    members.into_iter().map(|(k, s, v)| format!("{s}\"{k}\"{s}:{s}{v}{s}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            });
            prop_oneof![list, object]
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_special_byte_is_found(bytes in proptest::collection::vec(
            prop_oneof![9 => any::<u8>(), 1 => proptest::sample::select(b"\"\\\x1f\x20".to_vec())],
            0..40,
        )) {
            let special = bytes.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
            prop_assert_eq!(from_special(&bytes), &bytes[special.unwrap_or(bytes.len())..]);
            let quote = bytes.iter().position(|&byte| byte == b'"');
            prop_assert_eq!(bytes_before(&bytes, b'"'), quote.unwrap_or(bytes.len()));
        }
    }
}
