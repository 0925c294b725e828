//! SWE-agent trajectories (`.traj`): an object with `trajectory`, `history` and `info`.
//!
//! - Both lists hold the same run. The first one is read: `trajectory`, or `history` in a
//!   demonstration without `trajectory`. Instructions are in `history` only.
//! - The format has no tool names. Every call is `bash` with `{"command": action}`, even if the model
//!   called other functions and SWE-agent turned them into command lines.
//! - A step without an action is a turn without calls.
//! - Messages marked `is_demo` are examples for the agent, and are skipped.
//! - The tokens of the whole run are in `info.model_stats`, and delivered at the end. There are no times.
//! - Results follow right after their actions and have no failure flag.

use super::prelude::*;

/// Returns the tokens of a run. Its cached tokens are unknown.
pub(super) fn tokens(stats: Raw<'_>) -> Option<Tokens> {
    let [input, output] = members(stats, ["tokens_sent", "tokens_received"])?.map(count);
    Some(Tokens { input: input?, cached: 0, output: output? })
}

pub(super) fn replay(record: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    if let Some(role) = record.text("role") {
        recorder.recognise();
        if !is_true(record.get("is_demo")) {
            message(record, &role, recorder);
        }
        return Ok(());
    }
    if !record.has("action") && !record.has("response") && !record.has("observation") {
        return Err(ProblemKind::Missing { record: "a step", field: "action" });
    }
    recorder.recognise();
    act(record, MAIN, recorder);
    if record.has("observation") {
        result(MAIN, &flat_text(record.get("observation")), recorder);
    }
    Ok(())
}

fn message(record: &Object<'_>, role: &str, recorder: &mut Recorder<'_>) {
    let worker = record.text("agent").unwrap_or(Cow::Borrowed(MAIN));
    let text = flat_text(record.get("content"));
    match Role::from_name(role) {
        Role::Assistant => act(record, &worker, recorder),
        Role::System => recorder.message(&worker, Role::System, &text),
        role => {
            if !result(&worker, &text, recorder) {
                recorder.hear(&worker, role, &text);
            }
        }
    }
}

/// Delivers the agent's words and its command.
fn act(record: &Object<'_>, worker: &str, recorder: &mut Recorder<'_>) {
    recorder.settle(worker);
    let action = record.text("action").filter(|action| !action.trim().is_empty());
    let words = words(record);
    if !words.is_empty() || action.is_none() {
        recorder.say(worker, &words);
    }
    if let Some(action) = action {
        let args = command_args(&action);
        let index = recorder.call_of_turn(worker, None, "bash", Args::Json(&args));
        recorder.pairing.issue_unnamed(worker, index);
    }
}

/// Returns the agent's words, without the command if the file keeps it apart.
fn words<'a>(record: &Object<'a>) -> Cow<'a, str> {
    let all = record.get("response").or(record.get("content"));
    record.text("thought").unwrap_or_else(|| flat_text(all))
}

/// Delivers the result of the latest call, and returns whether that call was open.
fn result(worker: &str, text: &str, recorder: &mut Recorder<'_>) -> bool {
    recorder.answer(worker, Some(""), text, false)
}
