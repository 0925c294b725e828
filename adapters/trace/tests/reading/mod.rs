//! Events in words, so that a test reads like its transcript.

use unstuck_trace::{Args, Event, Format, Problem, Trace, read};

/// The events of an input, and how it ended.
pub(crate) struct Reading {
    pub(crate) events: Vec<String>,
    pub(crate) end: Result<Trace, Problem>,
}

impl Reading {
    /// Returns the messages of all problems, also of one that left no trace.
    pub(crate) fn problems(&self) -> Vec<String> {
        match &self.end {
            Ok(trace) => trace.problems.iter().map(Problem::to_string).collect(),
            Err(problem) => vec![problem.to_string()],
        }
    }
}

/// Reads an input and returns its events in words.
pub(crate) fn reading(input: &[u8], from: Option<Format>) -> Reading {
    let mut events = Vec::new();
    let end = read(input, from, &mut |event| events.extend(word(&event)));
    Reading { events, end }
}

/// Returns an event in words. Tokens and times have tests of their own.
fn word(event: &Event<'_>) -> Option<String> {
    Some(match event {
        Event::Call(call) => {
            let args = match call.args {
                Args::Json(json) => json.to_owned(),
                Args::Text(text) => format!("text {text:?}"),
            };
            let (index, worker, step, tool) = (call.index, call.worker, call.step, call.tool);
            format!("#{index} {worker}/{step} {tool} {args}")
        }
        Event::Outcome(outcome) => {
            let failed = if outcome.failed { "failed " } else { "" };
            let cut = outcome.cut.map_or(String::new(), |cut| format!(" +{cut}"));
            let (call, worker, text) = (outcome.call, outcome.worker, outcome.text);
            format!("#{call} {worker} -> {failed}{text:?}{cut}")
        }
        Event::Message(message) => {
            let only = if message.text_only { " only" } else { "" };
            let (worker, role, text) = (message.worker, message.role, message.text);
            format!("{worker} {role:?}{only}: {text}")
        }
        Event::Begin(begin) => format!("begin {}", begin.session.unwrap_or("unnamed")),
        Event::Usage(_) | Event::Time(_) => return None,
    })
}
