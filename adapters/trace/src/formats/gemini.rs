//! Gemini CLI chats: JSON Lines since 2026, one JSON document with `messages` before. Also the JSON Lines of Qwen
//! Code, which stems from it and keeps the model's own `parts`.
//!
//! - **Records** are written again when something is added: first without and then with
//!   `toolCalls`, with a call's result later than the call, or all together in `$set.messages`. A
//!   text is delivered once for each record, a call once for each record and id, and a result once
//!   for each call. A `functionResponse` echoes a result, and counts only if there was no other.
//! - **`$rewindTo`** takes messages out of the conversation. Their calls have run, so they stay, and
//!   the next record begins a new turn.
//! - **Turns.** The calls of one record share a step.
//! - **Qwen Code.** A line of the model is one answer with its calls. The time-out and the description of a command
//!   are rewordings.
//! - **Results** failed if their `status` is `error`. A call that ended without a result has an
//!   empty one.
//! - **Workers.** A file of `kind` `subagent` is a worker named by its session; the `agentId` of a
//!   call is the agent it started. A record may name its own `agentId`.
//! - **Tokens.** `tokens`, or `usageMetadata` in Qwen Code's sessions, repeated with the record. The cached
//!   tokens are part of the input. The thoughts are part of the output only if the total says so.
//! - Messages of the program (`info`, `error`, and the context that it writes in the user's name) and
//!   thoughts are skipped.

use super::prelude::*;
use crate::notes;
use crate::pairing::{RecentRecords, digest};
use crate::tool_result::ToolResult;

/// The beginning of a text that the program writes in the user's name.
const ECHO: &str = "<session_context>";

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    let mut chat = Chat::default();
    source.replay(recorder, &mut |record, recorder| chat.replay(record, recorder));
}

#[derive(Default)]
struct Chat {
    worker: Option<String>,
    seen: RecentRecords,
}

impl Chat {
    fn replay(&mut self, record: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
        if record.has("projectHash") || record.has("type") {
            self.meet(record, recorder);
        }
        if record.has("$rewindTo") {
            recorder.recognise();
            let worker = self.worker.as_deref().unwrap_or(MAIN);
            recorder.begin_turn(worker);
        }
        let set = nested(record.get("$set"));
        let rewritten = set.as_ref().map_or(record.get("messages"), |set| set.get("messages"));
        let outcome = all(records(rewritten), |message| self.record(&message, recorder));
        outcome.and(self.record(record, recorder))
    }

    /// Takes the session and its worker from the first record that has them.
    fn meet(&mut self, record: &Object<'_>, recorder: &mut Recorder<'_>) {
        let Some(session) = record.text("sessionId") else {
            return;
        };
        recorder.recognise();
        recorder.session(&session);
        if record.text("kind").as_deref() == Some("subagent") {
            self.worker.get_or_insert_with(|| session.into_owned());
        }
    }

