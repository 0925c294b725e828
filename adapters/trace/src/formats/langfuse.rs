//! Traces of Langfuse: a trace with `observations`, a page of these with `data`, an array, or observations one a line.
//!
//! - [`crate::spans`] delivers the observations in the order of their sessions.
//! - **Names.** The fields of the API are spelled like `parentObservationId`, those of a table in a bucket like
//!   `parent_observation_id`.
//! - **Calls** are the observations of the type `TOOL`. Observations that came by OpenTelemetry keep the attributes of
//!   their spans in `metadata`, which may say so as well. In old traces a tool is a `SPAN` like any other, and is
//!   known only by a result of `LangChain`.
//! - **Failures** have the level `ERROR`, and `statusMessage` says why.

use super::prelude::*;
use crate::fields::{is_text, text};
use crate::otlp::Span;
use crate::spans;

/// The types of observations.
const TYPES: &[&str] = &[
    "SPAN",
    "GENERATION",
    "EVENT",
    "AGENT",
    "TOOL",
    "CHAIN",
    "RETRIEVER",
    "EVALUATOR",
    "EMBEDDING",
    "GUARDRAIL",
];

/// Returns whether an object is an observation.
pub(super) fn is_observation(fields: &Fields) -> bool {
    let has = |names: [&str; 2]| names.into_iter().any(|name| is_text(fields, name));
    TYPES.contains(&text(fields, "type"))
        && has(["startTime", "start_time"])
        && is_text(fields, "id")
}

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    spans::replay(source, recorder, |json, recorder, push| {
        let record = checked_object(json)?;
        let mut add = |observation: &Object<'_>, around| {
            push(span(observation, around)?);
            Ok(())
        };
        if record.has("observations") {
            recorder.recognise();
            let inner = records(record.get("observations"));
            return all(inner, |observation| add(&observation, Some(&record)));
        }
        add(&record, None)?;
        recorder.recognise();
        Ok(())
    });
}

/// Returns the span of an observation, which may stand in a trace.
fn span(record: &Object<'_>, around: Option<&Object<'_>>) -> Result<Span, ProblemKind> {
    let kind = record.required("type", "an observation")?;
    let id = record.required("id", "an observation")?;
    let trace = record.first(["traceId", "trace_id"]).or(around.and_then(|trace| trace.get("id")));
    let trace = string(trace).unwrap_or(Cow::Borrowed(MAIN));
    let parent = string(record.first(["parentObservationId", "parent_observation_id"]));
    let mut span = Span::of_store(&trace, &id, parent.as_deref());
    span.name = record.text("name").unwrap_or_default().into_owned();
    span.lasts(record.first(["startTime", "start_time"]), record.first(["endTime", "end_time"]));
    add_attributes(record, &mut span);
    let sessions = ["sessionId", "session_id"];
    let session = record.first(sessions).or(around.and_then(|trace| trace.first(sessions)));
    span.set("langfuse.session.id", session);
    let kind = if is_answer(record) { "tool".to_owned() } else { kind.to_lowercase() };
    span.set_text("langfuse.observation.type", &*kind);
    span.set("langfuse.observation.level", record.get("level"));
    let status = record.first(["statusMessage", "status_message"]);
    span.set("langfuse.observation.status_message", status);
    if matches!(&*kind, "tool" | "generation") {
        let messages = member(record.get("input"), "messages").filter(|_| kind == "generation");
        span.set("langfuse.observation.input", messages.or(record.get("input")));
        span.set("langfuse.observation.output", record.get("output"));
        let usage = record.first(["usageDetails", "usage_details"]);
        let [input, output] = members(usage, ["input", "output"]).unwrap_or_default();
        span.set("llm.token_count.prompt", input);
        span.set("llm.token_count.completion", output);
    }
    Ok(span)
}

/// Returns whether the output is the result of a tool of `LangChain`.
fn is_answer(record: &Object<'_>) -> bool {
    let output = spans::text(record.get("output")).unwrap_or_default();
    let message = || serde_json::from_str::<&RawValue>(&output).ok();
    output.contains("\"tool_call_id\"") && member(message(), "tool_call_id").is_some()
}

/// Adds the attributes of the observation's span. The metadata are an object, or the text of one.
fn add_attributes(record: &Object<'_>, span: &mut Span) {
    let metadata = spans::text(record.get("metadata")).unwrap_or_default();
    let metadata = serde_json::from_str::<&RawValue>(&metadata).ok();
    span.set_all("", member(metadata, "attributes"));
}
