//! Spans of OpenTelemetry in OTLP's JSON: requests one a line, as a collector's file exporter writes them,
//! or a document of `resourceSpans`.
//!
//! - [`crate::spans`] delivers the spans in the order of their sessions.
//! - **Arguments and results** are absent in most traces, because SDKs write them only if they are told to.
//! - **Failures** are the spans with an error: by their status, an exception, or a key of the dialect.

use super::prelude::*;
use crate::otlp::{RESOURCES, checked_request};
use crate::spans;

impl Format {
    /// Spans of OpenTelemetry, in OTLP's JSON.
    pub const OTLP: Self = Self::new(&Definition {
        name: "otlp",
        no_record: "no spans in OTLP's JSON: expected objects with `resourceSpans`, one a line or in a \
                    document",
        failures: Failures::Flagged,
        layouts: Layouts::Either(|_| false),
        recognise,
        read,
    });
}

fn recognise(_: Place, fields: &Fields) -> Option<Clue> {
    // A list that is cut off is null.
    let is_list = |key: &str| fields.get(key).is_some_and(|list| list.is_array() || list.is_null());
    if RESOURCES.iter().any(|key| is_list(key)) {
        return Some(Clue::mark("`resourceSpans`"));
    }
    let is_element = is_list("scopeSpans") && fields.contains_key("resource");
    is_element.then_some(Clue::mark("`scopeSpans` of a `resource`"))
}

fn read(input: &mut dyn BufRead, layout: Layout, recorder: &mut Recorder<'_>) {
    spans::replay(input, layout, Lists::All(RESOURCES), recorder, |json, recorder, push| {
        let broken = checked_request(json, push)?;
        recorder.recognise();
        match broken {
            0 => Ok(()),
            _ => Err(ProblemKind::Missing { record: "a span", field: "traceId` or `spanId" }),
        }
    });
}