    fn record(&mut self, record: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
        let Some(kind) = record.text("type") else {
            return Ok(());
        };
        // Other formats have a `type`, too. These types, or an id beside a type, belong to a chat.
        let known = ["gemini", "model", "assistant", "tool_result", "user", "info", "error"];
        if record.has("id") || known.contains(&kind.as_ref()) {
            recorder.recognise();
        }
        recorder.time(time(record.get("timestamp")));
        let worker = record
            .text("agentId")
            .unwrap_or_else(|| Cow::Borrowed(self.worker.as_deref().unwrap_or(MAIN)));
        let mut speaker = Speaker { worker: &worker, seen: &mut self.seen, recorder };
        // Qwen Code has a message with the parts of the model.
        let parts = member(record.get("message"), "parts");
        match kind.as_ref() {
            "gemini" | "model" => speaker.answer(record),
            "assistant" => speaker.answer_in_parts(parts, record.get("usageMetadata")),
            "tool_result" => {
                speaker.results(parts, record.get("toolCallResult"));
                Ok(())
            }
            "user" if record.text("subtype").as_deref() != Some("notification") => {
                speaker.input(record, parts.or(record.get("content")).or(record.get("parts")));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// The worker of a record, and the state that its events change.
struct Speaker<'w, 'r, 's> {
    worker: &'w str,
    seen: &'w mut RecentRecords,
    recorder: &'r mut Recorder<'s>,
}

impl Speaker<'_, '_, '_> {
    /// Replays the model's answer. A call that cannot be read is reported after the others.
    fn answer(&mut self, record: &Object<'_>) -> Done {
        let id = record.text("id");
        let key = id.as_ref().map(digest);
        let turn = self.recorder.turn(self.worker);
        if key.is_none() || turn.key != key {
            *turn = Turn { key, ..Turn::default() };
            self.recorder.settle(self.worker);
        }
        self.recorder.usage_of(self.worker, id.as_deref(), Tokens::of_gemini(record.get("tokens")));
        let text = words(record.get("content").or(record.get("parts")));
        if !text.is_empty() && (id.is_none() || self.seen.insert((self.worker, &id, "text"))) {
            self.recorder.speak(self.worker, &text);
        }
        let mut outcome = Ok(());
        for (position, call) in elements(record.get("toolCalls")).into_iter().enumerate() {
            if let Some(call) = nested(Some(call)) {
                outcome = outcome.and(self.tool_call(id.as_deref(), position, &call));
            }
        }
        outcome
    }

    fn tool_call(&mut self, record: Option<&str>, position: usize, call: &Object<'_>) -> Done {
        let named = call.text("id");
        let id = named
            .clone()
            .unwrap_or_else(|| Cow::Owned(format!("{}#{position}", record.unwrap_or_default())));
        let is_nameless = record.is_none() && named.is_none();
        if is_nameless || self.seen.insert((self.worker, record, &id)) {
            self.issue(call.get("name"), call.get("args"), &id)?;
        }
        let status = call.text("status");
        let text = match call.get("result") {
            Some(_) => result_text(call.get("result")),
            None if matches!(status.as_deref(), Some("success" | "error" | "cancelled")) => {
                call.text("resultDisplay").unwrap_or_default()
            }
            None => return Ok(()),
        };
        self.recorder.time(time(call.get("timestamp")));
        self.result(&id, &text, status.as_deref() == Some("error"));
        Ok(())
    }

    fn issue(&mut self, name: Raw<'_>, args: Raw<'_>, id: &str) -> Done {
        let tool = required(name, "a tool call", "name")?;
        let index = self.recorder.call_in_turn(self.worker, &tool, json_args(args));
        self.recorder.pairing.issue(self.worker, id, 0, index);
        Ok(())
    }

    fn result(&mut self, id: &str, text: &str, failed: bool) {
        self.recorder.turn(self.worker).answered = true;
        let bare = notes::without_notes(text);
        self.recorder.noted_within(text, &bare);
        self.recorder.answer(self.worker, Some(id), &bare, failed);
    }

    /// Replays a line of Qwen Code's model. Lines without a result between them are one answer.
    fn answer_in_parts(&mut self, parts: Raw<'_>, usage: Raw<'_>) -> Done {
        self.recorder.continue_turn(self.worker);
        self.recorder.usage(self.worker, Tokens::of_gemini(usage));
        self.recorder.speak(self.worker, &words(parts));
        let names = ["id", "name", "args"];
        let calls = records(parts).filter_map(|part| members(part.get("functionCall"), names));
        all(calls, |[id, name, args]| self.issue(name, args, &string(id).unwrap_or_default()))
    }

    /// Delivers the results among the parts of a message, with the call's status if it is given.
    fn results(&mut self, parts: Raw<'_>, ended: Raw<'_>) {
        let status = string(member(ended, "status"));
        for part in records(parts) {
            if let Some([id, response]) = members(part.get("functionResponse"), ["id", "response"])
            {
                let is_error = member(response, "error").is_some();
                let failed = status.as_ref().map_or(is_error, |status| status == "error");
                self.result(&string(id).unwrap_or_default(), &response_text(response), failed);
            }
        }
    }

    /// Replays a person's message, and echoes of results.
    fn input(&mut self, record: &Object<'_>, content: Raw<'_>) {
        self.results(content, None);
        let text = words(content);
        let id = record.text("id");
        if text.is_empty() || text.trim_start().starts_with(ECHO) {
            return;
        }
        if id.is_none() || self.seen.insert((self.worker, &id, "text")) {
            self.recorder.begin_turn(self.worker);
            self.recorder.message(self.worker, Role::User, &text);
        }
    }
}

/// Returns the text of a content: a text, a part, or a list of them, without thoughts.
fn words(content: Raw<'_>) -> Cow<'_, str> {
    if let Some(text) = string(content) {
        return text;
    }
    let parts = if is_object(content) { content.into_iter().collect() } else { elements(content) };
    let texts = parts.into_iter().filter_map(|part| {
        string(Some(part)).or_else(|| {
            let part = nested(Some(part)).filter(|part| !is_true(part.get("thought")))?;
            part.text("text")
        })
    });
    Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
}

/// Returns the text of a result: a list of parts, or a text.
fn result_text(result: Raw<'_>) -> Cow<'_, str> {
    if let Some(text) = string(result) {
        return text;
    }
    let parts = if is_object(result) { result.into_iter().collect() } else { elements(result) };
    let texts = parts.into_iter().map(|json| {
        match members(member(Some(json), "functionResponse"), ["response"]) {
            Some([response]) => response_text(response),
            None => block_text(json),
        }
    });
    Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
}

fn response_text(response: Raw<'_>) -> Cow<'_, str> {
    let [output, error] = members(response, ["output", "error"]).unwrap_or_default();
    string(output)
        .or_else(|| string(error))
        .or_else(|| string(response))
        .unwrap_or_else(|| Cow::Borrowed(response.map_or("", RawValue::get)))
}

impl<'a> ToolResult<'a> {
    /// Reads a result of Gemini CLI, a text or a list of parts.
    pub fn gemini(json: &'a RawValue) -> Self {
        Self { text: result_text(Some(json)), failed: None }
    }
}
