//! Reads the elements of a list in a JSON document, one at a time.

use core::convert::Infallible;
use core::fmt;
use std::io::BufRead;

use serde::de::{Deserializer, Visitor};

use crate::event::Tokens;
use crate::field::{Raw, check, checked_object, text_of_json};
use crate::format::{Layout, Lists};
use crate::lines;
use crate::object::{Object, raw};
use crate::problem::{Done, Problem};
use crate::recorder::{MAIN, Recorder};
use crate::stream::Stream;

/// The fields that name the session, beside the list of some formats' documents.
const SESSIONS: [&str; 2] = ["sessionId", "session_id"];

/// The field with the tokens of the last answer, beside the list of some formats' documents.
const USAGE: &str = "usage";

/// The fields with the tokens of an answer or of the run, each with the field that holds it.
const INNER_USAGE: [(&str, &str); 3] =
    [("response", USAGE), ("info", "model_stats"), ("metrics", "accumulated_token_usage")];

/// A part of a document that a format needs.
pub(crate) enum Part<'a> {
    /// An element of its list, as JSON text, with the line on which it ends.
    Record(&'a str, u64),
    /// The session's name, which may come before or after the list.
    Session(&'a str),
    /// The tokens of an answer or of the run, as JSON text, before or after the list.
    Usage(&'a str),
}

/// An input whose format and layout are known.
pub(crate) struct Source<'i> {
    pub(crate) input: &'i mut dyn BufRead,
    pub(crate) layout: Layout,
    /// The lists of records, if the input is a document.
    pub(crate) lists: Lists,
}

impl Source<'_> {
    /// Replays the records: those of a document, or lines. Reports those that cannot be read.
    pub(crate) fn replay(
        self,
        recorder: &mut Recorder<'_>,
        each: &mut dyn FnMut(&Object<'_>, &mut Recorder<'_>) -> Done,
    ) {
        self.replay_with_usage(|_| None, recorder, each);
    }

    /// Replays the records like [`Source::replay`], and delivers the tokens beside those of a document at its end.
    pub(crate) fn replay_with_usage(
        self,
        usage: fn(Raw<'_>) -> Option<Tokens>,
        recorder: &mut Recorder<'_>,
        each: &mut dyn FnMut(&Object<'_>, &mut Recorder<'_>) -> Done,
    ) {
        self.replay_json(usage, recorder, &mut |json, recorder| {
            each(&checked_object(json)?, recorder)
        });
    }

    /// Replays the records like [`Source::replay_with_usage`]. They are of any type, as JSON texts that were checked.
    pub(crate) fn replay_json(
        self,
        usage: fn(Raw<'_>) -> Option<Tokens>,
        recorder: &mut Recorder<'_>,
        each: &mut dyn FnMut(&str, &mut Recorder<'_>) -> Done,
    ) {
        if self.layout == Layout::Lines {
            lines::replay(self.input, recorder, &mut |json, recorder| {
                check(json)?;
                each(json, recorder)
            });
            return;
        }
        let mut total = None;
        let end = parts(self.input, self.lists, &mut |part| match part {
            Part::Record(json, line) => {
                if let Err(kind) = each(json, recorder) {
                    recorder.problem(kind.at(line));
                }
            }
            Part::Session(name) => recorder.session(name),
            Part::Usage(json) => total = usage(raw(json)).or(total),
        });
        if let Err(problem) = end {
            recorder.problem(problem);
        }
        recorder.usage_up_to(MAIN, total);
    }
}

/// Delivers the elements of a document, and the session's name and the tokens if it has them.
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
    let mut document = Document { json: Stream::of(input), lists, each, delivered: false };
    match document.json.peek()? {
        Some(b'[') => document.list()?,
        Some(b'{') => document.object()?,
        _ => return Err(document.wrong_type()?),
    }
    match document.json.peek()? {
        Some(_) => Err(document.json.trailing()),
        None => Ok(()),
    }
}

struct Document<'i, 'f> {
    json: Stream<'i>,
    lists: Lists,
    each: &'f mut dyn FnMut(Part<'_>),
    /// `true` once an element has been delivered.
    delivered: bool,
}

impl Document<'_, '_> {
    /// Returns whether the list under a key is to be delivered.
    fn wants(&self, key: &str) -> bool {
        let is_late = matches!(self.lists, Lists::First(_)) && self.delivered;
        self.lists.keys().contains(&key) && !is_late
    }

    /// Delivers the elements of the list that begins here.
    fn list(&mut self) -> Result<(), Problem> {
        self.json.pass();
        let mut is_first = true;
        while self.json.more(b']', is_first)? {
            let (json, line) = self.json.value()?;
            self.delivered = true;
            (self.each)(Part::Record(json, line));
            is_first = false;
        }
        Ok(())
    }

    /// Delivers the lists in the object that begins here, and the session's name.
    fn object(&mut self) -> Result<(), Problem> {
        self.json.pass();
        let mut is_first = true;
        while self.json.more(b'}', is_first)? {
            let key = self.json.key()?;
            if self.wants(&key) {
                match self.json.peek()? {
                    Some(b'[') => self.list()?,
                    _ => return Err(self.wrong_type()?),
                }
            } else if SESSIONS.contains(&&*key) {
                if let Some(session) = text_of_json(self.json.value()?.0) {
                    (self.each)(Part::Session(&session));
                }
            } else if key == USAGE {
                self.usage()?;
            } else if let Some((_, inner)) = INNER_USAGE.iter().find(|(outer, _)| key == *outer) {
                self.usage_in(inner)?;
            } else {
                self.json.skip()?;
            }
            is_first = false;
        }
        Ok(())
    }

    /// Delivers the tokens in the value that begins here, if it is an object.
    fn usage(&mut self) -> Result<(), Problem> {
        if self.json.peek()? != Some(b'{') {
            return self.json.skip();
        }
        let (json, _) = self.json.value()?;
        (self.each)(Part::Usage(json));
        Ok(())
    }

    /// Delivers the tokens in one field of the value that begins here, if it is an object.
    fn usage_in(&mut self, field: &str) -> Result<(), Problem> {
        if self.json.peek()? != Some(b'{') {
            return self.json.skip();
        }
        self.json.pass();
        let mut is_first = true;
        while self.json.more(b'}', is_first)? {
            if self.json.key()? == field {
                self.usage()?;
            } else {
                self.json.skip()?;
            }
            is_first = false;
        }
        Ok(())
    }

    /// Returns the error for the value that begins here, which is not a list of records.
    fn wrong_type(&mut self) -> Result<Problem, Problem> {
        let found = match self.json.peek()? {
            Some(b'{') => "{",
            _ => self.json.value()?.0,
        };
        let found = serde_json::Deserializer::from_str(found).deserialize_seq(self.lists);
        let message = match found {
            Ok(never) => match never {},
            Err(error) => error.to_string(),
        };
        let what = message.rsplit_once(" at line ").map_or(&*message, |(what, _)| what);
        Ok(self.json.unexpected(what))
    }
}

/// Refuses every value, with an error that says what was expected in its place.
impl Visitor<'_> for Lists {
    type Value = Infallible;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "an array of records, or an object with `{}`", self.keys().join("` or `"))
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;
    use serde::de::{IgnoredAny, MapAccess, SeqAccess};
    use serde_json::value::RawValue;

    use super::*;
    use crate::LINE_BYTES_MAX;
    use crate::stream::samples::damaged_json;
    use crate::tables::rows;

    fn words(mut input: &[u8]) -> Vec<String> {
        let mut words = Vec::new();
        let end = parts(&mut input, Lists::First(&["messages", "history"]), &mut |part| {
            words.push(match part {
                Part::Record(json, line) => format!("{line} {json}"),
                Part::Session(name) => format!("session {name}"),
                Part::Usage(json) => format!("usage {json}"),
            });
        });
        words.extend(end.err().map(|problem| problem.to_string()));
        words
    }

    /// A case a line: a document, and a line for each of its parts.
    const DOCUMENTS: &str = include_str!("../tests/tables/documents.txt");

    #[test]
    fn a_document_has_records_a_session_and_tokens_up_to_its_break() {
        for [document, expected] in rows(DOCUMENTS) {
            assert_eq!(words(document.as_bytes()).join("\n"), expected, "{document}");
        }
        let expected =
            "line 1: the document is broken here: invalid unicode code point at column 5";
        assert_eq!(words(b"[1,\"\xff\"]"), ["1 1", expected]);
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

    /// The definition of [`parts`], for a document in memory: what `serde_json` reads from it.
    struct Oracle<'w> {
        words: &'w mut Vec<String>,
        in_list: bool,
        delivered: bool,
    }

    const LISTS: Lists = Lists::First(&["messages", "history"]);

    impl<'de> Visitor<'de> for &mut Oracle<'_> {
        type Value = ();

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            LISTS.expecting(out)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
            while let Some(element) = list.next_element::<&RawValue>()? {
                self.delivered = true;
                self.words.push(element.get().to_owned());
            }
            Ok(())
        }

        fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
            while let Some(key) = object.next_key::<String>()? {
                if ["messages", "history"].contains(&&*key) && !self.delivered {
                    self.in_list = true;
                    object.next_value_seed(&mut *self)?;
                    self.in_list = false;
                } else if SESSIONS.contains(&&*key) {
                    let value = object.next_value::<&RawValue>()?;
                    let name = text_of_json(value.get());
                    self.words.extend(name.map(|name| format!("session {name}")));
                } else {
                    object.next_value::<IgnoredAny>()?;
                }
            }
            Ok(())
        }
    }

    impl<'de> serde::de::DeserializeSeed<'de> for &mut Oracle<'_> {
        type Value = ();

        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            if self.in_list {
                deserializer.deserialize_seq(self)
            } else {
                deserializer.deserialize_any(self)
            }
        }
    }

    /// Returns the parts by the definition, and the problem with its line and column.
    fn by_serde(json: &[u8]) -> (Vec<String>, Option<(usize, usize, String)>) {
        let mut words = Vec::new();
        let mut oracle = Oracle { words: &mut words, in_list: false, delivered: false };
        let mut json = serde_json::Deserializer::from_slice(json);
        let end = serde::de::DeserializeSeed::deserialize(&mut oracle, &mut json);
        let end = end.and_then(|()| json.end()).err();
        (words, end.map(|error| (error.line(), error.column(), error.to_string())))
    }

    fn by_pieces(json: &[u8], piece: usize) -> (Vec<String>, Option<Problem>) {
        let mut words = Vec::new();
        let mut input = BufReader::with_capacity(piece, json);
        let end = parts(&mut input, LISTS, &mut |part| {
            words.push(match part {
                Part::Record(json, _) => json.to_owned(),
                Part::Session(name) => format!("session {name}"),
                Part::Usage(json) => format!("usage {json}"),
            });
        });
        (words, end.err())
    }

    /// The most bytes between two opinions about where a document is broken: an escape has six bytes.
    const MOST_APART: usize = 5;

    /// Returns the index of the first byte of a line.
    fn line_start(json: &[u8], line: usize) -> usize {
        json.split_inclusive(|byte| *byte == b'\n').take(line - 1).map(<[u8]>::len).sum()
    }

    /// Returns the index behind the byte that a problem names.
    fn offset(json: &[u8], problem: &Problem) -> usize {
        let line = problem.line.and_then(|line| line.try_into().ok()).expect("a line");
        let message = problem.to_string();
        let (_, column) = message.rsplit_once("at column ").expect("a column");
        line_start(json, line) + column.parse::<usize>().expect("a number")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

        #[test]
        fn a_document_has_the_parts_and_problems_that_serde_json_finds(
            bytes in damaged_json(),
            piece in 1..40_usize,
        ) {
            let (expected, problem) = by_serde(&bytes);
            let (found, end) = by_pieces(&bytes, piece);
            prop_assert_eq!(found, expected);
            let end = end.map(|problem| offset(&bytes, &problem));
            let expected = problem.map(|(line, column, _)| line_start(&bytes, line) + column);
            prop_assert_eq!(end.is_some(), expected.is_some());
            // A text that is not UTF-8 is broken at the byte, and for `serde_json` at the end of its string.
            let apart = end.unwrap_or(0).abs_diff(expected.unwrap_or(0));
            let apart = if str::from_utf8(&bytes).is_ok() { apart } else { 0 };
            prop_assert!(apart <= MOST_APART, "{:?} {:?}", end, expected);
        }
    }
}
