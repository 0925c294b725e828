//! The end of a Codex transcript, which tells what no event tells: the exit code of a command, the calls that
//! the model issued together, and calls that have failed.
//!
//! The item of a command is written when it ends, before `PostToolUse`, and the output of a call after it. In Code
//! Mode, Codex runs the calls of one answer one after the other, with the same events as calls of several answers.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use unstuck_trace::ToolResult;

use crate::agents::answers::Answer;
use crate::agents::event::{Call, Ending};
use crate::agents::transcript::tail;

/// The program of a model in Code Mode. Its calls have events of their own.
const PROGRAM: &str = "exec";

/// The namespace of Codex' own tools, which is seldom written.
const FUNCTIONS: &str = "functions";

/// The beginnings of the outputs of calls that the user, a rule or a hook refused.
const REFUSED: [&str; 6] = [
    "Command blocked by PreToolUse hook",
    "Tool call blocked by PreToolUse hook",
    "exec command rejected by user",
    "patch rejected by user",
    "user rejected MCP tool call",
    "user cancelled MCP tool call",
];

/// The beginning of the output of a call that the user interrupted.
const CANCELLED: &str = "aborted by user";

/// The number of calls that are looked at: more than a model issues together.
const CALLS_MAX: usize = 32;

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

/// Returns the answer whose tokens a line has, or the model of the following ones. A line may come again; an answer has
/// changed the total.
pub(super) fn answer(line: &str) -> Option<Answer> {
    #[derive(Deserialize)]
    struct Line {
        payload: Payload,
    }
    #[derive(Deserialize)]
    struct Payload {
        model: Option<String>,
        info: Option<Info>,
    }
    #[derive(Deserialize)]
    struct Info {
        total_token_usage: Box<RawValue>,
    }
    if !["\"token_count\"", "\"turn_context\""].iter().any(|kind| line.contains(kind)) {
        return None;
    }
    let Payload { model, info } = serde_json::from_str::<Line>(line).ok()?.payload;
    let id = info.map(|info| info.total_token_usage.get().to_owned());
    Some(Answer { id, model })
}

fn failed(tail: &str, id: &str) -> bool {
    let lines = tail.lines().rev().filter(|line| line.contains(id));
    let mut items = lines.filter_map(|line| serde_json::from_str::<Line>(line).ok()?.payload.item);
    items
        .find(|item| item.id == id)
        .is_some_and(|item| item.exit_code.is_some_and(|code| code != 0))
}

/// Returns the latest calls that have an output, the oldest first: back to the first one that `is_closed`, or else
/// to the message of the user. Those of which neither an event nor an item tells that they worked have failed.
pub(super) fn unreported(
    path: &Path,
    is_closed: &dyn Fn(&str) -> bool,
) -> Vec<(Call<'static>, Ending<'static>)> {
    tail(path).map_or_else(|_| Vec::new(), |tail| answered(&tail, is_closed))
}

fn answered(tail: &str, is_closed: &dyn Fn(&str) -> bool) -> Vec<(Call<'static>, Ending<'static>)> {
    let lines = tail.lines().rev().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    let (mut outputs, mut worked, mut calls) = (HashMap::new(), HashSet::new(), Vec::new());
    for Line { r#type: of, payload } in lines {
        if let Some(item) = payload.item.filter(Item::has_worked) {
            worked.insert(item.id);
        }
        if of != "response_item" {
            continue;
        }
        let Payload { r#type, role, call_id, name, namespace, arguments, input, output, .. } =
            payload;
        match (r#type.as_deref(), call_id) {
            (Some("function_call_output" | "custom_tool_call_output"), Some(id)) => {
                outputs.insert(id, output);
            }
            (Some("function_call" | "custom_tool_call"), Some(id)) => {
                if is_closed(&id) || calls.len() == CALLS_MAX {
                    break;
                }
                let (Some(output), Some(name)) = (outputs.remove(&id).flatten(), name) else {
                    continue;
                };
                let namespace = namespace.filter(|space| space != FUNCTIONS);
                if namespace.is_none() && name == PROGRAM {
                    continue;
                }
                let tool =
                    namespace.map_or_else(|| name.clone(), |space| format!("{space}__{name}"));
                let args = arguments.or(input).unwrap_or_default();
                let ending = ending(&output, !worked.contains(&id));
                let call = Call { id: Some(id.into()), tool: tool.into(), args: args.into() };
                calls.push((call, ending));
            }
            (Some("message"), _) if role.as_deref() == Some("user") => break,
            _ => {}
        }
    }
    calls.reverse();
    calls
}

/// Returns the end of a call with this output.
fn ending(output: &RawValue, failed: bool) -> Ending<'static> {
    let text = ToolResult::codex(output).text.into_owned();
    if text.starts_with(CANCELLED) {
        Ending::Cancelled
    } else if REFUSED.iter().any(|begin| text.starts_with(begin)) {
        Ending::Refused
    } else {
        // The hook reads from a note that the proxy has spoken.
        let note = output.get().split(NOTE).nth(1).and_then(|rest| rest.split('"').next());
        let text = note.map_or(text.clone(), |note| format!("{text}\n\n[unstuck] You{note}"));
        Ending::Answered { text: Cow::Owned(text), failed }
    }
}

