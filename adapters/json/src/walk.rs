//! The one pass: bytes in, the digest of one value out, on a stack of its own.

use heapless::Vec;
use unstuck_core::Digest;

use crate::cursor::Cursor;
use crate::error::{JsonError, JsonErrorKind};
use crate::fold::{self, Frame};
use crate::number::number;
use crate::string::{spells, string};

/// How deep arrays and objects may nest: `[[1]]` is two deep.
///
/// Open containers wait on a stack of fixed size, 32 bytes each, so the limit is 2 KiB of the
/// caller's stack. Arguments and results of tools nest some ten deep at most.
pub const DEPTH_MAX: usize = 64;

/// Which members of a top-level object go into its digest.
#[derive(Clone, Copy)]
pub(crate) enum Members<'k> {
    All,
    Named(&'k [&'k str]),
}

/// What the walk found: the value, and how many members of it count if it is an object.
pub(crate) struct Root<'a> {
    pub(crate) digest: Digest,
    pub(crate) members: usize,
    /// Where the value of the last member begins that was asked for by name.
    pub(crate) named: Option<Cursor<'a>>,
}

/// Reads all of `json`, which must be one value.
pub(crate) fn walk<'a>(json: &'a [u8], members: Members<'_>) -> Result<Root<'a>, JsonError> {
    let mut walker = Walker { cursor: Cursor::new(json), open: Vec::new(), members, named: None };
    walker.cursor.skip_space();
    let root = loop {
        if let Some(value) = walker.begin()?
            && let Some(root) = walker.finish(value)?
        {
            break root;
        }
    };
    walker.cursor.skip_space();
    match walker.cursor.peek() {
        None => Ok(root),
        Some(_) => Err(walker.cursor.error(JsonErrorKind::TrailingData)),
    }
}

struct Walker<'a, 'k> {
    cursor: Cursor<'a>,
    /// The containers around the cursor, the outermost first.
    open: Vec<Frame, DEPTH_MAX>,
    members: Members<'k>,
    named: Option<Cursor<'a>>,
}

