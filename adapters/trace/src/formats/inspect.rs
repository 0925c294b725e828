//! Logs of Inspect: a `.eval` archive, one JSON document with `samples`, or a list of events.
//!
//! - **Runs.** Each sample is a run, once for each epoch. Its name is the name of its file in the archive, such as
//!   `s0_epoch_1`. A sample of a large log may be spread over several files, with lists of its events.
//! - **Calls** are the events `tool`, each with its result. Those that follow one event `model` share a
//!   step. A log without events has them in its `messages`.
//! - **Workers** are the spans of type `agent`, see [`Spans`].
//! - **Attachments.** Long texts are kept beside the events, see [`Attachments`].
//! - **Failures** have an `error`, or are marked `failed`. A call that an approver rejected is refused.
//! - **Tokens** are the `usage` of an event `model`. An answer from Inspect's own cache cost none.

mod attachments;
mod messages;
mod spans;

use std::io::BufRead;

use self::attachments::Attachments;
use self::spans::Spans;
use super::prelude::*;
use crate::document::Part;
use crate::packed;
use crate::problem::Problem;
use crate::stream::Stream;

/// The depth to which events nest in old logs.
const DEPTH_MAX: usize = 8;

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    let mut log = Log::default();
    let begin = source.input.fill_buf();
    if !begin.is_ok_and(|begin| packed::first_member(begin).is_some()) {
        source.replay_json(|_| None, recorder, &mut |json, recorder| log.element(json, recorder));
        log.name_first(recorder);
        return;
    }
    let is_wanted =
        |name: &str| name == "header.json" || is_start(name) || sample_of(name).is_some();
    let end = packed::members(source.input, is_wanted, &mut |name, member| {
        let read = member.map_err(ProblemKind::of_input);
        let read = read.and_then(|member| log.member(name, member, recorder));
        if let Err(problem) = read {
            recorder.problem(ProblemKind::member(name, &problem).of_input());
        }
    });
    if let Err(kind) = end {
        recorder.problem(kind.of_input());
    }
    log.name_first(recorder);
}

fn is_start(name: &str) -> bool {
    name == "_journal/start.json"
}

/// Returns the name of the sample whose file this is, and whether the file has only a part of its events.
fn sample_of(name: &str) -> Option<(&str, bool)> {
    let name = name.strip_prefix("samples/")?.strip_suffix(".json")?;
    if let Some((sample, start)) = name.rsplit_once("/events/") {
        let is_part = start.bytes().all(|byte| byte.is_ascii_digit());
        return is_part.then_some((sample, true));
    }
    // A sample's id may have slashes, and the other parts of a large sample have names of their own.
    let is_other = name.contains("_epoch_") && !name.rsplit('/').next()?.contains("_epoch_");
    (!is_other).then_some((name, false))
}

/// A log that is being read.
#[derive(Default)]
struct Log {
    /// The name of the sample that is being read.
    sample: Option<String>,
    spans: Spans,
    /// `true` if the sample has calls, or answers of the model, among its events.
    has_events: bool,
}

impl Log {
    /// Begins a sample, which is a run. Samples without an event before the first run are none.
    fn begin(&mut self, name: &str, recorder: &mut Recorder<'_>) {
        if recorder.has_begun() {
            self.name_first(recorder);
            recorder.begin(Some(name));
        }
        self.sample = Some(name.to_owned());
        self.spans = Spans::default();
        self.has_events = false;
    }

    /// Names the first run, if it is not named yet.
    fn name_first(&self, recorder: &mut Recorder<'_>) {
        if let Some(sample) = &self.sample {
            recorder.session(sample);
        }
    }

    /// Reads a file of an archive.
    fn member(
        &mut self,
        name: &str,
        mut input: &mut dyn BufRead,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), Problem> {
        recorder.recognise();
        let Some((sample, is_part)) = sample_of(name) else { return Ok(()) };
        if !is_part {
            let mut json = Stream::of(&mut input);
            let (text, line) = json.value()?;
            self.sample(text, sample, recorder).map_err(|kind| kind.at(line))?;
            return json.peek()?.map_or(Ok(()), |_| Err(json.trailing()));
        }
        if self.sample.as_deref() != Some(sample) {
            self.begin(sample, recorder);
        }
        let mut outcome = Ok(());
        let end = document::parts(&mut input, Lists::All(&[]), &mut |part| {
            if let Part::Record(json, line) = part {
                let read = self.event(json, &Attachments::default(), 0, recorder);
                outcome = core::mem::replace(&mut outcome, Ok(()))
                    .and(read.map_err(|kind| kind.at(line)));
            }
        });
        outcome.and(end)
    }

    /// Reads an element of a document: a sample, or an event.
    fn element(&mut self, json: &str, recorder: &mut Recorder<'_>) -> Done {
        let element = checked_object(json)?;
        let [event, id, epoch] = ["event", "id", "epoch"].map(|name| element.get(name));
        if event.is_some() {
            return self.event(json, &Attachments::default(), 0, recorder);
        }
        let id =
            id.map(|id| string(Some(id)).unwrap_or_else(|| id.get().into())).unwrap_or_default();
        let epoch = epoch.map_or("1", RawValue::get);
        self.sample(json, &format!("{id}_epoch_{epoch}"), recorder)
    }

    fn sample(&mut self, json: &str, name: &str, recorder: &mut Recorder<'_>) -> Done {
        let sample = checked_object(json)?;
        recorder.recognise();
        self.begin(name, recorder);
        let attachments = Attachments::new(sample.get("attachments"));
        let outcome = all(elements(sample.get("events")), |event| {
            self.event(event.get(), &attachments, 0, recorder)
        });
        if self.has_events {
            return outcome;
        }
        outcome.and(all(elements(sample.get("messages")), |message| {
            messages::replay(message.get(), &attachments, recorder)
        }))
    }

