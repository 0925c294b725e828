//! Spans of OpenTelemetry in OTLP's JSON: requests one a line, as a collector's file exporter writes them,
//! or a document of `resourceSpans`.
//!
//! - [`crate::otlp`] reads the spans and puts them in order. Each session is a run of its own.
//! - **Order.** Spans are written when they end, and the spans of many sessions alternate. So they are held
//!   back until the end of the input, up to the [limits](crate::otlp::Limits). Beyond these, the traces
//!   that were idle longest are delivered; if one trace is larger than that, the earlier half of its spans.
//!   A session that goes on afterwards begins another run.
//! - **Arguments and results** are absent in most traces, because SDKs write them only if they are told to.
//!   A result that was left out has its span's id as the hash of the missing part, so that it equals no
//!   other.
//! - **Failures** are the spans with an error: by their status, an exception, or a key of the dialect.

use std::io::BufRead;
use std::sync::Arc;

use crate::clue::{Clue, Fields, Place};
use crate::detect::Layout;
use crate::document::Lists;
use crate::event::{Outcome, Role};
use crate::field::check;
use crate::formats::{Definition, Failures, Format, Layouts};
use crate::otlp::{
    Assembler, Limits, RESOURCES, Record, ToolCall, What, checked_request, hexadecimal,
};
use crate::problem::ProblemKind;
use crate::recorder::{Recorder, Step};
use crate::{document, lines};

/// The nanoseconds of a millisecond.
const MILLISECOND: u64 = 1_000_000;

impl Format {
    /// Spans of OpenTelemetry, in OTLP's JSON.
    pub const OTLP: Self = Self::new(&Definition {
        name: "otlp",
        no_record: "no spans in OTLP's JSON: expected objects with `resourceSpans`, one a line or in a \
                    document",
        failures: Failures::Flagged,
        layouts: Layouts::Either,
        is_document: |_| false,
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

/// The spans of an input, and the session that is being delivered.
struct Spans {
    assembler: Assembler,
    session: Option<Arc<str>>,
}

fn read(input: &mut dyn BufRead, layout: Layout, recorder: &mut Recorder<'_>) {
    let mut spans = Spans { assembler: Assembler::new(Limits::default()), session: None };
    match layout {
        Layout::Lines => lines::replay(input, recorder, &mut |json, recorder| {
            check(json)?;
            spans.add(json, recorder)
        }),
        Layout::Document => {
            let lists = Lists::All(RESOURCES);
            document::replay(input, lists, recorder, &mut |json, recorder| {
                spans.add(json, recorder)
            });
        }
    }
    let Spans { assembler, session } = &mut spans;
    assembler.flush(&mut |record| deliver(record, session, recorder));
}

impl Spans {
    /// Adds the spans of a line or of an element, which was checked to be JSON.
    fn add(&mut self, json: &str, recorder: &mut Recorder<'_>) -> Result<(), ProblemKind> {
        let Self { assembler, session } = self;
        let broken = checked_request(json, &mut |span| assembler.push(span, 0))?;
        recorder.recognise();
        assembler.deliver_ready(&mut |record| deliver(record, session, recorder));
        match broken {
            0 => Ok(()),
            _ => Err(ProblemKind::Missing { record: "a span", field: "traceId` or `spanId" }),
        }
    }
}

/// Delivers a record, and begins a run if it is of another session.
fn deliver(record: Record, session: &mut Option<Arc<str>>, recorder: &mut Recorder<'_>) {
    match session {
        None => recorder.session(&record.session),
        Some(session) if *session != record.session && recorder.has_begun() => {
            recorder.begin(Some(&record.session));
        }
        Some(_) => {}
    }
    let Record { session: of, worker, step, span, begin, end, what, .. } = record;
    *session = Some(of);
    recorder.time(Some(begin / MILLISECOND).filter(|time| *time > 0));
    match what {
        What::Prompt(text) => {
            recorder.settle(&worker);
            recorder.message(&worker, Role::User, &text);
        }
        What::Usage(tokens) => recorder.usage(&worker, Some(tokens)),
        What::Said(text) => {
            recorder.settle(&worker);
            recorder.say(&worker, &text);
        }
        What::Call(call) => {
            let last = recorder.turn(&worker).key.replace(step);
            let step = if last == Some(step) { Step::Same } else { Step::New };
            deliver_call(&call, step, &worker, &hexadecimal(&span), recorder);
            recorder.time(Some(end / MILLISECOND).filter(|time| *time > 0));
        }
    }
}

/// Delivers a call with its result. A part of it that was left out is known by the `span` alone.
fn deliver_call(
    call: &ToolCall,
    step: Step,
    worker: &str,
    span: &str,
    recorder: &mut Recorder<'_>,
) {
    let index = recorder.call(worker, step, &call.tool, call.args());
    let (text, cut) = match call.result.as_deref() {
        None => ("", Some(span)),
        Some(text) => (text, None),
    };
    recorder.outcome(Outcome {
        call: index,
        worker,
        text,
        failed: call.failed,
        cut,
        refused: false,
    });
}
