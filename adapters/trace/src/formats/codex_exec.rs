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

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    source.replay(recorder, &mut |line, recorder| {
        replay(line, recorder);
        Ok(())
    });
}

fn replay(line: &Object<'_>, recorder: &mut Recorder<'_>) {
    let kind = line.text("type").unwrap_or_default();
    match (&*kind, nested(line.get("item"))) {
        ("thread.started", _) => {
            recorder.recognise();
            recorder.session_of(line.text("thread_id"));
        }
        ("turn.started" | "turn.failed", _) => recorder.recognise(),
        ("turn.completed", _) => {
            recorder.recognise();
            recorder.usage_up_to(MAIN, Tokens::of_openai(line.get("usage")));
        }
        ("item.started" | "item.updated", Some(item)) => replay_item(&item, false, recorder),
        ("item.completed", Some(item)) => replay_item(&item, true, recorder),
        _ => {}
    }
}

/// An item that is a call, with the name of its tool and its arguments as JSON.
struct Call<'a> {
    tool: Cow<'a, str>,
    args: Cow<'a, str>,
}

/// Returns the type of an item, which the first versions named otherwise.
fn kind<'a>(item: &Object<'a>) -> Cow<'a, str> {
    string(item.get("type").or(item.get("item_type"))).unwrap_or_default()
}

/// Replays an item that has begun or goes on, or that is `complete`.
fn replay_item(item: &Object<'_>, complete: bool, recorder: &mut Recorder<'_>) {
    recorder.recognise();
    if matches!(&*kind(item), "agent_message" | "assistant_message") {
        if complete {
            recorder.begin_turn(MAIN);
            recorder.say(MAIN, &item.text("text").unwrap_or_default());
        }
    } else if let Some(call) = call(item) {
        advance(item, &call, complete, recorder);
    }
}

/// Delivers a call when its item is first seen, and the result when it is `complete`.
fn advance(item: &Object<'_>, call: &Call<'_>, complete: bool, recorder: &mut Recorder<'_>) {
    let id = item.text("id").unwrap_or_default();
    if !recorder.pairing.is_open(MAIN, &id) {
        let index = recorder.call_together(MAIN, &call.tool, Args::Json(&call.args));
        recorder.pairing.issue(MAIN, &id, 0, index);
    }
    if complete && let Some(index) = recorder.pairing.answer(MAIN, &id) {
        recorder.turn(MAIN).answered = true;
        deliver(item, index, recorder);
    }
}

/// Returns the call that the item is, if it is one.
fn call<'a>(item: &Object<'a>) -> Option<Call<'a>> {
    let named = |name: &str, value: Raw<'_>| {
        Cow::Owned(format!("{{\"{name}\":{}}}", value.map_or("null", RawValue::get)))
    };
    let tool = item.text("tool").unwrap_or_default();
    let kind = kind(item);
    Some(match &*kind {
        "command_execution" => {
            let command = item.text("command").unwrap_or_default();
            Call { tool: kind, args: command_args(&command).into() }
        }
        "file_change" => Call { tool: kind, args: named("changes", item.get("changes")) },
        "web_search" => Call { tool: kind, args: named("query", item.get("query")) },
        "mcp_tool_call" => {
            let server = item.text("server").unwrap_or_default();
            let args = item.get("arguments").map_or("null", RawValue::get).into();
            Call { tool: format!("mcp__{server}__{tool}").into(), args }
        }
        "collab_tool_call" => {
            let threads = item.get("receiver_thread_ids").map_or("null", RawValue::get);
            let prompt = item.get("prompt").map_or("null", RawValue::get);
            Call { tool, args: format!("{{\"to\":{threads},\"prompt\":{prompt}}}").into() }
        }
        _ => return None,
    })
}

fn deliver(item: &Object<'_>, call: usize, recorder: &mut Recorder<'_>) {
    let status = item.text("status").unwrap_or_default();
    let refused = status == "declined";
    let exit = integer(item.get("exit_code")).unwrap_or(0);
    let failed = !refused && (status == "failed" || exit != 0 || item.has("error"));
    // What was written to the files, and what was found, is not in the record.
    let is_cut = item.has("changes") || item.has("query");
    let cut = is_cut.then(|| call.to_string());
    let text = match (item.get("error"), item.get("result")) {
        (Some(error), _) => flat_text(member(Some(error), "message").or(Some(error))),
        (None, Some(result)) => flat_text(member(Some(result), "content").or(Some(result))),
        (None, None) if is_cut => status,
        (None, None) => flat_text(item.get("aggregated_output").or(item.get("agents_states"))),
    };
    let cut = cut.as_deref();
    recorder.outcome(Outcome { failed, cut, refused, ..Outcome::new(call, MAIN, &text) });
}
