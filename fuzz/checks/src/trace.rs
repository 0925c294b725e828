//! Tries to break: any bytes are read or refused, the events that are delivered fit together and
//! into the counts, and none depends on how the input comes in pieces.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};

use serde_json::value::RawValue;
use unstuck_trace::{Args, Event, Format, PROBLEMS_MAX, Problem, Role, Trace, read};

/// How many workers a reader is sure to know by name.
const WORKERS_MAX: usize = 1024;

/// Takes the bytes for a transcript, of each format and of whichever it looks like.
///
/// # Panics
///
/// If the events do not fit together, or come out otherwise when the bytes come in pieces.
pub fn check(input: &[u8]) {
    for from in [None].into_iter().chain(Format::ALL.iter().copied().map(Some)) {
        let mut heard = Heard::default();
        match read(input, from, &mut |event| heard.hear(event)) {
            Ok(trace) => heard.agree(&trace, from),
            Err(problem) => assert!(heard.is_empty(), "refused, yet delivered from: {problem}"),
        }
    }
    let pieces = BufReader::with_capacity(7, input);
    assert_eq!(told(pieces), told(input), "in pieces, and as a whole");
}

/// Every event of an input in words, and how it ended.
fn told(input: impl BufRead) -> (Vec<String>, Result<Trace, Problem>) {
    let mut events = Vec::new();
    let end = read(input, None, &mut |event| events.push(format!("{event:?}")));
    (events, end)
}

/// What was delivered so far, in numbers.
#[derive(Default)]
struct Heard {
    /// The worker of each call.
    calls: Vec<String>,
    /// The calls that were answered.
    answered: HashSet<usize>,
    failed: usize,
    /// The step of the latest call of each worker of this run.
    steps: HashMap<String, u64>,
    /// How many runs and workers there were before this run.
    runs_before: usize,
    workers_before: usize,
    /// The messages by index, some of which come late.
    messages: HashSet<usize>,
}

impl Heard {
    /// Takes in one event, which must fit those before it.
    fn hear(&mut self, event: Event<'_>) {
        match event {
            Event::Call(call) => {
                assert_eq!(call.index, self.calls.len(), "{call:?}");
                self.calls.push(call.worker.to_owned());
                let before = self.steps.insert(call.worker.to_owned(), call.step);
                assert!(before.is_none_or(|before| before <= call.step), "{call:?}, {before:?}");
                if let Args::Json(json) = call.args {
                    assert!(serde_json::from_str::<&RawValue>(json).is_ok(), "{call:?}");
                }
            }
            Event::Outcome(outcome) => {
                let worker = self.calls.get(outcome.call).map(String::as_str);
                assert_eq!(worker, Some(outcome.worker), "{outcome:?}");
                assert!(self.answered.insert(outcome.call), "answered again: {outcome:?}");
                self.failed += usize::from(outcome.failed);
            }
            Event::Message(message) => {
                assert!(self.messages.insert(message.index), "{message:?}");
                assert!(!message.text_only || message.role == Role::Assistant, "{message:?}");
            }
            Event::Begin(_) => {
                assert!(!self.is_empty(), "the first run begins without saying so");
                self.runs_before += 1;
                self.workers_before += self.steps.len();
                self.steps.clear();
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.messages.is_empty()
    }

    /// Asserts that the numbers are those of the trace, which was read `from` a format.
    fn agree(&self, trace: &Trace, from: Option<Format>) {
        assert!(from.is_none_or(|format| format == trace.format), "{trace:?}");
        assert_eq!(trace.calls, self.calls.len(), "{trace:?}");
        assert_eq!(trace.runs, self.runs_before + 1, "{trace:?}");
        let workers = self.workers_before + self.steps.len();
        if workers < WORKERS_MAX {
            assert_eq!(trace.workers, workers, "{trace:?}");
        }
        // Where the format has no flag for it, nothing has failed; a failure may be told late.
        assert!(trace.errors.unwrap_or(0) >= self.failed, "{trace:?}");
        assert_eq!(trace.problems.len(), trace.skipped.min(PROBLEMS_MAX), "{trace:?}");
        // Messages are numbered without a gap, however late some of them come.
        assert!((0..self.messages.len()).all(|index| self.messages.contains(&index)));
    }
}