impl<'a> Walker<'a, '_> {
    /// Reads a value as far as it goes without another value: all of it if it holds none, else
    /// up to where its first element or the value of its first member begins (`None`).
    fn begin(&mut self) -> Result<Option<Digest>, JsonError> {
        let cursor = &mut self.cursor;
        match cursor.peek() {
            Some(b'{') => return self.open_object(),
            Some(b'[') => return self.open_array(),
            Some(b'"') => {
                cursor.next();
                string(cursor)
            }
            Some(b'-' | b'0'..=b'9') => number(cursor),
            Some(b'n') => word(cursor, b"null", fold::NULL),
            Some(b't') => word(cursor, b"true", fold::TRUE),
            Some(b'f') => word(cursor, b"false", fold::FALSE),
            _ => Err(cursor.error(JsonErrorKind::ExpectedValue)),
        }
        .map(Some)
    }

    /// Opens the array whose bracket is at the cursor.
    fn open_array(&mut self) -> Result<Option<Digest>, JsonError> {
        self.enter(Frame::array())?;
        if self.cursor.eat(b']') {
            return Ok(self.open.pop().map(|frame| frame.digest()));
        }
        Ok(None)
    }

    /// Opens the object whose brace is at the cursor.
    fn open_object(&mut self) -> Result<Option<Digest>, JsonError> {
        self.enter(Frame::object())?;
        if self.cursor.eat(b'}') {
            return Ok(self.open.pop().map(|frame| frame.digest()));
        }
        self.name(JsonErrorKind::ExpectedNameOrBrace)?;
        Ok(None)
    }

    /// Takes the bracket at the cursor, and `frame` for what it opens.
    fn enter(&mut self, frame: Frame) -> Result<(), JsonError> {
        let too_deep = self.cursor.error(JsonErrorKind::DepthLimit);
        self.open.push(frame).map_err(|_| too_deep)?;
        self.cursor.next();
        self.cursor.skip_space();
        Ok(())
    }

    /// Reads a member up to where its value begins; `otherwise` is the error if it has no name.
    fn name(&mut self, otherwise: JsonErrorKind) -> Result<(), JsonError> {
        if !self.cursor.eat(b'"') {
            return Err(self.cursor.error(otherwise));
        }
        let start = self.cursor;
        let digest = string(&mut self.cursor)?;
        let asked = match self.members {
            Members::Named(names) if self.open.len() == 1 => {
                Some(names.iter().any(|name| spells(start, name)))
            }
            Members::All | Members::Named(_) => None,
        };
        if let Some(Frame::Object { name, .. }) = self.open.last_mut() {
            *name = asked.unwrap_or(true).then_some(digest);
        }
        self.cursor.skip_space();
        if !self.cursor.eat(b':') {
            return Err(self.cursor.error(JsonErrorKind::ExpectedColon));
        }
        self.cursor.skip_space();
        if asked == Some(true) {
            self.named = Some(self.cursor);
        }
        Ok(())
    }

    /// Hands `value` to the container around it, and closes every container that ends there;
    /// `None` if another value follows.
    fn finish(&mut self, mut value: Digest) -> Result<Option<Root<'a>>, JsonError> {
        let mut members = 0;
        while let Some(frame) = self.open.last_mut() {
            frame.add(value);
            self.cursor.skip_space();
            let (close, otherwise) = match frame {
                Frame::Array { .. } => (b']', JsonErrorKind::ExpectedCommaOrBracket),
                Frame::Object { .. } => (b'}', JsonErrorKind::ExpectedCommaOrBrace),
            };
            if self.cursor.eat(close) {
                value = frame.digest();
                members = frame.members();
                self.open.pop();
            } else if self.cursor.eat(b',') {
                self.cursor.skip_space();
                if matches!(frame, Frame::Object { .. }) {
                    self.name(JsonErrorKind::ExpectedName)?;
                }
                return Ok(None);
            } else {
                return Err(self.cursor.error(otherwise));
            }
        }
        Ok(Some(Root { digest: value, members, named: self.named }))
    }
}

/// Reads `word`, whose first byte is at the cursor; its digest is `digest`.
fn word(cursor: &mut Cursor<'_>, word: &[u8], digest: Digest) -> Result<Digest, JsonError> {
    for &byte in word {
        if !cursor.eat(byte) {
            return Err(cursor.error(JsonErrorKind::MisspelledWord));
        }
    }
    Ok(digest)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;

    use super::{DEPTH_MAX, Members, walk};
    use crate::error::JsonErrorKind::DepthLimit;

    #[test]
    fn the_deepest_document_is_accepted_and_one_deeper_is_not() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let brackets = if open.starts_with("[{") { 2 } else { 1 };
            let times = DEPTH_MAX / brackets;
            let deepest = format!("{}0{}", open.repeat(times), close.repeat(times));
            assert!(walk(deepest.as_bytes(), Members::All).is_ok(), "{deepest}");
            for inner in ["[]", "{}", "[0]"] {
                let deeper = format!("{}{inner}{}", open.repeat(times), close.repeat(times));
                let error = walk(deeper.as_bytes(), Members::All).err().unwrap();
                assert_eq!((error.kind, error.offset), (DepthLimit, open.len() * times));
            }
        }
    }

    #[test]
    fn the_members_counted_are_those_of_the_outermost_object() {
        let all = |json: &str| walk(json.as_bytes(), Members::All).unwrap().members;
        assert_eq!(all(r#"{"a":{"b":1,"c":2},"d":[{"e":3}]}"#), 2);
        assert_eq!(all(r#"[{"a":1}]"#), 0);
        assert_eq!(all(r#"{"a":{}}"#), 1);
        assert_eq!(all("{}"), 0);
    }
}
