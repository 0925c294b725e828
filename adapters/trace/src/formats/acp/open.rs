//! Calls that have begun, until all that is to be known of them is known.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Update;
use crate::event::{Args, Outcome};
use crate::field::{Raw, elements, nested, string};
use crate::pairing::{OPEN_CALLS_MAX, digest};
use crate::recorder::{Recorder, Step, Turn};

/// The calls that have not ended, in the order in which they began.
#[derive(Default)]
pub(super) struct OpenCalls(VecDeque<OpenCall>);

/// A call, with the latest value of each field.
#[derive(Default)]
pub(super) struct OpenCall {
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
    /// Begins a call, or takes over the fields of it that changed, and ends it if its status says so.
    pub(super) fn update(
        &mut self,
        id: &str,
        update: &Update<'_>,
        worker: &str,
        recorder: &mut Recorder<'_>,
    ) {
        let failed = match string(update.status).as_deref() {
            Some("failed") => Some(true),
            Some("completed") => Some(false),
            _ => None,
        };
        let Some(at) = self.place(id, update, worker, recorder) else {
            if let Some(failed) = failed {
                let mut call = OpenCall { id: id.to_owned(), ..OpenCall::default() };
                call.take(update);
                call.end(failed, worker, recorder);
            }
            return;
        };
        if let Some(call) = self.0.get_mut(at) {
            call.take(update);
        }
        let Some(failed) = failed else { return };
        self.issue_to(at + 1, worker, recorder);
        if let Some(call) = self.0.remove(at) {
            call.end(failed, worker, recorder);
        }
    }

    /// Returns the place of a call, and adds it if it is new. An update that tells nothing of a call but its end
    /// is of one that was forgotten. If there are too many, the oldest is forgotten.
    fn place(
        &mut self,
        id: &str,
        update: &Update<'_>,
        worker: &str,
        recorder: &mut Recorder<'_>,
    ) -> Option<usize> {
        let known = self.0.iter().position(|call| call.id == id);
        if known.is_some()
            || [update.title, update.kind, update.raw_input].iter().all(Option::is_none)
        {
            return known;
        }
        if self.0.len() == OPEN_CALLS_MAX {
            self.issue_to(1, worker, recorder);
            self.0.pop_front();
        }
        self.0.push_back(OpenCall { id: id.to_owned(), ..OpenCall::default() });
        Some(self.0.len() - 1)
    }

    /// Delivers all calls that have begun.
    pub(super) fn issue_all(&mut self, worker: &str, recorder: &mut Recorder<'_>) {
        self.issue_to(self.0.len(), worker, recorder);
    }

    fn issue_to(&mut self, end: usize, worker: &str, recorder: &mut Recorder<'_>) {
        for call in self.0.iter_mut().take(end).filter(|call| !call.is_issued) {
            call.issue(worker, recorder);
        }
    }
}

impl OpenCall {
    fn take(&mut self, update: &Update<'_>) {
        let text = |raw| string(raw).map(Cow::into_owned);
        let json = |raw: Raw<'_>| raw.map(|raw| raw.get().to_owned());
        let fields = [
            (&mut self.title, text(update.title)),
            (&mut self.kind, text(update.kind)),
            (&mut self.places, json(update.locations)),
            (&mut self.input, json(update.raw_input)),
            (&mut self.content, json(update.content)),
            (&mut self.output, json(update.raw_output)),
        ];
        for (field, new) in fields {
            *field = new.or_else(|| field.take());
        }
    }

    fn issue(&mut self, worker: &str, recorder: &mut Recorder<'_>) {
        self.is_issued = true;
        let kind = self.kind.as_deref().filter(|kind| *kind != "other");
        let tool = kind.or(self.title.as_deref()).unwrap_or("other");
        let args = self.args();
        let content = digest((tool, &*args));
        if recorder.pairing.mirrors(worker, &self.id, content) {
            return;
        }
        let turn = recorder.turn(worker);
        let step = if turn.called && !turn.answered { Step::Same } else { Step::New };
        *turn = Turn { called: true, ..Turn::default() };
        let index = recorder.call(worker, step, tool, Args::Json(&args));
        recorder.pairing.issue(worker, &self.id, content, index);
    }

    /// Returns the arguments, or what stands for them.
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

    fn end(&self, failed: bool, worker: &str, recorder: &mut Recorder<'_>) {
        let Some(call) = recorder.pairing.answer(worker, &self.id) else { return };
        recorder.turn(worker).answered = true;
        let text = self.text();
        let (cut, refused) = (None, false);
        recorder.outcome(Outcome { call, worker, text: &text, failed, cut, refused });
    }

    /// Returns the texts and the changes of files in the content, or else the raw output. A terminal has
    /// nothing but a random id.
    fn text(&self) -> Cow<'_, str> {
        #[derive(Deserialize)]
        struct Block<'a> {
            #[serde(borrow, rename = "type")]
            kind: Raw<'a>,
            #[serde(borrow)]
            content: Raw<'a>,
        }
        #[derive(Deserialize)]
        struct Inner<'a> {
            #[serde(borrow)]
            text: Raw<'a>,
        }
        let content = self.content.as_deref().and_then(|json| serde_json::from_str(json).ok());
        let blocks = elements(content).into_iter().filter_map(|block| {
            let Block { kind, content } = nested(Some(block))?;
            match string(kind)?.as_ref() {
                "terminal" => None,
                "content" => nested::<Inner<'_>>(content)
                    .and_then(|inner| string(inner.text))
                    .or_else(|| Some(Cow::Borrowed(content?.get()))),
                _ => Some(Cow::Borrowed(block.get())),
            }
        });
        let text = blocks.collect::<Vec<_>>().join("\n");
        if !text.is_empty() {
            return Cow::Owned(text);
        }
        let output = self.output.as_deref().unwrap_or_default();
        string(serde_json::from_str(output).ok()).unwrap_or(Cow::Borrowed(output))
    }
}
