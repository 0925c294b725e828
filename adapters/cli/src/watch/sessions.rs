//! The sessions, each with its own replay. The caller passes the time.
//!
//! The state is a function of the spans and of the times at which they were taken in. So a journal of both gives
//! the same findings again after a restart.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use unstuck_report::html::IncludeArgs;
use unstuck_report::replay::{Replay, ReplayCheckpoint};
use unstuck_text::Preset;
use unstuck_trace::otlp::{Assembler, Counts, Limits as AssemblerLimits, Record, Span};

use super::finding::Finding;
use super::metrics::Metrics;
use super::session::{History, Session};

/// The milliseconds between two checks for records that have waited long enough. Checks are at multiples of it,
/// independent of when the clock is read, so that a journal is replayed exactly.
const TICK: u64 = 500;

/// The milliseconds between two checks for traces of sessions that have ended, at multiples of it as well.
const SWEEP: u64 = 60_000;

/// The most sessions whose engine is ready, at some 30 KB each. The others rest, in a few KB.
const AWAKE_MAX: usize = 256;

/// The bounds of all sessions together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The most sessions, and the most bytes of resting sessions and of words that wait.
    pub(super) sessions: usize,
    pub(super) bytes: usize,
    /// The milliseconds without a record after which a session ends.
    pub(super) quiet: u64,
    pub(super) assembler: AssemblerLimits,
}

/// All sessions.
pub(super) struct Sessions {
    preset: &'static Preset,
    include: IncludeArgs,
    limits: Limits,
    assembler: Assembler,
    /// The records that have waited long enough at the latest check, and are to be judged.
    due: VecDeque<Record>,
    followed: HashMap<Arc<str>, Session>,
    /// The sessions by their latest record, the oldest first, and the awake sessions in the same order.
    order: BTreeMap<u64, Arc<str>>,
    awake: BTreeMap<u64, Arc<str>>,
    clocks: Clocks,
    bytes: usize,
    /// The counts of the assembler that the metrics know, by [`REASONS`].
    counts: [u64; 4],
}

/// The reasons for which the assembler drops a span, or a part of its order.
const REASONS: [&str; 4] = ["duplicate", "late", "hurried", "forgotten"];

/// The clocks of all sessions.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Clocks {
    /// The number of the latest record.
    touched: u64,
    /// The latest check.
    tick: u64,
    /// The time of the latest span.
    pushed: u64,
}

/// The results of spans: findings and counts.
#[derive(Default)]
pub(super) struct Made {
    pub(super) findings: Vec<Finding>,
    pub(super) metrics: Metrics,
}

impl Sessions {
    pub(super) fn new(preset: &'static Preset, include: IncludeArgs, limits: Limits) -> Self {
        Self {
            preset,
            include,
            limits,
            assembler: Assembler::new(limits.assembler),
            due: VecDeque::new(),
            followed: HashMap::new(),
            order: BTreeMap::new(),
            awake: BTreeMap::new(),
            clocks: Clocks::default(),
            bytes: 0,
            counts: [0; 4],
        }
    }

    /// Takes in spans at the time `now`, which never goes back.
    pub(super) fn push(&mut self, spans: Vec<Span>, now: u64, made: &mut Made) {
        self.advance(now, made);
        made.metrics.add("unstuck_spans_total", &[], spans.len() as u64);
        let hurried = self.assembler.counts().hurried;
        for span in spans {
            self.assembler.push(span, now);
        }
        self.clocks.pushed = now;
        if self.assembler.counts().hurried > hurried {
            self.settle(self.clocks.tick, made);
            self.take_all(made);
        }
        self.count(&mut made.metrics);
    }

    /// Looks for records that have waited long enough, and for sessions that are quiet, up to the time `now`.
    pub(super) fn advance(&mut self, now: u64, made: &mut Made) {
        while self.advance_part(now, usize::MAX, made) {}
    }

