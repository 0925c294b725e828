//! JSON-RPC messages, as far as the proxy parses them: one a line, read in bounded memory.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read, Write};

use serde::Deserialize;
use serde_json::value::RawValue;

/// A line of JSON-RPC. Other lines are forwarded unparsed.
pub(crate) enum Line<'l> {
    One(Message<'l>),
    /// Several messages in one array, which version 2025-03-26 of MCP allows.
    Batch(Vec<&'l RawValue>),
}

impl<'l> Line<'l> {
    pub(crate) fn read(line: &'l [u8]) -> Option<Self> {
        match line.trim_ascii_start().first()? {
            b'{' => serde_json::from_slice(line).ok().map(Self::One),
            b'[' => serde_json::from_slice(line).ok().map(Self::Batch),
            _ => None,
        }
    }
}

/// A request, a notification or a response.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'l"))]
pub(crate) struct Message<'l> {
    /// `None` for a notification.
    pub(crate) id: Option<&'l RawValue>,
    /// `None` for a response.
    #[serde(borrow)]
    pub(crate) method: Option<Cow<'l, str>>,
    pub(crate) params: Option<&'l RawValue>,
    pub(crate) result: Option<&'l RawValue>,
    pub(crate) error: Option<&'l RawValue>,
}

/// The `params` of `tools/call`.
#[derive(Deserialize)]
pub(crate) struct Call<'l> {
    #[serde(borrow)]
    pub(crate) name: Cow<'l, str>,
    #[serde(borrow)]
    arguments: Option<&'l RawValue>,
}

impl Call<'_> {
    /// Returns the arguments as JSON. Missing arguments are an empty object.
    pub(crate) fn arguments(&self) -> &str {
        self.arguments.map_or("{}", RawValue::get)
    }
}

/// The `params` of `notifications/cancelled`.
#[derive(Deserialize)]
pub(crate) struct Cancelled<'l> {
    #[serde(borrow, rename = "requestId")]
    pub(crate) request: Option<&'l RawValue>,
}

/// The `params` and the `result` of `initialize`.
#[derive(Deserialize)]
pub(crate) struct Greeting<'l> {
    /// The version of the protocol, a date. A later version compares as greater.
    #[serde(borrow, rename = "protocolVersion")]
    pub(crate) version: Cow<'l, str>,
}

/// The JSON-RPC id that links a response to its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Id {
    /// A number, as it is spelled.
    Number(Box<str>),
    /// A string, unescaped: a server may escape other characters than the client.
    Text(Box<str>),
}

impl Id {
    /// Reads an id. Returns `None` for other values.
    pub(crate) fn of(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        match text.as_bytes().first()? {
            b'"' => serde_json::from_str(text).ok().map(Self::Text),
            b'-' | b'0'..=b'9' => Some(Self::Number(text.into())),
            _ => None,
        }
    }
}

/// The longest line that is parsed. A longer one is forwarded in pieces, unparsed.
pub(crate) const LINE_MAX: usize = 64 << 20;

/// The bytes that are read at a time, and the memory that is kept between lines.
const PIECE: usize = 64 << 10;

/// The part of a line that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The whole line with its line break. The last line may have none.
    Whole,
    /// The first [`LINE_MAX`] bytes. There may be more.
    Begun,
}

