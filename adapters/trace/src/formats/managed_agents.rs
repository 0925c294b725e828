//! Events of Claude Managed Agents: JSON Lines, an array, or a page of the list of events, with `data`.
//!
//! - **Calls** are the events `agent.tool_use`, and those of MCP servers and of custom tools. Their ids are those
//!   of the events.
//! - **Results** name the call, and flag failures by `is_error`.
//! - **Turns.** A request to the model begins a turn.
//! - **Tokens** stand at the end of a request, before or behind its calls.
//! - Thoughts and the states of the session are skipped.

use super::prelude::*;

pub(super) fn replay(event: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let kind = event.text("type").unwrap_or_default();
    if kind.contains('.') && event.has("id") {
        recorder.recognise();
    }
    recorder.time(time(event.get("processed_at")));
    match &*kind {
        "user.message" => {
            recorder.begin_turn(MAIN);
            recorder.message(MAIN, Role::User, &texts(event.get("content")));
        }
        "span.model_request_start" => recorder.begin_turn(MAIN),
        "span.model_request_end" => {
            recorder.usage(MAIN, Tokens::of_anthropic(event.get("model_usage")));
        }
        "agent.message" => recorder.speak(MAIN, &texts(event.get("content"))),
        "agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use" => {
            return call(event, recorder);
        }
        "agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result" => {
            result(event, recorder);
        }
        _ => {}
    }
    Ok(())
}

fn call(event: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let tool = event.required("name", "a tool call")?;
    recorder.recognise();
    let index = recorder.call_together(MAIN, &tool, json_args(event.get("input")));
    recorder.expect(MAIN, event.text("id").as_deref(), index);
    Ok(())
}

fn result(event: &Object<'_>, recorder: &mut Recorder<'_>) {
    let id = event.first(["tool_use_id", "mcp_tool_use_id", "custom_tool_use_id"]);
    let (text, failed) = (flat_text(event.get("content")), is_true(event.get("is_error")));
    if recorder.answer(MAIN, string(id).as_deref(), &text, failed) {
        recorder.turn(MAIN).answered = true;
    }
}
