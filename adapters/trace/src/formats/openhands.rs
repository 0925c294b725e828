//! `OpenHands` events, in three shapes. Each event shows its own shape.
//!
//! - **SDK** (`kind` ends with `Event`): one event a line. `action` is read before
//!   `tool_call.arguments`, to which the model adds a `security_risk` in new words each time.
//! - **V0** (`source` with `action` or `observation`): an array, or one event a line; a result names
//!   its call by `cause`.
//! - **The oldest** (no `source`, no `id`): `history` of an episode, with the arguments beside the
//!   `action`. The next observation is the result. The first message is the user's.
//!
//! Calls of one response of the model share a step. Actions without a tool (messages, `finish`,
//! changes of state) and actions of a person are no calls.
//!
//! The tokens are running totals: of all models in the `stats` of the SDK, in `llm_metrics` of V0's actions,
//! or in `metrics` beside a history. Without one, V0's calls keep those of their response. Times have
//! no zone, and are taken as UTC.
//!
//! A result failed if it is an error event, is marked `is_error`, or has an exit code that is not 0;
//! -1 alone means that the command has not ended. A call that a person rejected did not fail.

use std::collections::BTreeMap;

use super::prelude::*;
use crate::pairing::digest;

/// Actions without a tool.
const NO_CALLS: [&str; 16] = [
    "message",
    "finish",
    "reject",
    "null",
    "system",
    "recall",
    "initialize",
    "start",
    "pause",
    "resume",
    "stop",
    "change_agent_state",
    "change_task_state",
    "condensation",
    "condensation_request",
    "loop_recovery",
];

/// Observations that answer no call.
const NO_RESULTS: [&str; 4] = ["null", "agent_state_changed", "recall", "condense"];

/// Fields of an oldest action that are not its arguments.
const NO_ARGUMENTS: [&str; 12] = [
    "action",
    "action_risk",
    "blocking",
    "confirmation_state",
    "hidden",
    "id",
    "is_confirmed",
    "keep_prompt",
    "message",
    "security_risk",
    "thought",
    "timestamp",
];

/// Returns whether the first event of a document is one of the SDK.
pub(super) fn begins_with_sdk(fields: &Fields) -> bool {
    let has_action =
        |event: &Fields| event.contains_key("action") || event.contains_key("observation");
    let is_sdk = |event: &Fields| fields::text(event, "kind").ends_with("Event");
    let mut events = fields::objects(fields, "events").filter(|event| event.contains_key("source"));
    let first = events.find(|event| has_action(event) || is_sdk(event));
    first.is_some_and(|event| !has_action(event))
}

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    let (mut first, layout) = (true, source.layout);
    source.replay_json(accumulated, recorder, &mut |json, recorder| {
        if layout == Layout::Lines || !json.starts_with('[') {
            return replay(json, &mut first, recorder);
        }
        // Some evaluations kept each action with its observation as a pair.
        let pair: &RawValue =
            serde_json::from_str(json).map_err(|error| ProblemKind::not_json(&error))?;
        elements(Some(pair))
            .into_iter()
            .try_for_each(|event| replay(event.get(), &mut first, recorder))
    });
}

fn replay(json: &str, first: &mut bool, recorder: &mut Recorder<'_>) -> Done {
    let event = checked_object(json)?;
    let is_first = core::mem::replace(first, false);
    if let Some(kind) = event.text("kind") {
        return replay_sdk(&event, &kind, recorder);
    }
    if let Some(action) = event.text("action") {
        recorder.recognise();
        recorder.time(time(event.get("timestamp")));
        return act(&event, &action, json, is_first, recorder);
    }
    if let Some(observation) = event.text("observation") {
        recorder.recognise();
        recorder.time(time(event.get("timestamp")));
        observe(&event, &observation, recorder);
    }
    Ok(())
}

/// Returns the tokens that a model has cost so far.
fn total(metrics: Raw<'_>) -> Option<Tokens> {
    accumulated(member(metrics, "accumulated_token_usage"))
}

/// Returns the tokens of a running total. The cached tokens are part of the input.
fn accumulated(usage: Raw<'_>) -> Option<Tokens> {
    Tokens::of(usage, ["prompt_tokens", "cache_read_tokens", "completion_tokens"])
}

fn failed(ending: &Object<'_>) -> bool {
    let inner = || integer(member(ending.get("metadata"), "exit_code"));
    is_true(ending.get("is_error")) || fails(integer(ending.get("exit_code")).or_else(inner))
}

fn fails(exit_code: Option<i64>) -> bool {
    exit_code.is_some_and(|code| code != 0 && code != -1)
}

fn replay_sdk(event: &Object<'_>, kind: &str, recorder: &mut Recorder<'_>) -> Done {
    if kind.ends_with("Event") || event.has("action_id") {
        recorder.recognise();
    }
    recorder.time(time(event.get("timestamp")));
    match kind {
        "ConversationStateUpdateEvent" => recorder.usage_up_to(MAIN, stats(event)),
        "ActionEvent" => return call(event, recorder),
        "ObservationEvent" => {
            let ending = nested(event.get("observation")).unwrap_or_default();
            let text = ending.first(["content", "output"]).or(event.get("observation"));
            answer(event, &flat_text(text), failed(&ending), recorder);
        }
        "AgentErrorEvent" => answer(event, &flat_text(event.get("error")), true, recorder),
        "UserRejectObservation" => {
            answer(event, &flat_text(event.get("rejection_reason")), false, recorder);
        }
        "SystemPromptEvent" => {
            let prompt = members(event.get("system_prompt"), ["text"]);
            let text = prompt.map_or(event.get("system_prompt"), |[text]| text);
            recorder.message(MAIN, Role::System, &flat_text(text));
        }
        "MessageEvent" => {
            message(event, &flat_text(member(event.get("llm_message"), "content")), recorder);
        }
        _ => {}
    }
    Ok(())
}

