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
use crate::otlp::Span;
use crate::spans;

/// The lists of observations in a trace and in a page.
const LISTS: [&str; 2] = ["observations", "data"];

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

impl Format {
    /// Traces that Langfuse exports.
    pub const LANGFUSE: Self = Self::new(&Definition {
        name: "langfuse",
        no_record: "no observation of Langfuse: expected objects with `traceId` and a `type` such as `TOOL`, in \
                    `observations`, in an array or one a line",
        failures: Failures::Flagged,
        layouts: Layouts::Either(|fields| LISTS.iter().any(|key| is_list(fields, key))),
        recognise,
        read,
    });
}

fn recognise(place: Place, fields: &Fields) -> Option<Clue> {
    let holds = || LISTS.iter().any(|key| objects(fields, key).any(is_observation));
    let is_own = place != Place::Document && is_observation(fields) || holds();
    is_own
        .then_some(Clue::record("`type` of an observation, such as `GENERATION`, with `startTime`"))
}

fn is_observation(fields: &Fields) -> bool {
    let has = |names: [&str; 2]| names.into_iter().any(|name| is_text(fields, name));
    TYPES.contains(&text(fields, "type"))
        && has(["startTime", "start_time"])
        && is_text(fields, "id")
}

fn read(input: &mut dyn BufRead, layout: Layout, recorder: &mut Recorder<'_>) {
    spans::replay(input, layout, Lists::First(&LISTS), recorder, |json, recorder, push| {
        let record = checked_object::<Exported<'_>>(json)?;
        if record.observations.is_none() {
            let span = record.span(None, record.session)?;
            recorder.recognise();
            push(span);
            return Ok(());
        }
        recorder.recognise();
        let add = |observation: Exported<'_>| {
            push(observation.span(record.id, observation.session.or(record.session))?);
            Ok(())
        };
        records(record.observations).map(add).fold(Ok(()), Result::and)
    });
}

/// An observation, or a trace with its observations.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Exported<'a> {
    observations: Raw<'a>,
    id: Raw<'a>,
    #[serde(rename = "traceId", alias = "trace_id")]
    trace: Raw<'a>,
    #[serde(rename = "sessionId", alias = "session_id")]
    session: Raw<'a>,
    #[serde(rename = "parentObservationId", alias = "parent_observation_id")]
    parent: Raw<'a>,
    #[serde(rename = "type")]
    kind: Raw<'a>,
    name: Raw<'a>,
    #[serde(rename = "startTime", alias = "start_time")]
    begin: Raw<'a>,
    #[serde(rename = "endTime", alias = "end_time")]
    end: Raw<'a>,
    input: Raw<'a>,
    output: Raw<'a>,
    level: Raw<'a>,
    #[serde(rename = "statusMessage", alias = "status_message")]
    message: Raw<'a>,
    metadata: Raw<'a>,
    #[serde(rename = "usageDetails", alias = "usage_details")]
    usage: Raw<'a>,
}

impl Exported<'_> {
    /// Returns the span of an observation. `trace` and `session` are those of the trace around it.
    fn span(&self, trace: Raw<'_>, session: Raw<'_>) -> Result<Span, ProblemKind> {
        let kind = required(self.kind, "an observation", "type")?;
        let id = required(self.id, "an observation", "id")?;
        let trace = string(self.trace.or(trace)).unwrap_or(Cow::Borrowed(MAIN));
        let mut span = Span::of_store(&trace, &id, string(self.parent).as_deref());
        span.name = string(self.name).unwrap_or_default().into_owned();
        span.lasts(self.begin, self.end);
        self.add_attributes(&mut span);
        span.set("langfuse.session.id", session);
        let kind = if self.is_answer() { "tool".to_owned() } else { kind.to_lowercase() };
        span.set_text("langfuse.observation.type", &*kind);
        span.set("langfuse.observation.level", self.level);
        span.set("langfuse.observation.status_message", self.message);
        if matches!(&*kind, "tool" | "generation") {
            let messages = member(self.input, "messages").filter(|_| kind == "generation");
            span.set("langfuse.observation.input", messages.or(self.input));
            span.set("langfuse.observation.output", self.output);
            let [input, output] = members(self.usage, ["input", "output"]).unwrap_or_default();
            span.set("llm.token_count.prompt", input);
            span.set("llm.token_count.completion", output);
        }
        Ok(span)
    }

    /// Returns whether the output is the result of a tool of `LangChain`.
    fn is_answer(&self) -> bool {
        let output = spans::text(self.output).unwrap_or_default();
        let message = || serde_json::from_str::<&RawValue>(&output).ok();
        output.contains("\"tool_call_id\"") && member(message(), "tool_call_id").is_some()
    }

    /// Adds the attributes of the observation's span. The metadata are an object, or the text of one.
    fn add_attributes(&self, span: &mut Span) {
        let metadata = spans::text(self.metadata).unwrap_or_default();
        let metadata = serde_json::from_str::<&RawValue>(&metadata).ok();
        span.set_all("", member(metadata, "attributes"));
    }
}
