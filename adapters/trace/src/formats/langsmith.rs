//! Runs of `LangSmith`: an array, a page with `runs`, a run with its `child_runs`, or runs one a line, as its clients
//! return them and its command line exports them.
//!
//! - [`crate::spans`] delivers the runs in the order of their sessions. Exports often begin with the newest run.
//! - **Calls** are the runs of the type `tool`. `LangChain` wraps arguments and result: `{"input":…}`, `{"output":…}`.
//! - **Messages** are those of the runs of the type `llm`: the last one to the model, and its answer.
//! - **Sessions** are the threads that the metadata name, or else the traces. `session_id` is the project of a run.
//! - **Failures** are the runs with an `error`.

use std::collections::VecDeque;

use super::langchain::words;
use super::prelude::*;
use crate::object;
use crate::otlp::{Span, Status};
use crate::spans;

/// The depth to which runs in runs are read. Those of nested graphs are ten deep.
const DEPTH_MAX: usize = 32;

/// The problem with runs below that depth.
const TOO_DEEP: &str = "runs are nested more than 32 levels deep, and the inner ones are not read";

/// The metadata that name a thread.
const THREADS: [&str; 3] = ["session_id", "thread_id", "conversation_id"];

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    spans::replay(source, recorder, |json, recorder, push| {
        let run = checked_object(json)?;
        let trace = run.text("trace_id").or_else(|| id(&run));
        let trace = trace.ok_or(ProblemKind::Missing { record: "a run", field: "id" })?;
        run.required("run_type", "a run")?;
        recorder.recognise();
        let parent = run.text("parent_run_id");
        // Runs inside are read when it is their turn, because there may be millions of them.
        let (mut open, mut outcome) = (VecDeque::from([(json, parent, 0)]), Ok(()));
        while let Some((json, parent, depth)) = open.pop_front() {
            let Ok(run) = checked_object(json) else { continue };
            let Some(id) = id(&run) else { continue };
            push(span(&run, &trace, &id, parent.as_deref()));
            if depth == DEPTH_MAX && run.has("child_runs") {
                outcome = Err(ProblemKind::ForeignPart { message: TOO_DEEP });
                continue;
            }
            let inner =
                run.get("child_runs").into_iter().flat_map(|runs| object::elements(runs.get()));
            open.extend(inner.map(|inner| (inner.get(), Some(id.clone()), depth + 1)));
        }
        outcome
    });
}

/// Returns the id, which has another name in exports of the command line.
fn id<'a>(run: &Object<'a>) -> Option<Cow<'a, str>> {
    string(run.get("id").or(run.get("run_id")))
}

fn span(run: &Object<'_>, trace: &str, id: &str, parent: Option<&str>) -> Span {
    let mut span = Span::of_store(trace, id, parent);
    span.name = run.text("name").unwrap_or_default().into_owned();
    span.lasts(run.get("start_time"), run.get("end_time"));
    let metadata = member(run.get("extra"), "metadata");
    let threads = members(metadata, THREADS).unwrap_or_default();
    span.set("session.id", threads.into_iter().flatten().next());
    span.set("metadata", metadata);
    match run.text("run_type").as_deref() {
        Some("tool") => set_call(run, &mut span),
        Some("llm") => set_answer(run, &mut span),
        _ => {}
    }
    if let Some(error) = run.text("error").filter(|error| !error.is_empty()) {
        span.status = Status::Error;
        span.message = error.into_owned();
    }
    span
}

fn set_call(run: &Object<'_>, span: &mut Span) {
    span.set_text("openinference.span.kind", "TOOL");
    if let Some(args) = unwrapped(run.get("inputs"), "input") {
        span.set_text("input.value", args);
    }
    if let Some(result) = unwrapped(run.get("outputs"), "output") {
        span.set_text("output.value", result);
    }
}

fn set_answer(run: &Object<'_>, span: &mut Span) {
    span.set_text("openinference.span.kind", "LLM");
    span.set("llm.token_count.prompt", run.get("prompt_tokens"));
    span.set("llm.token_count.completion", run.get("completion_tokens"));
    let messages = messages(run);
    let newest = messages.last().and_then(|message| words(message));
    if let Some((Role::User, text)) = newest {
        let key = format!("llm.input_messages.{}.message.", messages.len() - 1);
        span.set_text(&format!("{key}role"), "user");
        span.set_text(&format!("{key}content"), text);
    }
    if let Some((_, text)) = answer(run).and_then(words) {
        span.set_text("llm.output_messages.0.message.content", text);
    }
}

/// Returns the messages to the model. `LangChain` has them in a list with one list.
fn messages<'a>(run: &Object<'a>) -> Vec<&'a RawValue> {
    let messages = elements(member(run.get("inputs"), "messages"));
    match messages[..] {
        [batch] if batch.get().starts_with('[') => elements(Some(batch)),
        _ => messages,
    }
}

/// Returns the model's message: that of `LangChain`'s first generation, or of `OpenAI`'s first choice.
fn answer<'a>(run: &Object<'a>) -> Option<&'a RawValue> {
    let [generations, choices] = members(run.get("outputs"), ["generations", "choices"])?;
    let first = |list| elements(list).first().copied();
    let first = first(generations).or_else(|| first(choices))?;
    let first = elements(Some(first)).first().copied().unwrap_or(first);
    member(Some(first), "message")
}

/// Returns the text or the JSON of a field without the object around its only member, if that has this name. The object
/// may be in a text.
fn unwrapped(raw: Raw<'_>, name: &str) -> Option<String> {
    let text = spans::text(raw)?;
    let members = entries(serde_json::from_str(&text).ok());
    let inner = members.get(name).filter(|_| members.len() == 1).copied();
    Some(spans::text(inner).unwrap_or(Cow::Borrowed(&*text)).into_owned())
}
