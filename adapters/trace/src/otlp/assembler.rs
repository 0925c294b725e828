//! Puts spans in order: finds the session, the worker and the step of each.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dialect::{Kind, Meaning};
use super::{Record, Span, SpanId, ToolCall, TraceId, What};
use crate::event::Tokens;
use crate::pairing::digest;
use crate::recorder::MAIN;

/// The most spans above a span that are looked at. Real traces are tens of spans deep.
const ANCESTORS_MAX: usize = 128;

/// The memory of a trace, in spans.
const SPANS_OF_TRACE: usize = 4;

/// Behind the last span that waits.
const LAST: (u64, u64) = (u64::MAX, u64::MAX);

/// The bounds of an [`Assembler`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The most bytes of calls and texts that wait. Beyond it, the traces that were idle longest are
    /// ready at once.
    pub bytes: usize,
    /// The most spans that are remembered, to find ancestors and repeated spans. Beyond it, the traces
    /// that were idle longest are forgotten.
    pub spans: usize,
    /// The most workers that are remembered, over all sessions. Beyond it, the sessions that were idle
    /// longest are forgotten.
    pub workers: usize,
    /// The milliseconds that a span waits for others that began before it.
    pub settle: u64,
}

impl Default for Limits {
    /// Returns limits for some hundred MB of memory, and a wait of ten seconds: SDKs send their spans
    /// every five seconds.
    fn default() -> Self {
        Self { bytes: 256 << 20, spans: 1_000_000, workers: 100_000, settle: 10_000 }
    }
}

/// The counts of an [`Assembler`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The spans that were pushed.
    pub spans: u64,
    /// The spans that had been pushed before.
    pub duplicates: u64,
    /// The records that came behind a later record of their worker.
    pub late: u64,
    /// The records that could not wait because of [`Limits::bytes`].
    pub hurried: u64,
    /// The spans that were forgotten because of [`Limits::spans`].
    pub forgotten_spans: u64,
    /// The workers that were forgotten because of [`Limits::workers`].
    pub forgotten_workers: u64,
}

/// Puts spans that arrive in any order into the order of their sessions, in bounded memory.
///
/// A span waits until it [settles](Assembler::settled), because the spans that began before it arrive
/// later if they take longer.
///
/// The state may be stored, and go on after a restart. Its form changes between versions.
#[derive(Debug, Serialize, Deserialize)]
pub struct Assembler {
    limits: Limits,
    traces: HashMap<TraceId, Trace>,
    /// The traces with spans that wait.
    awaited: BTreeSet<TraceId>,
    sessions: HashMap<Arc<str>, Session>,
    /// The spans that need not wait any longer.
    ready: Vec<(Place, Waiting)>,
    bytes: usize,
    spans: usize,
    workers: usize,
    /// Counts what happens, to tell which trace or session was idle longest.
    clock: u64,
    counts: Counts,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Trace {
    nodes: HashMap<SpanId, Node>,
    /// The spans that wait, by begin and by arrival.
    waiting: BTreeMap<(u64, u64), Waiting>,
    bytes: usize,
    /// The first session that a span named.
    session: Option<Arc<str>>,
    /// The workers by the span that stands for them, and by the agent that other spans name.
    workers: HashMap<(SpanId, Option<Arc<str>>), Arc<str>>,
    seen: u64,
}

/// A span as its descendants see it.
#[derive(Debug, Serialize, Deserialize)]
struct Node {
    parent: Option<SpanId>,
    kind: Kind,
    /// A digest of the tool's name, to recognise a call that two libraries observe.
    tool: u64,
    agent: Option<Arc<str>>,
    session: Option<Arc<str>>,
    /// `true` if the span has a record.
    is_told: bool,
}

/// A span that waits.
#[derive(Debug, Serialize, Deserialize)]
struct Waiting {
    id: SpanId,
    parent: Option<SpanId>,
    begin: u64,
    end: u64,
    arrived: u64,
    bytes: usize,
    agent: Option<Arc<str>>,
    session: Option<Arc<str>>,
    call: Option<ToolCall>,
    prompt: Option<(String, usize)>,
    said: Option<String>,
    usage: Option<Tokens>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Session {
    workers: HashMap<Arc<str>, Worker>,
    steps: u64,
    seen: u64,
    /// `true` if workers were forgotten, so that a name alone is not known to be new.
    is_crowded: bool,
}

/// The latest step of a worker.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Worker {
    step: u64,
    begin: u64,
    end: u64,
    /// The call within which the step's calls run.
    inside: Option<SpanId>,
    /// A digest of the latest prompt and of its place.
    prompt: u64,
    /// The beginning of the latest record.
    latest: u64,
}

/// The place of a span among the others.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    trace: TraceId,
    session: Arc<str>,
    worker: Arc<str>,
    inside: Option<SpanId>,
}

