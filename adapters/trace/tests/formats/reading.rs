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

/// Reads an input and returns its events in words. Tokens and times have tests of their own, so that
/// they only have to agree with the trace here.
pub(crate) fn reading(input: &[u8], from: Option<Format>) -> Reading {
    let (mut events, mut tokens, mut times) = (Vec::new(), None, Vec::new());
    let end = read(input, from, &mut |event| match event {
        Event::Usage(usage) => *tokens.get_or_insert_default() += usage.tokens,
        Event::Time(time) => times.push(time),
        event => events.push(word(&event)),
    });
    let summary = end.as_ref().map_or((None, None, None), |end| (end.tokens, end.begin, end.end));
    let (begin, latest) = (times.iter().min().copied(), times.iter().max().copied());
    assert_eq!(summary, (tokens, begin, latest));
    assert!(times.is_sorted_by(|before, next| before != next), "{times:?}");
    Reading { events, end }
}

/// Returns the cases of a table: a line each, with the name of a format before the rest.
pub(crate) fn cases(table: &str) -> Vec<(Format, &str)> {
    let case = |line| {
        let (format, rest) = str::split_once(line, " | ").expect("a format and the rest");
        (format.parse().expect("a known format"), rest)
    };
    table.lines().map(case).collect()
}

fn word(event: &Event<'_>) -> String {
    match event {
        Event::Call(call) => {
            let args = match call.args {
                Args::Json(json) => json.to_owned(),
                Args::Text(text) => format!("text {text:?}"),
                Args::Absent => "absent".to_owned(),
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
        Event::Usage(usage) => format!("{} tokens", usage.tokens.total()),
        Event::Time(time) => format!("at {time}"),
    }
}
