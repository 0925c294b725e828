//! Memory of smolagents: the list of steps that `get_full_steps` returns, or a result of a run with `steps`.
//!
//! - **Calls** are the `tool_calls` of an action step, and share its step. If a tool fails, this list stays empty, and
//!   the calls stand in `model_output_message`. An agent that writes code calls `python_interpreter` with the code
//!   as text.
//! - **Results.** A step has one text for all of its calls: its `observations`, and its `error` behind them. The
//!   final answer may stand in `action_output` alone. If a step has several calls, nobody knows which part of the text
//!   answers which of them, and which of them failed. So each has the whole text, which equals only that of a call at
//!   the same place in another step, and the failure is counted once and belongs to none of them.
//! - **Pictures** that an agent sees beside a result are a part of it.
//! - **Turns without calls** are steps whose text could not be parsed. A plan is no turn.
//! - **Tokens** are the `token_usage` of a step. Older versions leave it out.
//! - Messages to the model repeat the steps before, and are skipped.

use super::prelude::*;
use crate::pairing::digest;

pub(super) fn replay(step: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let given = step.get("system_prompt").map(|text| (Role::System, text));
    let given = given.or(step.get("task").map(|text| (Role::User, text)));
    // Older versions have other names for the number and the time of a step.
    let is_action = step.get("step_number").or(step.get("step")).is_some();
    if given.is_none() && !step.has("plan") && !is_action {
        return Err(ProblemKind::Missing { record: "a step", field: "step_number" });
    }
    recorder.recognise();
    recorder
        .time(time_in_seconds(member(step.get("timing"), "start_time").or(step.get("start_time"))));
    recorder.begin_turn(MAIN);
    recorder.usage(MAIN, Tokens::of_openai(step.get("token_usage")));
    if let Some((role, text)) = given {
        recorder.message(MAIN, role, &texts(Some(text)));
    } else if is_action {
        return act(step, recorder);
    } else {
        recorder.message(MAIN, Role::Assistant, &texts(step.get("plan")));
    }
    Ok(())
}

/// Delivers the calls of an action step and its result.
fn act(step: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let words = texts(step.get("model_output"));
    if !words.is_empty() {
        recorder.say(MAIN, &words);
    }
    let mut issued = Vec::new();
    let outcome = all(calls(step), |call| {
        issued.push(issue(call, recorder)?);
        Ok(())
    });
    answer(step, &issued, recorder);
    outcome
}

/// Delivers the result of a step to its calls.
fn answer(step: &Object<'_>, calls: &[usize], recorder: &mut Recorder<'_>) {
    let Some(text) = result(step) else { return };
    let is_shared = calls.len() > 1;
    let failed = step.has("error") && !calls.is_empty();
    for (place, call) in calls.iter().enumerate() {
        let cut = cut(step, is_shared.then_some(place));
        let outcome = Outcome::new(*call, MAIN, &text);
        let failed = failed && !is_shared;
        recorder.outcome(Outcome { failed, cut: cut.as_deref(), ..outcome });
    }
    if failed && is_shared {
        recorder.failed_late();
    }
}

/// Returns what tells equal texts of a result apart: the place of the call, if the text is that of several calls,
/// and the pictures.
fn cut(step: &Object<'_>, place: Option<usize>) -> Option<String> {
    let pictures =
        step.get("observations_images").map(|pictures| digest(pictures.get()).to_string());
    match (place, pictures) {
        (Some(place), pictures) => Some(format!("{place}{}", pictures.unwrap_or_default())),
        (None, pictures) => pictures,
    }
}

fn calls<'a>(step: &Object<'a>) -> Vec<&'a RawValue> {
    let calls = elements(step.get("tool_calls"));
    if calls.is_empty() {
        return elements(member(step.get("model_output_message"), "tool_calls"));
    }
    calls
}

/// Returns what the agent reads of a step: the observations, and the error behind them.
fn result<'a>(step: &Object<'a>) -> Option<Cow<'a, str>> {
    let error = member(step.get("error"), "message")
        .or(step.get("error"))
        .map(|error| flat_text(Some(error)));
    let observed =
        step.get("observations").or(step.get("action_output").filter(|_| error.is_none()));
    let observed = observed.map(|text| flat_text(Some(text)));
    match (observed, error) {
        (Some(observed), Some(error)) => Some(format!("{observed}\n{error}").into()),
        (observed, error) => observed.or(error),
    }
}

/// Delivers a call, and returns its index. Some programs keep it without `function`.
fn issue(call: &RawValue, recorder: &mut Recorder<'_>) -> Result<usize, ProblemKind> {
    let function = member(Some(call), "function").or(Some(call));
    let [name, arguments] = members(function, ["name", "arguments"]).unwrap_or_default();
    let name = required(name, "a tool call", "name")?;
    Ok(recorder.call_in_turn(MAIN, &name, Arguments::new(arguments).as_args()))
}
