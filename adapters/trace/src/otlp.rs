//! Spans of OpenTelemetry's protocol, put in order as the runs of agents.
//!
//! The module knows what spans mean, and no transport. A span says what happened in one of several
//! dialects: the `GenAI` conventions (in attributes or in span events), `OpenInference`, Langfuse,
//! `OpenLLMetry`, Google's ADK or Vercel's AI SDK. [`spans_of_json`] decodes spans; a receiver may decode
//! them from protobuf just as well. The [`Assembler`] makes [records](Record) of them.
//!
//! ```
//! use unstuck_trace::otlp::{Assembler, Limits, What, spans_of_json};
//!
//! let request = br#"{"resourceSpans":[{"scopeSpans":[{"spans":[{
//!     "traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174",
//!     "name":"execute_tool ls","startTimeUnixNano":"1000","endTimeUnixNano":"2000",
//!     "attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},
//!                   {"key":"gen_ai.tool.name","value":{"stringValue":"ls"}}]}]}]}]}"#;
//! let mut assembler = Assembler::new(Limits::default());
//! let broken = spans_of_json(request, &mut |span| assembler.push(span, 0))?;
//! let mut tools = Vec::new();
//! assembler.flush(&mut |record| {
//!     if let What::Call(call) = record.what {
//!         tools.push(call.tool);
//!     }
//! });
//! assert_eq!((broken, tools), (0, vec!["ls".to_owned()]));
//! # Ok::<(), unstuck_trace::ProblemKind>(())
//! ```
//!
//! # Sessions, workers and steps
//!
//! - The **session** is the conversation that a span names, or else the first one that its trace names.
//!   A trace without one is a session of its own, named by its id.
//! - The **worker** is the nearest agent above a span. Each agent span is a worker of its own, with the
//!   agent's name. A second worker of the same name in the session has its span's id behind the name. An
//!   agent's span ends, and so arrives, after the spans of its calls. Until then the worker is known by
//!   the id of the agent's span, and it keeps the name that it was given. Spans without any agent belong
//!   to their trace's root. Spans without parents belong to the worker `main`, in each trace to another one.
//! - Calls of a worker that overlap in time share a **step**, unless one of them runs within the other.
//! - The name of a session, an agent or a tool has at most 256 bytes. A longer one is cut, and a digest of the
//!   whole name follows.
//!
//! # Repeated spans
//!
//! A span that arrives twice counts once. If two libraries observe one call, their spans are nested, and
//! the outer one counts. Messages repeat the history of their conversation in each span; only the
//! newest message of a person is delivered.

mod assembler;
mod decode;
mod dialect;
mod messages;
mod name;
mod result;
mod room;
mod session;
mod tree;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::{Args, Outcome, Tokens, is_hidden};
use crate::pull::is_json;

pub use assembler::{Assembler, Counts, Limits};
pub use decode::spans_of_json;
pub(crate) use decode::{checked_request, id_of_text};
pub use dialect::{is_read, is_read_of_resource};
pub use name::cut_names;
pub use room::Room;

/// The id of a trace.
pub type TraceId = [u8; 16];

/// The id of a span.
pub type SpanId = [u8; 8];

/// A span, decoded from JSON or from protobuf.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Span {
    /// The trace that the span belongs to.
    pub trace: TraceId,
    /// The span's id, unique within its trace.
    pub id: SpanId,
    /// The span within which this one ran.
    pub parent: Option<SpanId>,
    /// The span's name.
    pub name: String,
    /// The time of the beginning, in nanoseconds since 1970.
    pub begin: u64,
    /// The time of the end, in nanoseconds since 1970.
    pub end: u64,
    /// The status: error, success or unset.
    pub status: Status,
    /// The message of the status.
    pub message: String,
    /// The attributes. Only those that [`is_read`] names matter; a decoder may leave out the others.
    pub attributes: Map<String, Value>,
    /// The events within the span.
    pub events: Vec<SpanEvent>,
    /// The attributes of the resource, which is the process or service that made the span. Only those that
    /// [`is_read_of_resource`] names matter. A decoder cuts them with [`cut_names`].
    pub resource: Arc<Map<String, Value>>,
    /// The name of the instrumentation scope: the library that made the span.
    pub scope: Arc<str>,
}

impl Span {
    /// Creates a span of this resource and scope without an id, a name or a time, for a decoder to fill in.
    pub fn empty(resource: &Arc<Map<String, Value>>, scope: &Arc<str>) -> Self {
        let (resource, scope) = (Arc::clone(resource), Arc::clone(scope));
        Self { resource, scope, ..Self::default() }
    }
}

