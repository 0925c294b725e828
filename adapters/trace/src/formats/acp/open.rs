//! Calls that have begun and wait for the rest of their fields.

use std::collections::VecDeque;

use crate::formats::prelude::*;
use crate::pairing::{OPEN_CALLS_MAX, digest};
use crate::problem::LINE_BYTES_MAX;

/// The calls of all sessions that have not ended, in the order in which they began.
#[derive(Default)]
pub(super) struct OpenCalls {
    calls: VecDeque<OpenCall>,
    /// The bytes of their fields.
    bytes: usize,
}

/// A call, with the latest value of each field.
#[derive(Default)]
struct OpenCall {
    worker: String,
    id: String,
    title: Option<String>,
    kind: Option<String>,
    places: Option<String>,
    input: Option<String>,
    content: Option<String>,
    output: Option<String>,
    /// `true` if the call has been delivered.
    is_issued: bool,
}

impl OpenCalls {
    /// Begins a call, or updates its fields, and ends it if its status says so.
    ///
    /// If there are too many calls, or too large ones, the oldest is delivered without its result.
    pub(super) fn update(
        &mut self,
        worker: &str,
        id: &str,
        update: &Object<'_>,
        recorder: &mut Recorder<'_>,
    ) {
        let known = self.calls.iter().position(|call| call.id == id && call.worker == worker);
        let mut call = match known.and_then(|at| self.remove(at)) {
            Some(call) => call,
            None => {
                OpenCall { worker: worker.to_owned(), id: id.to_owned(), ..OpenCall::default() }
            }
        };
        call.take(update);
        let failed = match update.text("status").as_deref() {
            Some("failed") => true,
            Some("completed") => false,
            _ => {
                // An update without the fields of a new call belongs to a call that was forgotten.
                if known.is_some() || call.is_described() {
                    self.insert(known.unwrap_or(self.calls.len()), call, recorder);
                }
                return;
            }
        };
        if call.is_described() {
            self.issue(known.unwrap_or(self.calls.len()), worker, recorder);
            call.issue(recorder);
        }
        call.end(failed, recorder);
    }

    /// Delivers all calls of a worker that have begun.
    pub(super) fn issue_all(&mut self, worker: &str, recorder: &mut Recorder<'_>) {
        self.issue(self.calls.len(), worker, recorder);
    }

    /// Delivers the calls of a worker before a place.
    fn issue(&mut self, end: usize, worker: &str, recorder: &mut Recorder<'_>) {
        for call in self.calls.iter_mut().take(end).filter(|call| call.worker == worker) {
            call.issue(recorder);
        }
    }

    fn remove(&mut self, at: usize) -> Option<OpenCall> {
        let call = self.calls.remove(at)?;
        self.bytes -= call.bytes();
        Some(call)
    }

    fn insert(&mut self, at: usize, call: OpenCall, recorder: &mut Recorder<'_>) {
        self.bytes += call.bytes();
        self.calls.insert(at, call);
        while self.calls.len() > OPEN_CALLS_MAX || self.bytes > LINE_BYTES_MAX {
            let Some(mut oldest) = self.remove(0) else { return };
            oldest.issue(recorder);
        }
    }
}

impl OpenCall {
    fn take(&mut self, update: &Object<'_>) {
        let text = |raw| string(raw).map(Cow::into_owned);
        let json = |raw: Raw<'_>| raw.map(|raw| raw.get().to_owned());
        let fields = [
            (&mut self.title, text(update.get("title"))),
            (&mut self.kind, text(update.get("kind"))),
            (&mut self.places, json(update.get("locations"))),
            (&mut self.input, json(update.get("rawInput"))),
            (&mut self.content, json(update.get("content"))),
            (&mut self.output, json(update.get("rawOutput"))),
        ];
        for (field, new) in fields {
            *field = new.or_else(|| field.take());
        }
    }

    /// Returns whether the call has a title, a kind or an input.
    fn is_described(&self) -> bool {
        [&self.title, &self.kind, &self.input].into_iter().any(Option::is_some)
    }

    /// Returns the bytes of the fields.
    fn bytes(&self) -> usize {
        let Self { title, kind, places, input, content, output, .. } = self;
        let fields = [title, kind, places, input, content, output];
        fields.into_iter().flatten().map(String::len).sum()
    }

    /// Delivers the call, once.
    fn issue(&mut self, recorder: &mut Recorder<'_>) {
        if core::mem::replace(&mut self.is_issued, true) {
            return;
        }
        let worker = &self.worker;
        let kind = self.kind.as_deref().filter(|kind| *kind != "other");
        let tool = kind.or(self.title.as_deref()).unwrap_or("other");
        let args = self.args();
        let content = digest((tool, &*args));
        if recorder.pairing.mirrors(worker, &self.id, content) {
            return;
        }
        let index = recorder.call_together(worker, tool, Args::Json(&args));
        recorder.pairing.issue(worker, &self.id, content, index);
    }

    /// Returns the arguments, or the title and the places in their stead.
    fn args(&self) -> Cow<'_, str> {
        let places =
            || self.places.as_deref().and_then(|json| serde_json::from_str::<&RawValue>(json).ok());
        match &self.input {
            Some(input) => Cow::Borrowed(input),
            None => Cow::Owned(
                serde_json::json!({ "title": self.title, "locations": places() }).to_string(),
            ),
        }
    }

    fn end(&self, failed: bool, recorder: &mut Recorder<'_>) {
        let worker = &self.worker;
        let Some(call) = recorder.pairing.answer(worker, &self.id) else { return };
        recorder.turn(worker).answered = true;
        let text = self.text();
        let cut = text.is_none().then(|| call.to_string());
        let (text, cut) = (text.as_deref().unwrap_or_default(), cut.as_deref());
        recorder.outcome(Outcome { call, worker, text, failed, cut, refused: false });
    }

    /// Returns the texts and the changes of files in the content, or else the raw output. A terminal has
    /// nothing but a random id. `None` if the recording has no result.
    fn text(&self) -> Option<Cow<'_, str>> {
        let content = self.content.as_deref().and_then(|json| serde_json::from_str(json).ok());
        let blocks = elements(content).into_iter().filter_map(|block| {
            let [kind, content] = members(Some(block), ["type", "content"])?;
            match string(kind)?.as_ref() {
                "terminal" => None,
                "content" => {
                    string(member(content, "text")).or_else(|| Some(Cow::Borrowed(content?.get())))
                }
                _ => Some(Cow::Borrowed(block.get())),
            }
        });
        let text = blocks.collect::<Vec<_>>().join("\n");
        if !text.is_empty() {
            return Some(Cow::Owned(text));
        }
        let output = self.output.as_deref().filter(|json| *json != "null")?;
        Some(string(serde_json::from_str(output).ok()).unwrap_or(Cow::Borrowed(output)))
    }
}
