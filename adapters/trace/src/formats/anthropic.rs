//! Anthropic messages: the body of a request to `/v1/messages`, or the bare array of its messages.
//!
//! - Calls are `tool_use` blocks of the assistant's messages, results `tool_result` blocks of the
//!   user's, flagged by `is_error`.
//! - Messages of the assistant without a user's message between them are one answer, as the service
//!   reads them. Their calls share a step.
//! - A message that is a whole response has the tokens of its answer, in `usage`. So may the document.
//! - Tools that the provider runs (`server_tool_use`, `mcp_tool_use` and their results), `thinking`,
//!   and all fields beside `messages`, the `system` prompt included, are skipped.

use super::prelude::*;

pub(super) fn replay(message: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let role = message.required("role", "a message")?;
    recorder.recognise();
    match Role::from_name(&role) {
        Role::Assistant => answer(message, recorder),
        role => {
            input(message, role, recorder);
            Ok(())
        }
    }
}

/// Replays the model's answer. A block that cannot be read is reported after the others are
/// delivered.
fn answer(message: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    recorder.continue_turn(MAIN);
    recorder.usage(MAIN, Tokens::of_anthropic(message.get("usage")));
    recorder.speak(MAIN, &message.text("content").unwrap_or_default());
    let mut outcome = Ok(());
    for block in records(message.get("content")) {
        match block.text("type").as_deref() {
            Some("text") => recorder.speak(MAIN, &block.text("text").unwrap_or_default()),
            Some("tool_use") => outcome = outcome.and(call(&block, recorder)),
            _ => {}
        }
    }
    outcome
}

/// Replays the input of the model: results, and messages of a person or the host.
fn input(message: &Object<'_>, role: Role, recorder: &mut Recorder<'_>) {
    recorder.turn(MAIN).answered = true;
    let mut texts: Vec<Cow<'_, str>> = message.text("content").into_iter().collect();
    for block in records(message.get("content")) {
        match block.text("type").as_deref() {
            Some("text") => texts.extend(block.text("text")),
            Some("tool_result") => result(&block, recorder),
            _ => {}
        }
    }
    if !texts.is_empty() {
        recorder.hear(MAIN, role, &texts.join("\n"));
    }
}

fn call(block: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let tool = block.required("name", "a tool_use block")?;
    let index = recorder.call_in_turn(MAIN, &tool, json_args(block.get("input")));
    recorder.await_answer(MAIN, block.text("id"), index);
    Ok(())
}

fn result(block: &Object<'_>, recorder: &mut Recorder<'_>) {
    let (text, failed) = (flat_text(block.get("content")), is_true(block.get("is_error")));
    recorder.answer(MAIN, block.text("tool_use_id").as_deref(), &text, failed);
}
