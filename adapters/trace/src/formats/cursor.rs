//! The JSON Lines that `cursor-agent -p --output-format stream-json` prints. They begin like those of Claude
//! Code, and have calls of their own.
//!
//! - **Calls** are `tool_call` lines, `started` and `completed`, with one `call_id`. The tool is the name of the
//!   member with the arguments, without `ToolCall` at its end. MCP tools and functions have a name of their own.
//! - **Results** are the one member of `result`. It is named `success` if the call did not fail, and `rejected`
//!   if a person refused it.
//! - **Arguments** contain the id of the call, which is left out.
//! - **Turns** have no id. Calls without a result between them share a step.
//! - **Words** come in pieces with `--stream-partial-output`, and once more as a whole.
//! - **Tokens** are those of the whole run, at its end. The cached ones are no part of the input.
//! - `thinking` is skipped. Transcripts that the editor keeps are of another format, without results.

use super::prelude::*;

pub(super) fn replay(line: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let Some(kind) = line.text("type") else { return Ok(()) };
    if let Some(session) = line.text("session_id") {
        recorder.recognise();
        recorder.session(&session);
    }
    recorder.time(time(line.get("timestamp_ms")));
    match &*kind {
        "user" => {
            recorder.begin_turn(MAIN);
            recorder.message(MAIN, Role::User, &texts(member(line.get("message"), "content")));
        }
        "assistant" => speak(line, recorder),
        "tool_call" => return tool_call(line, recorder),
        "result" => recorder.usage(MAIN, tokens(line.get("usage"))),
        _ => {}
    }
    Ok(())
}

/// Replays words of the agent: a piece of them, or the whole behind its pieces.
fn speak(line: &Object<'_>, recorder: &mut Recorder<'_>) {
    let text = texts(member(line.get("message"), "content"));
    if recorder.turn(MAIN).called {
        recorder.begin_turn(MAIN);
    }
    let is_piece = line.has("timestamp_ms") && !line.has("model_call_id");
    if is_piece {
        recorder.say_on(MAIN, &text);
    } else if !text.is_empty() && recorder.held(MAIN) != Some(&*text) {
        recorder.say(MAIN, &text);
    }
}

fn tool_call(line: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    recorder.recognise();
    let id = line.required("call_id", "a tool call")?;
    let missing = ProblemKind::Missing { record: "a tool call", field: "tool_call" };
    let (field, call) = called(line.get("tool_call")).ok_or(missing)?;
    if !recorder.pairing.is_open(MAIN, &id) {
        issue(&id, &field, call, recorder);
    }
    let [result] = members(Some(call), ["result"]).unwrap_or_default();
    if line.text("subtype").as_deref() == Some("completed")
        && let Some(call) = recorder.pairing.answer(MAIN, &id)
    {
        recorder.turn(MAIN).answered = true;
        deliver(call, result, recorder);
    }
    Ok(())
}

/// Returns the member of a `tool_call` with the arguments and the result, and its name.
fn called(tool_call: Raw<'_>) -> Option<(Cow<'_, str>, &RawValue)> {
    let is_call = |(name, value): &(Cow<'_, str>, &RawValue)| {
        name == "function" || name.ends_with("ToolCall") && is_object(Some(value))
    };
    entries(tool_call).into_iter().find(is_call)
}

fn issue(id: &str, field: &str, call: &RawValue, recorder: &mut Recorder<'_>) {
    let names = ["args", "name", "arguments"];
    let [args, function, arguments] = members(Some(call), names).unwrap_or_default();
    let [tool, of_server, inner] = match field {
        "mcpToolCall" => members(args, ["toolName", "name", "args"]).unwrap_or_default(),
        _ => [None; 3],
    };
    let tool = string(tool.or(of_server).or(function));
    let tool = tool.unwrap_or_else(|| field.trim_end_matches("ToolCall").into());
    let arguments = Arguments::new(inner.or(args).or(arguments));
    let index = match arguments.as_args() {
        Args::Json(json) => recorder.call_together(MAIN, &tool, Args::Json(&without_id(json))),
        args => recorder.call_together(MAIN, &tool, args),
    };
    recorder.pairing.issue(MAIN, id, 0, index);
}

/// Returns arguments without the id of the call, which no other call has.
fn without_id(json: &str) -> Cow<'_, str> {
    if !json.contains("\"toolCallId\"") {
        return Cow::Borrowed(json);
    }
    match serde_json::from_str::<Fields>(json) {
        Ok(mut args) => {
            args.remove("toolCallId");
            Cow::Owned(Value::Object(args).to_string())
        }
        Err(_) => Cow::Borrowed(json),
    }
}

/// Delivers the result of a call.
fn deliver(call: usize, result: Raw<'_>, recorder: &mut Recorder<'_>) {
    let (how, result) = entries(result).into_iter().next().unzip();
    let how = how.unwrap_or(Cow::Borrowed("success"));
    let refused = how == "rejected";
    let exit = integer(member(result, "exitCode")).unwrap_or(0);
    let failed = !refused && (how != "success" || exit != 0);
    let text = text_of_result(result);
    recorder.outcome(Outcome { failed, refused, ..Outcome::new(call, MAIN, &text) });
}

/// Returns the text of a result: the output of a command, a content, the words of an error, or all of it.
fn text_of_result(result: Raw<'_>) -> Cow<'_, str> {
    if let Some([stdout, stderr]) = members(result, ["stdout", "stderr"])
        && (stdout.is_some() || stderr.is_some())
    {
        let [stdout, stderr] = [string(stdout), string(stderr)].map(Option::unwrap_or_default);
        let both = if stdout.is_empty() || stderr.is_empty() { "" } else { "\n" };
        return Cow::Owned(format!("{stdout}{both}{stderr}"));
    }
    let names = ["content", "errorMessage", "error", "reason"];
    let told = members(result, names).unwrap_or_default().into_iter().find_map(string);
    told.or_else(|| string(result)).or(result.map(|raw| raw.get().into())).unwrap_or_default()
}

/// Reads the tokens of a run.
fn tokens(usage: Raw<'_>) -> Option<Tokens> {
    Tokens::of_parts(usage, ["inputTokens", "cacheWriteTokens", "cacheReadTokens", "outputTokens"])
}