/// The spans above a span.
#[derive(Default)]
struct Above {
    /// The span that stands for the worker: the nearest agent, or else the last span that is known or
    /// named. `None` for a span without parent.
    instance: Option<SpanId>,
    /// The nearest tool below that span.
    inside: Option<SpanId>,
    /// `true` if a span above says the same.
    is_mirror: bool,
}

impl Assembler {
    /// Creates an assembler without spans.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            traces: HashMap::new(),
            awaited: BTreeSet::new(),
            sessions: HashMap::new(),
            ready: Vec::new(),
            bytes: 0,
            spans: 0,
            workers: 0,
            clock: 0,
            counts: Counts::default(),
        }
    }

    /// Changes the limits, which hold from the next span on.
    #[must_use]
    pub fn limited(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Takes in a span that arrived at this time, in milliseconds of any clock that does not go back.
    ///
    /// If a [limit](Limits) is reached, records become ready before they settle. So a caller takes them
    /// with [`Assembler::settled`] after each batch.
    pub fn push(&mut self, mut span: Span, arrived: u64) {
        self.clock += 1;
        self.counts.spans += 1;
        let trace = self.traces.entry(span.trace).or_insert_with(|| {
            self.spans += SPANS_OF_TRACE;
            Trace::default()
        });
        trace.seen = self.clock;
        if trace.nodes.contains_key(&span.id) {
            self.counts.duplicates += 1;
            return;
        }
        let waiting = trace.waiting(Meaning::of(&mut span), &span, arrived);
        self.spans += 1;
        if waiting.is_told() {
            self.bytes += waiting.bytes;
            trace.bytes += waiting.bytes;
            self.awaited.insert(span.trace);
            trace.waiting.insert((span.begin, self.clock), waiting);
        }
        if self.bytes > self.limits.bytes {
            self.hurry();
        }
        if self.spans > self.limits.spans {
            self.forget_spans();
        }
    }

    /// Delivers the records that have waited long enough, in the order of their beginnings. A record is
    /// also delivered if a later one of its trace has waited long enough.
    pub fn settled(&mut self, now: u64, each: &mut dyn FnMut(Record)) {
        let settle = self.limits.settle;
        let is_due = |waiting: &Waiting| waiting.arrived.saturating_add(settle) <= now;
        let due = self.awaited.iter().filter_map(|id| {
            let last = self.traces.get(id)?.waiting.iter().rfind(|(_, waiting)| is_due(waiting));
            last.map(|(last, _)| (*id, *last))
        });
        for (id, last) in due.collect::<Vec<_>>() {
            self.release(id, last);
        }
        let mut ready = core::mem::take(&mut self.ready);
        ready.sort_by_key(|(_, waiting)| waiting.begin);
        for (place, waiting) in ready {
            self.deliver(&place, waiting, each);
        }
    }

    /// Delivers all records: session by session, each in the order of the beginnings.
    pub fn flush(&mut self, each: &mut dyn FnMut(Record)) {
        let mut ids: Vec<_> = self.traces.iter().map(|(id, trace)| (trace.begin(), *id)).collect();
        ids.sort_unstable();
        for (_, id) in ids {
            self.release(id, LAST);
        }
        let mut ready = core::mem::take(&mut self.ready);
        ready.sort_by_key(|(_, waiting)| waiting.begin);
        let mut places: HashMap<Arc<str>, usize> = HashMap::new();
        let mut sessions: Vec<Vec<(Place, Waiting)>> = Vec::new();
        for (place, waiting) in ready {
            let at = *places.entry(Arc::clone(&place.session)).or_insert(sessions.len());
            if at == sessions.len() {
                sessions.push(Vec::new());
            }
            sessions[at].push((place, waiting));
        }
        for (place, waiting) in sessions.into_iter().flatten() {
            self.deliver(&place, waiting, each);
        }
    }

    /// Returns the counts so far.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Finds the places of the spans of a trace up to one of them. They need not wait any longer.
    fn release(&mut self, id: TraceId, last: (u64, u64)) {
        let Some(trace) = self.traces.get_mut(&id) else { return };
        let later = match last {
            LAST => BTreeMap::new(),
            (begin, arrival) => trace.waiting.split_off(&(begin, arrival.saturating_add(1))),
        };
        if later.is_empty() {
            self.awaited.remove(&id);
        }
        for waiting in core::mem::replace(&mut trace.waiting, later).into_values() {
            trace.bytes -= waiting.bytes;
            self.bytes -= waiting.bytes;
            let above = trace.above(&waiting);
            if above.is_mirror {
                continue;
            }
            let session = trace.session_of(&id, &waiting, &above);
            let of_session = self.sessions.entry(Arc::clone(&session)).or_default();
            of_session.seen = self.clock;
            let (before, known) = (of_session.workers.len(), trace.workers.len());
            let worker = trace.worker(&waiting, &above, of_session);
            self.workers += of_session.workers.len() - before;
            self.spans += trace.workers.len() - known;
            let place = Place { trace: id, session, worker, inside: above.inside };
            self.ready.push((place, waiting));
        }
        if self.workers > self.limits.workers {
            self.forget_workers();
        }
    }

    fn deliver(&mut self, place: &Place, waiting: Waiting, each: &mut dyn FnMut(Record)) {
        let session = self.sessions.entry(Arc::clone(&place.session)).or_default();
        let worker = session.workers.entry(Arc::clone(&place.worker)).or_default();
        self.counts.late += u64::from(waiting.begin < worker.latest);
        worker.latest = worker.latest.max(waiting.begin);
        if waiting.call.is_some() {
            worker.join_step(&waiting, place.inside, &mut session.steps);
        }
        let step = worker.step;
        let prompt = waiting.prompt.filter(|prompt| {
            let digest = digest(prompt);
            core::mem::replace(&mut worker.prompt, digest) != digest
        });
        let whats = [
            prompt.map(|(text, _)| What::Prompt(text)),
            waiting.usage.map(What::Usage),
            waiting.said.map(What::Said),
            waiting.call.map(What::Call),
        ];
        for what in whats.into_iter().flatten() {
            each(Record {
                session: Arc::clone(&place.session),
                worker: Arc::clone(&place.worker),
                step,
                trace: place.trace,
                span: waiting.id,
                begin: waiting.begin,
                end: waiting.end,
                what,
            });
        }
    }

    /// Makes the spans of the traces ready that were idle longest, until half of the memory is free. Of
    /// the latest trace, only the earlier half is.
    fn hurry(&mut self) {
        let before = self.ready.len();
        for id in self.idle_traces() {
            if self.bytes <= self.limits.bytes / 2 {
                break;
            }
            let Some(trace) = self.traces.get(&id) else { continue };
            let middle = trace.waiting.keys().nth(trace.waiting.len() / 2).copied();
            let is_latest = trace.seen == self.clock;
            self.release(id, middle.filter(|_| is_latest).unwrap_or(LAST));
        }
        self.counts.hurried += (self.ready.len() - before) as u64;
    }

    /// Forgets the spans of the traces that were idle longest, until half of the memory is free.
    fn forget_spans(&mut self) {
        for id in self.idle_traces() {
            if self.spans <= self.limits.spans / 2 {
                break;
            }
            self.release(id, LAST);
            if let Some(trace) = self.traces.remove(&id) {
                let spans = trace.nodes.len();
                self.spans -= spans + trace.workers.len() + SPANS_OF_TRACE;
                self.counts.forgotten_spans += spans as u64;
            }
        }
    }

    /// Returns all traces. The first was idle longest.
    fn idle_traces(&self) -> Vec<TraceId> {
        let mut ids: Vec<_> = self.traces.iter().map(|(id, trace)| (trace.seen, *id)).collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }

    /// Forgets the workers of the sessions that were idle longest, until half of the memory is free.
    fn forget_workers(&mut self) {
        let mut names: Vec<_> =
            self.sessions.iter().map(|(name, session)| (session.seen, Arc::clone(name))).collect();
        names.sort_unstable();
        self.workers = self.sessions.values().map(|session| session.workers.len()).sum();
        for (seen, name) in names {
            if self.workers <= self.limits.workers / 2 {
                break;
            }
            let Some(session) = self.sessions.get_mut(&name) else { continue };
            self.workers -= session.workers.len();
            self.counts.forgotten_workers += session.workers.len() as u64;
            session.workers = HashMap::new();
            session.is_crowded = true;
            if seen < self.clock {
                self.sessions.remove(&name);
            }
        }
    }
}

