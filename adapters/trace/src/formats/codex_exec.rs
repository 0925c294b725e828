//! The JSON Lines that `codex exec --json` prints. A session that Codex keeps is a [rollout](super::codex).
//!
//! - **Calls** are items: commands, changes of files, calls of MCP tools, calls to other agents, and searches. An
//!   item is written when it is `started` and when it is `completed`, and some only at their end.
//! - **Results.** A command has its output and its exit code. A change of files has neither its text nor a
//!   result, so that each has another result.
//! - **Turns** have no id. Calls without a result between them share a step.
//! - **Tokens** are those of the session so far, at the end of each turn. There are no times.
//! - `reasoning`, `todo_list` and the program's own `error` items are skipped.

use super::prelude::*;

impl Format {
    /// The printed JSON Lines of `codex exec`.
    pub const CODEX_EXEC: Self = Self::new(&Definition {
        name: "codex-exec",
        no_record: "no event that `codex exec --json` prints: expected lines with a `type` such as \
                    `item.completed`",
        failures: Failures::Flagged,
        layouts: Layouts::Lines,
        recognise,
        read: |input, _, recorder| lines::replay(input, recorder, &mut replay),
    });
}

fn recognise(place: Place, fields: &Fields) -> Option<Clue> {
    let kind = text(fields, "type");
    let is_own = ["thread.", "turn.", "item."].iter().any(|begin| kind.starts_with(begin));
    (place == Place::Line && is_own)
        .then_some(Clue::mark("`type` such as `item.completed` of `codex exec`").printed())
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: Raw<'a>,
    thread_id: Raw<'a>,
    item: Raw<'a>,
    usage: Raw<'a>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Item<'a> {
    #[serde(rename = "type")]
    kind: Raw<'a>,
    /// The name of `type` in the first versions.
    #[serde(rename = "item_type")]
    early_kind: Raw<'a>,
    id: Raw<'a>,
    text: Raw<'a>,
    status: Raw<'a>,
    command: Raw<'a>,
    aggregated_output: Raw<'a>,
    exit_code: Raw<'a>,
    changes: Raw<'a>,
    server: Raw<'a>,
    tool: Raw<'a>,
    arguments: Raw<'a>,
    result: Raw<'a>,
    error: Raw<'a>,
    prompt: Raw<'a>,
    receiver_thread_ids: Raw<'a>,
    agents_states: Raw<'a>,
    query: Raw<'a>,
}

fn replay(json: &str, recorder: &mut Recorder<'_>) -> Done {
    let line = object::<Line<'_>>(json)?;
    let kind = string(line.kind).unwrap_or_default();
    match (&*kind, nested::<Item<'_>>(line.item)) {
        ("thread.started", _) => {
            recorder.recognise();
            if let Some(thread) = string(line.thread_id) {
                recorder.session(&thread);
            }
        }
        ("turn.started" | "turn.failed", _) => recorder.recognise(),
        ("turn.completed", _) => {
            recorder.recognise();
            recorder.usage_up_to(MAIN, Tokens::of_openai(line.usage));
        }
        ("item.started" | "item.updated", Some(item)) => item.replay(false, recorder),
        ("item.completed", Some(item)) => item.replay(true, recorder),
        _ => {}
    }
    Ok(())
}

/// An item that is a call, with the name of its tool and its arguments as JSON.
struct Call<'a> {
    tool: Cow<'a, str>,
    args: Cow<'a, str>,
}

impl<'a> Item<'a> {
    fn kind(&self) -> Cow<'a, str> {
        string(self.kind.or(self.early_kind)).unwrap_or_default()
    }

    /// Replays an item that has begun or goes on, or that is `complete`.
    fn replay(&self, complete: bool, recorder: &mut Recorder<'_>) {
        recorder.recognise();
        if matches!(&*self.kind(), "agent_message" | "assistant_message") {
            if complete {
                recorder.begin_turn(MAIN);
                recorder.say(MAIN, &string(self.text).unwrap_or_default());
            }
        } else if let Some(call) = self.call() {
            self.advance(&call, complete, recorder);
        }
    }

    /// Delivers a call when its item is first seen, and the result when it is `complete`.
    fn advance(&self, call: &Call<'_>, complete: bool, recorder: &mut Recorder<'_>) {
        let id = string(self.id).unwrap_or_default();
        if !recorder.pairing.is_open(MAIN, &id) {
            let index = recorder.call_together(MAIN, &call.tool, Args::Json(&call.args));
            recorder.pairing.issue(MAIN, &id, 0, index);
        }
        if complete && let Some(index) = recorder.pairing.answer(MAIN, &id) {
            recorder.turn(MAIN).answered = true;
            self.deliver(index, recorder);
        }
    }

    /// Returns the call that the item is, if it is one.
    fn call(&self) -> Option<Call<'a>> {
        let named = |name: &str, value: Raw<'_>| {
            Cow::Owned(format!("{{\"{name}\":{}}}", value.map_or("null", RawValue::get)))
        };
        let tool = string(self.tool).unwrap_or_default();
        let kind = self.kind();
        Some(match &*kind {
            "command_execution" => {
                let command = string(self.command).unwrap_or_default();
                Call { tool: kind, args: command_args(&command).into() }
            }
            "file_change" => Call { tool: kind, args: named("changes", self.changes) },
            "web_search" => Call { tool: kind, args: named("query", self.query) },
            "mcp_tool_call" => {
                let server = string(self.server).unwrap_or_default();
                let args = self.arguments.map_or("null", RawValue::get).into();
                Call { tool: format!("mcp__{server}__{tool}").into(), args }
            }
            "collab_tool_call" => {
                let threads = self.receiver_thread_ids.map_or("null", RawValue::get);
                let prompt = self.prompt.map_or("null", RawValue::get);
                Call { tool, args: format!("{{\"to\":{threads},\"prompt\":{prompt}}}").into() }
            }
            _ => return None,
        })
    }

    fn deliver(&self, call: usize, recorder: &mut Recorder<'_>) {
        let status = string(self.status).unwrap_or_default();
        let refused = status == "declined";
        let exit = integer(self.exit_code).unwrap_or(0);
        let failed = !refused && (status == "failed" || exit != 0 || self.error.is_some());
        // What was written to the files, and what was found, is not in the record.
        let is_cut = self.changes.is_some() || self.query.is_some();
        let cut = is_cut.then(|| call.to_string());
        let text = match (self.error, self.result) {
            (Some(error), _) => flat_text(member(Some(error), "message").or(Some(error))),
            (None, Some(result)) => flat_text(member(Some(result), "content").or(Some(result))),
            (None, None) if is_cut => status,
            (None, None) => flat_text(self.aggregated_output.or(self.agents_states)),
        };
        let cut = cut.as_deref();
        recorder.outcome(Outcome { failed, cut, refused, ..Outcome::new(call, MAIN, &text) });
    }
}
