//! Reads the elements of a list in a JSON document, one at a time.

use core::cell::Cell;
use core::fmt;
use std::io::{BufRead, ErrorKind, Read};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::LINE_BYTES_MAX;
use crate::field::string;
use crate::problem::{Problem, ProblemKind};
use crate::recorder::Recorder;

/// The field that names the session, beside the list of some formats' documents.
const SESSION: &str = "sessionId";

/// The number of bytes that are taken from the input at a time.
const CHUNK_BYTES: usize = 16 * 1024;

/// The keys of a document's lists of records.
#[derive(Clone, Copy)]
pub(crate) enum Lists {
    /// The first list that is not empty holds the whole run. The others repeat it.
    First(&'static [&'static str]),
    /// The lists hold the run one after the other.
    All(&'static [&'static str]),
}

impl Lists {
    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::First(keys) | Self::All(keys) => keys,
        }
    }
}

/// A part of a document that a format needs.
pub(crate) enum Part<'a> {
    /// An element of its list, as JSON text, with the line on which it ends.
    Record(&'a str, u64),
    /// The session's name, which may come before or after the list.
    Session(&'a str),
}

/// Replays the [`parts`] of a document, and reports the records that cannot be read.
pub(crate) fn replay(
    input: &mut dyn BufRead,
    lists: Lists,
    recorder: &mut Recorder<'_>,
    each: &mut dyn FnMut(&str, &mut Recorder<'_>) -> Result<(), ProblemKind>,
) {
    let end = parts(input, lists, &mut |part| match part {
        Part::Record(json, line) => {
            if let Err(kind) = each(json, recorder) {
                recorder.problem(kind.at(line));
            }
        }
        Part::Session(name) => recorder.session(name),
    });
    if let Err(problem) = end {
        recorder.problem(problem);
    }
}

/// Delivers the elements of a document, and the session's name if the document has one.
///
/// The document is an array, or an object with the arrays that `lists` names. At most one element is
/// in memory at a time. All other fields are skipped.
///
/// # Errors
///
/// Returns an error if the document breaks off or is not JSON. The elements before that place have
/// been delivered.
pub(crate) fn parts(
    input: &mut dyn BufRead,
    lists: Lists,
    each: &mut dyn FnMut(Part<'_>),
) -> Result<(), Problem> {
    let meter = Meter::default();
    let metered = Metered { input, meter: &meter, chunk: Vec::new(), used: 0 };
    let mut deserializer = serde_json::Deserializer::from_reader(metered);
    let document = Document { lists, meter: &meter, each, delivered: &Cell::new(false) };
    document
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end())
        .map_err(|error| meter.problem(error))
}

/// The counters of the document's reader, shared with its parser.
struct Meter {
    line: Cell<u64>,
    /// The number of bytes that may still be read for the current element. `None` while the input is
    /// skipped.
    left: Cell<Option<usize>>,
}

impl Default for Meter {
    fn default() -> Self {
        Self { line: Cell::new(1), left: Cell::new(Some(LINE_BYTES_MAX)) }
    }
}

impl Meter {
    fn begin_element(&self) {
        self.left.set(Some(LINE_BYTES_MAX));
    }

    fn begin_ignored(&self) {
        self.left.set(None);
    }

    fn problem(&self, error: serde_json::Error) -> Problem {
        if self.left.get() == Some(0) {
            return ProblemKind::TooLong.at(self.line.get());
        }
        if error.is_io() {
            return ProblemKind::io(&error.into()).at(self.line.get());
        }
        let line = u64::try_from(error.line()).unwrap_or(u64::MAX);
        ProblemKind::broken(&error).at(line.max(1))
    }
}

/// A reader that counts lines and fails if an element is too long.
///
/// The parser asks for single bytes, and the input is behind a pointer. The chunk between them saves
/// a call for each byte.
struct Metered<'m, 'i> {
    input: &'i mut dyn BufRead,
    meter: &'m Meter,
    chunk: Vec<u8>,
    /// The number of bytes of the chunk that the parser has read.
    used: usize,
}

impl Metered<'_, '_> {
    fn fill(&mut self) -> std::io::Result<()> {
        self.chunk.clear();
        self.used = 0;
        let ready = self.input.fill_buf()?;
        let count = ready.len().min(CHUNK_BYTES);
        self.chunk.extend_from_slice(&ready[..count]);
        self.input.consume(count);
        Ok(())
    }
}

impl Read for Metered<'_, '_> {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.used == self.chunk.len() {
            self.fill()?;
        }
        let count = (&self.chunk[self.used..]).read(buffer)?;
        self.used += count;
        let lines = buffer.iter().take(count).filter(|byte| **byte == b'\n').count();
        self.meter.line.set(self.meter.line.get() + lines as u64);
        if let Some(left) = self.meter.left.get() {
            let left = left.saturating_sub(count);
            self.meter.left.set(Some(left));
            if left == 0 {
                return Err(ErrorKind::FileTooLarge.into());
            }
        }
        Ok(count)
    }
}

struct Document<'m, 'f> {
    lists: Lists,
    meter: &'m Meter,
    each: &'f mut dyn FnMut(Part<'_>),
    /// `true` once an element has been delivered.
    delivered: &'m Cell<bool>,
}

