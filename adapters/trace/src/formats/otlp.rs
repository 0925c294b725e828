//! Spans of OpenTelemetry in OTLP's JSON: requests one a line, as a collector's file exporter writes them,
//! or a document of `resourceSpans`.
//!
//! - [`crate::spans`] delivers the spans in the order of their sessions.
//! - **Arguments and results** are absent in most traces, because SDKs write them only if they are told to.
//! - **Failures** are the spans with an error: by their status, an exception, or a key of the dialect.

use super::prelude::*;
use crate::otlp::checked_request;
use crate::spans;

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    spans::replay(source, recorder, |json, recorder, push| {
        let broken = checked_request(json, push)?;
        recorder.recognise();
        match broken {
            0 => Ok(()),
            _ => Err(ProblemKind::Missing { record: "a span", field: "traceId` or `spanId" }),
        }
    });
}
