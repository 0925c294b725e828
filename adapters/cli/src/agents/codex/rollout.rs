//! The end of a Codex transcript, which tells what no event tells: the exit code of a command, the calls that
//! the model issued together, and calls that have failed.
//!
//! The item of a command is written when it ends, before `PostToolUse`, and the output of a call after it. In Code
//! Mode, Codex runs the calls of one answer one after the other, with the same events as calls of several answers.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::value::RawValue;
use unstuck_trace::ToolResult;

use crate::agents::event::{Call, Ending, Raw, fields, fields_of, json, text};
use crate::agents::transcript::{Answer, tail};

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
    if !["\"token_count\"", "\"turn_context\""].iter().any(|kind| line.contains(kind)) {
        return None;
    }
    let [payload] = fields_of(line, ["payload"])?;
    let [model, info] = fields(payload, ["model", "info"])?;
    let total = fields(info, ["total_token_usage"]).and_then(|[total]| total);
    let id = total.map(|total| total.get().to_owned());
    Some(Answer { id, model: text(model).map(Cow::into_owned) })
}

fn failed(tail: &str, id: &str) -> bool {
    let mut items = tail.lines().rev().filter(|line| line.contains(id)).filter_map(|line| {
        let [payload] = fields_of(line, ["payload"])?;
        let [item] = fields(payload, ["item"])?;
        fields(item, ["id", "exit_code"])
    });
    let item = items.find(|[own, _]| text(*own).as_deref() == Some(id));
    item.is_some_and(|[_, code]| !["null", "0"].contains(&json(code)))
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
    let lines = tail.lines().rev().filter_map(|line| fields_of(line, ["type", "payload"]));
    let (mut outputs, mut worked, mut calls) = (HashMap::new(), HashSet::new(), Vec::new());
    for [of, payload] in lines {
        let names = ["type", "item", "role", "call_id", "output"];
        let Some([kind, item, role, id, output]) = fields(payload, names) else { continue };
        worked.extend(fields(item, ["id", "exit_code", "status"]).and_then(has_worked));
        if text(of).as_deref() != Some("response_item") {
            continue;
        }
        match (text(kind).as_deref(), text(id)) {
            (Some("function_call_output" | "custom_tool_call_output"), Some(id)) => {
                outputs.insert(id, output);
            }
            (Some("function_call" | "custom_tool_call"), Some(id)) => {
                if is_closed(&id) || calls.len() == CALLS_MAX {
                    break;
                }
                let call = outputs.remove(&id).flatten().zip(called(payload));
                calls.extend(call.map(|(output, (tool, args))| {
                    let ending = ending(output, !worked.contains(&id));
                    (Call { id: Some(id.into_owned().into()), tool, args }, ending)
                }));
            }
            (Some("message"), _) if text(role).as_deref() == Some("user") => break,
            _ => {}
        }
    }
    calls.reverse();
    calls
}

