//! Spans of Arize Phoenix: JSON Lines, an array, a page of spans with `data`, or a trace with `spans`. The SDK of
//! OpenTelemetry for Python prints its spans in the same shape.
//!
//! - [`crate::spans`] delivers the spans in the order of their sessions, and the dialect is that of `OpenInference`, or
//!   any other that [`crate::otlp`] knows.
//! - **Attributes** are an object with keys such as `tool.name`, or with objects in objects. A table has them as
//!   members of the span: `attributes.tool.name`.
//! - **Failures** are the spans with the status `ERROR`.

use super::prelude::*;
use crate::otlp::{Span, Status};
use crate::spans;

/// The beginning of the members with attributes in a table.
const COLUMN: &str = "attributes.";

/// Returns whether an object is a span.
pub(super) fn is_span(fields: &Fields) -> bool {
    let has = |key: &str| fields.contains_key(key);
    let context = fields.get("context").and_then(|context| context.as_object());
    let is_nested = context.is_some_and(|context| context.contains_key("span_id"));
    (is_nested || has("context.span_id"))
        && (has("attributes") || has("status_code") || has("attributes.openinference.span.kind"))
}

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    spans::replay(source, recorder, |json, recorder, push| {
        let record = checked_object(json)?;
        let spans = elements(record.get("spans"));
        if !record.has("spans") {
            return add(&record, json, recorder, push);
        }
        let add_inner =
            |span: &RawValue| add(&checked_object(span.get())?, span.get(), recorder, push);
        all(spans, add_inner)
    });
}

/// Adds the span. A table has its attributes among the members of `json`.
fn add(
    record: &Object<'_>,
    json: &str,
    recorder: &mut Recorder<'_>,
    push: &mut dyn FnMut(Span),
) -> Done {
    let [trace, id] = members(record.get("context"), ["trace_id", "span_id"]).unwrap_or_default();
    let trace = required(trace.or(record.get("context.trace_id")), "a span", "trace_id")?;
    let id = required(id.or(record.get("context.span_id")), "a span", "span_id")?;
    recorder.recognise();
    let mut span = Span::of_store(&trace, &id, record.text("parent_id").as_deref());
    span.name = record.text("name").unwrap_or_default().into_owned();
    span.lasts(record.get("start_time"), record.get("end_time"));
    span.set("openinference.span.kind", record.get("span_kind"));
    span.set_all("", record.get("attributes"));
    if !record.has("attributes") {
        for (name, value) in entries(serde_json::from_str(json).ok()) {
            if let Some(key) = name.strip_prefix(COLUMN) {
                span.set_all(key, Some(value));
            }
        }
    }
    // The SDK of OpenTelemetry prints the status as an object.
    let [code, message] =
        members(record.get("status"), ["status_code", "description"]).unwrap_or_default();
    if string(record.get("status_code").or(code)).as_deref() == Some("ERROR") {
        span.status = Status::Error;
        span.message =
            string(record.get("status_message").or(message)).unwrap_or_default().into_owned();
    }
    push(span);
    Ok(())
}
