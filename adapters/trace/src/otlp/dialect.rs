//! Reads the meaning of a span, in whichever dialect its library speaks.
//!
//! A dialect is a set of keys, and no library mixes up the keys of another. So the keys are listed by
//! meaning, and the first that a span has counts.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::messages;
use super::{Span, SpanEvent, Status, ToolCall};
use crate::event::Tokens;

/// The keys that name the conversation.
const SESSIONS: &[&str] = &[
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "gcp.vertex.agent.session_id",
    "ai.telemetry.metadata.sessionId",
    "traceloop.association.properties.session_id",
];

/// The keys that say what a span is, each with its words for a tool, an agent and a model.
const KINDS: &[(&str, [&[&str]; 3])] = &[
    (
        "gen_ai.operation.name",
        [&["execute_tool"], &["invoke_agent"], &["chat", "generate_content", "text_completion"]],
    ),
    ("openinference.span.kind", [&["TOOL"], &["AGENT"], &["LLM"]]),
    ("langfuse.observation.type", [&["tool"], &["agent"], &["generation"]]),
    ("traceloop.span.kind", [&["tool"], &["agent"], &[]]),
    (
        "ai.operationId",
        [
            &["ai.toolCall"],
            &["ai.generateText", "ai.streamText"],
            &["ai.generateText.doGenerate", "ai.streamText.doStream"],
        ],
    ),
];

/// The keys of an agent's name.
const AGENTS: &[&str] = &["gen_ai.agent.name", "agent.name", "ai.telemetry.functionId"];

/// The keys of a tool's name.
const TOOLS: &[&str] =
    &["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"];

/// The keys of a call's id.
const CALL_IDS: &[&str] = &[
    "gen_ai.tool.call.id",
    "tool.id",
    "tool_call.id",
    "ai.toolCall.id",
    "gcp.vertex.agent.event_id",
];

/// The keys of a call's arguments.
const ARGUMENTS: &[&str] = &[
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "gcp.vertex.agent.tool_call_args",
    "ai.toolCall.args",
    "langfuse.observation.input",
    "traceloop.entity.input",
    "input.value",
    "tool.parameters",
];

/// The keys of a call's result.
const RESULTS: &[&str] = &[
    "gen_ai.tool.call.result",
    "tool_response",
    "gcp.vertex.agent.tool_response",
    "ai.toolCall.result",
    "langfuse.observation.output",
    "traceloop.entity.output",
    "output.value",
];

/// The keys of a list of messages for the model.
const INPUTS: &[&str] = &["gen_ai.input.messages", "ai.prompt.messages"];

/// The keys of the model's answer, as a list of messages or as text.
const OUTPUTS: &[&str] = &["gen_ai.output.messages", "ai.response.text"];

/// The keys of the tokens of an answer: all that the model read, those from a cache, and those that it
/// wrote.
const TOKENS: [&[&str]; 3] = [
    &[
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "ai.usage.inputTokens",
        "ai.usage.promptTokens",
    ],
    &[
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
        "ai.usage.cachedInputTokens",
    ],
    &[
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "ai.usage.outputTokens",
        "ai.usage.completionTokens",
    ],
];

/// The keys of an error, beside the status of the span.
const ERRORS: &[&str] = &[
    "error.type",
    "gen_ai.tool.status",
    "langfuse.observation.level",
    "langfuse.observation.status_message",
    "exception.type",
    "exception.message",
];

/// Returns whether this module reads an attribute of a span or of its events. The others, among them the
/// definitions of all tools in each span, only take up memory.
///
/// ```
/// use unstuck_trace::otlp::is_read;
///
/// assert!(is_read("gen_ai.tool.name") && !is_read("gen_ai.tool.definitions"));
/// ```
pub fn is_read(key: &str) -> bool {
    let lists = [SESSIONS, AGENTS, TOOLS, CALL_IDS, ARGUMENTS, RESULTS, INPUTS, OUTPUTS, ERRORS];
    let mut keys = lists.into_iter().chain(TOKENS).flatten();
    KINDS.iter().any(|(of, _)| *of == key) || keys.any(|of| *of == key) || messages::is_read(key)
}

/// Returns whether this module reads an attribute of a resource.
pub(super) fn is_read_of_resource(key: &str) -> bool {
    SESSIONS.contains(&key)
}

/// The kind of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Tool,
    Agent,
    Model,
    Other,
}

/// The meaning of a span.
#[derive(Debug)]
pub(super) struct Meaning {
    pub(super) kind: Kind,
    pub(super) session: Option<String>,
    /// The agent that a span names, even if it is not the agent's own.
    pub(super) agent: Option<String>,
    pub(super) call: Option<ToolCall>,
    /// A person's message, and the number of messages up to it.
    pub(super) prompt: Option<(String, usize)>,
    pub(super) said: Option<String>,
    pub(super) usage: Option<Tokens>,
}

