//! GitHub Copilot CLI sessions: JSON Lines of events, `{"type":…,"data":{…}}`.
//!
//! - **Calls** are the `toolRequests` of an `assistant.message`, and share a step. A
//!   `tool.execution_start` repeats one of them, and is a call if no message has requested it.
//! - **Results** are `tool.execution_complete`. The call failed without `success`, and if its command
//!   ended with another code than 0, which the program counts as a success. A call that a person or
//!   a hook denied is refused.
//! - **Workers.** Events with an `agentId`, or with the `parentToolCallId` of the call that started the
//!   subagent, belong to that subagent.
//! - The id of the shell at the end of a command's result is left out, because it is new with every
//!   call.
//! - **Tokens.** `session.shutdown` has those of the whole session, by model. A printed stream has them in
//!   `assistant.usage`, by answer. The cached tokens are part of the input. The `outputTokens` of a
//!   message are left out, because its input is unknown.
//! - The program's own instructions and hooks are skipped.

use unstuck_text::{Envelope, Unescaped};

use super::prelude::*;
use crate::pairing::RecentRecords;
use crate::tool_result::ToolResult;

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    let mut seen = RecentRecords::default();
    source.replay(recorder, &mut |line, recorder| replay(line, &mut seen, recorder));
}

fn replay(line: &Object<'_>, seen: &mut RecentRecords, recorder: &mut Recorder<'_>) -> Done {
    let (Some(kind), Some(data)) = (line.text("type"), nested(line.get("data"))) else {
        return Ok(());
    };
    recorder.recognise();
    recorder.time(time(line.get("timestamp")));
    let worker =
        string(line.get("agentId").or(data.get("agentId")).or(data.get("parentToolCallId")));
    let worker = worker.unwrap_or(Cow::Borrowed(MAIN));
    match kind.as_ref() {
        "session.start" => {
            recorder.session_of(data.text("sessionId"));
        }
        "user.message" => {
            recorder.hear(&worker, Role::User, &flat_text(data.get("content")));
        }
        "assistant.message" => return answer(&data, &worker, seen, recorder),
        "tool.execution_start" => {
            let request = [data.get("toolCallId"), data.get("toolName"), data.get("arguments")];
            return issue(request, &worker, seen, recorder);
        }
        "tool.execution_complete" => result(&data, &worker, recorder),
        "assistant.usage" => {
            let id = data.text("apiCallId");
            recorder.usage_of(&worker, id.as_deref(), tokens(line.get("data")));
        }
        "session.shutdown" => recorder.usage_up_to(&worker, total(&data)),
        _ => {}
    }
    Ok(())
}

/// Replays the model's answer. A call that cannot be read is reported after the others.
fn answer(
    data: &Object<'_>,
    worker: &str,
    seen: &mut RecentRecords,
    recorder: &mut Recorder<'_>,
) -> Done {
    recorder.begin_turn(worker);
    if let Some(text) = data.text("content").filter(|text| !text.is_empty()) {
        recorder.say(worker, &text);
    }
    all(records(data.get("toolRequests")), |request| {
        let request = ["toolCallId", "name", "arguments"].map(|name| request.get(name));
        issue(request, worker, seen, recorder)
    })
}

/// Returns the tokens of all models.
fn total(data: &Object<'_>) -> Option<Tokens> {
    let models = entries(data.get("modelMetrics")).into_values();
    let models = models.filter_map(|model| tokens(member(Some(model), "usage")));
    models.reduce(|all, model| all + model)
}

fn result(data: &Object<'_>, worker: &str, recorder: &mut Recorder<'_>) {
    recorder.turn(worker).answered = true;
    let id = data.text("toolCallId");
    let Some(call) = id.and_then(|id| recorder.pairing.answer(worker, &id)) else { return };
    let [message, code] = members(data.get("error"), ["message", "code"]).unwrap_or_default();
    let shown = member(data.get("result"), "content").or(message);
    let code = string(code);
    let refused = matches!(code.as_deref(), Some("denied" | "rejected"));
    let exit = integer(member(data.get("shellExecution"), "exitCode"));
    let failed = !refused && (!is_true(data.get("success")) || exit.is_some_and(|code| code != 0));
    let text = &*shown.map_or(Cow::Borrowed(""), |shown| ToolResult::copilot(shown).text);
    recorder.noted_within(shown.map_or("", RawValue::get), text);
    recorder.outcome(Outcome { failed, refused, ..Outcome::new(call, worker, text) });
}

/// Delivers a call, unless it was seen before.
fn issue(
    [id, name, arguments]: [Raw<'_>; 3],
    worker: &str,
    seen: &mut RecentRecords,
    recorder: &mut Recorder<'_>,
) -> Done {
    let id = string(id);
    if id.as_ref().is_some_and(|id| !seen.insert((worker, id))) {
        return Ok(());
    }
    let tool = required(name, "a tool request", "name")?;
    let index = recorder.call_together(worker, &tool, json_args(arguments));
    recorder.await_answer(worker, id, index);
    Ok(())
}

/// Returns the tokens of an answer, or of all answers of a model.
fn tokens(usage: Raw<'_>) -> Option<Tokens> {
    Tokens::of(usage, ["inputTokens", "cacheReadTokens", "outputTokens"])
}

impl<'a> ToolResult<'a> {
    /// Reads a result of Copilot CLI. The last line of a command's result tells the exit code.
    pub fn copilot(json: &'a RawValue) -> Self {
        let text = Self::plain(json).text;
        let failed = Envelope::open(&text, &mut Unescaped::default()).exit.map(|code| code != 0);
        Self { text, failed }
    }
}
