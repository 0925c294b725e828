//! The workers of one session, and the latest step of each.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::tree::Waiting;
use super::{SpanId, TraceId, hexadecimal};

/// The prompts of a worker that are remembered, as many as the engine remembers.
const PROMPTS: usize = 8;

/// The workers of a session.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Session {
    pub(super) workers: HashMap<Arc<str>, Worker>,
    pub(super) steps: u64,
    pub(super) seen: u64,
    /// The time of the latest span.
    pub(super) arrived: u64,
    /// `true` if workers were forgotten, so that a name alone is not known to be new.
    pub(super) is_crowded: bool,
}

/// The latest step of a worker.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Worker {
    pub(super) step: u64,
    pub(super) begin: u64,
    pub(super) end: u64,
    /// The call within which the step's calls run.
    pub(super) inside: Option<SpanId>,
    /// `true` if the trace has a span of the model's answer before the step.
    pub(super) is_answer: bool,
    /// `true` if the model answered since the step's latest call.
    pub(super) is_answered: bool,
    /// The span that stands for the worker.
    pub(super) instance: Option<(TraceId, SpanId)>,
    /// A digest of the latest prompt and of its place, among the records that were delivered.
    pub(super) prompt: u64,
    /// Digests of the latest prompts' texts, among all records whose places are known.
    asked: [u64; PROMPTS],
    /// `true` if the worker had a prompt or a call. Other spans of models may be single questions, whose
    /// answers are equal without being a loop.
    pub(super) is_agent: bool,
    /// The beginning of the latest record.
    pub(super) latest: u64,
}

impl Session {
    /// Returns the worker of this name in a trace, for spans without parent. Nobody knows that the traces
    /// of a session are turns of one agent, so the worker of a second trace has the trace's id behind the name.
    pub(super) fn shared(&mut self, name: Arc<str>, trace: TraceId) -> Arc<str> {
        let instance = (trace, SpanId::default());
        let is_free = match self.workers.get(&name) {
            Some(known) => known.instance == Some(instance),
            None => !self.is_crowded,
        };
        let name = if is_free { name } else { format!("{name} {}", hexadecimal(&trace)).into() };
        self.workers.entry(Arc::clone(&name)).or_default().instance = Some(instance);
        name
    }

    /// Returns the name of a new worker, with its span's id behind it if another one has the name. If that
    /// one `is_over`, the same worker goes on.
    pub(super) fn worker(
        &mut self,
        name: Arc<str>,
        instance: (TraceId, SpanId),
        is_over: impl Fn(&Worker, (TraceId, SpanId)) -> bool,
    ) -> Arc<str> {
        let is_free = match self.workers.get(&name) {
            Some(known) => known.instance.is_some_and(|instance| is_over(known, instance)),
            None => !self.is_crowded,
        };
        let name = if is_free { name } else { self.numbered(&name, instance) };
        self.workers.entry(Arc::clone(&name)).or_default().instance = Some(instance);
        name
    }

    /// Returns a name with the id of the span that stands for the worker. Some libraries number the spans of each
    /// trace anew, so the trace's id is added if another worker has that name.
    fn numbered(&self, name: &str, (trace, span): (TraceId, SpanId)) -> Arc<str> {
        let own = format!("{name} {}", hexadecimal(&span));
        match self.workers.get(&*own) {
            Some(known) if known.instance != Some((trace, span)) => {
                format!("{own} {}", hexadecimal(&trace)).into()
            }
            _ => own.into(),
        }
    }
}

impl Worker {
    /// Returns whether a prompt is none of the latest ones.
    pub(super) fn is_new(&self, prompt: u64) -> bool {
        !self.asked.contains(&prompt)
    }

    /// Remembers a prompt as the latest one.
    pub(super) fn asks(&mut self, prompt: u64) {
        if self.is_new(prompt) {
            self.asked.rotate_left(1);
            self.asked[PROMPTS - 1] = prompt;
        }
    }

    /// Finds the step of a call: the latest one if both were issued together, or else a new one.
    pub(super) fn join_step(&mut self, call: &Waiting, inside: Option<SpanId>, steps: &mut u64) {
        let overlaps = call.begin < self.end && self.begin < call.end;
        // Some libraries run the calls of one answer one after the other.
        let follows = self.is_answer && !self.is_answered;
        let is_answer = core::mem::take(&mut self.is_answered);
        if self.step > 0 && self.inside == inside && (overlaps || follows) {
            self.begin = self.begin.min(call.begin);
            self.end = self.end.max(call.end);
            return;
        }
        *steps += 1;
        self.step = *steps;
        (self.begin, self.end) = (call.begin, call.end);
        (self.inside, self.is_answer) = (inside, is_answer);
    }
}
