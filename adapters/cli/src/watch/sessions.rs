//! The sessions, each with its own replay. The caller passes the time.
//!
//! The state is a function of the spans and of the times at which they were taken in. So a journal of both gives
//! the same findings again after a restart.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use unstuck_core::Action;
use unstuck_report::html::IncludeArgs;
use unstuck_report::replay::{Location, LoopKey, Replay, ReplayCheckpoint, ReplayFinding, push};
use unstuck_text::Preset;
use unstuck_trace::otlp::{
    Assembler, Counts, Limits as AssemblerLimits, Record, Span, ToolCall, What, hexadecimal,
};
use unstuck_trace::{Call, Event, Message, Role};

use super::finding::{Finding, Origin};
use super::metrics::Metrics;

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
            while let Some(record) = self.due.pop_front() {
                self.take(record, made);
            }
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

/// The latest calls and messages of a session whose spans are kept as evidence. No rule looks back further,
/// unless many workers take turns.
const CALLS_MAX: usize = 256;
const MESSAGES_MAX: usize = 32;

/// The most workers of a session whose latest words wait, and the most bytes of these words.
const SAID_MAX: usize = 16;
const SAID_BYTES_MAX: usize = 1 << 20;

/// The most loops of a session whose last calls are remembered.
const LOOPS_MAX: usize = 32;

/// The number of calls after the last loop at which a session counts as freed.
const FREED: usize = 10;

/// The most workers of a session, and the most bytes of its idle workers.
const WORKERS_MAX: usize = 1000;
const IDLE_BYTES_MAX: usize = 4 << 20;

/// A session.
struct Session {
    id: Arc<str>,
    include: IncludeArgs,
    replay: Replay,
    history: History,
}

/// The history of a session beside its replay.
#[derive(Default, Serialize, Deserialize)]
struct History {
    /// The number of its latest record, and the time at which it was taken in.
    touched: u64,
    seen: u64,
    calls: usize,
    messages: usize,
    call_origins: VecDeque<Origin>,
    message_origins: VecDeque<Origin>,
    /// The latest words of each worker. They are a turn of their own unless a call follows.
    said: BTreeMap<String, (Origin, String)>,
    /// The rule of the first finding.
    rule: Option<String>,
    /// `true` if a rule asked for the end of the run.
    asked_to_end: bool,
    /// The loops that may continue, and the number of calls at the latest finding about text.
    loops: VecDeque<LoopKey>,
    texts_at: Option<usize>,
    /// The bytes of the session when it was last idle.
    idle_bytes: usize,
}

impl History {
    /// Returns the bytes that the limit of memory counts: of the session when it was last idle, and of the texts that
    /// wait for a call.
    fn bytes(&self) -> usize {
        self.idle_bytes + self.said_bytes()
    }

    fn said_bytes(&self) -> usize {
        let said = self.said.iter();
        said.map(|(worker, (_, text))| worker.len() + size_of::<Origin>() + text.len()).sum()
    }
}

impl Session {
    /// Goes on with a replay and a history, which may be new.
    fn new(id: &Arc<str>, include: IncludeArgs, replay: Replay, history: History) -> Self {
        let replay = replay.observing().limited(WORKERS_MAX, IDLE_BYTES_MAX);
        Self { id: Arc::clone(id), include, replay, history }
    }

    /// Frees the engine.
    fn make_idle(&mut self) {
        let Self { id, replay, history, .. } = self;
        let origins = history.call_origins.len() + history.message_origins.len();
        history.idle_bytes =
            size_of::<Self>() + id.len() + origins * size_of::<Origin>() + replay.make_all_idle();
    }