/// Returns the id of an item with this id, exit code and status, if its call has worked.
fn has_worked([id, code, status]: [Raw<'_>; 3]) -> Option<Cow<'_, str>> {
    let has_worked = match json(code) {
        "null" => text(status).as_deref() == Some("completed"),
        code => code == "0",
    };
    text(id).filter(|_| has_worked)
}

/// Returns the tool and the arguments of a call: of a function in JSON, or the text that a custom tool takes. The tool of a
/// server has its name before its own. Returns `None` for a program.
fn called(call: Raw<'_>) -> Option<(Cow<'static, str>, Cow<'static, str>)> {
    let names = ["name", "namespace", "arguments", "input"];
    let [name, namespace, arguments, input] = fields(call, names)?;
    let name = text(name)?.into_owned();
    let tool = match text(namespace).filter(|space| space != FUNCTIONS) {
        Some(space) => format!("{space}__{name}"),
        None if name == PROGRAM => return None,
        None => name,
    };
    Some((tool.into(), text(arguments.or(input)).unwrap_or_default().into_owned().into()))
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

/// Returns whether some but not all of the latest calls without an item between them have an output.
fn is_open(tail: &str) -> bool {
    let items = tail.lines().rev().filter_map(|line| {
        let [of, payload] = fields_of(line, ["type", "payload"])?;
        let [kind] = fields(payload, ["type"])?;
        (text(of)? == "response_item").then_some(text(kind))
    });
    let (mut calls, mut outputs) = (0, 0);
    for kind in items {
        match kind.as_deref() {
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
    use super::*;
    use crate::cases::cases;

    /// Transcripts in words, see [`lines`].
    const CASES: &str = include_str!("rollout.txt");

    /// Returns the lines of a transcript, a word for each: a call `a?`, its output `a=text` and its item `a:status`, the
    /// message of a `user` or `developer`, and anything else. A call may name its tool, `a?tool`, with a server before it,
    /// and `_` is a space.
    fn lines(words: &str) -> String {
        let line = |word: &str| {
            if let Some((id, tool)) = word.split_once('?') {
                let (server, tool) = tool.rsplit_once('/').unwrap_or(("", tool));
                let server = match server {
                    "" => String::new(),
                    server => format!(r#","namespace":"{server}""#),
                };
                let (kind, input) = match tool {
                    "exec" | "apply_patch" => ("custom_tool_call", "input"),
                    _ => ("function_call", "arguments"),
                };
                let tool = if tool.is_empty() { "look" } else { tool };
                item(&format!(
                    r#""type":"{kind}","call_id":"{id}","name":"{tool}","{input}":"{{}}"{server}"#
                ))
            } else if let Some((id, text)) = word.split_once('=') {
                let text = text.replace('_', " ");
                item(&format!(
                    r#""type":"function_call_output","call_id":"{id}","output":"{text}""#
                ))
            } else if let Some((id, status)) = word.split_once(':') {
                completed(&format!(r#""type":"McpToolCall","id":"{id}","status":"{status}""#))
            } else {
                item(&format!(r#""type":"message","role":"{word}""#))
            }
        };
        words.split_whitespace().map(line).collect()
    }

    fn item(members: &str) -> String {
        format!(r#"{{"type":"response_item","payload":{{{members}}}}}"#) + "\n"
    }

    fn completed(members: &str) -> String {
        let item = format!(r#"{{"type":"item_completed","item":{{{members}}}}}"#);
        format!(r#"{{"type":"event_msg","payload":{item}}}"#) + "\n"
    }

    #[test]
    fn a_batch_is_open_until_its_last_output() {
        for (words, expected) in cases(CASES, "batches") {
            let is_open = |words: &str| is_open(&lines(words)).to_string();
            assert_eq!(is_open(words), expected, "{words}");
            assert_eq!(is_open(&words.replace('?', "?exec")), expected, "{words}");
        }
        assert!(!is_open("") && is_open(&format!("broken off\"}}\n{}", lines("a? b? a="))));
    }

    #[test]
    fn the_exit_code_of_a_command_is_found_by_its_id() {
        let command = |members: &str| completed(&format!(r#""type":"CommandExecution",{members}"#));
        let text = command(r#""id":"a","exit_code":1"#)
            + &command(r#""id":"b","exit_code":0,"aggregated_output":"a""#)
            + &command(r#""id":"c""#)
            + &command(r#""id":"d","exit_code":null"#)
            + &lines("e=x");
        let all = ["a", "b", "c", "d", "e", "f"];
        assert_eq!(all.map(|id| failed(&text, id)), [true, false, false, false, false, false]);
        let missing = "/no/such/file".as_ref();
        assert!(!has_failed(missing, "a") && is_batch_open(missing, "a").is_none());
        assert_eq!(unreported(missing, &|_| false), []);
    }

    #[test]
    fn calls_that_have_ended_are_found_back_to_one_whose_end_is_known() {
        for (words, expected) in cases(CASES, "ended") {
            let calls = answered(&lines(words), &|id| id == "x");
            let ids: Vec<_> = calls.into_iter().filter_map(|(call, _)| call.id).collect();
            assert_eq!(format!("calls {}", ids.join(" ")).trim_end(), expected, "{words}");
        }
    }

    /// A call without an event failed, unless its item or its text says otherwise.
    #[test]
    fn a_call_without_an_event_has_its_tool_arguments_and_end() {
        for (words, expected) in cases(CASES, "ends") {
            let calls = answered(&lines(words), &|_| false).into_iter();
            let shown = |(call, end): (Call<'_>, Ending<'_>)| {
                format!("{} {} {end:?}", call.tool, call.args)
            };
            let found: String = calls.map(shown).collect();
            assert_eq!(found, expected.replace("no call", ""), "{words}");
        }
    }
}
