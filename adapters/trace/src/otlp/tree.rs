//! The spans of one trace: which of them are above a span, and which worker they stand for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dialect::{Asked, Kind, Meaning};
use super::{Span, SpanId, ToolCall, TraceId, hexadecimal};
use crate::event::Tokens;
use crate::pairing::digest;

/// The most spans above a span that are looked at. Real traces are tens of spans deep.
const ANCESTORS_MAX: usize = 128;

/// The memory of a trace, in spans.
const SPANS_OF_TRACE: usize = 4;

/// The bytes of names that take as much memory as a span.
const NAMES_OF_SPAN: usize = 128;

/// The spans of a trace that are remembered, and those that wait.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Trace {
    pub(super) nodes: HashMap<SpanId, Node>,
    /// The spans that wait, by begin and by arrival.
    pub(super) waiting: BTreeMap<(u64, u64), Waiting>,
    pub(super) bytes: usize,
    /// The first session that a span named.
    pub(super) session: Option<Arc<str>>,
    /// The workers of each span that stands for some: one for each agent that other spans name.
    pub(super) workers: HashMap<SpanId, Vec<Stood>>,
    /// The number of these workers.
    stood: usize,
    /// The latest agent that a span named, and the bytes of all names. Equal names in a row share their memory.
    agent: Option<Arc<str>>,
    names: usize,
    pub(super) seen: u64,
    /// The time of the latest span.
    pub(super) arrived: u64,
}

/// The session and the name of a worker.
pub(super) type Names = (Arc<str>, Arc<str>);

/// A worker that a span stands for: the agent that other spans name, and the worker's names.
pub(super) type Stood = (Option<Arc<str>>, Names);

/// A span as its descendants see it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Node {
    pub(super) parent: Option<SpanId>,
    pub(super) kind: Kind,
    pub(super) end: u64,
    /// A digest of the tool's name, to recognise a call that two libraries observe.
    pub(super) tool: u64,
    pub(super) agent: Option<Arc<str>>,
    pub(super) session: Option<Arc<str>>,
    pub(super) asked: Option<Asked>,
    /// `true` if the span has a record.
    pub(super) is_told: bool,
}

/// A span that waits.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) id: SpanId,
    pub(super) parent: Option<SpanId>,
    pub(super) kind: Kind,
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) arrived: u64,
    pub(super) bytes: usize,
    pub(super) agent: Option<Arc<str>>,
    pub(super) session: Option<Arc<str>>,
    pub(super) call: Option<ToolCall>,
    pub(super) prompt: Option<(String, usize)>,
    pub(super) said: Option<String>,
    pub(super) usage: Option<Tokens>,
}

/// The spans above a span.
#[derive(Default)]
pub(super) struct Above {
    /// The session of the outermost span that names one.
    pub(super) session: Option<Arc<str>>,
    /// The span that stands for the worker: the nearest agent, or else the last span that is known or
    /// named. `None` for a span without parent.
    pub(super) instance: Option<SpanId>,
    /// The nearest tool below that span.
    pub(super) inside: Option<SpanId>,
    /// `true` if a span above describes the same call.
    pub(super) is_mirror: bool,
}

