//! Messages of Pydantic AI: an array of requests and responses, as `all_messages_json` writes them.
//!
//! - **Calls** are parts `tool-call` of a response, and share its step. `args` is an object, or a JSON *string*.
//!   Tools that the provider runs itself (`builtin-tool-call`) are passed over.
//! - **Results** are parts `tool-return` of a request, with an `outcome`, or parts `retry-prompt`, which
//!   have failed. A call that a person denied is refused.
//! - A `retry-feedback`, or a `retry-prompt` without a tool, is the host's word about an answer in text.
//! - **Tokens** are the `usage` of a response. The cached ones are part of the input.

use super::prelude::*;

impl Format {
    /// Messages of Pydantic AI: an array of requests and responses with `parts`.
    pub const PYDANTIC_AI: Self = Self::new(&Definition {
        name: "pydantic-ai",
        no_record: "no message of Pydantic AI: expected an array of objects with `kind` and `parts`",
        failures: Failures::Flagged,
        layouts: Layouts::Document(|fields| is_list(fields, "messages")),
        recognise,
        read: |input, layout, recorder| {
            document::replay(
                input,
                layout,
                Lists::First(&["messages"]),
                recorder,
                &mut |json, recorder| checked_object::<Message<'_>>(json)?.replay(recorder),
            );
        },
    });
}

fn recognise(place: Place, fields: &Fields) -> Option<Clue> {
    let is_message =
        matches!(text(fields, "kind"), "request" | "response") && is_list(fields, "parts");
    if place != Place::Element || !is_message {
        return None;
    }
    let is_part = |part: &Fields| is_text(part, "part_kind");
    let is_record = objects(fields, "parts").any(is_part);
    Some(if is_record {
        Clue::record("`parts` with `part_kind`")
    } else {
        Clue::mark("`kind` `request` or `response` with `parts`")
    })
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Message<'a> {
    kind: Raw<'a>,
    parts: Raw<'a>,
    usage: Raw<'a>,
    timestamp: Raw<'a>,
}

impl Message<'_> {
    fn replay(&self, recorder: &mut Recorder<'_>) -> Done {
        let kind = string(self.kind);
        let is_response = match kind.as_deref() {
            Some("response") => true,
            Some("request") => false,
            _ => return Err(ProblemKind::Missing { record: "a message", field: "kind" }),
        };
        recorder.recognise();
        recorder.time(time(self.timestamp));
        let parts = records::<Part<'_>>(self.parts);
        if is_response {
            recorder.settle(MAIN);
            recorder.usage(MAIN, self.tokens());
            return respond(parts, recorder);
        }
        parts.for_each(|part| part.request(recorder));
        Ok(())
    }

    /// Reads the tokens. Versions before 1.0 have other names for them.
    fn tokens(&self) -> Option<Tokens> {
        let [input, cached, output, old_input, old_output] = members(
            self.usage,
            [
                "input_tokens",
                "cache_read_tokens",
                "output_tokens",
                "request_tokens",
                "response_tokens",
            ],
        )?;
        Some(Tokens::with_cached_in_input(
            count(input.or(old_input))?,
            count(cached)?,
            count(output.or(old_output))?,
        ))
    }
}

/// Replays the parts of a response. A call that cannot be read is reported after the others are delivered.
fn respond<'a>(parts: impl Iterator<Item = Part<'a>>, recorder: &mut Recorder<'_>) -> Done {
    let (mut step, mut outcome) = (Step::New, Ok(()));
    for part in parts {
        match string(part.kind).as_deref() {
            Some("text") if step == Step::New => recorder.say(MAIN, &flat_text(part.content)),
            Some("text") => recorder.message(MAIN, Role::Assistant, &flat_text(part.content)),
            Some("tool-call") => match part.call(step, recorder) {
                Ok(()) => step = Step::Same,
                Err(kind) => outcome = Err(kind),
            },
            _ => {}
        }
    }
    outcome
}

/// A part of a request or a response.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Part<'a> {
    #[serde(rename = "part_kind")]
    kind: Raw<'a>,
    content: Raw<'a>,
    tool_name: Raw<'a>,
    args: Raw<'a>,
    tool_call_id: Raw<'a>,
    outcome: Raw<'a>,
}

impl Part<'_> {
    fn call(&self, step: Step, recorder: &mut Recorder<'_>) -> Done {
        let name = required(self.tool_name, "a tool call", "tool_name")?;
        let arguments = Arguments::new(self.args);
        let index = recorder.call(MAIN, step, &name, arguments.as_args());
        recorder.expect(MAIN, string(self.tool_call_id).as_deref(), index);
        Ok(())
    }

    fn request(&self, recorder: &mut Recorder<'_>) {
        let text = || flat_text(self.content);
        let says = |role, recorder: &mut Recorder<'_>| {
            recorder.settle(MAIN);
            recorder.message(MAIN, role, &text());
        };
        match string(self.kind).as_deref() {
            Some("user-prompt") => says(Role::User, recorder),
            Some("system-prompt" | "retry-feedback") => says(Role::System, recorder),
            Some("retry-prompt") if self.tool_name.is_none() => says(Role::System, recorder),
            Some("retry-prompt") => self.answer(true, false, recorder),
            Some("tool-return") => {
                let outcome = string(self.outcome);
                let failed =
                    matches!(outcome.as_deref(), Some("failed" | "interrupted" | "retried"));
                self.answer(failed, outcome.as_deref() == Some("denied"), recorder);
            }
            _ => {}
        }
    }

    fn answer(&self, failed: bool, refused: bool, recorder: &mut Recorder<'_>) {
        let id = string(self.tool_call_id).unwrap_or_default();
        if let Some(call) = recorder.pairing.answer(MAIN, &id) {
            let text = flat_text(self.content);
            recorder.outcome(Outcome { failed, refused, ..Outcome::new(call, MAIN, &text) });
        }
    }
}