impl Document<'_, '_> {
    /// Returns whether the list under a key is to be delivered.
    fn wants(&self, key: &str) -> bool {
        let is_late = matches!(self.lists, Lists::First(_)) && self.delivered.get();
        self.lists.keys().contains(&key) && !is_late
    }
}

impl<'de> DeserializeSeed<'de> for Document<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "an array of records, or an object with `{}`", self.lists.keys().join("` or `"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.meter.begin_element();
        while let Some(element) = list.next_element::<Box<RawValue>>()? {
            self.delivered.set(true);
            (self.each)(Part::Record(element.get(), self.meter.line.get()));
            self.meter.begin_element();
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        self.meter.begin_element();
        while let Some(name) = object.next_key::<String>()? {
            if self.wants(&name) {
                object.next_value_seed(List(Document { each: &mut *self.each, ..self }))?;
            } else if name == SESSION {
                let value = object.next_value::<Box<RawValue>>()?;
                if let Some(session) = string(Some(&value)) {
                    (self.each)(Part::Session(&session));
                }
            } else {
                self.meter.begin_ignored();
                object.next_value::<IgnoredAny>()?;
            }
            self.meter.begin_element();
        }
        Ok(())
    }
}

/// A list of records. Unlike the document, it must be an array.
struct List<'m, 'f>(Document<'m, 'f>);

impl<'de> DeserializeSeed<'de> for List<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(mut input: &[u8]) -> Vec<String> {
        let mut words = Vec::new();
        let end = parts(&mut input, Lists::First(&["messages", "history"]), &mut |part| {
            words.push(match part {
                Part::Record(json, line) => format!("{line} {json}"),
                Part::Session(name) => format!("session {name}"),
            });
        });
        words.extend(end.err().map(|problem| problem.to_string()));
        words
    }

    #[test]
    fn elements_come_from_an_array_or_from_under_the_key() {
        assert_eq!(words(b"[1,\n{\"a\":[2]}\n]"), ["1 1", "2 {\"a\":[2]}"]);
        let object = b"{\"x\":[9],\n\"messages\":[\"a\"],\"y\":{\"messages\":[8]}}\n";
        assert_eq!(words(object), ["2 \"a\""]);
        assert!(words(b"{}").is_empty());
        let named = b"{\"sessionId\":\"a\",\"messages\":[{\"sessionId\":1}],\"sessionId\":2}";
        assert_eq!(words(named), ["session a", "1 {\"sessionId\":1}"]);
        let both = b"{\"history\":[],\"messages\":[1,2],\"history\":[3]}";
        assert_eq!(words(both), ["1 1", "1 2"]);
    }

    #[test]
    fn the_elements_before_a_break_are_delivered() {
        let table: [(&[u8], &[&str]); 4] = [
            (
                b"[1,\n2,\n{\"a\":",
                &[
                    "1 1",
                    "2 2",
                    "line 3: the document is broken here: EOF while parsing a value at column 5",
                ],
            ),
            (
                b"[1]\nx",
                &["1 1", "line 2: the document is broken here: trailing characters at column 1"],
            ),
            (
                b"{\"messages\":7}",
                &[
                    "line 1: the document is broken here: invalid type: integer `7`, expected an array of \
                   records, or an object with `messages` or `history` at column 14",
                ],
            ),
            (
                b"[1,\"\xff\"]",
                &[
                    "1 1",
                    "line 1: the document is broken here: invalid unicode code point at column 5",
                ],
            ),
        ];
        for (input, expected) in table {
            assert_eq!(words(input), expected);
        }
    }

    #[test]
    fn an_element_over_the_limit_ends_the_reading_and_an_ignored_one_does_not() {
        let long = "x".repeat(LINE_BYTES_MAX);
        let ignored = format!("{{\"tools\":\"{long}\",\"messages\":[1]}}");
        assert_eq!(words(ignored.as_bytes()), ["1 1"]);
        let kept = format!("[1,\"{long}\"]");
        assert_eq!(
            words(kept.as_bytes()),
            ["1 1", "line 1: longer than 64 MiB: expected one record"]
        );
    }
}
