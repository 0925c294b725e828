//! Messages of `AutoGen`: one a line, an array, or a result with `messages`, and the lines of its log of events.
//!
//! - **Workers** are the agents that `source` names, or `agent_id` in the log. A person's message is for the agent that
//!   acted last.
//! - **Calls** are the elements of a `ToolCallRequestEvent`, and share its step. The log has a `ToolCall` with its
//!   result; those between two calls of the model share a step. Its lines may stand among others.
//! - **Results** are the elements of a `ToolCallExecutionEvent`. Older versions have no `is_error`, and the log has
//!   none.
//! - A `ToolCallSummaryMessage` repeats the results, and is skipped.
//! - **Tokens** are the `models_usage` of a message, or stand in a call of the model.

use super::prelude::*;

/// The types of messages and events of agents.
const TYPES: &[&str] = &[
    "TextMessage",
    "MultiModalMessage",
    "StopMessage",
    "HandoffMessage",
    "ToolCallSummaryMessage",
    "ToolCallRequestEvent",
    "ToolCallExecutionEvent",
    "ThoughtEvent",
    "MemoryQueryEvent",
    "UserInputRequestedEvent",
    "CodeGenerationEvent",
    "CodeExecutionEvent",
];

/// Returns whether an object has the type of a message or an event of agents.
pub(super) fn is_message(fields: &Fields) -> bool {
    TYPES.contains(&fields::text(fields, "type"))
}

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    let mut last = MAIN.to_owned();
    source.replay(recorder, &mut |message, recorder| replay(message, &mut last, recorder));
}

/// Replays a message. `last` is the agent that acted last.
fn replay(message: &Object<'_>, last: &mut String, recorder: &mut Recorder<'_>) -> Done {
    let kind = message.required("type", "a message")?;
    let is_logged = matches!(&*kind, "ToolCall" | "LLMCall") && !message.has("source");
    if !is_logged && !TYPES.contains(&&*kind) {
        return Ok(());
    }
    recorder.recognise();
    recorder.time(time(message.get("created_at")));
    let source = string(message.get("source").or(message.get("agent_id")));
    let worker = source.as_deref().unwrap_or(MAIN);
    if worker.starts_with("user") {
        recorder.hear(last, Role::User, &texts(message.get("content")));
        return Ok(());
    }
    worker.clone_into(last);
    recorder.usage(worker, Tokens::of_openai(message.get("models_usage")));
    match &*kind {
        "LLMCall" => answer(message, worker, recorder),
        "ToolCall" => return logged(message, worker, recorder),
        "ThoughtEvent" | "TextMessage" | "MultiModalMessage" => {
            recorder.settle(worker);
            recorder.say(worker, &texts(message.get("content")));
        }
        "ToolCallRequestEvent" => return request(message, worker, recorder),
        "ToolCallExecutionEvent" => {
            for result in records(message.get("content")) {
                deliver(&result, worker, recorder);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Begins a turn with an answer of the model in the log.
fn answer(message: &Object<'_>, worker: &str, recorder: &mut Recorder<'_>) {
    recorder.begin_turn(worker);
    recorder.turn(worker).key = Some(0);
    let [input, output] =
        [message.get("prompt_tokens"), message.get("completion_tokens")].map(count);
    let tokens = input.zip(output);
    recorder
        .usage(worker, tokens.map(|(input, output)| Tokens { input, output, ..Tokens::default() }));
}

/// Delivers a call of the log with its result.
fn logged(message: &Object<'_>, worker: &str, recorder: &mut Recorder<'_>) -> Done {
    let tool = message.required("tool_name", "a tool call")?;
    let key = recorder.turn(worker).key;
    let arguments = Arguments::new(message.get("arguments"));
    let call = recorder.call_of_turn(worker, key, &tool, arguments.as_args());
    if message.has("result") {
        recorder.outcome(Outcome::new(call, worker, &flat_text(message.get("result"))));
    }
    Ok(())
}

/// Delivers the calls of an event.
fn request(message: &Object<'_>, worker: &str, recorder: &mut Recorder<'_>) -> Done {
    *recorder.turn(worker) = Turn::default();
    all(records(message.get("content")), |call| {
        let name = call.required("name", "a tool call")?;
        let arguments = Arguments::new(call.get("arguments"));
        let index = recorder.call_in_turn(worker, &name, arguments.as_args());
        recorder.expect(worker, call.text("id").as_deref(), index);
        Ok(())
    })
}

/// Delivers a result.
fn deliver(result: &Object<'_>, worker: &str, recorder: &mut Recorder<'_>) {
    if flag(result.get("is_error")).is_some() {
        recorder.flags_failures();
    }
    let id = result.text("call_id").unwrap_or_default();
    let (text, failed) = (flat_text(result.get("content")), is_true(result.get("is_error")));
    recorder.answer(worker, Some(&*id), &text, failed);
}
