//! Events of Claude Managed Agents: JSON Lines, an array, or a page of the list of events, with `data`.
//!
//! - **Calls** are the events `agent.tool_use`, and those of MCP servers and of custom tools. Their ids are those
//!   of the events.
//! - **Results** name the call, and flag failures by `is_error`.
//! - **Turns.** A request to the model begins a turn.
//! - **Tokens** stand at the end of a request, before or behind its calls.
//! - Thoughts and the states of the session are skipped.

use super::prelude::*;

/// The list of a page of events.
const LIST: &str = "data";

impl Format {
    /// Events of Claude Managed Agents.
    pub const MANAGED_AGENTS: Self = Self::new(&Definition {
        name: "managed-agents",
        no_record: "no event of Claude Managed Agents: expected events with a `type` such as \
                    `agent.tool_use`",
        failures: Failures::Flagged,
        layouts: Layouts::Either(|fields| is_list(fields, LIST)),
        recognise,
        read: |input, layout, recorder| {
            document::replay(input, layout, Lists::First(&[LIST]), recorder, &mut replay);
        },
    });
}

fn recognise(place: Place, fields: &Fields) -> Option<Clue> {
    let is_event = match place {
        Place::Document => objects(fields, LIST).any(is_event),
        Place::Line | Place::Element => is_event(fields),
    };
    is_event.then_some(Clue::record("`type` and `id` of an event of Managed Agents"))
}

fn is_event(fields: &Fields) -> bool {
    let kind = text(fields, "type");
    let is_own =
        ["agent.", "user.", "session.", "span."].iter().any(|begin| kind.starts_with(begin));
    is_own && text(fields, "id").starts_with("sevt_")
}

fn replay(event: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
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
    let id = event
        .get("tool_use_id")
        .or(event.get("mcp_tool_use_id"))
        .or(event.get("custom_tool_use_id"));
    let (text, failed) = (flat_text(event.get("content")), is_true(event.get("is_error")));
    if recorder.answer(MAIN, string(id).as_deref(), &text, failed) {
        recorder.turn(MAIN).answered = true;
    }
}