    /// Does a part of [`Sessions::advance`], so that others get their turn: judges `most` records at most. Returns
    /// whether there is more to do. Whatever is done to the sessions meanwhile does the rest first.
    pub(super) fn advance_part(&mut self, now: u64, most: usize, made: &mut Made) -> bool {
        if self.due.is_empty() && !self.look_for_due(now, made) {
            return false;
        }
        for record in self.due.drain(..most.min(self.due.len())).collect::<Vec<_>>() {
            self.take(record, made);
        }
        if self.due.is_empty() {
            self.end_quiet(made);
        }
        true
    }

    /// Goes on to the first check up to the time `now` at which records have waited long enough. Returns `false`
    /// if there is none.
    fn look_for_due(&mut self, now: u64, made: &mut Made) -> bool {
        while self.clocks.tick.saturating_add(TICK) <= now {
            let settled = self.clocks.pushed.saturating_add(self.limits.assembler.settle + TICK);
            if self.followed.is_empty() && self.clocks.tick > settled {
                self.sweep(now / TICK * TICK);
                return false;
            }
            self.sweep(self.clocks.tick + TICK);
            if self.clocks.tick <= settled {
                self.settle(self.clocks.tick, made);
            }
            if !self.due.is_empty() {
                return true;
            }
            self.end_quiet(made);
        }
        false
    }

    /// Ends a check of which a part is done.
    pub(super) fn end_check(&mut self, made: &mut Made) {
        self.advance(self.clocks.tick, made);
    }

    /// Sets the time of the latest check. Forgets the traces of sessions that have ended.
    fn sweep(&mut self, tick: u64) {
        let before = std::mem::replace(&mut self.clocks.tick, tick);
        if before / SWEEP < tick / SWEEP {
            // A session is quiet from its latest record on, which has waited.
            self.assembler.forget_idle((tick / SWEEP * SWEEP).saturating_sub(self.horizon()));
        }
    }

    /// Ends all sessions, because nothing more will come.
    pub(super) fn finish(&mut self, made: &mut Made) {
        self.end_check(made);
        let mut records = Vec::new();
        self.assembler.flush(&mut |record| records.push(record));
        for record in records {
            self.take(record, made);
        }
        while let Some((_, id)) = self.order.pop_first() {
            self.end(&id, made);
        }
    }

    /// Returns the milliseconds within which time alone, without a span, can bring a finding.
    pub(super) const fn horizon(&self) -> u64 {
        self.limits.quiet.saturating_add(self.limits.assembler.settle).saturating_add(SWEEP)
    }

