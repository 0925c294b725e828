//! Reads the meaning of a span, in whichever dialect its library speaks.
//!
//! Each dialect has its own keys, and they do not conflict. So the keys are listed by meaning, and the first
//! one that a span has is used.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::messages;
use super::result::{bare, bare_arguments, bare_of_adk, is_cut_off};
use super::{Span, SpanEvent, Status, ToolCall};
use crate::event::{Tokens, is_hidden};
use crate::field::{member, string};

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
const CALL_IDS: &[&str] = &["gen_ai.tool.call.id", "tool.id", "tool_call.id", "ai.toolCall.id"];

/// The keys of a call's arguments.
const ARGUMENTS: &[&str] = &[
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "gcp.vertex.agent.tool_call_args",
    "ai.toolCall.args",
    "langfuse.observation.input",
    "traceloop.entity.input",
    "input.value",
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

/// The key of `LangChain`'s metadata.
const METADATA: &str = "metadata";

/// A key that only the calls of ADK have.
const ADK: &str = "gcp.vertex.agent.event_id";

/// The name that ADK gives the span of several calls, in addition to a span for each of them.
const MERGED: &str = "(merged tools)";

/// Returns whether this module reads an attribute of a span or of its events. The others, among them the
/// definitions of all tools in each span, only take up memory.
///
/// ```
/// use unstuck_trace::otlp::is_read;
///
/// assert!(is_read("gen_ai.tool.name") && !is_read("gen_ai.tool.definitions"));
/// ```
pub fn is_read(key: &str) -> bool {
    let lists = [SESSIONS, AGENTS, TOOLS, CALL_IDS, ARGUMENTS, RESULTS, ERRORS];
    let mut keys = lists.into_iter().chain(TOKENS).flatten();
    [METADATA, ADK].contains(&key)
        || KINDS.iter().any(|(of, _)| *of == key)
        || keys.any(|of| *of == key)
        || messages::is_read(key)
}

/// Returns whether this module reads an attribute of a resource.
pub fn is_read_of_resource(key: &str) -> bool {
    SESSIONS.contains(&key)
}

/// The kind of a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Tool,
    Agent,
    Model,
    #[default]
    Other,
}

/// The meaning of a span.
#[derive(Debug, Default)]
pub(super) struct Meaning {
    pub(super) kind: Kind,
    pub(super) session: Option<String>,
    /// The agent that a span names, even if it is not the agent's own.
    pub(super) agent: Option<String>,
    pub(super) call: Option<ToolCall>,
    /// The call within a span around a tool, whose arguments the tool's own span has only as text.
    pub(super) asked: Option<Asked>,
    /// A person's message, and the number of messages up to it.
    pub(super) prompt: Option<(String, usize)>,
    pub(super) said: Option<String>,
    pub(super) usage: Option<Tokens>,
}

impl Meaning {
    /// Reads a span.
    pub(super) fn of(span: &mut Span) -> Self {
        let kind = kind(&span.attributes);
        let kind =
            if kind == Kind::Other && is_agent_of_langchain(span) { Kind::Agent } else { kind };
        let session = text_of(&mut span.attributes, SESSIONS)
            .or_else(|| text_of(&mut Map::clone(&span.resource), SESSIONS));
        let agent = text_of(&mut span.attributes, AGENTS)
            .or_else(|| agent_of_langchain(span))
            .or_else(|| {
                let name = span.name.strip_prefix("invoke_agent ").unwrap_or(&span.name);
                // The name of a function of Vercel's AI SDK names no agent.
                (kind == Kind::Agent && !name.starts_with("ai.")).then(|| name.to_owned())
            });
        let mut meaning = Self { kind, session, agent, ..Self::default() };
        match kind {
            Kind::Tool => meaning.call = Some(call(span)),
            Kind::Model => {
                meaning.prompt = messages::prompt(span);
                meaning.said = messages::said(span);
                meaning.usage = tokens(&span.attributes);
            }
            Kind::Other => meaning.asked = asked(span),
            Kind::Agent => {}
        }
        meaning
    }
}

