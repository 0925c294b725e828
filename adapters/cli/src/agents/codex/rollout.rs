//! The end of a Codex transcript, which tells what no event tells: the exit code of a command, and the calls
//! that the model issued together.
//!
//! The item of a command is written when it ends, before `PostToolUse`. In Code Mode, Codex runs the calls of
//! one answer one after the other, with the same events as calls of several answers.

use std::path::Path;

use serde::Deserialize;

use crate::agents::transcript::tail;

/// Returns `true` if the model's latest answer has several calls, and some but not all of them have ended. The
/// id of a call in Code Mode is not in the transcript, so nothing else can be told.
pub(super) fn is_batch_open(path: &Path, _: &str) -> Option<bool> {
    is_open(&tail(path).ok()?).then_some(true)
}

/// Returns whether the command with this id has ended with another exit code than 0. Returns `false` if the
/// transcript does not tell.
pub(super) fn has_failed(path: &Path, id: &str) -> bool {
    tail(path).is_ok_and(|tail| failed(&tail, id))
}

fn failed(tail: &str, id: &str) -> bool {
    let lines = tail.lines().rev().filter(|line| line.contains(id));
    let mut items = lines.filter_map(|line| serde_json::from_str::<Line>(line).ok()?.payload.item);
    items
        .find(|item| item.id == id)
        .is_some_and(|item| item.exit_code.is_some_and(|code| code != 0))
}

/// A line of a transcript.
#[derive(Deserialize)]
struct Line {
    r#type: String,
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    r#type: Option<String>,
    item: Option<Item>,
}

/// A call that has ended.
#[derive(Deserialize)]
struct Item {
    id: String,
    exit_code: Option<i64>,
}

/// Returns whether some but not all of the latest calls without an item between them have an output.
fn is_open(tail: &str) -> bool {
    let lines = tail.lines().rev().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    let items = lines.filter(|line| line.r#type == "response_item");
    let (mut calls, mut outputs) = (0, 0);
    for item in items {
        match item.payload.r#type.as_deref() {
            Some("custom_tool_call_output" | "function_call_output") if calls == 0 => outputs += 1,
            Some("custom_tool_call" | "function_call") => calls += 1,
            // A note of a hook is a message, and comes before the output of its call.
            Some("message" | "reasoning") if calls == 0 => {}
            _ => break,
        }
    }
    0 < outputs && outputs < calls
}

#[cfg(test)]
mod tests {
    use super::{failed, has_failed, is_batch_open, is_open};

    /// Returns the lines of a transcript: `c` is a call, `o` an output, `m` a message, `.` something else.
    fn lines(kinds: &str) -> String {
        let line = |kind: char| match kind {
            'c' => {
                r#"{"type":"response_item","payload":{"type":"custom_tool_call","name":"exec"}}"#
            }
            'o' => r#"{"type":"response_item","payload":{"type":"custom_tool_call_output"}}"#,
            'm' => r#"{"type":"response_item","payload":{"type":"message","role":"developer"}}"#,
            _ => r#"{"type":"event_msg","payload":{"type":"token_count"}}"#,
        };
        kinds.chars().flat_map(|kind| [line(kind), "\n"]).collect()
    }

    #[test]
    fn a_batch_is_open_until_its_last_output() {
        for (kinds, expected) in [
            ("", false),
            ("mc", false),
            ("mc.o", false),
            ("mcoc", false),
            ("mcocococ", false),
            ("mcc", false),
            ("mcc.o", true),
            ("mccmo.", true),
            ("mcccc.ooo", true),
            ("mcccc.oooo", false),
            ("mccoomc", false),
            ("mccoomcc", false),
            ("mccoomcco", true),
        ] {
            assert_eq!(is_open(&lines(kinds)), expected, "{kinds}");
        }
        assert!(is_open(&format!("broken off\"}}\n{}", lines("cco"))));
    }

    #[test]
    fn the_exit_code_of_a_command_is_found_by_its_id() {
        let item = |id: &str, rest: &str| {
            format!(
                r#"{{"type":"event_msg","payload":{{"type":"item_completed","item":{{"type":"CommandExecution","id":"{id}"{rest}}}}}}}"#
            )
        };
        let lines = [
            item("a", r#","exit_code":1"#),
            item("b", r#","exit_code":0,"aggregated_output":"a""#),
            item("c", ""),
            item("d", r#","exit_code":null"#),
            r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"e","output":"x"}}"#.to_owned(),
        ];
        let text = lines.join("\n");
        let all = ["a", "b", "c", "d", "e", "f"];
        assert_eq!(all.map(|id| failed(&text, id)), [true, false, false, false, false, false]);
        let missing = "/no/such/file".as_ref();
        assert!(!has_failed(missing, "a") && is_batch_open(missing, "a").is_none());
    }
}