impl Trace {
    /// Adds a span, and returns what it has to say.
    fn waiting(&mut self, meaning: Meaning, span: &Span, arrived: u64) -> Waiting {
        let session = meaning.session.map(|name| match &self.session {
            Some(known) if **known == *name => Arc::clone(known),
            _ => name.into(),
        });
        if self.session.is_none() {
            self.session.clone_from(&session);
        }
        let agent: Option<Arc<str>> = meaning.agent.map(Into::into);
        let tool = meaning.call.as_ref().map_or(0, |call| digest(&call.tool));
        let mut waiting = Waiting {
            id: span.id,
            parent: span.parent,
            begin: span.begin,
            end: span.end,
            arrived,
            bytes: 0,
            agent: agent.clone(),
            session: session.clone(),
            call: meaning.call,
            prompt: meaning.prompt,
            said: meaning.said,
            usage: meaning.usage,
        };
        waiting.bytes = waiting.size();
        let is_told = waiting.is_told();
        let node = Node { parent: span.parent, kind: meaning.kind, tool, agent, session, is_told };
        self.nodes.insert(span.id, node);
        waiting
    }

    fn begin(&self) -> u64 {
        self.waiting.keys().next().map_or(u64::MAX, |(begin, _)| *begin)
    }

    /// Returns the spans above a span that are known or named, the nearest first.
    fn ancestors(&self, parent: Option<SpanId>) -> impl Iterator<Item = (SpanId, Option<&Node>)> {
        let node = |id: SpanId| (id, self.nodes.get(&id));
        let next = move |(_, of): &(SpanId, Option<&Node>)| of.and_then(|of| of.parent).map(node);
        core::iter::successors(parent.map(node), next).take(ANCESTORS_MAX)
    }

