//! This project's own traces: JSON Lines of calls and messages.
//!
//! - An optional header, the first object if it has no `type`. Its `session` names the run. A header
//!   after a record begins another run, for example in concatenated traces. It has no field of a
//!   record, or else it is a record that lost its `type`.
//! - `{"type":"call","tool":…,"args":…,"result":…,"is_error":…,"worker":…,"step":…,"result_sha":…}`
//! - `{"type":"message","role":…,"text":…,"worker":…}`
//! - Both may have a `time`, a text by RFC 3339 or milliseconds since 1970, and the [`Tokens`] of an
//!   answer, `"tokens":{"input":…,"cached":…,"output":…}`. If an answer has several calls, only one of
//!   them has its tokens.
//!
//! Lines of any other `type`, for example `control`, and unknown fields are skipped without a
//! problem, so that an older reader can read the traces of a newer writer. If a known field has the
//! wrong type, its line is skipped and reported. In our own format that is a mistake of the writer.

use super::prelude::*;
use crate::lines::Lines;

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    let mut lines = Lines::new(source.input);
    let mut first = true;
    while let Some((number, line)) = lines.next() {
        let record = line.and_then(object);
        let done = record.and_then(|record| replay(&record, first, recorder));
        first = false;
        if let Err(kind) = done {
            recorder.problem(kind.at(number));
        }
    }
}

fn replay(record: &Object<'_>, first: bool, recorder: &mut Recorder<'_>) -> Done {
    match text(record, "type")?.as_deref() {
        Some("call") => call(record, recorder),
        Some("message") => message(record, recorder),
        Some(_) => Ok(()),
        None if first => header(record, recorder),
        None if recorder.has_begun() && is_header(record) => begin(record, recorder),
        None => Err(ProblemKind::Missing { record: "a record", field: "type" }),
    }
}

fn header(record: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    recorder.recognise();
    recorder.session_of(text(record, "session")?);
    Ok(())
}

/// Returns whether the object has no field of a record.
fn is_header(record: &Object<'_>) -> bool {
    let of_records =
        ["tool", "args", "result", "is_error", "step", "result_sha", "role", "text", "worker"];
    of_records.iter().all(|name| !record.has(name))
}

fn begin(record: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let session = text(record, "session");
    // Another run begins even if its name cannot be read.
    recorder.begin(session.as_ref().ok().and_then(Option::as_deref));
    session.map(|_| ())
}

fn call(record: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    recorder.recognise();
    let worker = worker(record)?;
    let tool =
        text(record, "tool")?.ok_or(ProblemKind::Missing { record: "a call", field: "tool" })?;
    let number = strict(record, "step", whole, "a whole number from 0")?;
    let failed = strict(record, "is_error", flag, "true or false")?;
    let cut = text(record, "result_sha")?;
    let (time, tokens) = costs(record)?;

    recorder.time(time);
    recorder.usage(&worker, tokens);
    let call = recorder.call_of_turn(&worker, number, &tool, json_args(record.get("args")));
    if let Some(result) = record.get("result") {
        recorder.outcome(Outcome {
            call,
            worker: &worker,
            text: &record.text("result").unwrap_or(Cow::Borrowed(result.get())),
            failed: failed.unwrap_or(false),
            cut: cut.as_deref(),
            refused: false,
        });
    }
    Ok(())
}

fn message(record: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    recorder.recognise();
    let missing = |field| ProblemKind::Missing { record: "a message", field };
    let worker = worker(record)?;
    let role = text(record, "role")?.ok_or(missing("role"))?;
    let text = text(record, "text")?.ok_or(missing("text"))?;
    let (time, tokens) = costs(record)?;
    recorder.settle(&worker);
    recorder.time(time);
    recorder.usage(&worker, tokens);
    match Role::from_name(&role) {
        Role::Assistant => recorder.say(&worker, &text),
        role => recorder.message(&worker, role, &text),
    }
    Ok(())
}

/// Returns the time of a record and the tokens of its answer.
fn costs(record: &Object<'_>) -> Result<(Option<u64>, Option<Tokens>), ProblemKind> {
    let times = "a time by RFC 3339 or in milliseconds since 1970";
    let numbers = "an object with whole numbers as `input`, `cached` and `output`";
    Ok((strict(record, "time", time, times)?, strict(record, "tokens", tokens, numbers)?))
}

fn worker<'a>(record: &Object<'a>) -> Result<Cow<'a, str>, ProblemKind> {
    let worker = text(record, "worker")?;
    Ok(worker.unwrap_or(Cow::Borrowed(MAIN)))
}

fn tokens(raw: Raw<'_>) -> Option<Tokens> {
    let [input, cached, output] = members(raw, ["input", "cached", "output"])?.map(count);
    Some(Tokens { input: input?, cached: cached?, output: output? })
}

fn whole(raw: Raw<'_>) -> Option<u64> {
    raw?.get().parse().ok()
}

/// Reads a text.
fn text<'a>(record: &Object<'a>, field: &'static str) -> Result<Option<Cow<'a, str>>, ProblemKind> {
    strict(record, field, string, "a string")
}

/// Reads a field that must have the right type if it is present.
fn strict<'a, T>(
    record: &Object<'a>,
    field: &'static str,
    read: fn(Raw<'a>) -> Option<T>,
    expected: &'static str,
) -> Result<Option<T>, ProblemKind> {
    let raw = record.get(field);
    match read(raw) {
        None if raw.is_some() => Err(ProblemKind::WrongType { field, expected }),
        value => Ok(value),
    }
}
