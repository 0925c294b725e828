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

impl Format {
    /// Anthropic messages: the body of a request, or the array of its messages.
    pub const ANTHROPIC: Self = Self::new(&Definition {
        name: "anthropic",
        no_record: "no message: expected a JSON array of objects with a `role`, \
                    or an object with `messages`",
        failures: Failures::Flagged,
        layouts: Layouts::Document(|fields| is_list(fields, "messages")),
        recognise,
        read: |input, layout, recorder| {
            let lists = Lists::First(&["messages"]);
            let usage = Tokens::of_anthropic;
            document::replay_with_usage(input, layout, lists, usage, recorder, &mut replay);
        },
    });
}

fn recognise(place: Place, fields: &Fields) -> Option<Clue> {
    let is_own = |kind: &str| matches!(kind, "tool_use" | "tool_result" | "server_tool_use");
    match place {
        Place::Element if blocks(fields).any(is_own) => {
            Some(Clue::mark("`tool_use` or `tool_result` blocks"))
        }
        Place::Document if is_request(fields) => {
            Some(Clue::hint("`system` or `input_schema` beside `messages`"))
        }
        _ => None,
    }
}

/// Returns whether an object has fields that only Anthropic's requests have beside their messages,
/// and no message that only OpenAI's chats have.
fn is_request(fields: &Fields) -> bool {
    let is_of_chat = |message: &Fields| {
        matches!(text(message, "role"), "system" | "developer" | "tool")
            || message.contains_key("tool_calls")
    };
    let has_schema = || objects(fields, "tools").any(|tool| tool.contains_key("input_schema"));
    objects(fields, "messages").any(is_chat_message)
        && !objects(fields, "messages").any(is_of_chat)
        && (fields.contains_key("system") || has_schema())
}

fn replay(message: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
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
    let turn = recorder.turn(MAIN);
    if !turn.called || turn.answered {
        *turn = Turn::default();
        recorder.settle(MAIN);
    }
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