impl Meaning {
    /// Reads a span.
    pub(super) fn of(span: &mut Span) -> Self {
        let kind = kind(&span.attributes);
        let session = text_of(&mut span.attributes, SESSIONS)
            .or_else(|| Some(texts(&span.resource, SESSIONS).next()?.to_owned()));
        let agent = text_of(&mut span.attributes, AGENTS).or_else(|| {
            let name = span.name.strip_prefix("invoke_agent ").unwrap_or(&span.name);
            (kind == Kind::Agent).then(|| name.to_owned())
        });
        let mut meaning =
            Self { kind, session, agent, call: None, prompt: None, said: None, usage: None };
        match kind {
            Kind::Tool => meaning.call = Some(call(span)),
            Kind::Model => {
                meaning.prompt = messages::prompt(&span.attributes, INPUTS);
                meaning.said = messages::said(&span.attributes, OUTPUTS);
                meaning.usage = tokens(&span.attributes);
            }
            Kind::Agent | Kind::Other => {}
        }
        meaning
    }
}

fn kind(attributes: &Map<String, Value>) -> Kind {
    for (key, words) in KINDS {
        let Some(word) = attributes.get(*key).and_then(Value::as_str) else { continue };
        for (words, kind) in words.iter().zip([Kind::Tool, Kind::Agent, Kind::Model]) {
            if words.contains(&word) {
                return kind;
            }
        }
    }
    if attributes.contains_key("gcp.vertex.agent.tool_call_args") {
        return Kind::Tool;
    }
    Kind::Other
}

/// Reads the call of a tool's span.
fn call(span: &mut Span) -> ToolCall {
    let tool = text_of(&mut span.attributes, TOOLS).unwrap_or_else(|| {
        span.name.strip_prefix("execute_tool ").unwrap_or(&span.name).to_owned()
    });
    let id = text_of(&mut span.attributes, CALL_IDS);
    let failed = has_failed(span);
    let args = text_of(&mut span.attributes, ARGUMENTS);
    let result = text_of(&mut span.attributes, RESULTS);
    let result = result.or_else(|| failed.then(|| error(span)).flatten());
    ToolCall { tool, id, args, result, failed }
}

fn has_failed(span: &Span) -> bool {
    let is =
        |key: &str, value: &str| span.attributes.get(key).and_then(Value::as_str) == Some(value);
    span.status == Status::Error
        || span.attributes.contains_key("error.type")
        || is("gen_ai.tool.status", "error")
        || is("langfuse.observation.level", "ERROR")
        || span.status != Status::Ok && span.events.iter().any(is_exception)
}

fn is_exception(event: &SpanEvent) -> bool {
    event.name == "exception"
}

/// Returns the message of an error.
fn error(span: &Span) -> Option<String> {
    let exception = span.events.iter().rfind(|event| is_exception(event));
    let of_exception = |keys| exception.and_then(|event| texts(&event.attributes, keys).next());
    let message = of_exception(&["exception.message"])
        .or_else(|| Some(&*span.message).filter(|message| !message.is_empty()))
        .or_else(|| texts(&span.attributes, &["langfuse.observation.status_message"]).next())
        .or_else(|| of_exception(&["exception.type"]))
        .or_else(|| texts(&span.attributes, &["error.type"]).next())?;
    Some(message.to_owned())
}

/// Returns the tokens of a model's span.
fn tokens(attributes: &Map<String, Value>) -> Option<Tokens> {
    let [input, cached, output] = TOKENS.map(|keys| {
        let value = keys.iter().find_map(|key| attributes.get(*key));
        value.map_or(Some(0), |value| {
            value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok()))
        })
    });
    let tokens = Tokens::with_cached_in_input(input?, cached?, output?);
    Some(tokens).filter(|tokens| tokens.total() > 0)
}

/// Takes the first of these attributes that is there, as text: JSON, if it is not a string.
fn text_of(attributes: &mut Map<String, Value>, keys: &[&str]) -> Option<String> {
    let taken = keys.iter().find_map(|key| attributes.remove(*key).filter(|it| !it.is_null()))?;
    match taken {
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

/// Returns the strings of these attributes that are not empty.
fn texts<'a>(
    attributes: &'a Map<String, Value>,
    keys: &'a [&str],
) -> impl Iterator<Item = &'a str> {
    let texts = keys.iter().filter_map(|key| attributes.get(*key)?.as_str());
    texts.filter(|text| !text.is_empty())
}
