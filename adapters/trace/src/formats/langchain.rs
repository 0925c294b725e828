//! Messages of `LangChain` and `LangGraph`: an array of them, or a state with `messages`, in three shapes.
//!
//! - `dumpd`: `{"lc":1,"type":"constructor","id":[…,"AIMessage"],"kwargs":{…}}`, also one a line.
//! - `messages_to_dict`: `{"type":"ai","data":{…}}`.
//! - `model_dump`, as in states: `{"type":"ai","content":…}`.
//!
//! The `tool_calls` of a message share its step. Its content may repeat them as blocks, and its
//! `additional_kwargs` in the shape of the provider: these are read only if there are no `tool_calls`, as in
//! messages of old versions. Calls that could not be parsed (`invalid_tool_calls`) never ran, and are passed
//! over. A result failed if its `status` is `error`.

use super::prelude::*;

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    source.replay_json(|_| None, recorder, &mut replay);
}

/// Replays a message in any of the shapes.
fn replay(json: &str, recorder: &mut Recorder<'_>) -> Done {
    let (kind, message) = open(json)?;
    let kind = kind.ok_or(ProblemKind::Missing { record: "a message", field: "type" })?;
    replay_message(&message, &kind, recorder)
}

/// Returns a message in any of the shapes, with its class, such as `AIMessageChunk`, or its name, such as `ai`.
fn open(json: &str) -> Result<(Option<Cow<'_, str>>, Object<'_>), ProblemKind> {
    let envelope = checked_object(json)?;
    // The class is the last part of a constructor's id.
    let class = elements(envelope.get("id")).last().and_then(|class| string(Some(class)));
    let kind =
        class.filter(|_| is_object(envelope.get("kwargs"))).or_else(|| envelope.text("type"));
    let inner =
        [envelope.get("kwargs"), envelope.get("data")].into_iter().find(|inner| is_object(*inner));
    let message = inner.flatten().map_or(json, RawValue::get);
    Ok((kind, checked_object(message)?))
}

/// Returns the author and the words of a message in any of the shapes, or in that of `OpenAI`'s chats. The result of a
/// tool has no author.
pub(super) fn words(message: &RawValue) -> Option<(Role, String)> {
    let (kind, message) = open(message.get()).ok()?;
    let role = match kind {
        Some(kind) => author(&message, &kind)?,
        None => Role::from_name(&message.text("role")?),
    };
    Some((role, texts(message.get("content")).into_owned()))
}

/// Replays a message. Its kind is a class, such as `AIMessageChunk`, or a name, such as `ai`.
fn replay_message(message: &Object<'_>, kind: &str, recorder: &mut Recorder<'_>) -> Done {
    if matches!(kind, "tool" | "ToolMessage" | "ToolMessageChunk") {
        recorder.recognise();
        answer(message, recorder);
        return Ok(());
    }
    let Some(role) = author(message, kind) else { return Ok(()) };
    recorder.recognise();
    recorder.begin_turn(MAIN);
    let text = texts(message.get("content"));
    if role != Role::Assistant {
        recorder.message(MAIN, role, &text);
        return Ok(());
    }
    recorder.usage(MAIN, tokens(message));
    turn(message, &text, recorder)
}

/// Returns the author of a message of this kind. The result of a tool has none.
fn author(message: &Object<'_>, kind: &str) -> Option<Role> {
    let name = kind.strip_suffix("Chunk").unwrap_or(kind);
    Some(match name.strip_suffix("Message").unwrap_or(name) {
        "human" | "Human" => Role::User,
        "ai" | "AI" => Role::Assistant,
        "system" | "System" => Role::System,
        // The class `ChatMessage` names its author.
        "chat" | "Chat" => Role::from_name(&message.text("role").unwrap_or_default()),
        _ => return None,
    })
}

/// Replays the agent's turn.
fn turn(message: &Object<'_>, text: &str, recorder: &mut Recorder<'_>) -> Done {
    let calls = calls(message);
    if !text.is_empty() || calls.is_empty() {
        recorder.say(MAIN, text);
    }
    all(calls, |[id, name, args]| {
        let name = required(name, "a tool call", "name")?;
        let index = recorder.call_in_turn(MAIN, &name, Arguments::new(args).as_args());
        recorder.expect(MAIN, string(id).as_deref(), index);
        Ok(())
    })
}

/// Returns the id, the name and the arguments of each call, from the first place that has some.
fn calls<'a>(message: &Object<'a>) -> Vec<[Raw<'a>; 3]> {
    let calls = records(message.get("tool_calls"));
    let calls: Vec<_> =
        calls.map(|call| ["id", "name", "args"].map(|name| call.get(name))).collect();
    if !calls.is_empty() {
        return calls;
    }
    let of_provider = elements(member(message.get("additional_kwargs"), "tool_calls")).into_iter();
    let calls = of_provider.filter_map(|call| {
        let [id, function] = members(Some(call), ["id", "function"])?;
        let [name, args] = members(function, ["name", "arguments"])?;
        Some([id, name, args])
    });
    calls.collect()
}

fn answer(message: &Object<'_>, recorder: &mut Recorder<'_>) {
    let status = message.text("status");
    if status.is_some() {
        recorder.flags_failures();
    }
    let id = message.text("tool_call_id").unwrap_or_default();
    let failed = status.as_deref() == Some("error");
    recorder.answer(MAIN, Some(&*id), &flat_text(message.get("content")), failed);
}

/// Reads the tokens of an answer: `LangChain`'s own figures, or the figures of `OpenAI`'s services. The cached
/// tokens are part of the input.
fn tokens(message: &Object<'_>) -> Option<Tokens> {
    let names = ["input_tokens", "input_token_details", "output_tokens"];
    let Some([input, details, output]) = members(message.get("usage_metadata"), names) else {
        return Tokens::of_openai(member(message.get("response_metadata"), "token_usage"));
    };
    let cached = count(member(details, "cache_read"))?;
    Some(Tokens::with_cached_in_input(count(input)?, cached, count(output)?))
}