/// The status of a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Status {
    /// The library did not set it.
    #[default]
    Unset,
    /// A person or the library says that the operation worked.
    Ok,
    /// The operation failed.
    Error,
}

impl Status {
    /// Returns the status with this code in the protocol. An unknown code is [`Status::Unset`].
    pub const fn of_code(code: i64) -> Self {
        match code {
            1 => Self::Ok,
            2 => Self::Error,
            _ => Self::Unset,
        }
    }
}

/// An event within a span.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanEvent {
    /// The event's name.
    pub name: String,
    /// The time of the event, in nanoseconds since 1970.
    pub time: u64,
    /// The attributes of the event.
    pub attributes: Map<String, Value>,
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The conversation, or the id of the trace in hexadecimal digits.
    pub session: Arc<str>,
    /// The agent.
    pub worker: Arc<str>,
    /// The step of a call: calls that overlap in time share one. For other events, the latest step of
    /// the worker. Steps count from 1 over all workers of a session.
    pub step: u64,
    /// The trace of the span.
    pub trace: TraceId,
    /// The span from which the record was read.
    pub span: SpanId,
    /// The time of the span's beginning, in nanoseconds since 1970.
    pub begin: u64,
    /// The time of the span's end, in nanoseconds since 1970.
    pub end: u64,
    /// The event itself.
    pub what: What,
}

/// The kinds of [`Record`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A call of a tool, with its result.
    Call(ToolCall),
    /// The words of an agent.
    Said(String),
    /// A new message of a person, or of a program in the person's place.
    Prompt(String),
    /// The tokens of an answer of the model.
    Usage(Tokens),
}

/// A call of a tool, as a span describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// The id that the model gave the call.
    pub id: Option<String>,
    /// The arguments, as JSON or as text. `None` if the SDK left them out, as most do by default.
    pub args: Option<String>,
    /// The result, as JSON or as text, or the message of the error. `None` if the SDK left it out.
    pub result: Option<String>,
    /// `true` if the call failed.
    pub failed: bool,
}

impl ToolCall {
    /// Returns the arguments as the event of a transcript has them. JSON that a limit of the SDK cut off may
    /// differ behind the cut, and redacted arguments may differ anywhere, so both are absent.
    ///
    /// ```
    /// use unstuck_trace::Args;
    /// use unstuck_trace::otlp::ToolCall;
    ///
    /// let with = |args: &str| ToolCall { args: Some(args.to_owned()), ..ToolCall::default() };
    /// assert_eq!(with(r#"{"path":"a"}"#).args(), Args::Json(r#"{"path":"a"}"#));
    /// assert_eq!(with(r#"{"path":"a","conte"#).args(), Args::Absent);
    /// ```
    pub fn args(&self) -> Args<'_> {
        match self.args.as_deref() {
            None => Args::Absent,
            Some(text) if is_hidden(text) => Args::Absent,
            Some(text) if is_json(text) => Args::Json(text),
            Some(text) if text.trim_start().starts_with(['{', '[', '"']) && !is_of_python(text) => {
                Args::Absent
            }
            Some(text) => Args::Text(text),
        }
    }

    /// Returns the result as the event of a transcript has it, for the call with this index. A result that the SDK
    /// left out is equal to no other: the text `unknown`, such as the id of the span, stands for what is missing.
    ///
    /// ```
    /// use unstuck_trace::otlp::ToolCall;
    ///
    /// let call = ToolCall::default();
    /// assert_eq!(call.outcome(0, "main", "eee19b7ec3c1b174").cut, Some("eee19b7ec3c1b174"));
    /// ```
    pub fn outcome<'a>(&'a self, call: usize, worker: &'a str, unknown: &'a str) -> Outcome<'a> {
        let (text, cut) = match self.result.as_deref() {
            Some(text) => (text, None),
            None => ("", Some(unknown)),
        };
        Outcome { call, worker, text, failed: self.failed, cut, refused: false }
    }
}

/// Returns whether a text is a whole object or list as Python prints it.
fn is_of_python(text: &str) -> bool {
    let text = text.trim();
    let begins = |begin: &str| text.starts_with(begin);
    (begins("{'") && text.ends_with('}'))
        || ((begins("['") || begins("[{'")) && text.ends_with(']'))
}

/// Returns the hexadecimal digits of an id.
///
/// ```
/// assert_eq!(unstuck_trace::otlp::hexadecimal(&[0x0e, 0xe1]), "0ee1");
/// ```
pub fn hexadecimal(id: &[u8]) -> String {
    use core::fmt::Write;
    id.iter().fold(String::with_capacity(2 * id.len()), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
