//! The JSON Lines that `gemini --output-format stream-json` prints.
//!
//! - **Calls** are `tool_use` lines, and **results** `tool_result` lines with the same `tool_id`. A result failed
//!   if its `status` is `error`. It has an `output`, or the message of an `error`.
//! - **Turns** have no id. Calls without a result between them share a step.
//! - **Words** of the agent come in pieces.
//! - **Tokens** are those of the whole run, in its `result`. The cached ones are part of the input, and thoughts
//!   are counted only in the total.

use super::prelude::*;

pub(super) fn replay(line: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let Some(kind) = line.text("type") else { return Ok(()) };
    if let Some(session) = line.text("session_id") {
        recorder.recognise();
        recorder.session(&session);
    }
    recorder.time(time(line.get("timestamp")));
    match &*kind {
        "message" if line.has("content") => {
            recorder.recognise();
            message(line, recorder);
        }
        "tool_use" => return call(line, recorder),
        "tool_result" => result(line, recorder),
        "result" => recorder.usage(MAIN, tokens(line.get("stats"))),
        _ => {}
    }
    Ok(())
}

fn message(line: &Object<'_>, recorder: &mut Recorder<'_>) {
    let text = texts(line.get("content"));
    let Some(role) = line.text("role") else { return };
    let role = Role::from_name(&role);
    if role != Role::Assistant || recorder.turn(MAIN).called {
        recorder.begin_turn(MAIN);
    }
    match role {
        Role::Assistant => recorder.say_on(MAIN, &text),
        role => recorder.message(MAIN, role, &text),
    }
}

fn call(line: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let Some(id) = line.text("tool_id") else { return Ok(()) };
    let tool = line.required("tool_name", "a tool_use line")?;
    recorder.recognise();
    let index = recorder.call_together(MAIN, &tool, json_args(line.get("parameters")));
    recorder.pairing.issue(MAIN, &id, 0, index);
    Ok(())
}

fn result(line: &Object<'_>, recorder: &mut Recorder<'_>) {
    let Some(id) = line.text("tool_id") else { return };
    recorder.recognise();
    let text = flat_text(line.get("output").or_else(|| member(line.get("error"), "message")));
    let failed = line.text("status").as_deref() == Some("error");
    if recorder.answer(MAIN, Some(&id), &text, failed) {
        recorder.turn(MAIN).answered = true;
    }
}

/// Reads the tokens of a run. What the total has beyond input and output are thoughts.
fn tokens(stats: Raw<'_>) -> Option<Tokens> {
    let names = ["input_tokens", "cached", "output_tokens", "total_tokens"];
    let [input, cached, output, total] = members(stats, names)?.map(count);
    let output = output?.max(total?.saturating_sub(input?));
    Some(Tokens::with_cached_in_input(input?, cached?, output))
}