    /// Replays an event, and those within it.
    fn event(
        &mut self,
        json: &str,
        attachments: &Attachments<'_>,
        depth: usize,
        recorder: &mut Recorder<'_>,
    ) -> Done {
        let event = checked_object(json)?;
        let kind = event.required("event", "an event")?;
        recorder.recognise();
        recorder.time(time(event.get("timestamp")));
        let span = event.text("span_id").unwrap_or_default();
        let worker = self.spans.worker(&span);
        let outcome = match &*kind {
            "span_begin" => {
                let fields = ["id", "parent_id", "type", "name"];
                let [id, parent, kind, name] =
                    fields.map(|field| event.text(field).unwrap_or_default());
                self.spans.begin(&id, &parent, (kind == "agent").then_some(&*name));
                Ok(())
            }
            "span_end" => {
                self.spans.end(&event.text("id").unwrap_or_default());
                Ok(())
            }
            "sample_init" => {
                // In a list of events alone, only this event tells samples apart.
                if depth == 0 && self.sample.is_none() && recorder.has_begun() {
                    recorder.begin(None);
                    *self = Self::default();
                }
                begin(&event, attachments, recorder);
                Ok(())
            }
            "model" => {
                self.has_events = true;
                answer(&event, &worker, attachments, recorder);
                Ok(())
            }
            "tool" => {
                self.has_events = true;
                call(&event, &worker, attachments, recorder)
            }
            _ => Ok(()),
        };
        if depth == DEPTH_MAX {
            return outcome;
        }
        outcome.and(all(elements(event.get("events")), |event| {
            self.event(event.get(), attachments, depth + 1, recorder)
        }))
    }
}

/// Delivers the input of a sample: a text, or messages.
fn begin(event: &Object<'_>, attachments: &Attachments<'_>, recorder: &mut Recorder<'_>) {
    let Some(input) = member(event.get("sample"), "input") else { return };
    let json = attachments.resolve(input.get());
    if let Some(text) = text_of_json(&json) {
        recorder.message(MAIN, Role::User, &text);
        return;
    }
    for message in elements(serde_json::from_str(&json).ok()) {
        // A message of the input that cannot be read is no part of what the agent did.
        let _ = messages::replay(message.get(), attachments, recorder);
    }
}

/// Delivers the words and the tokens of an answer of the model.
fn answer(
    event: &Object<'_>,
    worker: &str,
    attachments: &Attachments<'_>,
    recorder: &mut Recorder<'_>,
) {
    recorder.settle(worker);
    *recorder.turn(worker) = Turn { key: Some(0), ..Turn::default() };
    let Some([choices, usage]) = members(event.get("output"), ["choices", "usage"]) else { return };
    if event.text("cache").as_deref() != Some("read") {
        recorder.usage(worker, tokens(usage));
    }
    let message = member(elements(choices).first().copied(), "message");
    let Some([content, tool_calls]) = members(message, ["content", "tool_calls"]) else {
        return;
    };
    let json = content.map_or(Cow::Borrowed("null"), |content| attachments.resolve(content.get()));
    let text = texts(serde_json::from_str(&json).ok());
    if !text.is_empty() || elements(tool_calls).is_empty() {
        recorder.say(worker, &text);
    }
}

/// Delivers a call, and its result unless the call is still running.
fn call(
    event: &Object<'_>,
    worker: &str,
    attachments: &Attachments<'_>,
    recorder: &mut Recorder<'_>,
) -> Done {
    let name = event.required("function", "a call")?;
    let key = recorder.turn(worker).key;
    let args = event
        .get("arguments")
        .map_or(Cow::Borrowed("null"), |args| attachments.resolve(args.get()));
    let call = recorder.call_of_turn(worker, key, &name, Args::Json(&args));
    let is_done = event.has("result") || event.has("error") || event.has("completed");
    if is_done && !is_true(event.get("pending")) {
        recorder.time(time(event.get("completed")));
        let result = event.get("result").map(|result| attachments.resolve(result.get()));
        let result = result.as_deref().and_then(|json| serde_json::from_str(json).ok());
        let ending = Ending::new(result, event.get("error"), attachments);
        let failed = !ending.refused && (ending.failed || is_true(event.get("failed")));
        let refused = ending.refused;
        let text = &*ending.text;
        recorder.outcome(Outcome { failed, refused, ..Outcome::new(call, worker, text) });
    }
    Ok(())
}

/// The end of a call: its result, or its error.
struct Ending<'a> {
    text: Cow<'a, str>,
    failed: bool,
    refused: bool,
}

impl<'a> Ending<'a> {
    fn new(result: Raw<'a>, error: Raw<'a>, attachments: &Attachments<'_>) -> Self {
        let Some([kind, message]) = members(error, ["type", "message"]) else {
            return Self { text: flat_text(result), failed: error.is_some(), refused: false };
        };
        let message = message.map(|message| attachments.resolve(message.get()));
        let text = message.and_then(|json| text_of_json(&json).map(Cow::into_owned));
        let text =
            text.filter(|text| !text.is_empty()).map_or_else(|| flat_text(result), Cow::Owned);
        let refused = string(kind).as_deref() == Some("approval");
        Self { text, failed: !refused, refused }
    }
}

/// Reads the tokens of an answer. Its parts do not overlap.
fn tokens(usage: Raw<'_>) -> Option<Tokens> {
    Tokens::of_parts(
        usage,
        ["input_tokens", "input_tokens_cache_write", "input_tokens_cache_read", "output_tokens"],
    )
}