    fn above(&self, waiting: &Waiting) -> Above {
        let tool = waiting.call.as_ref().map(|call| digest(&call.tool));
        let mut above = Above::default();
        let mut in_model = false;
        for (id, node) in self.ancestors(waiting.parent) {
            above.instance = Some(id);
            let Some(node) = node else { break };
            match node.kind {
                Kind::Agent => break,
                Kind::Tool if above.inside.is_none() => {
                    above.inside = Some(id);
                    above.is_mirror |= tool == Some(node.tool);
                }
                Kind::Model if !in_model => {
                    in_model = true;
                    above.is_mirror |= tool.is_none() && node.is_told;
                }
                Kind::Tool | Kind::Model | Kind::Other => {}
            }
        }
        above
    }

    /// Returns the session that a span or its agent names, or else the first one of the trace. Without
    /// any, the trace is a session.
    fn session_of(&mut self, id: &TraceId, waiting: &Waiting, above: &Above) -> Arc<str> {
        let of_agent = || self.nodes.get(&above.instance?)?.session.clone();
        if let Some(session) = waiting.session.clone().or_else(of_agent) {
            return session;
        }
        Arc::clone(self.session.get_or_insert_with(|| hexadecimal(id).into()))
    }

    /// Returns the name of a span's worker, and gives it one if it is new.
    fn worker(&mut self, waiting: &Waiting, above: &Above, session: &mut Session) -> Arc<str> {
        let node = above.instance.and_then(|id| self.nodes.get(&id));
        let agent = waiting.agent.clone().or_else(|| node.and_then(|node| node.agent.clone()));
        let Some(instance) = above.instance else {
            let name = agent.unwrap_or_else(|| MAIN.into());
            session.workers.entry(Arc::clone(&name)).or_default();
            return name;
        };
        let key = (instance, agent);
        if let Some(known) = self.workers.get(&key) {
            return Arc::clone(known);
        }
        // The spans between may have stood for the worker, as long as no others were known.
        let known = self.ancestors(waiting.parent).find_map(|(id, _)| {
            let named = self.workers.get(&(id, key.1.clone()));
            named.or_else(|| self.workers.get(&(id, None))).cloned()
        });
        let name = known.unwrap_or_else(|| {
            let name = key.1.clone().unwrap_or_else(|| MAIN.into());
            session.name(name, instance)
        });
        self.workers.insert(key, Arc::clone(&name));
        name
    }
}