/// A call as `LangChain` hands it to a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) name: String,
    /// The arguments in JSON.
    pub(super) args: String,
}

/// Returns the call that a span of `LangChain` around a tool has.
fn asked(span: &Span) -> Option<Asked> {
    #[derive(Deserialize)]
    struct Given<'a> {
        name: String,
        #[serde(borrow)]
        args: &'a RawValue,
    }
    let text = span
        .attributes
        .get("input.value")?
        .as_str()
        .filter(|text| text.starts_with("[{\"name\""))?;
    let [Given { name, args }] = serde_json::from_str::<[Given<'_>; 1]>(text).ok()?;
    Some(Asked { name, args: args.get().to_owned() })
}

/// Returns the name of the agent in the metadata of a span of `LangChain`.
fn agent_of_langchain(span: &Span) -> Option<String> {
    let text = span.attributes.get(METADATA)?.as_str()?;
    let text = Some(text).filter(|text| text.contains("\"lc_agent_name\""))?;
    let metadata = serde_json::from_str(text).ok();
    string(member(metadata, "lc_agent_name")).map(Cow::into_owned)
}

/// Returns whether a span of `LangChain` is an agent's own: it is a chain with the agent's name.
fn is_agent_of_langchain(span: &Span) -> bool {
    agent_of_langchain(span).is_some_and(|agent| agent == span.name)
}

fn kind(attributes: &Map<String, Value>) -> Kind {
    if attributes.get("gen_ai.tool.name").and_then(Value::as_str) == Some(MERGED) {
        return Kind::Other;
    }
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
    if attributes.contains_key("gcp.vertex.agent.llm_request") {
        return Kind::Model;
    }
    Kind::Other
}

/// Reads the call of a tool's span.
fn call(span: &mut Span) -> ToolCall {
    let tool = text_of(&mut span.attributes, TOOLS).unwrap_or_else(|| {
        span.name.strip_prefix("execute_tool ").unwrap_or(&span.name).to_owned()
    });
    let id = text_of(&mut span.attributes, CALL_IDS);
    let (args, result) = messages::call(span);
    let args = text_of(&mut span.attributes, ARGUMENTS).or(args).map(bare_arguments);
    let result = text_of(&mut span.attributes, RESULTS).or(result);
    let is_of_adk = span.attributes.contains_key(ADK);
    let result = result.filter(|text| !is_hidden(text) && !is_cut_off(text));
    let result = result.map(|text| bare(if is_of_adk { bare_of_adk(text) } else { text }));
    let failed = has_failed(span) || result.as_ref().is_some_and(|result| result.failed);
    let result = result.map(|result| result.text);
    let result = result.or_else(|| failed.then(|| error(span)));
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

/// Returns the message of an error, or else its type.
fn error(span: &Span) -> String {
    let exception = span.events.iter().rfind(|event| is_exception(event));
    let of_exception = |key| Some(exception?.attributes.get(key)?.as_str()?.to_owned());
    let of_span = |key| Some(span.attributes.get(key)?.as_str()?.to_owned());
    let told = [
        of_exception("exception.message"),
        Some(span.message.clone()),
        of_span("langfuse.observation.status_message"),
        of_exception("exception.type"),
        of_span("error.type"),
    ];
    let told = told.into_iter().flatten().find(|text| !messages::is_redacted(text));
    told.unwrap_or_else(|| "failed without a message".to_owned())
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

/// Takes the first of these attributes that has a text: JSON, if it is not a string.
fn text_of(attributes: &mut Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match attributes.remove(*key)? {
        Value::Null => None,
        // ADK writes an empty object in place of hidden content.
        Value::String(text) if text == "{}" && key.starts_with("gcp.") => None,
        Value::String(text) => Some(text).filter(|text| !messages::is_redacted(text)),
        other => Some(other.to_string()),
    })
}