    /// Returns the number of sessions, and the bytes of resting sessions and of words that wait.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.followed.len(), self.bytes)
    }

    /// Adds the state to what is to be stored. All sessions rest, as they do after a restart.
    pub(super) fn snapshot(&mut self, before: Vec<u8>) -> Vec<u8> {
        while let Some((_, id)) = self.awake.pop_first() {
            self.make_idle(&id);
        }
        let sessions = self.followed.iter_mut();
        let sessions: Vec<(&str, &History, &ReplayCheckpoint)> = sessions
            .map(|(id, Session { history, replay, .. })| (&**id, &*history, replay.checkpoint()))
            .collect();
        let state = (self.clocks, self.counts, &self.assembler, sessions);
        // Writing to memory does not fail.
        postcard::to_extend(&state, before).unwrap_or_default()
    }

    /// Returns the sessions of a snapshot, with the policy and the limits of these. Returns `None` if it cannot be
    /// read.
    pub(super) fn restored(&self, snapshot: &[u8]) -> Option<Self> {
        type State = (Clocks, [u64; 4], Assembler, Vec<(String, History, ReplayCheckpoint)>);
        let (clocks, counts, assembler, stored): State = postcard::from_bytes(snapshot).ok()?;
        let new = Self::new(self.preset, self.include, self.limits);
        let mut all =
            Self { assembler: assembler.resumed(self.limits.assembler), clocks, counts, ..new };
        for (id, history, rest) in stored {
            let (id, replay) = (Arc::from(id), Replay::resumed(all.preset, rest)?);
            let session = Session::new(&id, all.include, replay, history);
            all.bytes += session.history.bytes();
            all.order.insert(session.history.touched, Arc::clone(&id));
            all.followed.insert(id, session);
        }
        Some(all)
    }

    /// Finds the records that have waited long enough.
    fn settle(&mut self, tick: u64, made: &mut Made) {
        self.assembler.settled(tick, &mut |record| self.due.push_back(record));
        self.count(&mut made.metrics);
    }

    /// Judges all records that are due.
    fn take_all(&mut self, made: &mut Made) {
        while let Some(record) = self.due.pop_front() {
            self.take(record, made);
        }
    }

    /// Counts what the assembler counted since the last time.
    fn count(&mut self, metrics: &mut Metrics) {
        let Counts { duplicates, late, hurried, forgotten_spans, .. } = self.assembler.counts();
        let now = [duplicates, late, hurried, forgotten_spans];
        let before = std::mem::replace(&mut self.counts, now);
        for (reason, (now, before)) in REASONS.into_iter().zip(now.into_iter().zip(before)) {
            metrics.add("unstuck_spans_dropped_total", &[("reason", reason)], now - before);
        }
    }

    /// Takes in a record of a session, which is created if it is new.
    fn take(&mut self, record: Record, made: &mut Made) {
        let Clocks { touched, tick, .. } = &mut self.clocks;
        *touched += 1;
        let id = Arc::clone(&record.session);
        let session = self.followed.entry(Arc::clone(&id));
        let session = session.or_insert_with(|| {
            Session::new(&id, self.include, Replay::new(self.preset), History::default())
        });
        let before = std::mem::replace(&mut session.history.touched, *touched);
        session.history.seen = *tick;
        self.bytes -= session.history.bytes();
        session.take(record, made);
        self.bytes += session.history.bytes();
        self.order.remove(&before);
        self.awake.remove(&before);
        self.order.insert(*touched, Arc::clone(&id));
        self.awake.insert(*touched, id);
        if self.awake.len() > AWAKE_MAX
            && let Some((_, id)) = self.awake.pop_first()
        {
            self.make_idle(&id);
        }
        self.evict(made);
    }

    /// Puts a session to rest, which frees its engine.
    fn make_idle(&mut self, id: &str) {
        let Some(session) = self.followed.get_mut(id) else { return };
        self.bytes -= session.history.bytes();
        session.make_idle();
        self.bytes += session.history.bytes();
    }

    /// Ends the sessions that were idle longest, if there are too many.
    fn evict(&mut self, made: &mut Made) {
        loop {
            let limit = match () {
                () if self.followed.len() > self.limits.sessions => "sessions",
                () if self.bytes > self.limits.bytes && self.followed.len() > 1 => "bytes",
                () => return,
            };
            let Some((_, id)) = self.order.pop_first() else { return };
            made.metrics.add("unstuck_sessions_evicted_total", &[("limit", limit)], 1);
            self.end(&id, made);
        }
    }

    fn end_quiet(&mut self, made: &mut Made) {
        while let Some(first) = self.order.first_entry() {
            let is_quiet = self.followed.get(first.get()).is_none_or(|session| {
                session.history.seen.saturating_add(self.limits.quiet) <= self.clocks.tick
            });
            if !is_quiet {
                return;
            }
            let id = first.remove();
            self.end(&id, made);
        }
    }

    /// Ends a session that is no longer in the order of sessions.
    fn end(&mut self, id: &Arc<str>, made: &mut Made) {
        let Some(session) = self.followed.remove(id) else { return };
        self.awake.remove(&session.history.touched);
        self.bytes -= session.history.bytes();
        session.end(made);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use unstuck_text::PRESETS;
    use unstuck_trace::otlp::{ToolCall, What, hexadecimal, spans_of_json};

    use super::*;

    const LIMITS: Limits = Limits {
        sessions: 100,
        bytes: 1 << 20,
        quiet: 60_000,
        assembler: AssemblerLimits { bytes: 1 << 20, spans: 1000, workers: 100, settle: 2000 },
    };

    fn sessions(limits: Limits) -> Sessions {
        Sessions::new(&PRESETS[0], IncludeArgs::None, limits)
    }

    /// Returns the span of the call number `n` of a session, which begins `n` seconds after the others.
    fn call(session: u8, n: u64, args: &str) -> Span {
        let trace = format!("{:032x}", u32::from(session) + 1);
        let begin = n * 1_000_000_000;
        let result = if session == 1 { format!("page {n}") } else { "no such file".to_owned() };
        let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
        let span = json!({
            "traceId": trace, "spanId": format!("{:016x}", n + 1), "name": "execute_tool bash",
            "startTimeUnixNano": begin.to_string(), "endTimeUnixNano": (begin + 500_000_000).to_string(),
            "attributes": [
                text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", "bash"),
                text("gen_ai.conversation.id", &format!("session-{session}")),
                text("gen_ai.tool.call.arguments", args), text("gen_ai.tool.call.result", &result),
            ],
        });
        let request = json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]});
        let mut spans = Vec::new();
        spans_of_json(request.to_string().as_bytes(), &mut |span| spans.push(span))
            .expect("a request");
        spans.pop().expect("a span")
    }

    /// Returns requests of several sessions with their times. Some sessions are stuck, some have an end, and
    /// spans arrive late and twice.
    fn requests() -> Vec<(u64, Vec<Span>)> {
        let mut requests = Vec::new();
        for n in 0..60 {
            let at = n * 1000;
            let mut spans = vec![call(0, n, r#"{"command":"goal-7"}"#)];
            spans.push(call(1, n, &format!("{{\"command\":\"make {n}\"}}")));
            if n < 8 {
                spans.push(call(2, n, &(n % 2).to_string()));
            }
            if n % 7 == 3 {
                spans.push(call(0, n - 2, r#"{"command":"goal-7"}"#));
                spans.rotate_left(1);
            }
            requests.push((at, spans));
        }
        requests.push((400_000, vec![call(3, 400, "{}")]));
        requests
    }

    /// Judges all requests. `between` may replace the sessions after each.
    fn judged(limits: Limits, mut between: impl FnMut(Sessions) -> Sessions) -> Made {
        let (mut sessions, mut made) = (sessions(limits), Made::default());
        for (at, spans) in requests() {
            sessions.push(spans, at, &mut made);
            sessions = between(sessions);
        }
        sessions.finish(&mut made);
        made
    }

    #[test]
    fn sessions_go_on_from_a_snapshot_after_any_request() {
        let Made { findings: whole, metrics } = judged(LIMITS, |sessions| sessions);
        let mut bytes = 0;
        let parts = judged(LIMITS, |mut before| {
            let snapshot = before.snapshot(Vec::new());
            bytes += snapshot.len();
            sessions(LIMITS).restored(&snapshot).expect("a snapshot")
        });
        assert_eq!(whole, parts.findings);
        let of = |session: &str| whole.iter().filter(|found| found.line.contains(session)).count();
        assert!(of("session-0") > 2 && of("session-1") == 0 && of("session-2") > 0, "{whole:?}");
        assert!(bytes > 1000);
        let outcome = |outcome| metrics.count("unstuck_runs_total", &[("outcome", outcome)]);
        assert_eq!(outcome("clean") + outcome("stuck") + outcome("stopped"), 4);
        let dropped = metrics.count("unstuck_spans_dropped_total", &[("reason", "duplicate")]);
        assert_eq!(dropped, 9);
    }

    #[test]
    fn in_parts_the_findings_are_the_same() {
        let whole = judged(LIMITS, |sessions| sessions).findings;
        // Some parts are done before each request, which does the rest, or all of them.
        for most in [1, 3, usize::MAX] {
            let (mut sessions, mut made, mut parts) = (sessions(LIMITS), Made::default(), 0);
            for (at, spans) in requests() {
                parts += (0..most).take_while(|_| sessions.advance_part(at, 1, &mut made)).count();
                sessions.push(spans, at, &mut made);
            }
            sessions.finish(&mut made);
            assert_eq!(made.findings, whole, "{most}");
            assert!(parts > 5, "{parts} parts");
        }
    }

    #[test]
    fn another_snapshot_is_not_read() {
        assert!(sessions(LIMITS).restored(b"no snapshot").is_none());
    }

    #[test]
    fn ids_differ_and_name_the_spans_of_the_evidence() {
        let findings = judged(LIMITS, |sessions| sessions).findings;
        let ids: std::collections::BTreeSet<_> = findings.iter().map(|found| &found.id).collect();
        assert_eq!(ids.len(), findings.len());
        for found in &findings {
            let line: serde_json::Value = serde_json::from_str(&found.line).expect("JSON");
            let evidence = line["evidence"].as_array().expect("a list");
            assert!(evidence.len() > 1 && evidence.iter().all(|call| call["span_id"].is_string()));
            assert_eq!(line["span_id"], hexadecimal(&found.span));
            assert!(!found.line.contains("goal-7"), "no arguments: {}", found.line);
        }
    }

    #[test]
    fn beyond_a_limit_the_session_that_was_idle_longest_ends() {
        let limits = Limits { sessions: 2, ..LIMITS };
        let Made { metrics, .. } = judged(limits, |sessions| {
            assert!(sessions.size().0 <= 2);
            sessions
        });
        assert!(metrics.count("unstuck_sessions_evicted_total", &[("limit", "sessions")]) > 0);
        let limits = Limits { bytes: 1, ..LIMITS };
        let Made { metrics, .. } = judged(limits, |mut before| {
            before.snapshot(Vec::new());
            before
        });
        assert!(metrics.count("unstuck_sessions_evicted_total", &[("limit", "bytes")]) > 0);
    }

    #[test]
    fn a_quiet_session_ends() {
        let (mut sessions, mut made) = (sessions(LIMITS), Made::default());
        sessions.push(vec![call(0, 1, "{}")], 1000, &mut made);
        sessions.advance(4000, &mut made);
        assert_eq!(sessions.size().0, 1);
        sessions.advance(80_000, &mut made);
        assert_eq!(sessions.size().0, 0);
        // A day without spans passes at once.
        sessions.advance(u64::MAX, &mut made);
        assert_eq!(made.metrics.count("unstuck_runs_total", &[("outcome", "clean")]), 1);
    }

    #[test]
    fn traces_of_ended_sessions_are_forgotten_before_a_limit() {
        let limits =
            Limits { assembler: AssemblerLimits { spans: 200, ..LIMITS.assembler }, ..LIMITS };
        // For a day, a session of 20 spans follows another. With a store, the program is often started again, and
        // nobody looks at the clock between two requests.
        let run = |is_stored: bool| {
            let (mut all, mut made) = (sessions(limits), Made::default());
            for n in 0..9000_u64 {
                let round = n / 20;
                // After each tenth session, an hour without spans.
                let at = n * 10_000 + round / 10 * 3_600_000;
                if !is_stored {
                    all.advance(at.saturating_sub(1), &mut made);
                } else if n % 7 == 0 {
                    let snapshot = all.snapshot(Vec::new());
                    all = sessions(limits).restored(&snapshot).expect("a snapshot");
                }
                let mut span = call((round % 200) as u8, n, "{}");
                span.trace[..8].copy_from_slice(&round.to_be_bytes());
                all.push(vec![span], at, &mut made);
                assert_eq!(all.assembler.counts().forgotten_spans, 0);
                assert_eq!(all.assembler.counts().forgotten_workers, 0);
            }
            made.findings
        };
        let findings = run(true);
        assert!(findings.len() > 400);
        assert!(findings == run(false));
    }

    #[test]
    fn words_before_a_call_are_no_turn_of_their_own() {
        let record = |n: u64, what| Record {
            session: "s".into(),
            worker: "main".into(),
            step: n,
            trace: [1; 16],
            span: [2; 8],
            begin: n,
            end: n,
            what,
        };
        let said = || What::Said("I look again.".to_owned());
        let run = |with_calls: bool| {
            let (mut sessions, mut made) = (sessions(LIMITS), Made::default());
            for n in 0..12 {
                sessions.take(record(n, said()), &mut made);
                if with_calls {
                    let args = Some(format!("{{\"page\":{n}}}"));
                    let result = Some(format!("page {n}"));
                    let tool = "read".to_owned();
                    let call = ToolCall { tool, args, result, ..ToolCall::default() };
                    sessions.take(record(n, What::Call(call)), &mut made);
                }
            }
            sessions.finish(&mut made);
            made.findings.len()
        };
        assert!(run(false) > 0);
        assert_eq!(run(true), 0);
    }
}