impl Waiting {
    /// Returns whether the span has a record.
    fn is_told(&self) -> bool {
        self.call.is_some() || self.prompt.is_some() || self.said.is_some() || self.usage.is_some()
    }

    /// Returns the bytes of the span in memory.
    fn size(&self) -> usize {
        let call = self.call.as_ref().map_or(0, |call| {
            let texts = [&call.id, &call.args, &call.result];
            call.tool.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
        });
        let prompt = self.prompt.as_ref().map_or(0, |(text, _)| text.len());
        size_of::<Self>() + call + prompt + self.said.as_ref().map_or(0, String::len)
    }
}

impl Session {
    /// Adds a worker, with its span's id behind its name if it is not the only one.
    fn name(&mut self, name: Arc<str>, instance: SpanId) -> Arc<str> {
        let name = if self.is_crowded || self.workers.contains_key(&name) {
            format!("{name} {}", hexadecimal(&instance)).into()
        } else {
            name
        };
        self.workers.entry(Arc::clone(&name)).or_default();
        name
    }
}

impl Worker {
    /// Finds the step of a call: the latest one if they overlap in time, or else a new one.
    fn join_step(&mut self, call: &Waiting, inside: Option<SpanId>, steps: &mut u64) {
        let overlaps = call.begin < self.end && self.begin < call.end;
        if self.step > 0 && self.inside == inside && overlaps {
            self.begin = self.begin.min(call.begin);
            self.end = self.end.max(call.end);
            return;
        }
        *steps += 1;
        *self = Self {
            step: *steps,
            begin: call.begin,
            end: call.end,
            inside,
            prompt: self.prompt,
            latest: self.latest,
        };
    }
}

/// Returns the hexadecimal digits of an id.
fn hexadecimal(id: &[u8]) -> String {
    use core::fmt::Write;
    id.iter().fold(String::with_capacity(2 * id.len()), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
