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
            document::replay(
                input,
                layout,
                Lists::First(&[LIST]),
                recorder,
                &mut |json, recorder| checked_object::<Event<'_>>(json)?.replay(recorder),
            );
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

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Event<'a> {
    id: Raw<'a>,
    #[serde(rename = "type")]
    kind: Raw<'a>,
    content: Raw<'a>,
    name: Raw<'a>,
    input: Raw<'a>,
    tool_use_id: Raw<'a>,
    mcp_tool_use_id: Raw<'a>,
    custom_tool_use_id: Raw<'a>,
    is_error: Raw<'a>,
    model_usage: Raw<'a>,
    processed_at: Raw<'a>,
}

impl Event<'_> {
    fn replay(&self, recorder: &mut Recorder<'_>) -> Done {
        let kind = string(self.kind).unwrap_or_default();
        if kind.contains('.') && self.id.is_some() {
            recorder.recognise();
        }
        recorder.time(time(self.processed_at));
        match &*kind {
            "user.message" => {
                recorder.begin_turn(MAIN);
                recorder.message(MAIN, Role::User, &texts(self.content));
            }
            "span.model_request_start" => recorder.begin_turn(MAIN),
            "span.model_request_end" => {
                recorder.usage(MAIN, Tokens::of_anthropic(self.model_usage));
            }
            "agent.message" => recorder.speak(MAIN, &texts(self.content)),
            "agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use" => {
                return self.call(recorder);
            }
            "agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result" => {
                self.result(recorder);
            }
            _ => {}
        }
        Ok(())
    }

    fn call(&self, recorder: &mut Recorder<'_>) -> Done {
        let tool = required(self.name, "a tool call", "name")?;
        recorder.recognise();
        let index = recorder.call_together(MAIN, &tool, json_args(self.input));
        recorder.expect(MAIN, string(self.id).as_deref(), index);
        Ok(())
    }

    fn result(&self, recorder: &mut Recorder<'_>) {
        let id = self.tool_use_id.or(self.mcp_tool_use_id).or(self.custom_tool_use_id);
        let (text, failed) = (flat_text(self.content), is_true(self.is_error));
        if recorder.answer(MAIN, string(id).as_deref(), &text, failed) {
            recorder.turn(MAIN).answered = true;
        }
    }
}
