//! OpenAI chat messages: a JSON array of them, or an object with `messages`, as request bodies and
//! logs keep them.
//!
//! - `tool_calls[].function.arguments` is a JSON *string*; models leave it empty or broken at times.
//! - Call ids recur within a run (tau-bench), so results are paired in order. A result without
//!   `tool_call_id` (role `function`) answers the earliest open call of its `name`.
//! - The format has no failure flag. An error is visible only in the result's text.
//! - All fields beside `messages` are skipped, except for the tokens of an answer: `usage`, or that of
//!   `response`. `LiteLLM` logs the `response`, whose calls have not run, and which is the last message
//!   of the next request.

use super::prelude::*;

pub(super) fn replay(message: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let role = message.required("role", "a message")?;
    if elements(message.get("content")).into_iter().any(is_foreign) {
        return Err(ProblemKind::ForeignPart {
            message: "holds a content block of Anthropic's messages; OpenAI's keep calls in \
                      `tool_calls`",
        });
    }
    recorder.recognise();
    let text = flat_text(message.get("content"));
    if matches!(role.as_ref(), "tool" | "function") {
        let id = message.text("tool_call_id").or_else(|| message.text("name"));
        recorder.answer(MAIN, id.as_deref(), &text, false);
        return Ok(());
    }
    recorder.begin_turn(MAIN);
    match Role::from_name(&role) {
        Role::Assistant => turn(message, &text, recorder),
        role => {
            recorder.message(MAIN, role, &text);
            Ok(())
        }
    }
}

/// Replays an assistant's turn.
fn turn(message: &Object<'_>, text: &str, recorder: &mut Recorder<'_>) -> Done {
    let calls = records(message.get("tool_calls"));
    // A custom tool's call has `custom` in place of `function`, with free text as `input`.
    let calls = calls.map(|call| (call.get("id"), call.get("function").or(call.get("custom"))));
    // The form before there were parallel calls has no id, and its result names the function.
    let legacy = message.get("function_call").map(|function| (None, Some(function)));
    let calls: Vec<_> = calls.chain(legacy).collect();
    if !text.is_empty() || calls.is_empty() {
        recorder.say(MAIN, text);
    }
    all(calls, |(id, function)| issue(id, function, recorder))
}

fn issue(id: Raw<'_>, function: Raw<'_>, recorder: &mut Recorder<'_>) -> Done {
    let function = members(function, ["name", "arguments", "input"]);
    let [name, arguments, input] = function.unwrap_or_default();
    let name = required(name, "a tool call", "function.name")?;
    let arguments = Arguments::new(arguments.or(input));
    let index = recorder.call_in_turn(MAIN, &name, arguments.as_args());
    let id = string(id).unwrap_or(Cow::Borrowed(&*name));
    recorder.pairing.issue(MAIN, &id, 0, index);
    Ok(())
}

fn is_foreign(block: &RawValue) -> bool {
    let kind = string(member(Some(block), "type"));
    matches!(kind.as_deref(), Some("tool_use" | "tool_result"))
}
