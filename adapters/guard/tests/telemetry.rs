//! Traces and counters contain names and numbers, never arguments or results.
//!
//! The test has a program of its own, because a subscriber of traces is known to all threads.

use std::io;
use std::sync::{Arc, Mutex};

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use tracing::subscriber::with_default;
use unstuck::{Action, Guard, SwarmStore};
use unstuck_swarm::{Counts, Finding, LoopId, Observation, Outcome, Verdict};

/// The bytes of a log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("nobody panicked").clone()).expect("text")
    }
}

/// Repeats a call until the guard stops it.
fn get_stuck(guard: &mut Guard) {
    for _ in 0..8 {
        let before = guard.before("bash", r#"{"command":"make secrets"}"#);
        if let Some(ticket) = before.ticket().filter(|_| !before.is_blocked()) {
            let _ = guard.after(ticket, "no secrets here", true);
        }
    }
}

/// Repeats a call that the guard finds only at the end.
fn end_stuck(guard: &mut Guard) {
    for _ in 0..5 {
        let _ = guard.before("notify", r#"{"text":"secrets"}"#);
    }
    assert_eq!(guard.finish().action(), Action::Nudge);
}

/// A store that reports ten stuck workers for every call.
struct Stuck;

impl SwarmStore for Stuck {
    fn record(&self, observation: &Observation) -> Verdict {
        let counts = Counts { calls: 20, workers: 10, missed: 0, beyond: 10 };
        let id = LoopId::from_bits(7);
        let finding = Finding::new(id, observation.tool, Outcome::Worked, counts);
        Verdict { action: Action::Warn, rung: 2, finding: Some(finding) }
    }
}

/// Returns a line for each counter.
fn lines(counts: &Snapshotter) -> String {
    let counted = counts.snapshot().into_vec().into_iter();
    let lines = counted.map(|(key, _, _, value)| match value {
        DebugValue::Counter(count) => format!("{} {count}", key.key()),
        DebugValue::Histogram(times) => format!("{} of {}", key.key(), times.len()),
        DebugValue::Gauge(_) => format!("{} is no counter", key.key()),
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines.join("\n")
}

#[test]
fn traces_and_counts_name_calls_and_verdicts_without_their_text() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .without_time()
        .finish();
    let recorder = DebuggingRecorder::new();
    let mut guard = Guard::builder().session("s-7").worker("scout").build().expect("a guard");
    let mut silent = Guard::builder().without_outcomes().build().expect("a guard");
    let mut among = Guard::builder().swarm(Arc::new(Stuck)).build().expect("a guard");
    with_default(subscriber, || {
        metrics::with_local_recorder(&recorder, || {
            get_stuck(&mut guard);
            end_stuck(&mut silent);
            let before = among.before("bash", r#"{"command":"make secrets"}"#);
            let _ = among.after(before.ticket(), "no secrets here", false);
        });
    });
    let (log, counts) = (log.text(), lines(&recorder.snapshotter()));
    assert!(!log.contains("secret") && !counts.contains("secret"), "{log}{counts}");
    insta::assert_snapshot!(format!("{log}\n{counts}"));
}
