//! opencode sessions, and those of its fork Kilo: the document of `opencode export`, or the JSON Lines
//! of `opencode run --format json`.
//!
//! - A message has `info` and `parts`. A part of the type `tool` is a call with its result, in `state`.
//! - **Turns.** A `step-start` part, or another message, begins an answer of the model. Its calls share a
//!   step.
//! - **Failures** are calls whose status is `error`, and commands that ended with another code than 0,
//!   which are `completed`. A call that a person or a rule rejected is refused.
//! - **Tokens** are in the `step-finish` parts. An export repeats those of the last step in the message's
//!   `info`, which count if there are no such parts. Those of an export come before the calls of the
//!   message.
//! - A user's text that the program wrote (`synthetic`), reasoning, patches and files are skipped. The
//!   printed lines have no messages of the user.

use super::prelude::*;

/// The beginnings of the errors of calls that the user or a rule rejected, or that ended with the turn, as
/// at a stop of this project.
const REJECTIONS: [&str; 3] = [
    "The user rejected permission to use",
    "The user has specified a rule which prevents you",
    "Tool execution aborted",
];

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    match source.layout {
        Layout::Lines => source.replay(recorder, &mut replay_line),
        Layout::Document => source.replay(recorder, &mut replay_message),
    }
}

fn replay_line(line: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    if let Some(session) = line.text("sessionID") {
        recorder.recognise();
        recorder.session(&session);
    }
    recorder.time(time(line.get("timestamp")));
    let Some(part) = nested(line.get("part")) else { return Ok(()) };
    recorder.usage(MAIN, tokens_of_part(&part));
    replay(&part, recorder)
}

fn replay_message(message: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let info = members(message.get("info"), ["role", "sessionID", "time", "tokens"]);
    let missing = ProblemKind::Missing { record: "a message", field: "info" };
    let [role, session, times, paid] = info.ok_or(missing)?;
    recorder.recognise();
    recorder.session_of(string(session));
    // Parts are read each time, because there may be millions of them.
    let parts = || records(message.get("parts"));
    let [created, completed] = members(times, ["created", "completed"]).unwrap_or_default();
    recorder.begin_turn(MAIN);
    recorder.time(time(created));
    if string(role).as_deref() == Some("user") {
        let typed = parts().filter(is_typed).filter_map(|part| part.text("text"));
        let typed: Vec<Cow<'_, str>> = typed.collect();
        if !typed.is_empty() {
            recorder.message(MAIN, Role::User, &typed.join("\n"));
        }
        return Ok(());
    }
    let of_steps = parts().filter_map(|part| tokens_of_part(&part)).reduce(|all, step| all + step);
    recorder.usage(MAIN, of_steps.or_else(|| tokens(paid)));
    let outcome = all(parts(), |part| replay(&part, recorder));
    recorder.time(time(completed));
    outcome
}

/// Returns whether a part of a user's message is a text that the user wrote.
fn is_typed(part: &Object<'_>) -> bool {
    part.text("type").as_deref() == Some("text") && !is_true(part.get("synthetic"))
}

/// Returns the tokens of a step, from the part that ends it.
fn tokens_of_part(part: &Object<'_>) -> Option<Tokens> {
    let is_end = part.text("type").as_deref() == Some("step-finish");
    is_end.then(|| tokens(part.get("tokens"))).flatten()
}

/// Replays a part of the model's answer.
fn replay(part: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    match part.text("type").as_deref() {
        Some("step-start") => recorder.begin_turn(MAIN),
        Some("text") => recorder.speak(MAIN, &part.text("text").unwrap_or_default()),
        Some("tool") => return call(part, recorder),
        _ => {}
    }
    Ok(())
}

fn call(part: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let tool = part.required("tool", "a tool part")?;
    let state = nested(part.get("state"));
    let input = state.as_ref().and_then(|state| state.get("input"));
    let times = members(state.as_ref().and_then(|state| state.get("time")), ["start", "end"]);
    let [start, end] = times.unwrap_or_default();
    recorder.time(time(start));
    let args = input.map_or("null", RawValue::get);
    let call = recorder.call_in_turn(MAIN, &opencode_tool(tool, args), Args::Json(args));
    if let Some((text, failed)) = state.as_ref().and_then(end_of) {
        let refused = failed && REJECTIONS.iter().any(|begin| text.starts_with(begin));
        let failed = failed && !refused;
        recorder.time(time(end));
        recorder.outcome(Outcome { failed, refused, ..Outcome::new(call, MAIN, &text) });
    }
    Ok(())
}

/// Returns the name under which a call of `OpenCode` is reported. It hands a call with arguments that do not fit to
/// the tool `invalid`, together with the name of the tool that the model asked for.
///
/// ```
/// use unstuck_trace::opencode_tool;
///
/// let args = r#"{"tool":"glob","error":"Missing key `pattern`"}"#;
/// assert_eq!(opencode_tool("invalid".into(), args), "glob with invalid arguments");
/// assert_eq!(opencode_tool("glob".into(), args), "glob");
/// ```
pub fn opencode_tool<'a>(tool: Cow<'a, str>, args: &str) -> Cow<'a, str> {
    #[derive(serde::Deserialize)]
    struct Refused<'a> {
        #[serde(borrow)]
        tool: Cow<'a, str>,
    }
    if tool != "invalid" {
        return tool;
    }
    match serde_json::from_str::<Refused<'_>>(args) {
        Ok(refused) if refused.tool != tool => {
            format!("{} with invalid arguments", refused.tool).into()
        }
        _ => tool,
    }
}

/// Returns the tokens of a step. Its parts do not overlap.
fn tokens(tokens: Raw<'_>) -> Option<Tokens> {
    let names = ["input", "output", "reasoning", "cache"];
    let [input, output, reasoning, cache] = members(tokens, names)?;
    let [read, write] = members(cache, ["read", "write"]).unwrap_or_default();
    Some(Tokens {
        input: count(input)?.saturating_add(count(write)?),
        cached: count(read)?,
        output: count(output)?.saturating_add(count(reasoning)?),
    })
}

/// Returns the result and whether it is a failure, if the call has ended.
fn end_of<'a>(state: &Object<'a>) -> Option<(Cow<'a, str>, bool)> {
    match state.text("status").as_deref() {
        Some("error") => Some((flat_text(state.get("error").or(state.get("output"))), true)),
        Some("completed") => Some((flat_text(state.get("output")), exited_badly(state))),
        // Older exports have no status.
        None if state.has("output") => Some((flat_text(state.get("output")), false)),
        _ => None,
    }
}

/// Returns whether a command ended with another code than 0.
fn exited_badly(state: &Object<'_>) -> bool {
    integer(member(state.get("metadata"), "exit")).is_some_and(|code| code != 0)
}
