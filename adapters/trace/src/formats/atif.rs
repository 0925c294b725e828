//! ATIF, the Agent Trajectory Interchange Format of Harbor: one document with `steps`, versions 1.0 to 1.8.
//!
//! - **Calls** are the `tool_calls` of an agent's step, and share its step.
//! - **Results** are in the `observation` of the same step or a later one. Some writers, such as Terminus 2, leave
//!   out `source_call_id`. Such a result belongs to no call, and is dropped; but it shows that the calls of the
//!   step returned, so that their results are unknown and not missing.
//! - **Subagents** in `subagent_trajectories` are workers of their own, named by their `trajectory_id`.
//! - **Copies.** A step with `is_copied_context` was copied from another trajectory, and is skipped.
//! - **Failures** have no field. Some writers flag them in the `extra` of a result.
//! - **Redacted** values are not compared: such a message is dropped, a result or arguments are equal to no
//!   other, and an id names no call.
//! - **Tokens** are the `metrics` of a step. The cached ones are part of the input.

use super::prelude::*;
use crate::event::{is_hidden, is_redacted};

/// The depth to which subagents of subagents are read. Real ones have one or two levels.
const DEPTH_MAX: usize = 8;

/// Replays a step, or the trajectory of a subagent.
pub(super) fn replay(element: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    if element.has("steps") {
        delegate(element, 1, recorder)
    } else {
        step(element, MAIN, recorder)
    }
}

/// Replays the trajectory of a subagent, and the trajectories of its own subagents.
fn delegate(element: &Object<'_>, depth: usize, recorder: &mut Recorder<'_>) -> Done {
    if depth > DEPTH_MAX {
        let message =
            "subagents are nested more than 8 levels deep, and the inner ones are not read";
        return Err(ProblemKind::ForeignPart { message });
    }
    let id = element.text("trajectory_id").or_else(|| element.text("session_id"));
    let worker = id.unwrap_or(Cow::Borrowed("subagent"));
    let outcome = all(elements(element.get("steps")), |inner| {
        step(&checked_object(inner.get())?, &worker, recorder)
    });
    outcome.and(all(elements(element.get("subagent_trajectories")), |inner| {
        delegate(&checked_object(inner.get())?, depth + 1, recorder)
    }))
}

fn step(element: &Object<'_>, worker: &str, recorder: &mut Recorder<'_>) -> Done {
    let source = element.required("source", "a step")?;
    recorder.recognise();
    if is_true(element.get("is_copied_context")) {
        return Ok(());
    }
    recorder.time(time(element.get("timestamp")));
    recorder.begin_turn(worker);
    recorder.usage(worker, tokens(element));
    let message = flat_text(element.get("message"));
    let calls = elements(element.get("tool_calls"));
    if !is_redacted(&message) {
        match Role::from_name(if source == "agent" { "assistant" } else { &source }) {
            Role::Assistant if message.is_empty() && !calls.is_empty() => {}
            Role::Assistant => recorder.say(worker, &message),
            role => recorder.message(worker, role, &message),
        }
    }
    let (first, outcome) = issue(worker, &calls, recorder);
    observe(element, worker, first.unwrap_or(0), recorder);
    outcome
}

/// Delivers the results of a step, whose calls have the indexes from `first` on.
fn observe(element: &Object<'_>, worker: &str, first: usize, recorder: &mut Recorder<'_>) {
    let results = records(member(element.get("observation"), "results"));
    let mut is_unnamed = false;
    for result in results {
        is_unnamed |= !result.has("source_call_id");
        deliver(&result, worker, recorder);
    }
    while is_unnamed && let Some(call) = recorder.pairing.answer_any(worker, first) {
        let cut = call.to_string();
        recorder.outcome(Outcome { cut: Some(&*cut), ..Outcome::new(call, worker, "") });
    }
}

fn tokens(element: &Object<'_>) -> Option<Tokens> {
    Tokens::of(element.get("metrics"), ["prompt_tokens", "cached_tokens", "completion_tokens"])
}

/// Delivers the calls of a step, and returns the index of the first. One that cannot be read is reported after
/// the others are delivered.
fn issue(worker: &str, calls: &[&RawValue], recorder: &mut Recorder<'_>) -> (Option<usize>, Done) {
    let mut first = None;
    let outcome = all(calls, |call| {
        let names = ["tool_call_id", "function_name", "arguments"];
        let [id, name, arguments] = members(Some(call), names).unwrap_or_default();
        let name = required(name, "a tool call", "function_name")?;
        let arguments = Arguments::new(arguments);
        let index = recorder.call_in_turn(worker, &name, arguments.as_args());
        first.get_or_insert(index);
        let id = string(id).filter(|id| !is_redacted(id));
        recorder.expect(worker, id.as_deref(), index);
        Ok(())
    });
    (first, outcome)
}

fn deliver(answer: &Object<'_>, worker: &str, recorder: &mut Recorder<'_>) {
    let Some(id) = answer.text("source_call_id") else { return };
    let id = if is_redacted(&id) { "" } else { &*id };
    let Some(call) = recorder.pairing.answer(worker, id) else { return };
    let text = flat_text(answer.get("content"));
    let cut = is_hidden(&text).then(|| call.to_string());
    let (cut, failed) = (cut.as_deref(), failed(answer));
    recorder.outcome(Outcome { failed, cut, ..Outcome::new(call, worker, &text) });
}

/// Returns whether a writer flagged the failure, as Harbor does for Claude Code, pi and Kimi.
fn failed(answer: &Object<'_>) -> bool {
    let flags = members(answer.get("extra"), ["is_error", "tool_result_is_error"]);
    flags.unwrap_or_default().into_iter().any(is_true)
}
