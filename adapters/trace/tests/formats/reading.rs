//! Events in words, so that a test reads like its transcript.

use std::collections::BTreeSet;

use unstuck_text::{Envelope, Unescaped};
use unstuck_trace::{Args, Event, Format, Problem, Tokens, Trace, read};

/// The events of an input, and how it ended.
pub(crate) struct Reading {
    /// The events without tokens and times.
    pub(crate) events: Vec<String>,
    /// All events.
    all: Vec<String>,
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

    /// Returns all that is known of an input, a line each: its events, its problems, and a summary.
    pub(crate) fn lines(&self) -> Vec<String> {
        let problems = self.problems();
        let problems = problems.iter().map(|problem| format!("! {problem}"));
        let summary = self.end.as_ref().ok().map(summary);
        self.all
            .iter()
            .map(|event| event.replace('\n', "⏎"))
            .chain(problems)
            .chain(summary)
            .collect()
    }
}

/// Returns the figures of a trace in words. What is usual is left out.
fn summary(trace: &Trace) -> String {
    let mut words = vec![format!("= {}", trace.format)];
    words.extend(trace.session.as_ref().map(|session| format!("session {session}")));
    for (count, usual, what) in [
        (trace.runs, 1, "runs"),
        (trace.workers, 1, "workers"),
        (trace.forgotten, 0, "forgotten workers"),
        (trace.without_args, 0, "calls without arguments"),
        (trace.skipped, trace.problems.len(), "skipped"),
    ] {
        words.extend((count != usual).then(|| format!("{what} {count}")));
    }
    let errors = trace.errors.map_or("unknown".to_owned(), |errors| errors.to_string());
    words.push(format!("errors {errors}"));
    words.extend((!trace.notes.is_empty()).then(|| format!("notes at {:?}", trace.notes)));
    words.join(", ")
}

/// Reads an input and returns its events in words. Its calls, tokens and times have to agree with the trace. Arguments
/// that are unknown have to be equal to no others.
pub(crate) fn reading(input: &[u8], from: Option<Format>) -> Reading {
    let (mut events, mut all) = (Vec::new(), Vec::new());
    let (mut calls, mut tokens, mut times) = (0, None, Vec::new());
    let mut unknown = BTreeSet::new();
    let end = read(input, from, &mut |event| {
        let word = word(&event);
        if let Event::Call(call) = event {
            calls += 1;
            let args = call.compared_args();
            if !matches!(call.args, Args::Json(known) | Args::Text(known) if known == args) {
                unknown.insert(args.into_owned());
            }
        }
        match event {
            Event::Usage(usage) => *tokens.get_or_insert_default() += usage.tokens,
            Event::Time(time) => times.push(time),
            _ => events.push(word.clone()),
        }
        all.push(word);
    });
    let (begin, latest) = (times.iter().min().copied(), times.iter().max().copied());
    let of_trace =
        |trace: &Trace| (trace.calls, trace.without_args, trace.tokens, trace.begin, trace.end);
    let found = end.as_ref().map_or((0, 0, None, None, None), of_trace);
    assert_eq!(found, (calls, unknown.len(), tokens, begin, latest));
    assert!(times.is_sorted_by(|before, next| before != next), "{times:?}");
    Reading { events, all, end }
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
            let refused = if outcome.refused { "refused " } else { "" };
            let failed = if outcome.failed { "failed " } else { "" };
            let cut = outcome.cut.map_or(String::new(), |cut| format!(" +{cut}"));
            let (call, worker, text) = (outcome.call, outcome.worker, outcome.text);
            let mut memory = Unescaped::default();
            let body = Envelope::open(text, &mut memory).body;
            let body = if body == text { String::new() } else { format!(" body {body:?}") };
            format!("#{call} {worker} -> {refused}{failed}{text:?}{body}{cut}")
        }
        Event::Message(message) => {
            let only = if message.text_only { " only" } else { "" };
            let (worker, role, text) = (message.worker, message.role, message.text);
            format!("{worker} {role:?}{only}: {text}")
        }
        Event::Begin(begin) => format!("begin {}", begin.session.unwrap_or("unnamed")),
        Event::Usage(usage) => {
            let Tokens { input, cached, output } = usage.tokens;
            format!("{} pays {input} {cached} {output}", usage.worker)
        }
        Event::Time(time) => format!("at {time}"),
    }
}