/// The beginning of a block with a note of this program's proxy.
const NOTE: &str = "\"[unstuck] You";

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
    role: Option<String>,
    call_id: Option<String>,
    name: Option<String>,
    /// The server of a tool.
    namespace: Option<String>,
    /// The arguments of a function, in JSON.
    arguments: Option<String>,
    /// The text that a custom tool takes.
    input: Option<String>,
    output: Option<Box<RawValue>>,
}

/// A call that has ended.
#[derive(Deserialize)]
struct Item {
    id: String,
    exit_code: Option<i64>,
    status: Option<String>,
}

impl Item {
    fn has_worked(&self) -> bool {
        self.exit_code == Some(0)
            || self.exit_code.is_none() && self.status.as_deref() == Some("completed")
    }
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
    use serde_json::{Value, json};

    use super::{answered, failed, has_failed, is_batch_open, is_open, unreported};
    use crate::agents::event::Ending;

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

    /// Returns lines of a transcript with these items.
    fn items(items: &[Value]) -> String {
        let line = |item: &Value| json!({ "type": "response_item", "payload": item });
        items.iter().map(|item| line(item).to_string() + "\n").collect()
    }

    fn called(id: &str) -> Value {
        json!({ "type": "function_call", "call_id": id, "name": "look", "arguments": "{}" })
    }

    fn output(id: &str, text: &str) -> Value {
        json!({ "type": "function_call_output", "call_id": id, "output": text })
    }

    #[test]
    fn calls_that_have_ended_are_found_back_to_one_whose_end_is_known() {
        let said = |role| json!({ "type": "message", "role": role });
        for (lines, expected) in [
            (vec![], ""),
            (vec![called("a")], ""),
            (vec![called("a"), output("a", "no"), called("b")], "a"),
            (vec![called("a"), output("a", "no"), called("b"), output("b", "no")], "ab"),
            (vec![called("a"), called("b"), output("b", "no"), output("a", "no")], "ab"),
            (vec![called("a"), output("a", "no"), said("developer"), called("b")], "a"),
            (vec![called("a"), output("a", "no"), said("user"), called("b"), output("b", "")], "b"),
            (
                vec![
                    called("a"),
                    output("a", ""),
                    called("x"),
                    output("x", ""),
                    called("b"),
                    output("b", ""),
                ],
                "b",
            ),
            (vec![output("a", "of an earlier call")], ""),
        ] {
            let calls = answered(&items(&lines), &|id| id == "x");
            let ids: String = calls.into_iter().filter_map(|(call, _)| call.id).collect();
            assert_eq!(ids, expected, "{lines:?}");
        }
        assert_eq!(unreported("/no/such/file".as_ref(), &|_| false), []);
    }

    #[test]
    fn a_call_without_an_event_failed_unless_its_item_or_its_text_says_otherwise() {
        let item = |status: &str| {
            let item = json!({ "type": "McpToolCall", "id": "a", "status": status });
            json!({ "type": "event_msg", "payload": { "type": "item_completed", "item": item } })
        };
        let answered_with = |text: &'static str, status: &str| {
            let text = items(&[called("a")])
                + &item(status).to_string()
                + "\n"
                + &items(&[output("a", text)]);
            answered(&text, &|_| false).pop().expect("a call").1
        };
        let told = |text: &'static str, failed| Ending::Answered { text: text.into(), failed };
        for (text, status, expected) in [
            ("unsupported call: look", "", told("unsupported call: look", true)),
            ("no", "failed", told("no", true)),
            ("yes", "completed", told("yes", false)),
            ("exec command rejected by user", "declined", Ending::Refused),
            ("Command blocked by PreToolUse hook: no. Command: ls", "", Ending::Refused),
            ("aborted by user after 1.5s", "", Ending::Cancelled),
        ] {
            assert_eq!(answered_with(text, status), expected, "{text}");
        }
    }

    #[test]
    fn tools_have_their_servers_name_and_programs_are_no_calls() {
        let call = |call: Value, members: Value| {
            let mut call = call;
            let others = members.as_object().expect("an object").clone();
            call.as_object_mut().expect("an object").extend(others);
            let calls = answered(&items(&[call, output("a", "no")]), &|_| false);
            calls.into_iter().next().map(|(call, _)| format!("{} {}", call.tool, call.args))
        };
        let custom = json!({ "type": "custom_tool_call", "call_id": "a", "input": "x" });
        for (base, members, expected) in [
            (called("a"), json!({ "namespace": "mcp__desk" }), Some("mcp__desk__look {}")),
            (custom.clone(), json!({ "name": "apply_patch" }), Some("apply_patch x")),
            (custom.clone(), json!({ "name": "exec" }), None),
            (custom, json!({ "name": "exec", "namespace": "functions" }), None),
            (called("a"), json!({ "namespace": "functions" }), Some("look {}")),
        ] {
            assert_eq!(call(base, members.clone()).as_deref(), expected, "{members}");
        }
    }
}
