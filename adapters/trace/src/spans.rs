//! Delivers the spans of an input as the runs of agents.
//!
//! - [`crate::otlp`] reads the spans and puts them in order. Each session is a run of its own.
//! - **Order.** Spans are written when they end, and the spans of many sessions alternate. So they are held
//!   back until the end of the input, up to the [limits](crate::otlp::Limits). Beyond these, the traces
//!   that were idle longest are delivered; if one trace is larger than that, the earlier half of its spans.
//!   A session that goes on afterwards begins another run.
//! - A result that was left out has its span's id as the hash of the missing part, so that it equals no
//!   other.

use std::io::BufRead;
use std::sync::Arc;

use crate::detect::Layout;
use crate::document::Lists;
use crate::event::{Outcome, Role};
use crate::field::check;
use crate::otlp::{Assembler, Limits, Record, Span, ToolCall, What, hexadecimal};
use crate::problem::ProblemKind;
use crate::recorder::{Recorder, Step};
use crate::{document, lines};

/// The nanoseconds of a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// Reads the spans of a line or of an element, which was checked to be JSON, and passes them on.
pub(crate) type Read = fn(&str, &mut Recorder<'_>, &mut dyn FnMut(Span)) -> Result<(), ProblemKind>;

/// Replays the spans of an input, and delivers what they say at its end.
pub(crate) fn replay(
    input: &mut dyn BufRead,
    layout: Layout,
    lists: Lists,
    recorder: &mut Recorder<'_>,
    read: Read,
) {
    let (mut assembler, mut session) = (Assembler::new(Limits::default()), None);
    let mut each = |json: &str, recorder: &mut Recorder<'_>| {
        let outcome = read(json, recorder, &mut |span| assembler.push(span, 0));
        assembler.deliver_ready(&mut |record| deliver(record, &mut session, recorder));
        outcome
    };
    match layout {
        Layout::Lines => lines::replay(input, recorder, &mut |json, recorder| {
            check(json)?;
            each(json, recorder)
        }),
        Layout::Document => document::replay(input, lists, recorder, &mut each),
    }
    assembler.flush(&mut |record| deliver(record, &mut session, recorder));
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
