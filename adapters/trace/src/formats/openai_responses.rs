//! OpenAI *Responses* items: the body of a request (`input`), a response (`output`), an array of
//! items, or JSON Lines of any of them.
//!
//! - **Calls** are the items `function_call` (`arguments` is a JSON string), `custom_tool_call`
//!   (`input` is free text, or JSON), `local_shell_call`, `shell_call`, `apply_patch_call` and
//!   `computer_call`. A call without `name` is named by its type: `local_shell`. Tools that the
//!   provider runs itself (web search, tool search, MCP, images) are passed over.
//! - **Turns.** Calls with no result between them were issued together and share a step.
//! - **Results** answer the earliest open call of their `call_id`. Their text is cleaned of what
//!   Codex adds, see [`output`].
//! - **Failures** are flagged by `apply_patch_call_output` alone, with the `status` `failed`.
//! - **Mirrors.** A request repeats the conversation so far. Among several requests, one a line, a
//!   call counts once, and only the first request's messages are delivered.
//! - **Tokens.** A response has them in `usage`. Those of a response on a line, which also has the time of
//!   its beginning, come before its calls. A document has its `usage` at the end.
//! - Texts that Codex wrote in the user's place are no messages: see [`ECHOES`].
//!
//! Rollouts of [Codex](super::codex) hold the same items in envelopes, and its oldest rollouts are
//! items one a line. So such lines are recognised as `codex`, which delivers the same events.

mod output;

use super::prelude::*;
use crate::pairing::digest;
use crate::tool_result::ToolResult;

/// The items that no other format has.
const ITEMS: [&str; 13] = [
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "computer_call",
    "computer_call_output",
];

/// The beginnings of texts that Codex writes in the user's place.
const ECHOES: [&str; 8] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
];

/// Returns whether an object has the type of an item.
pub(super) fn is_item(fields: &Fields) -> bool {
    ITEMS.contains(&fields::text(fields, "type"))
}

/// Whether a message has a block of these items in its content.
pub(super) fn has_item_text(fields: &Fields) -> bool {
    let mut kinds = fields::objects(fields, "content").map(|block| fields::text(block, "type"));
    kinds.any(|kind| matches!(kind, "input_text" | "output_text"))
}

/// Replays a line or an element: an item, a request or a response.
pub(super) fn replay(item: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    if item.has("type") || item.has("role") {
        return replay_in_main(item, recorder);
    }
    let is_first = !recorder.has_begun();
    let outcome = all(records(item.get("input")), |input| {
        let is_new = is_first || !(is_message(&input) || mirrors(&input, recorder));
        if is_new { replay_in_main(&input, recorder) } else { Ok(()) }
    });
    let outputs = || records(item.get("output"));
    if outputs().any(|output| is_record(&output)) {
        recorder.recognise();
    }
    pay(item, recorder);
    outcome.and(all(outputs(), |output| replay_in_main(&output, recorder)))
}

/// A function that delivers the result of the call with an id.
pub(super) type Deliver<'d> = dyn FnMut(&str, ToolResult<'_>, &mut Recorder<'_>) + 'd;

/// Replays an item. A result goes to `deliver`.
pub(super) fn replay_item(
    item: &Object<'_>,
    worker: &str,
    recorder: &mut Recorder<'_>,
    deliver: &mut Deliver<'_>,
) -> Done {
    let kind = item.text("type").unwrap_or_default();
    match &*kind {
        _ if is_message(item) => message(item, worker, recorder),
        kind if !ITEMS.contains(&kind) => {}
        kind if kind.ends_with("_output") => {
            recorder.recognise();
            recorder.turn(worker).answered = true;
            if let Some(id) = call_id(item) {
                deliver(&id, ToolResult::from_codex(item.get("output")), recorder);
            }
        }
        kind => {
            if let Some(name) = kind.strip_suffix("_call") {
                return call(item, name, worker, recorder);
            }
        }
    }
    Ok(())
}

/// Delivers the time and the tokens of a response.
fn pay(item: &Object<'_>, recorder: &mut Recorder<'_>) {
    recorder.time(time_in_seconds(item.get("created_at")));
    recorder.usage_of(MAIN, item.text("id").as_deref(), Tokens::of_openai(item.get("usage")));
}

fn replay_in_main(item: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let failed = item.text("status").is_some_and(|status| status == "failed");
    replay_item(item, MAIN, recorder, &mut |id, result, recorder| {
        recorder.answer(MAIN, Some(id), &result.text, failed);
    })
}

/// Whether the item is a message. In a request the type may be missing.
fn is_message(item: &Object<'_>) -> bool {
    match item.text("type") {
        Some(kind) => kind == "message",
        None => item.has("role"),
    }
}

/// Returns whether the item surely belongs to the format.
fn is_record(item: &Object<'_>) -> bool {
    let is_own = |kind: &str| kind != "reasoning" && ITEMS.contains(&kind);
    (is_message(item) && item.has("content")) || item.text("type").is_some_and(|kind| is_own(&kind))
}

/// Whether the item is a call that has been delivered already.
fn mirrors(item: &Object<'_>, recorder: &Recorder<'_>) -> bool {
    call_id(item).is_some_and(|id| recorder.pairing.mirrors(MAIN, &id, content(item)))
}

fn call_id<'a>(item: &Object<'a>) -> Option<Cow<'a, str>> {
    string(item.get("call_id").or(item.get("id")))
}

/// Returns a digest that equal calls share.
fn content(item: &Object<'_>) -> u64 {
    let parts = [item.get("name"), arguments(item), action(item)];
    let [name, arguments, action] = parts.map(|part| part.map(RawValue::get));
    digest((name, arguments, action))
}

fn arguments<'a>(item: &Object<'a>) -> Raw<'a> {
    item.get("arguments").or(item.get("input"))
}

/// Returns the arguments of a tool without name.
fn action<'a>(item: &Object<'a>) -> Raw<'a> {
    item.get("action").or(item.get("operation"))
}

fn message(item: &Object<'_>, worker: &str, recorder: &mut Recorder<'_>) {
    if !item.has("content") {
        return;
    }
    recorder.recognise();
    let text = flat_text(item.get("content"));
    let role = item.text("role").unwrap_or_default();
    match Role::from_name(&role) {
        Role::Assistant => {
            recorder.continue_turn(worker);
            if recorder.turn(worker).called {
                recorder.message(worker, Role::Assistant, &text);
            } else {
                recorder.say(worker, &text);
            }
        }
        Role::User if is_echo(&text) => {}
        role => {
            recorder.begin_turn(worker);
            recorder.message(worker, role, &text);
        }
    }
}

fn call(item: &Object<'_>, kind: &str, worker: &str, recorder: &mut Recorder<'_>) -> Done {
    recorder.recognise();
    let arguments = Arguments::new(arguments(item));
    let (tool, args) = match (item.text("name"), action(item)) {
        (Some(name), _) => (name, arguments.as_args()),
        (None, Some(action)) => (Cow::Borrowed(kind), Args::Json(action.get())),
        (None, None) => {
            return Err(ProblemKind::Missing { record: "a function call", field: "name" });
        }
    };
    let index = recorder.call_together(worker, &tool, args);
    if let Some(id) = call_id(item) {
        recorder.pairing.issue(worker, &id, content(item), index);
    }
    Ok(())
}

fn is_echo(text: &str) -> bool {
    let text = text.trim_start();
    ECHOES.iter().any(|echo| text.starts_with(echo))
}
