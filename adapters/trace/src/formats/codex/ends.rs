//! The ends of calls, which Codex reports in events beside the results.

use std::collections::VecDeque;

use crate::formats::prelude::*;
use crate::pairing::{OPEN_CALLS_MAX, digest};
use crate::tool_result::ToolResult;

/// The latest calls that ended. The event of a call's end comes before its result or after it.
#[derive(Default)]
pub(super) struct Ends {
    latest: VecDeque<Ended>,
}

struct Ended {
    /// A digest of the call's id.
    id: u64,
    /// Whether the call failed. `None` if its result does not say.
    failed: Option<bool>,
    /// Whether the result was delivered.
    delivered: bool,
}

impl Ends {
    /// Notes the end of a call, if the event reports one. It is kept for a result that is still to
    /// come, and for one that did not say whether the call failed.
    pub(super) fn note(&mut self, worker: &str, event: &Object<'_>, recorder: &mut Recorder<'_>) {
        let Some(end) = end_of_call(event) else { return };
        recorder.flags_failures();
        let is_open = recorder.pairing.is_open(worker, &end.id);
        let id = digest(&*end.id);
        let known = self.latest.iter_mut().rev().find(|ended| ended.id == id);
        match known {
            Some(ended) if is_open && !ended.delivered => ended.failed = Some(end.failed),
            _ if is_open => self.push(Ended { id, failed: Some(end.failed), delivered: false }),
            Some(ended) if ended.failed.is_none() => {
                ended.failed = Some(end.failed);
                if end.failed {
                    recorder.failed_late();
                }
            }
            _ => {}
        }
    }

    /// Delivers a result. The call failed if an event said so before, or else if the result says so.
    pub(super) fn deliver(
        &mut self,
        worker: &str,
        id: &str,
        result: &ToolResult<'_>,
        recorder: &mut Recorder<'_>,
    ) {
        let Some(call) = recorder.pairing.answer(worker, id) else {
            return;
        };
        let id = digest(id);
        let before = self.latest.iter().position(|ended| ended.id == id && !ended.delivered);
        let before = before.and_then(|at| self.latest.remove(at)).and_then(|ended| ended.failed);
        let failed = before.or(result.failed);
        if failed.is_some() {
            recorder.flags_failures();
        }
        self.push(Ended { id, failed, delivered: true });
        let failed = failed == Some(true);
        recorder.outcome(Outcome { failed, ..Outcome::new(call, worker, &result.text) });
    }

    fn push(&mut self, ended: Ended) {
        if self.latest.len() == OPEN_CALLS_MAX {
            self.latest.pop_front();
        }
        self.latest.push_back(ended);
    }
}

/// The end of a call, as an event reports it.
struct End<'a> {
    id: Cow<'a, str>,
    failed: bool,
}

/// Returns the end that an event reports: `exec_command_end`, `patch_apply_end`,
/// `mcp_tool_call_end`, or `item_completed` with such an end in `item`.
fn end_of_call<'a>(event: &Object<'a>) -> Option<End<'a>> {
    let kind = event.text("type")?;
    let item = if kind == "item_completed" { Some(nested(event.get("item"))?) } else { None };
    let ended = item.as_ref().unwrap_or(event);
    let kind = ended.text("type")?;
    let failed = match kind.as_ref() {
        "exec_command_end" | "CommandExecution" | "patch_apply_end" | "FileChange" => {
            let code = integer(ended.get("exit_code")).map(|code| code != 0);
            let success = flag(ended.get("success")).map(|success| !success);
            code.or(success).or_else(|| failed_by_status(ended))
        }
        "mcp_tool_call_end" | "McpToolCall" => {
            failed_by_result(ended).or_else(|| failed_by_status(ended))
        }
        _ => None,
    }?;
    Some(End { id: ended.text("call_id").or_else(|| ended.text("id"))?, failed })
}

/// Returns whether the call failed. A declined call did not run, and so did not fail.
fn failed_by_status(event: &Object<'_>) -> Option<bool> {
    match event.text("status")?.as_ref() {
        "failed" => Some(true),
        "completed" => Some(false),
        _ => None,
    }
}

/// Returns whether a tool server reported an error, in its result or in place of one.
fn failed_by_result(event: &Object<'_>) -> Option<bool> {
    let [given, refused] = members(event.get("result"), ["Ok", "Err"])?;
    if refused.is_some() {
        return Some(true);
    }
    let is_error = member(given.or(event.get("result")), "isError");
    is_error.map(|is_error| is_true(Some(is_error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{raw, rows};

    /// A case a line: how the call ended, and an event.
    const ENDS: &str = include_str!("../../../tests/tables/codex_ends.txt");

    #[test]
    fn an_event_reports_the_end_of_a_call() {
        for [expected, json] in rows(ENDS) {
            let event = nested(raw(&json));
            let end = event.as_ref().and_then(end_of_call);
            let end = end.map_or("unknown", |end| if end.failed { "failed" } else { "ok" });
            assert_eq!(end, expected, "{json}");
        }
    }
}
