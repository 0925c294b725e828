//! The first loops of an input, collected while it is judged.

use unstuck_core::Action;
use unstuck_trace::Event;

use crate::replay::{LoopKey, Replay, ReplayFinding};

/// The findings of one input.
pub struct JudgedInput {
    /// The strongest action of all findings.
    pub worst: Action,
    /// The first loops.
    pub loops: Loops,
}

/// The first loops of an input.
#[derive(Default)]
pub struct Loops {
    /// The most loops to keep.
    most: usize,
    /// In the order of their first findings.
    pub shown: Vec<Loop>,
    /// The number of all loops.
    pub count: usize,
}

/// The findings of one loop, at least one: one for each rung that it reached.
pub struct Loop {
    /// The findings, in order.
    pub rungs: Vec<ReplayFinding>,
    /// The last call or message at which it was found.
    pub(crate) end: Option<usize>,
    /// Whether the baseline has the loop, if there is a baseline.
    pub novelty: Option<Novelty>,
}

/// Whether a baseline has a loop that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Novelty {
    /// The baseline does not have the loop.
    New,
    /// The baseline has it.
    Again,
}

/// Looks at a run while it is judged.
pub trait Observer {
    /// Looks at an event, after the run has taken it in.
    fn event(&mut self, _event: &Event<'_>) {}

    /// Looks at a finding. Returns whether the baseline has its loop, if there is a baseline.
    fn found(&mut self, found: &ReplayFinding) -> Option<bool>;
}

impl JudgedInput {
    /// Keeps at most this many loops.
    pub fn new(most: usize) -> Self {
        Self { worst: Action::Proceed, loops: Loops { most, ..Loops::default() } }
    }

    /// Takes the findings that `replay` made since the last time, and shows them to `observer`.
    pub fn take_from(&mut self, replay: &mut Replay, observer: &mut impl Observer) {
        let mut left = Vec::new();
        for found in replay.take_findings() {
            left.extend(self.take(found, observer));
        }
        for key in left {
            replay.leave(key);
        }
    }

    /// Takes a finding. Returns a loop whose end does not matter.
    fn take(&mut self, found: ReplayFinding, observer: &mut impl Observer) -> Option<LoopKey> {
        self.worst = self.worst.max(found.action);
        let novelty = observer.found(&found).map(Novelty::of);
        self.loops.take(found, novelty)
    }

    /// Takes the last findings and the ends of the loops.
    pub fn finish(
        &mut self,
        findings: Vec<ReplayFinding>,
        end: impl Fn(LoopKey) -> Option<usize>,
        observer: &mut impl Observer,
    ) {
        for found in findings {
            self.take(found, observer);
        }
        for one in &mut self.loops.shown {
            one.end = one.rungs.first().and_then(|found| end(found.key));
        }
    }
}

impl Loops {
    fn take(&mut self, found: ReplayFinding, novelty: Option<Novelty>) -> Option<LoopKey> {
        let is_of = |one: &&mut Loop| one.rungs[0].key == found.key;
        if let Some(one) = self.shown.iter_mut().find(is_of) {
            let place = one.rungs.partition_point(|rung| rung.calls_before <= found.calls_before);
            one.rungs.insert(place, found);
            return None;
        }
        if !found.is_first {
            return None;
        }
        self.count += 1;
        let before = |one: &Loop| one.rungs[0].calls_before <= found.calls_before;
        let place = self.shown.partition_point(before);
        if place == self.most {
            return Some(found.key);
        }
        self.shown.insert(place, Loop { rungs: vec![found], end: None, novelty });
        let last = if self.shown.len() > self.most { self.shown.pop() } else { None };
        last.map(|last| last.rungs[0].key)
    }
}

impl Novelty {
    /// Returns the novelty of a loop that the baseline has, or has not.
    pub const fn of(is_known: bool) -> Self {
        if is_known { Self::Again } else { Self::New }
    }

    /// Returns the name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Again => "again",
        }
    }
}