/// Returns the tokens of all models of the SDK so far.
fn stats(event: &Object<'_>) -> Option<Tokens> {
    let models = entries(member(event.get("value"), "usage_to_metrics")).into_values();
    models.filter_map(|metrics| total(Some(metrics))).reduce(|all, model| all + model)
}

/// Replays an action of the SDK's agent. One that could not be parsed has no `action`.
fn call(event: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    // The name and the arguments are in `function` or beside it.
    let function =
        member(event.get("tool_call"), "function").filter(|function| is_object(Some(function)));
    let function = members(function.or(event.get("tool_call")), ["name", "arguments"]);
    let [name, arguments] = function.unwrap_or_default();
    let tool =
        event.text("tool_name").map_or_else(|| required(name, "an action", "tool_name"), Ok)?;
    let action = Some(event.get("action")).filter(|action| is_object(*action));
    let arguments = Arguments::new(action.unwrap_or(arguments));
    let said = flat_text(event.get("thought"));
    let response = event.text("llm_response_id").map(digest);
    let index = issue(response, &said, &tool, arguments.as_args(), recorder);
    recorder.await_answer(MAIN, string(event.first(["tool_call_id", "id"])), index);
    Ok(())
}

fn answer(event: &Object<'_>, text: &str, failed: bool, recorder: &mut Recorder<'_>) {
    let id = string(event.first(["tool_call_id", "action_id"]));
    recorder.answer(MAIN, id.as_deref(), text, failed);
}

/// Delivers a message of the agent, of the user or of another source.
fn message(event: &Object<'_>, text: &str, recorder: &mut Recorder<'_>) {
    recorder.begin_turn(MAIN);
    match event.text("source").as_deref() {
        None | Some("agent") => recorder.say(MAIN, text),
        Some("user") => recorder.message(MAIN, Role::User, text),
        Some(_) => recorder.message(MAIN, Role::Other, text),
    }
}

/// Replays an action of V0, or of the oldest shape.
fn act(
    event: &Object<'_>,
    action: &str,
    json: &str,
    is_first: bool,
    recorder: &mut Recorder<'_>,
) -> Done {
    pay(event, recorder);
    let [thought, content] = members(event.get("args"), ["thought", "content"]).unwrap_or_default();
    let thought = string(thought.or(event.get("thought"))).unwrap_or_default();
    if NO_CALLS.contains(&action) {
        match action {
            "message" if is_first && !event.has("source") => {
                recorder.message(MAIN, Role::User, &flat_text(event.get("content")));
            }
            "message" => message(event, &flat_text(content.or(event.get("content"))), recorder),
            "finish" | "reject" => message(event, &thought, recorder),
            "system" => recorder.message(MAIN, Role::System, &flat_text(content)),
            _ => {}
        }
        return Ok(());
    }
    if event.text("source").is_some_and(|source| source != "agent") {
        return Ok(());
    }
    let fields = if event.has("args") { None } else { Some(own_arguments(json)?) };
    let args = fields.as_deref().or(event.get("args").map(RawValue::get)).unwrap_or("null");
    let response = string(member(response(event), "id")).map(digest);
    let index = issue(response, &thought, action, Args::Json(args), recorder);
    recorder.expect(MAIN, event.get("id").map(RawValue::get), index);
    Ok(())
}

/// Returns the model's response, as V0 keeps it.
fn response<'a>(event: &Object<'a>) -> Raw<'a> {
    member(event.get("tool_call_metadata"), "model_response")
}

/// Delivers the tokens of an action of V0, which the other actions of its response repeat.
fn pay(event: &Object<'_>, recorder: &mut Recorder<'_>) {
    if let Some(total) = total(event.get("llm_metrics")) {
        recorder.usage_up_to(MAIN, Some(total));
    } else if let Some([id, usage]) = members(response(event), ["id", "usage"])
        && let Some(id) = string(id)
    {
        recorder.usage_of(MAIN, Some(&*id), Tokens::of_openai(usage));
    }
}

fn observe(event: &Object<'_>, observation: &str, recorder: &mut Recorder<'_>) {
    if NO_RESULTS.contains(&observation) {
        return;
    }
    let id = event.get("cause").map(RawValue::get).or_else(|| (!event.has("id")).then_some(""));
    let ending = nested(event.get("extras")).unwrap_or_default();
    let failed =
        observation == "error" || fails(integer(event.get("exit_code"))) || failed(&ending);
    recorder.answer(MAIN, id, &flat_text(event.get("content")), failed);
}

/// Delivers a call with the agent's words before it, in the step of its response.
fn issue(
    response: Option<u64>,
    said: &str,
    tool: &str,
    args: Args<'_>,
    recorder: &mut Recorder<'_>,
) -> usize {
    let turn = recorder.turn(MAIN);
    let together = turn.called && response.is_some() && turn.key == response;
    if !together {
        recorder.settle(MAIN);
        if !said.is_empty() {
            recorder.say(MAIN, said);
        }
    }
    recorder.call_of_turn(MAIN, response, tool, args)
}

/// Returns the arguments of an oldest action, as a JSON object.
fn own_arguments(json: &str) -> Result<String, ProblemKind> {
    let mut fields: BTreeMap<Cow<'_, str>, &RawValue> =
        serde_json::from_str(json).map_err(|error| ProblemKind::not_json(&error))?;
    fields.retain(|name, _| !NO_ARGUMENTS.contains(&name.as_ref()));
    serde_json::to_string(&fields).map_err(|error| ProblemKind::not_json(&error))
}