/// Lines from `R`, one at a time.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R, longest: usize) -> Self {
        Self { reader: BufReader::with_capacity(PIECE, reader), line: Vec::new(), longest }
    }

    /// Reads the next line, or returns `None` at the end.
    pub(crate) fn advance(&mut self) -> io::Result<Option<Extent>> {
        self.read(self.longest)?;
        if self.line.is_empty() {
            return Ok(None);
        }
        let is_cut = self.line.len() == self.longest && !self.is_ended();
        Ok(Some(if is_cut { Extent::Begun } else { Extent::Whole }))
    }

    /// Returns the bytes that were read of the line.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.line
    }

    /// Copies the rest of a line that was begun to `writer`.
    pub(crate) fn copy_rest(&mut self, writer: &mut impl Write) -> io::Result<()> {
        while !self.line.is_empty() && !self.is_ended() {
            self.read(PIECE)?;
            writer.write_all(&self.line)?;
        }
        Ok(())
    }

    /// Reads to the end of the line, but at most `most` bytes.
    fn read(&mut self, most: usize) -> io::Result<()> {
        self.line.clear();
        self.line.shrink_to(PIECE);
        self.reader.by_ref().take(most as u64).read_until(b'\n', &mut self.line)?;
        Ok(())
    }

    fn is_ended(&self) -> bool {
        self.line.last() == Some(&b'\n')
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn message(line: &str) -> Option<Message<'_>> {
        match Line::read(line.as_bytes())? {
            Line::One(message) => Some(message),
            Line::Batch(_) => None,
        }
    }

    #[test]
    fn other_lines_are_not_messages() {
        for line in ["", "\n", " ", "{", "nonsense", "null", "\"a\"", "{\"id\":1", "{} {}"] {
            assert!(Line::read(line.as_bytes()).is_none(), "{line:?}");
        }
        // Client and server decide which one of two equal members counts.
        assert!(message(r#"{"method":"a","method":"b"}"#).is_none());
        assert!(Line::read(b"{\"method\":\"\xff\"}").is_none());
    }

    #[test]
    fn a_message_is_read_however_it_is_laid_out() {
        let text = " { \"params\" : [ 1 ] , \"id\" : null , \"method\" : \"tools\\/call\" } \r\n";
        let message = message(text).expect("a message");
        assert_eq!(message.method.as_deref(), Some("tools/call"));
        assert_eq!(message.params.map(RawValue::get), Some("[ 1 ]"));
        assert!(message.id.is_none() && message.result.is_none() && message.error.is_none());
    }

    #[test]
    fn ids_are_compared_by_their_values() {
        for (one, other, equal) in [
            ("1", "1", true),
            ("1", "2", false),
            ("1", "\"1\"", false),
            (r#""\u0061""#, "\"a\"", true),
            ("\"a\"", "\"b\"", false),
        ] {
            let (one, other): (&RawValue, &RawValue) = (
                serde_json::from_str(one).expect("JSON"),
                serde_json::from_str(other).expect("JSON"),
            );
            assert_eq!(Id::of(one) == Id::of(other), equal, "{one} {other}");
        }
        for none in ["true", "null", "[1]", "{}"] {
            assert_eq!(Id::of(serde_json::from_str(none).expect("JSON")), None);
        }
    }

    /// Returns all output, and the lines that were whole.
    fn through(input: &[u8], longest: usize) -> (Vec<u8>, Vec<Vec<u8>>) {
        let mut lines = Lines::new(input, longest);
        let (mut all, mut whole) = (Vec::new(), Vec::new());
        while let Some(extent) = lines.advance().expect("memory can be read") {
            all.extend_from_slice(lines.bytes());
            match extent {
                Extent::Whole => whole.push(lines.bytes().to_vec()),
                Extent::Begun => lines.copy_rest(&mut all).expect("memory can be written"),
            }
        }
        (all, whole)
    }

    #[test]
    fn a_line_is_whole_or_only_begun() {
        for (input, expected) in [
            ("", vec![]),
            ("\n", vec!["\n"]),
            ("ab\r\n\ncd", vec!["ab\r\n", "\n", "cd"]),
            ("abc\nabcd\nab\n", vec!["abc\n", "ab\n"]),
            ("abcdefgh\nab", vec!["ab"]),
            ("abcd", vec![]),
        ] {
            let (all, whole) = through(input.as_bytes(), 4);
            assert_eq!(all, input.as_bytes());
            let expected: Vec<_> =
                expected.into_iter().map(|line| line.as_bytes().to_vec()).collect();
            assert_eq!(whole, expected, "{input:?}");
        }
    }

    proptest! {
        #[test]
        fn all_bytes_are_forwarded(
            input in vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200),
            longest in 1..50_usize,
        ) {
            let (all, whole) = through(&input, longest);
            prop_assert_eq!(&all, &input);
            prop_assert!(whole.iter().all(|line| line.len() <= longest));
        }
    }
}
