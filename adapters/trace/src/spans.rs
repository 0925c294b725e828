//! Delivers the spans of an input as the runs of agents, and makes spans of what trace stores export.
//!
//! - [`crate::otlp`] reads the spans and puts them in order. Each session is a run of its own.
//! - **Order.** Spans are written when they end, and the spans of many sessions alternate. So they are held
//!   back until the end of the input, up to the [limits](crate::otlp::Limits). Beyond these, the traces
//!   that were idle longest are delivered; if one trace is larger than that, the earlier half of its spans.
//!   A session that goes on afterwards begins another run.
//! - A result that was left out has its span's id as the hash of the missing part, so that it equals no
//!   other.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::document::Source;
use crate::event::Role;
use crate::field::{Raw, string, text_of_json};
use crate::otlp::{Assembler, Limits, Record, Span, What, hexadecimal, id_of_text, is_read};
use crate::problem::Done;
use crate::pull::{Pull, is_json};
use crate::recorder::Recorder;
use crate::time::nanoseconds;

/// The nanoseconds of a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// The length of a key, and the depth, to which attributes are looked for in nested objects and lists. The keys of
/// messages in `OpenInference` are the longest.
const KEY_MAX: usize = 128;
const DEPTH_MAX: usize = 10;

/// Reads the spans of a line or of an element, which was checked to be JSON, and passes them on.
pub(crate) type Read = fn(&str, &mut Recorder<'_>, &mut dyn FnMut(Span)) -> Done;

/// Replays the spans of an input, and delivers what they say at its end.
pub(crate) fn replay(source: Source<'_>, recorder: &mut Recorder<'_>, read: Read) {
    let (mut assembler, mut session) = (Assembler::new(Limits::default()), None);
    let mut each = |json: &str, recorder: &mut Recorder<'_>| {
        let outcome = read(json, recorder, &mut |span| assembler.push(span, 0));
        assembler.deliver_ready(&mut |record| deliver(record, &mut session, recorder));
        outcome
    };
    source.replay_json(|_| None, recorder, &mut each);
    assembler.flush(&mut |record| deliver(record, &mut session, recorder));
}

/// Delivers a record, and begins a run if it is of another session.
fn deliver(record: Record, session: &mut Option<Arc<str>>, recorder: &mut Recorder<'_>) {
    match session {
        None => recorder.session(&record.session),
        Some(session) if *session != record.session && recorder.has_begun() => {
            recorder.begin(Some(&record.session));
        }
        Some(_) => {}
    }
    let Record { session: of, worker, step, span, begin, end, what, .. } = record;
    *session = Some(of);
    recorder.time(Some(begin / MILLISECOND).filter(|time| *time > 0));
    match what {
        What::Prompt(text) => {
            recorder.settle(&worker);
            recorder.message(&worker, Role::User, &text);
        }
        What::Usage(tokens) => recorder.usage(&worker, Some(tokens)),
        What::Said(text) => {
            recorder.settle(&worker);
            recorder.say(&worker, &text);
        }
        What::Call(call) => {
            let index = recorder.call_of_turn(&worker, Some(step), &call.tool, call.args());
            recorder.outcome(call.outcome(index, &worker, &hexadecimal(&span)));
            recorder.time(Some(end / MILLISECOND).filter(|time| *time > 0));
        }
    }
}

impl Span {
    /// Creates a span of a trace store, whose ids may be any texts.
    pub(crate) fn of_store(trace: &str, id: &str, parent: Option<&str>) -> Self {
        Self {
            trace: id_of_text(trace),
            id: id_of_text(id),
            parent: parent.filter(|parent| !parent.is_empty()).map(id_of_text),
            ..Self::default()
        }
    }

    /// Sets the times of the beginning and of the end. A span that has not ended takes no time.
    pub(crate) fn lasts(&mut self, begin: Raw<'_>, end: Raw<'_>) {
        self.begin = nanoseconds(begin).unwrap_or(0);
        self.end = nanoseconds(end).unwrap_or(0).max(self.begin);
    }

    /// Adds an attribute, unless the field is absent: a text, or the JSON of any other value.
    pub(crate) fn set(&mut self, key: &str, value: Raw<'_>) {
        if let Some(text) = text(value) {
            self.set_text(key, text);
        }
    }

    /// Adds an attribute.
    pub(crate) fn set_text(&mut self, key: &str, text: impl Into<String>) {
        self.attributes.insert(key.to_owned(), Value::String(text.into()));
    }

    /// Adds the attributes that are [read](is_read) of a value with this key, which may be empty. The parts of a key
    /// may be those of objects in objects and in lists, and the whole may be in a string. O(length).
    pub(crate) fn set_all(&mut self, key: &str, value: Raw<'_>) {
        let Some(value) = value else { return };
        let inner = string(Some(value)).filter(|text| text.starts_with('{') && is_json(text));
        let json = Pull::new(inner.as_deref().unwrap_or(value.get()));
        let mut walk = Walk { json, key: key.to_owned(), open: Vec::new() };
        walk.value(self);
        while walk.goes_on() {
            walk.value(self);
        }
    }
}

/// A place in nested attributes.
struct Walk<'j> {
    json: Pull<'j>,
    /// The key of the value at this place, with dots between its parts.
    key: String,
    /// The objects and lists around this place: the length of the key of each, and the number of the next element of a
    /// list.
    open: Vec<(usize, Option<usize>)>,
}

impl Walk<'_> {
    /// Goes to the next value. Returns `false` behind the last one.
    fn goes_on(&mut self) -> bool {
        while let Some((length, element)) = self.open.last_mut() {
            self.key.truncate(*length);
            let name = match element {
                None => self.json.key(),
                Some(number) => {
                    *number += 1;
                    self.json.goes_on().then(|| (*number - 1).to_string().into())
                }
            };
            match name {
                Some(name) if self.key.len() + name.len() < KEY_MAX => {
                    self.key.push_str(if self.key.is_empty() { "" } else { "." });
                    self.key.push_str(&name);
                    return true;
                }
                Some(_) => self.json.skip(),
                None => drop(self.open.pop()),
            }
        }
        false
    }

    /// Passes a value that is read or that has none in it, and enters any other.
    fn value(&mut self, span: &mut Span) {
        if is_read(&self.key) {
            let json = self.json.value();
            let text = text_of_json(json).map_or_else(|| number(json).to_owned(), Cow::into_owned);
            if json != "null" {
                span.set_text(&self.key, text);
            }
        } else if self.open.len() == DEPTH_MAX {
            self.json.skip();
        } else if self.json.enter(b'{') {
            self.open.push((self.key.len(), None));
        } else if self.json.enter(b'[') {
            self.open.push((self.key.len(), Some(0)));
        } else {
            self.json.skip();
        }
    }
}

/// Returns a whole number without the fraction that a table adds to a column with gaps. Any other JSON stays.
fn number(json: &str) -> &str {
    json.strip_suffix(".0").unwrap_or(json)
}

/// Returns the text of a field, or the JSON of any other value.
pub(crate) fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    string(raw).or_else(|| raw.map(|raw| Cow::Borrowed(raw.get())))
}
