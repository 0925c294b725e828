//! Messages of Pydantic AI: an array of requests and responses, as `all_messages_json` writes them.
//!
//! - **Calls** are parts `tool-call` of a response, and share its step. `args` is an object, or a JSON *string*.
//!   Tools that the provider runs itself (`builtin-tool-call`) are passed over.
//! - **Results** are parts `tool-return` of a request, with an `outcome`, or parts `retry-prompt`, which
//!   have failed. A call that a person denied is refused.
//! - A `retry-feedback`, or a `retry-prompt` without a tool, is the host's word about an answer in text.
//! - **Tokens** are the `usage` of a response. The cached ones are part of the input.

use super::prelude::*;

pub(super) fn replay(message: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let kind = message.text("kind");
    let is_response = match kind.as_deref() {
        Some("response") => true,
        Some("request") => false,
        _ => return Err(ProblemKind::Missing { record: "a message", field: "kind" }),
    };
    recorder.recognise();
    recorder.time(time(message.get("timestamp")));
    let parts = records(message.get("parts"));
    if is_response {
        recorder.begin_turn(MAIN);
        recorder.usage(MAIN, tokens(message));
        return respond(parts, recorder);
    }
    parts.for_each(|part| request(&part, recorder));
    Ok(())
}

/// Reads the tokens. Versions before 1.0 have other names for them.
fn tokens(message: &Object<'_>) -> Option<Tokens> {
    let [input, cached, output, old_input, old_output] = members(
        message.get("usage"),
        ["input_tokens", "cache_read_tokens", "output_tokens", "request_tokens", "response_tokens"],
    )?;
    Some(Tokens::with_cached_in_input(
        count(input.or(old_input))?,
        count(cached)?,
        count(output.or(old_output))?,
    ))
}

/// Replays the parts of a response. A call that cannot be read is reported after the others are delivered.
fn respond<'a>(parts: impl Iterator<Item = Object<'a>>, recorder: &mut Recorder<'_>) -> Done {
    let mut outcome = Ok(());
    for part in parts {
        match part.text("part_kind").as_deref() {
            Some("text") if recorder.turn(MAIN).called => {
                recorder.message(MAIN, Role::Assistant, &flat_text(part.get("content")));
            }
            Some("text") => recorder.say(MAIN, &flat_text(part.get("content"))),
            Some("tool-call") => outcome = outcome.and(call(&part, recorder)),
            _ => {}
        }
    }
    outcome
}

fn call(part: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let name = part.required("tool_name", "a tool call")?;
    let arguments = Arguments::new(part.get("args"));
    let index = recorder.call_in_turn(MAIN, &name, arguments.as_args());
    recorder.expect(MAIN, part.text("tool_call_id").as_deref(), index);
    Ok(())
}

fn request(part: &Object<'_>, recorder: &mut Recorder<'_>) {
    let text = || flat_text(part.get("content"));
    let says = |role, recorder: &mut Recorder<'_>| {
        recorder.hear(MAIN, role, &text());
    };
    match part.text("part_kind").as_deref() {
        Some("user-prompt") => says(Role::User, recorder),
        Some("system-prompt" | "retry-feedback") => says(Role::System, recorder),
        Some("retry-prompt") if !part.has("tool_name") => says(Role::System, recorder),
        Some("retry-prompt") => answer(part, true, false, recorder),
        Some("tool-return") => {
            let outcome = part.text("outcome");
            let failed = matches!(outcome.as_deref(), Some("failed" | "interrupted" | "retried"));
            answer(part, failed, outcome.as_deref() == Some("denied"), recorder);
        }
        _ => {}
    }
}

fn answer(part: &Object<'_>, failed: bool, refused: bool, recorder: &mut Recorder<'_>) {
    let id = part.text("tool_call_id").unwrap_or_default();
    if let Some(call) = recorder.pairing.answer(MAIN, &id) {
        let text = flat_text(part.get("content"));
        recorder.outcome(Outcome { failed, refused, ..Outcome::new(call, MAIN, &text) });
    }
}
