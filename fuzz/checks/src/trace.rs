//! Claim: any bytes are read or refused. The delivered events fit together and agree with the counts,
//! and they do not depend on the pieces in which the input arrives.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};

use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use serde_json::value::RawValue;
use unstuck_trace::{Args, Event, Format, PROBLEMS_MAX, Problem, Role, Tokens, Trace, read};

/// The number of workers that a reader surely follows.
const WORKERS_MAX: usize = 1024;

/// Reads the bytes as a transcript of each format, and of the recognised one, and packed in archives.
///
/// # Panics
///
/// Panics if the events do not fit together, or differ if the bytes arrive in pieces or packed.
pub fn check(input: &[u8]) {
    for from in [None].into_iter().chain(Format::ALL.iter().copied().map(Some)) {
        read_from(input, from);
    }
    let pieces = BufReader::with_capacity(7, input);
    let whole = told(input);
    assert_eq!(told(pieces), whole, "in pieces, and as a whole");
    // An archive in an archive is refused.
    if !is_packed(input) {
        assert_eq!(told(&gzip(input)[..]), whole, "packed, and as it is");
    }
    let log = zip("samples/a_epoch_1.json", input);
    read_from(&log, None);
    read_from(&log[..log.len() / 2], None);
}

/// Returns whether the input begins like what is unpacked. Of a frame of zstd that is skipped, the first byte is one of
/// sixteen.
fn is_packed(input: &[u8]) -> bool {
    matches!(input, [0x1F, 0x8B, ..] | [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, ..])
}

fn read_from(input: &[u8], from: Option<Format>) {
    let mut heard = Heard::default();
    match read(input, from, &mut |event| heard.hear(event)) {
        Ok(trace) => heard.agree(&trace, from),
        Err(problem) => assert!(heard.is_silent(), "refused, yet delivered from: {problem}"),
    }
}

fn gzip(input: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(input).expect("memory");
    encoder.finish().expect("memory")
}

/// Returns a zip archive with one member, which is not packed.
fn zip(name: &str, content: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(content);
    let size = u32::try_from(content.len()).unwrap_or(u32::MAX).to_le_bytes();
    let length = u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes();
    let begin = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0";
    let sum = crc.sum().to_le_bytes();
    [&begin[..], &sum, &size, &size, &length, &[0, 0], name.as_bytes(), content, b"PK\x01\x02"]
        .concat()
}

/// Returns every event of an input in words, and how it ended.
fn told(input: impl BufRead) -> (Vec<String>, Result<Trace, Problem>) {
    let mut events = Vec::new();
    let end = read(input, None, &mut |event| events.push(format!("{event:?}")));
    (events, end)
}

/// The counts of the events delivered so far.
#[derive(Default)]
struct Heard {
    /// The worker of each call.
    calls: Vec<String>,
    /// The calls with a result.
    answered: HashSet<usize>,
    failed: usize,
    /// The step of the latest call of each worker of this run.
    steps: HashMap<String, u64>,
    /// The number of runs and workers before this run.
    runs_before: usize,
    workers_before: usize,
    /// The messages by index, some of which come late.
    messages: HashSet<usize>,
    tokens: Option<Tokens>,
    times: Vec<u64>,
}

impl Heard {
    /// Adds an event, which must fit the events before it.
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
            Event::Usage(usage) => {
                assert!(usage.tokens.total() > 0, "{usage:?}");
                *self.tokens.get_or_insert_default() += usage.tokens;
            }
            Event::Time(time) => {
                assert_ne!(self.times.last(), Some(&time), "the same time again");
                self.times.push(time);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.messages.is_empty()
    }

    /// Returns whether nothing at all was delivered.
    fn is_silent(&self) -> bool {
        self.is_empty() && self.tokens.is_none() && self.times.is_empty()
    }

    /// Asserts that the counts agree with the trace, which was read `from` a format.
    fn agree(&self, trace: &Trace, from: Option<Format>) {
        assert!(from.is_none_or(|format| format == trace.format), "{trace:?}");
        assert_eq!(trace.calls, self.calls.len(), "{trace:?}");
        assert_eq!(trace.runs, self.runs_before + 1, "{trace:?}");
        let workers = self.workers_before + self.steps.len();
        if workers < WORKERS_MAX {
            assert_eq!(trace.workers, workers, "{trace:?}");
        }
        // Without a flag in the format no call failed. A failure may be reported late.
        assert!(trace.errors.unwrap_or(0) >= self.failed, "{trace:?}");
        assert_eq!(trace.tokens, self.tokens, "{trace:?}");
        assert_eq!(trace.begin, self.times.iter().min().copied(), "{trace:?}");
        assert_eq!(trace.end, self.times.iter().max().copied(), "{trace:?}");
        assert_eq!(trace.problems.len(), trace.skipped.min(PROBLEMS_MAX), "{trace:?}");
        // Messages are numbered without a gap, even if some of them come late.
        assert!((0..self.messages.len()).all(|index| self.messages.contains(&index)));
    }
}
