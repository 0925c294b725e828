//! Puts spans in order: finds the session, the worker and the step of each.
//!
//! A span is sent when it ends, so a parent arrives after its children. It waits a little longer than SDKs
//! collect spans, and is delivered together with the earlier spans of its trace. The spans of a file wait
//! until its end, so their order is exact.
//!
//! Five agents that read the same file at the same time are not stuck, so each agent's span is a worker. A
//! second agent of the same name is the same worker only if the first one has ended and a person's message
//! begins the second one. The name of a worker does not change when its agent's span arrives, because that
//! would cut a loop in two.
//!
//! Some libraries run the calls of one answer one after the other. Two calls share a step if the model
//! answered before them and not between them. If a trace has no spans of the model, only overlapping calls
//! share a step.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dialect::{Kind, Meaning};
use super::name;
use super::session::{Session, Worker};
use super::tree::{Above, Names, Trace, Waiting};
use super::{Record, Span, SpanId, TraceId, What};
use crate::pairing::digest;
use crate::recorder::MAIN;

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
/// The state can be stored and restored. Its format changes between versions.
#[derive(Debug, Default, Serialize, Deserialize)]
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

/// The place of a span among the others.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    trace: TraceId,
    session: Arc<str>,
    worker: Arc<str>,
    instance: Option<SpanId>,
    inside: Option<SpanId>,
}

impl Assembler {
    /// Creates an assembler without spans.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Goes on from a stored state, with limits that hold from the next span on.
    #[must_use]
    pub fn resumed(mut self, limits: Limits) -> Self {
        // Each name was stored where it stands. Equal ones share their memory again.
        let mut names = HashSet::new();
        self.traces.values_mut().for_each(|trace| trace.share_names(&mut names));
        Self { limits, ..self }
    }

