//! One session: its replay, and what is kept of its calls and messages as evidence.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use unstuck_core::Action;
use unstuck_report::html::IncludeArgs;
use unstuck_report::replay::{Location, LoopKey, Replay, ReplayFinding, push};
use unstuck_trace::otlp::{Record, ToolCall, What, hexadecimal};
use unstuck_trace::{Call, Event, Message, Role};

use super::finding::{Finding, Origin};
use super::sessions::Made;

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
pub(super) struct Session {
    id: Arc<str>,
    include: IncludeArgs,
    pub(super) replay: Replay,
    pub(super) history: History,
}

/// The history of a session beside its replay.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct History {
    /// The number of its latest record, and the time at which it was taken in.
    pub(super) touched: u64,
    pub(super) seen: u64,
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
    pub(super) fn bytes(&self) -> usize {
        self.idle_bytes + self.said_bytes()
    }

    fn said_bytes(&self) -> usize {
        let said = self.said.iter();
        said.map(|(worker, (_, text))| worker.len() + size_of::<Origin>() + text.len()).sum()
    }
}

impl Session {
    /// Goes on with a replay and a history, which may be new.
    pub(super) fn new(
        id: &Arc<str>,
        include: IncludeArgs,
        replay: Replay,
        history: History,
    ) -> Self {
        let replay = replay.observing().limited(WORKERS_MAX, IDLE_BYTES_MAX);
        Self { id: Arc::clone(id), include, replay, history }
    }

    /// Frees the engine.
    pub(super) fn make_idle(&mut self) {
        let Self { id, replay, history, .. } = self;
        let origins = history.call_origins.len() + history.message_origins.len();
        history.idle_bytes =
            size_of::<Self>() + id.len() + origins * size_of::<Origin>() + replay.make_all_idle();
    }

    /// Judges a record, and adds what it makes to `made`.
    pub(super) fn take(&mut self, record: Record, made: &mut Made) {
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
    pub(super) fn end(mut self, made: &mut Made) {
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
mod tests {
    use serde_json::{Value, json};
    use unstuck_text::PRESETS;
    use unstuck_trace::otlp::{Limits as AssemblerLimits, Span, spans_of_json};

    use super::super::sessions::{Limits, Sessions};
    use super::*;

    /// The most bytes of sessions and of waiting spans, each.
    const BYTES: usize = 1 << 20;

    /// The length of the texts and names. Two hundred of them are many times the memory.
    const LONG: usize = 100_000;

    fn sessions() -> Sessions {
        let assembler =
            AssemblerLimits { bytes: BYTES, settle: 1000, ..AssemblerLimits::default() };
        let limits = Limits { sessions: 20_000, bytes: BYTES, quiet: 600_000, assembler };
        Sessions::new(&PRESETS[0], IncludeArgs::None, limits)
    }

    /// Returns the span number `n`, with a trace of its own.
    fn span(n: u64, texts: &[(&str, String)]) -> Span {
        let attribute =
            |(key, value): &(&str, String)| json!({"key": key, "value": {"stringValue": value}});
        let span = json!({
            "traceId": format!("{n:032x}"), "spanId": format!("{n:016x}"), "name": "a span",
            "startTimeUnixNano": (n * 1000).to_string(), "endTimeUnixNano": (n * 1000 + 9).to_string(),
            "attributes": texts.iter().map(attribute).collect::<Value>(),
        });
        let request = json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).to_string();
        let mut spans = Vec::new();
        spans_of_json(request.as_bytes(), &mut |span| spans.push(span)).expect("a request");
        spans.pop().expect("a span")
    }

    /// Returns a span in which a session says a text.
    fn saying(n: u64, session: u64, agent: u64, text: &str) -> Span {
        let message =
            |role, text| json!([{"role": role, "parts": [{"type": "text", "content": text}]}]);
        span(
            n,
            &[
                ("gen_ai.operation.name", "chat".to_owned()),
                ("gen_ai.conversation.id", format!("session-{session}")),
                ("gen_ai.agent.name", format!("agent-{agent}")),
                ("gen_ai.input.messages", message("user", "go").to_string()),
                ("gen_ai.output.messages", message("assistant", text).to_string()),
            ],
        )
    }

    #[test]
    fn words_that_wait_are_within_the_memory() {
        let (mut sessions, mut made) = (sessions(), Made::default());
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
        let (mut sessions, mut made) = (sessions(), Made::default());
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
            span(n, &[("openinference.span.kind", "CHAIN".to_owned()), ("input.value", asked)])
        };
        let agent = |n: u64| {
            let kind = ("gen_ai.operation.name", "invoke_agent".to_owned());
            span(n, &[kind, ("gen_ai.agent.name", long(n))])
        };
        let call = |n: u64| {
            let kind = ("gen_ai.operation.name", "execute_tool".to_owned());
            let session = ("gen_ai.conversation.id", long(n));
            span(n, &[kind, session, ("gen_ai.tool.name", long(n))])
        };
        let mut bytes = Vec::new();
        for make in [&around as &dyn Fn(u64) -> Span, &agent, &call] {
            let (mut sessions, mut made) = (sessions(), Made::default());
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