    /// Judges a record, and adds what it makes to `made`.
    fn take(&mut self, record: Record, made: &mut Made) {
        let Record { worker, step, trace, span, end, what, .. } = record;
        if !matches!(what, What::Usage(_))
            && let Some((origin, text)) = self.history.said.remove(&*worker)
            && !matches!(what, What::Call(_))
        {
            self.turn(&worker, origin, &text, made);
        }
        let origin = |index| Origin { index, trace, span, end };
        match what {
            What::Usage(tokens) => {
                if self.history.rule.is_some() {
                    made.metrics.add("unstuck_wasted_tokens_total", &[], tokens.total());
                }
            }
            What::Call(call) => {
                let origin = origin(self.history.calls);
                self.call(&worker, step, origin, &call, made);
            }
            What::Prompt(text) => {
                let origin = self.message(origin(self.history.messages));
                say(&mut self.replay, &worker, origin.index, Role::User, &text);
                self.found_since(origin, made);
            }
            What::Said(text) => {
                let origin = self.message(origin(self.history.messages));
                self.hold(&worker, origin, text, made);
            }
        }
    }

    /// Judges a call and its result, as a transcript would have them.
    fn call(&mut self, worker: &str, step: u64, origin: Origin, call: &ToolCall, made: &mut Made) {
        let history = &mut self.history;
        push(&mut history.call_origins, origin, CALLS_MAX);
        history.calls += 1;
        if let Some(rule) = &history.rule {
            made.metrics.add("unstuck_wasted_calls_total", &[("rule", rule)], 1);
        }
        let begin = Instant::now();
        let Origin { index, span, .. } = origin;
        let (args, tool) = (call.args(), call.tool.as_str());
        self.replay.take(&Event::Call(Call { index, worker, step, tool, args }));
        let unknown = hexadecimal(&span);
        let outcome = call.outcome(index, worker, &unknown);
        outcome.without_notes(|bare| self.replay.take(&Event::Outcome(bare)));
        made.metrics.call(tool, begin.elapsed());
        let is_bare = u64::from(call.args.is_none());
        made.metrics.add("unstuck_calls_without_content_total", &[], is_bare);
        self.found_since(origin, made);
    }

    /// Counts a message, and keeps its span.
    fn message(&mut self, origin: Origin) -> Origin {
        push(&mut self.history.message_origins, origin, MESSAGES_MAX);
        self.history.messages += 1;
        origin
    }

    /// Keeps the words of a worker until its next record. If there are too many workers or words, the words of
    /// one of the workers become a turn at once.
    fn hold(&mut self, worker: &str, origin: Origin, text: String, made: &mut Made) {
        self.history.said.insert(worker.to_owned(), (origin, text));
        while (self.history.said.len() > SAID_MAX || self.history.said_bytes() > SAID_BYTES_MAX)
            && let Some((worker, (origin, text))) = self.history.said.pop_first()
        {
            self.turn(&worker, origin, &text, made);
        }
    }

    /// Judges a turn without a call.
    fn turn(&mut self, worker: &str, origin: Origin, text: &str, made: &mut Made) {
        say(&mut self.replay, worker, origin.index, Role::Assistant, text);
        self.found_since(origin, made);
    }

    /// Passes on what was found since the last time.
    fn found_since(&mut self, latest: Origin, made: &mut Made) {
        for found in self.replay.take_findings().collect::<Vec<_>>() {
            self.found(&found, latest, made);
        }
    }

    fn found(&mut self, found: &ReplayFinding, latest: Origin, made: &mut Made) {
        let history = &mut self.history;
        history.rule.get_or_insert_with(|| found.rule.to_owned());
        history.asked_to_end |= found.action >= Action::StartOver;
        let known = match found.location {
            Location::Calls { .. } => {
                if !history.loops.contains(&found.key)
                    && let Some(oldest) = push(&mut history.loops, found.key, LOOPS_MAX)
                {
                    self.replay.leave(oldest);
                }
                &history.call_origins
            }
            Location::Messages { .. } => {
                history.texts_at = Some(history.calls);
                self.replay.leave(found.key);
                &history.message_origins
            }
        };
        let origins = |index| {
            let at = known.binary_search_by_key(&index, |origin| origin.index).ok()?;
            known.get(at).copied()
        };
        let labels = [("rule", found.rule), ("action", found.action.name())];
        made.metrics.add("unstuck_findings_total", &labels, 1);
        made.findings.push(Finding::of(&self.id, found, latest, &origins, self.include));
    }