impl Trace {
    /// Adds a span, and returns it as a waiting record.
    pub(super) fn waiting(&mut self, meaning: Meaning, span: &Span, arrived: u64) -> Waiting {
        let names = &mut self.names;
        let session = meaning.session.map(|name| shared(name, self.session.as_ref(), names));
        if self.session.is_none() {
            self.session.clone_from(&session);
        }
        let agent = meaning.agent.map(|name| shared(name, self.agent.as_ref(), names));
        if agent.is_some() {
            self.agent.clone_from(&agent);
        }
        let tool = meaning.call.as_ref().map_or(0, |call| digest(&call.tool));
        let mut waiting = Waiting {
            id: span.id,
            parent: span.parent,
            kind: meaning.kind,
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
        let asked = meaning.asked;
        waiting.bytes = waiting.size() + asked.as_ref().map_or(0, Asked::size);
        let is_told = waiting.is_told();
        let (parent, kind, end) = (span.parent, meaning.kind, span.end);
        let node = Node { parent, kind, end, tool, agent, session, asked, is_told };
        self.nodes.insert(span.id, node);
        self.hand_on(span.id);
        waiting
    }

    /// Returns the beginning of the first record that waits.
    pub(super) fn begin(&self) -> u64 {
        let first = self.waiting.iter().find(|(_, waiting)| !waiting.is_around());
        first.map_or(u64::MAX, |((begin, _), _)| *begin)
    }

    /// Returns the memory of what is remembered, in spans.
    pub(super) fn weight(&self) -> usize {
        SPANS_OF_TRACE + self.nodes.len() + self.stood + self.names / NAMES_OF_SPAN
    }

    /// Returns the spans above a span that are known or named, the nearest first.
    pub(super) fn ancestors(&self, of: &Waiting) -> impl Iterator<Item = (SpanId, Option<&Node>)> {
        let node = |id: SpanId| (id, self.nodes.get(&id));
        let next = move |(_, of): &(SpanId, Option<&Node>)| of.and_then(|of| of.parent).map(node);
        let above = core::iter::successors(of.parent.map(node), next).take(ANCESTORS_MAX);
        let own = of.id;
        above.take_while(move |(id, _)| *id != own)
    }

    /// Lets equal names share their memory.
    pub(super) fn share_names(&mut self, names: &mut HashSet<Arc<str>>) {
        let of_nodes =
            self.nodes.values_mut().flat_map(|node| [&mut node.agent, &mut node.session]);
        let of_waiting = self.waiting.values_mut().flat_map(|of| [&mut of.agent, &mut of.session]);
        let of_trace = [&mut self.session, &mut self.agent];
        let mut share = |name: &mut Arc<str>| match names.get(name) {
            Some(known) => *name = Arc::clone(known),
            None => {
                names.insert(Arc::clone(name));
            }
        };
        of_nodes.chain(of_waiting).chain(of_trace).flatten().for_each(&mut share);
        for (agent, (session, worker)) in self.workers.values_mut().flatten() {
            agent.iter_mut().chain([session, worker]).for_each(&mut share);
        }
    }

    /// Adds a worker that a span stands for.
    pub(super) fn stands_for(&mut self, span: SpanId, agent: Option<Arc<str>>, names: Names) {
        let workers = self.workers.entry(span).or_default();
        if !workers.iter().any(|(known, _)| *known == agent) {
            workers.push((agent, names));
            self.stood += 1;
        }
    }

    /// Lets the agent above a span stand for the workers that the span stood for, before it was known to
    /// be within the agent.
    pub(super) fn hand_on(&mut self, mut span: SpanId) {
        for _ in 0..ANCESTORS_MAX {
            let node = self.nodes.get(&span).filter(|node| node.kind != Kind::Agent);
            let Some(parent) = node.and_then(|node| node.parent) else { return };
            let Some(workers) = self.workers.get(&span).cloned() else { return };
            for (agent, names) in workers {
                self.stands_for(parent, agent, names);
            }
            span = parent;
        }
    }

    pub(super) fn above(&self, waiting: &Waiting) -> Above {
        let tool = waiting.call.as_ref().map(|call| digest(&call.tool));
        let mut above = Above { session: waiting.session.clone(), ..Above::default() };
        let (mut in_agent, mut in_model) = (false, false);
        for (id, node) in self.ancestors(waiting) {
            if !in_agent {
                above.instance = Some(id);
            }
            let Some(node) = node else { break };
            above.session = node.session.clone().or(above.session);
            match node.kind {
                _ if in_agent => {}
                Kind::Agent => in_agent = true,
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

    /// Takes the arguments of a call from the span around it, if that one has them by name.
    pub(super) fn name_arguments(&self, waiting: &mut Waiting) {
        let Some(call) = &mut waiting.call else { return };
        let around = waiting.parent.and_then(|parent| self.nodes.get(&parent)?.asked.as_ref());
        if let Some(asked) = around.filter(|asked| asked.name == call.tool) {
            call.args = Some(asked.args.clone());
        }
    }

    /// Removes the arguments that a span around a call had by name. Returns `false`, and keeps them, if its call
    /// still waits. `parents` are the spans around those that wait.
    pub(super) fn forget_asked(&mut self, around: SpanId, parents: &HashSet<SpanId>) -> bool {
        let is_over = !parents.contains(&around);
        if is_over && let Some(node) = self.nodes.get_mut(&around) {
            node.asked = None;
        }
        is_over
    }

    /// Returns the session that a span or one above it names, or else the first one of the trace. Without
    /// any, the trace is a session.
    pub(super) fn session_of(&mut self, id: &TraceId, above: &Above) -> Arc<str> {
        let first = || Arc::clone(self.session.get_or_insert_with(|| hexadecimal(id).into()));
        above.session.clone().unwrap_or_else(first)
    }

    /// Returns the session and the worker that the spans above have been given. Each of them may have
    /// stood for the worker, as long as the spans above it were not known.
    pub(super) fn known_worker(
        &self,
        waiting: &Waiting,
        agent: Option<&Arc<str>>,
    ) -> Option<Names> {
        for (id, node) in self.ancestors(waiting) {
            let workers = self.workers.get(&id).map_or(&[][..], Vec::as_slice);
            let of = |agent: Option<&Arc<str>>| {
                workers.iter().find(|(known, _)| known.as_ref() == agent)
            };
            let known = of(agent).or_else(|| of(None)).map(|(_, names)| names.clone());
            if known.is_some() || node.is_some_and(|node| node.kind == Kind::Agent) {
                return known;
            }
        }
        None
    }
}

impl Waiting {
    /// Returns whether the span has a record.
    pub(super) fn is_told(&self) -> bool {
        self.call.is_some() || self.prompt.is_some() || self.said.is_some() || self.usage.is_some()
    }

    /// Returns whether the span has no record and only waits for the call within it.
    pub(super) fn is_around(&self) -> bool {
        !self.is_told() && self.kind == Kind::Other
    }

    /// Returns the bytes of the span in memory.
    pub(super) fn size(&self) -> usize {
        let call = self.call.as_ref().map_or(0, |call| {
            let texts = [&call.id, &call.args, &call.result];
            call.tool.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
        });
        let prompt = self.prompt.as_ref().map_or(0, |(text, _)| text.len());
        size_of::<Self>() + call + prompt + self.said.as_ref().map_or(0, String::len)
    }
}

impl Asked {
    fn size(&self) -> usize {
        self.name.len() + self.args.len()
    }
}

/// Returns a name in memory that it shares with an equal one, or else in `names` more bytes.
fn shared(name: String, known: Option<&Arc<str>>, names: &mut usize) -> Arc<str> {
    match known {
        Some(known) if **known == *name => Arc::clone(known),
        _ => {
            *names += name.len();
            name.into()
        }
    }
}