    /// Takes in a span that arrived at this time, in milliseconds of any clock that does not go back.
    ///
    /// If a [limit](Limits) is reached, records become ready before they settle. So a caller takes them
    /// after each batch, with [`Assembler::settled`] or with [`Assembler::deliver_ready`].
    pub fn push(&mut self, mut span: Span, arrived: u64) {
        self.clock += 1;
        self.counts.spans += 1;
        let trace = self.traces.entry(span.trace).or_insert_with(|| {
            let trace = Trace::default();
            self.spans += trace.weight();
            trace
        });
        trace.seen = self.clock;
        trace.arrived = arrived;
        if trace.nodes.contains_key(&span.id) {
            self.counts.duplicates += 1;
            return;
        }
        let before = trace.weight();
        let mut meaning = Meaning::of(&mut span);
        name::cut(&mut meaning);
        let is_around = meaning.asked.is_some();
        let waiting = trace.waiting(meaning, &span, arrived);
        self.spans += trace.weight() - before;
        if waiting.is_told() || waiting.kind == Kind::Model || is_around {
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
        self.deliver_ready(each);
    }

    /// Delivers the records that could not wait because of a limit: session by session, each in the order
    /// of the beginnings.
    pub fn deliver_ready(&mut self, each: &mut dyn FnMut(Record)) {
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

    /// Forgets the traces and the sessions of which no span arrived since this time, and none waits. A later span
    /// of such a trace has no ancestors, and a later span of such a session begins it anew, so a caller passes a
    /// time before which it has forgotten them as well. Takes time in proportion to what is remembered.
    pub fn forget_idle(&mut self, since: u64) {
        let mut spans = 0;
        self.traces.retain(|_, trace| {
            let is_idle = trace.arrived < since && trace.waiting.is_empty();
            spans += if is_idle { trace.weight() } else { 0 };
            !is_idle
        });
        self.spans -= spans;
        self.sessions.retain(|_, session| session.arrived >= since);
        self.workers = self.sessions.values().map(|session| session.workers.len()).sum();
    }

    /// Returns the counts so far.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Finds the places of the spans of a trace up to one of them. They need not wait any longer.
    fn release(&mut self, id: TraceId, last: (u64, u64)) {
        let Some(mut trace) = self.traces.remove(&id) else { return };
        let later = match last {
            LAST => BTreeMap::new(),
            (begin, arrival) => trace.waiting.split_off(&(begin, arrival.saturating_add(1))),
        };
        let mut around = Vec::new();
        for (order, mut waiting) in core::mem::replace(&mut trace.waiting, later) {
            if waiting.is_around() {
                around.push((order, waiting));
                continue;
            }
            trace.bytes -= waiting.bytes;
            self.bytes -= waiting.bytes;
            let above = trace.above(&waiting);
            if above.is_mirror {
                continue;
            }
            trace.name_arguments(&mut waiting);
            let (session, worker) = self.worker(id, &mut trace, &waiting, &above);
            let Above { instance, inside, .. } = above;
            self.ready.push((Place { trace: id, session, worker, instance, inside }, waiting));
        }
        self.release_around(&mut trace, around);
        if trace.waiting.is_empty() {
            // The rest of a split map has room for eleven spans.
            trace.waiting = BTreeMap::new();
            self.awaited.remove(&id);
        }
        self.traces.insert(id, trace);
        if self.workers > self.limits.workers {
            self.forget_workers();
        }
    }

    /// Lets spans around calls go, unless their calls still wait.
    fn release_around(&mut self, trace: &mut Trace, around: Vec<((u64, u64), Waiting)>) {
        if around.is_empty() {
            return;
        }
        let parents: HashSet<_> = trace.waiting.values().filter_map(|inner| inner.parent).collect();
        for (order, waiting) in around {
            if trace.forget_asked(waiting.id, &parents) {
                trace.bytes -= waiting.bytes;
                self.bytes -= waiting.bytes;
            } else {
                trace.waiting.insert(order, waiting);
            }
        }
    }

    /// Returns the session and the name of a span's worker, and gives the worker a name if it is new.
    fn worker(
        &mut self,
        id: TraceId,
        trace: &mut Trace,
        waiting: &Waiting,
        above: &Above,
    ) -> Names {
        let node = above.instance.and_then(|id| trace.nodes.get(&id));
        let agent = waiting.agent.clone().or_else(|| node.and_then(|node| node.agent.clone()));
        let known = above.instance.and_then(|_| trace.known_worker(waiting, agent.as_ref()));
        let (session, worker) = match known {
            Some((session, worker)) => (session, Some(worker)),
            None => (trace.session_of(&id, above), None),
        };
        let of_session = self.sessions.entry(Arc::clone(&session)).or_default();
        of_session.seen = self.clock;
        of_session.arrived = of_session.arrived.max(waiting.arrived);
        let before = of_session.workers.len();
        let asked = waiting.prompt.as_ref().map(|(text, _)| digest(text));
        let worker = worker.unwrap_or_else(|| {
            let name = agent.clone().unwrap_or_else(|| MAIN.into());
            let Some(instance) = above.instance else { return of_session.shared(name, id) };
            // Only another prompt says that the same agent goes on. Without one, or with one that it had before,
            // as a schedule gives it, nobody knows.
            let is_over = |known: &Worker, (of, span): (TraceId, SpanId)| {
                let trace = if of == id { Some(&*trace) } else { self.traces.get(&of) };
                let node = trace.and_then(|trace| trace.nodes.get(&span));
                asked.is_some_and(|asked| known.is_new(asked))
                    && node.is_some_and(|node| node.end <= waiting.begin)
            };
            of_session.worker(name, (id, instance), is_over)
        });
        if let Some((asked, worker)) = asked.zip(of_session.workers.get_mut(&worker)) {
            worker.asks(asked);
        }
        self.workers += of_session.workers.len() - before;
        let names = (session, worker);
        if let Some(instance) = above.instance {
            let before = trace.weight();
            trace.stands_for(instance, agent, names.clone());
            self.spans += trace.weight() - before;
        }
        names
    }

    fn deliver(&mut self, place: &Place, waiting: Waiting, each: &mut dyn FnMut(Record)) {
        let session = self.sessions.entry(Arc::clone(&place.session)).or_default();
        session.arrived = session.arrived.max(waiting.arrived);
        let worker = session.workers.entry(Arc::clone(&place.worker)).or_default();
        self.counts.late += u64::from(waiting.begin < worker.latest);
        worker.latest = worker.latest.max(waiting.begin);
        if waiting.call.is_some() {
            worker.join_step(&waiting, place.inside, &mut session.steps);
        }
        worker.is_answered |= waiting.kind == Kind::Model;
        worker.is_agent |= waiting.call.is_some() || waiting.prompt.is_some();
        let is_agent = worker.is_agent;
        let step = worker.step;
        let prompt = waiting.prompt.filter(|prompt| {
            let digest = digest((prompt, place.trace, place.instance));
            core::mem::replace(&mut worker.prompt, digest) != digest
        });
        let whats = [
            prompt.map(|(text, _)| What::Prompt(text)),
            waiting.usage.map(What::Usage),
            waiting.said.filter(|_| is_agent).map(What::Said),
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
                self.spans -= trace.weight();
                self.counts.forgotten_spans += trace.nodes.len() as u64;
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