    /// Ends the run and counts its outcome.
    fn end(mut self, made: &mut Made) {
        while let Some((worker, (origin, text))) = self.history.said.pop_first() {
            self.turn(&worker, origin, &text, made);
        }
        let latest =
            self.history.call_origins.back().or(self.history.message_origins.back()).copied();
        let preset = self.replay.preset();
        let findings = std::mem::replace(&mut self.replay, Replay::new(preset)).finish();
        if let Some(latest) = latest {
            for found in &findings.list {
                self.found(found, latest, made);
            }
        }
        let last = findings.ends.into_values().chain(self.history.texts_at).max();
        let since = self.history.calls.saturating_sub(last.map_or(0, |last| last + 1));
        let outcome = match last {
            None => "clean",
            Some(_) if since >= FREED => "freed",
            Some(_) if self.history.asked_to_end => "stopped",
            Some(_) => "stuck",
        };
        made.metrics.add("unstuck_runs_total", &[("outcome", outcome)], 1);
        made.metrics.add("unstuck_rescued_total", &[], u64::from(outcome == "freed"));
    }
}

fn say(replay: &mut Replay, worker: &str, index: usize, role: Role, text: &str) {
    let text_only = role == Role::Assistant;
    replay.take(&Event::Message(Message { index, worker, role, text, text_only }));
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};
    use unstuck_text::PRESETS;
    use unstuck_trace::otlp::spans_of_json;

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

    /// Returns the JSON of a span with this trace, id and time in nanoseconds, and with these texts as attributes.
    pub(in crate::watch) fn span_json(
        ids: [u64; 2],
        begin: u64,
        end: u64,
        texts: &[(&str, &str)],
    ) -> Value {
        let attribute =
            |(key, value): &(&str, &str)| json!({"key": key, "value": {"stringValue": value}});
        json!({
            "traceId": format!("{:032x}", ids[0]), "spanId": format!("{:016x}", ids[1]), "name": "a span",
            "startTimeUnixNano": begin.to_string(), "endTimeUnixNano": end.to_string(),
            "attributes": texts.iter().map(attribute).collect::<Value>(),
        })
    }

    /// Returns a request with these spans.
    pub(in crate::watch) fn request(spans: &[Value]) -> Vec<u8> {
        json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string().into_bytes()
    }

    fn span(ids: [u64; 2], begin: u64, end: u64, texts: &[(&str, &str)]) -> Span {
        let mut spans = Vec::new();
        spans_of_json(&request(&[span_json(ids, begin, end, texts)]), &mut |span| spans.push(span))
            .expect("a request");
        spans.pop().expect("a span")
    }

    /// Returns the span of the call number `n` of a session, which begins `n` seconds after the others.
    fn call(session: u8, n: u64, args: &str) -> Span {
        let begin = n * 1_000_000_000;
        let result = if session == 1 { format!("page {n}") } else { "no such file".to_owned() };
        let texts = [
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "bash"),
            ("gen_ai.conversation.id", &format!("session-{session}")),
            ("gen_ai.tool.call.arguments", args),
            ("gen_ai.tool.call.result", &result),
        ];
        span([u64::from(session) + 1, n + 1], begin, begin + 500_000_000, &texts)
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

    /// The most bytes of sessions and of waiting spans, each.
    const BYTES: usize = 1 << 20;

    /// The length of the texts and names. Two hundred of them are many times the memory.
    const LONG: usize = 100_000;

    /// Sessions of which many take more than the memory.
    fn small() -> Sessions {
        let assembler =
            AssemblerLimits { bytes: BYTES, settle: 1000, ..AssemblerLimits::default() };
        sessions(Limits { sessions: 20_000, bytes: BYTES, quiet: 600_000, assembler })
    }

    /// Returns the span number `n`, with a trace of its own.
    fn single(n: u64, texts: &[(&str, &str)]) -> Span {
        span([n, n], n * 1000, n * 1000 + 9, texts)
    }

    /// Returns a span in which a session says a text.
    fn saying(n: u64, session: u64, agent: u64, text: &str) -> Span {
        let message =
            |role, text| json!([{"role": role, "parts": [{"type": "text", "content": text}]}]);
        let texts = [
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.conversation.id", &format!("session-{session}")),
            ("gen_ai.agent.name", &format!("agent-{agent}")),
            ("gen_ai.input.messages", &message("user", "go").to_string()),
            ("gen_ai.output.messages", &message("assistant", text).to_string()),
        ];
        single(n, &texts)
    }

    #[test]
    fn words_that_wait_are_within_the_memory() {
        let (mut sessions, mut made) = (small(), Made::default());
        for n in 1..200 {
            let text = format!("{n} {}", "x".repeat(LONG));
            sessions.push(vec![saying(n, n, 1, &text)], n * 2000, &mut made);
            assert!(sessions.size().1 <= BYTES);
        }
        sessions.advance(500_000, &mut made);
        let (count, bytes) = sessions.size();
        assert!(count > 5 && bytes > BYTES / 2 && bytes <= BYTES, "{count} with {bytes}");
        assert!(sessions.snapshot(Vec::new()).len() < 2 * BYTES);
        assert!(made.metrics.count("unstuck_sessions_evicted_total", &[("limit", "bytes")]) > 180);
    }

    #[test]
    fn words_of_one_session_are_bounded() {
        let (mut sessions, mut made) = (small(), Made::default());
        let longest = |agent: u64| format!("{agent} {}", "x".repeat(SAID_BYTES_MAX / 4));
        for agent in 1..=8 {
            sessions.push(vec![saying(agent, 1, agent, &longest(agent))], agent * 2000, &mut made);
        }
        sessions.advance(100_000, &mut made);
        let (count, bytes) = sessions.size();
        assert!(count == 1 && bytes > SAID_BYTES_MAX / 2, "{count} with {bytes}");
        assert!(sessions.snapshot(Vec::new()).len() < SAID_BYTES_MAX + BYTES / 4);
    }

    #[test]
    fn names_and_spans_around_calls_are_within_the_memory() {
        let long = |n: u64| format!("{}{n}", "x".repeat(LONG));
        let around = |n: u64| {
            let asked = format!("[{{\"name\":\"write\",\"args\":{{\"text\":\"{}\"}}}}]", long(n));
            single(n, &[("openinference.span.kind", "CHAIN"), ("input.value", &asked)])
        };
        let agent = |n: u64| {
            let kind = ("gen_ai.operation.name", "invoke_agent");
            single(n, &[kind, ("gen_ai.agent.name", &long(n))])
        };
        let call = |n: u64| {
            let (kind, long) = (("gen_ai.operation.name", "execute_tool"), long(n));
            single(n, &[kind, ("gen_ai.conversation.id", &long), ("gen_ai.tool.name", &long)])
        };
        let mut bytes = Vec::new();
        for make in [&around as &dyn Fn(u64) -> Span, &agent, &call] {
            let (mut sessions, mut made) = (small(), Made::default());
            for n in 1..200 {
                sessions.push(vec![make(n)], 1000, &mut made);
                assert!(sessions.snapshot(Vec::new()).len() < 2 * BYTES);
            }
            sessions.advance(9000, &mut made);
            bytes.push(sessions.snapshot(Vec::new()).len());
        }
        // When they have settled, only ids and names are left.
        assert!(bytes.iter().all(|bytes| *bytes < 200 * 4096), "{bytes:?}");
    }
}
