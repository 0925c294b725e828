//! The calls under one key: a count for each worker.

use alloc::vec::Vec;

use unstuck_core::{Digest, Tool};

use crate::ledger::Heat;
use crate::observation::{CallResult, Key, Observation, Worker};
use crate::rule::{Allowance, Rule};
use crate::verdict::{Counts, Finding, Outcome, Verdict};

/// The number of rungs of a rule's ladder.
pub(crate) const RUNGS_MAX: u8 = 4;

/// The calls of one worker in the previous, the current and the next generation. Peers with clocks that are
/// ahead may be in the next one. Its calls do not count yet.
pub(crate) type Calls = [u32; 3];

/// The positions of the generations in [`Calls`].
pub(crate) const BEFORE: usize = 0;
pub(crate) const NOW: usize = 1;

/// The identity of a topic. The call comes first, so that all topics of a call are adjacent. The tool is part
/// of it, so that a peer that reports another tool does not change this count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    pub(crate) call: Digest,
    pub(crate) key: Key,
    pub(crate) tool: Tool,
}

impl Id {
    /// Returns the smallest possible id of a call.
    pub(crate) const fn first(call: Digest) -> Self {
        Self { call, key: Key::new(Digest::new(0)), tool: Tool::new(0) }
    }

    /// Returns the id under which an observation is counted.
    pub(crate) const fn of(observation: &Observation) -> Self {
        Self { call: observation.call, key: observation.key(), tool: observation.tool }
    }
}

/// The calls of one worker under one key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) worker: Worker,
    pub(crate) calls: Calls,
    /// The number of further frames that carry it as news.
    pub(crate) left: u8,
    /// The number of the last frame with this cell, so that no frame has it twice.
    pub(crate) frame: u16,
}

impl Cell {
    /// Returns the number of calls in the window that count.
    fn counted(&self, allowance: Allowance) -> u32 {
        let calls = self.calls[BEFORE].saturating_add(self.calls[NOW]);
        match allowance {
            Allowance::None => calls,
            Allowance::Once => calls.saturating_sub(1),
            Allowance::Any => 0,
        }
    }

    fn is_in_window(&self) -> bool {
        self.calls[BEFORE] > 0 || self.calls[NOW] > 0
    }
}

/// The calls under one key.
#[derive(Clone, Debug)]
pub(crate) struct Topic {
    pub(crate) result: Option<CallResult>,
    /// The cells in the order of their workers. Each has a call.
    pub(crate) cells: Vec<Cell>,
    /// `true` if some of the calls were recorded here.
    pub(crate) own: bool,
}

impl Topic {
    /// Creates a topic without calls, with room for one worker. Most have only one.
    pub(crate) fn new(result: Option<CallResult>) -> Self {
        Self { result, cells: Vec::with_capacity(1), own: false }
    }

    pub(crate) const fn outcome(&self) -> Outcome {
        Outcome::of(self.result)
    }

    /// Returns the loss if the topic is forgotten: its calls, and one more if some were recorded here, because
    /// other replicas may not know them.
    pub(crate) fn weight(&self) -> u32 {
        let calls = self.cells.iter().flat_map(|cell| cell.calls);
        calls.fold(u32::from(self.own), u32::saturating_add)
    }

    /// Returns the number of calls in the window, and of the workers that made them.
    fn counts(&self) -> (u32, u32) {
        let cells = self.cells.iter().filter(|cell| cell.is_in_window());
        cells.fold((0, 0), |(calls, workers): (u32, u32), cell| {
            (calls.saturating_add(cell.counted(Allowance::None)), workers.saturating_add(1))
        })
    }

    /// Returns the number of counted calls in the window, with at most `share` of each worker.
    fn counted(&self, allowance: Allowance, share: u32) -> u32 {
        let cells = self.cells.iter().map(|cell| cell.counted(allowance).min(share));
        cells.fold(0, u32::saturating_add)
    }

    /// Returns the verdict of the rung that is reached.
    ///
    /// One worker counts for at most its [`share`] of a rung's calls, whatever a peer claims.
    pub(crate) fn judge(&self, id: &Id, rule: &Rule) -> Verdict {
        let (_, workers) = self.counts();
        // One worker alone makes nearly all calls.
        if workers < rule.workers {
            return Verdict::PROCEED;
        }
        let allowance = rule.allowance_of(id.tool, self.outcome());
        let counted = |rung| self.counted(allowance, share(rule, rung));
        let reached = |rung: &u8| rule.rung(counted(*rung), workers).0 >= *rung;
        let Some(reached) = (1..=RUNGS_MAX).rev().find(reached) else { return Verdict::PROCEED };
        let (rung, action) = rule.rung(counted(reached), workers);
        let beyond = counted(1).saturating_sub(rule.calls);
        // Free calls were made, too.
        let free = if allowance == Allowance::Once { workers } else { 0 };
        let calls = counted(RUNGS_MAX).saturating_add(free);
        let counts = Counts { calls, workers, missed: 0, beyond };
        let finding = Finding::new(id.key.loop_id(), id.tool, self.outcome(), counts);
        Verdict { action, rung, finding: Some(finding) }
    }

    /// Returns the counts of the topic, or `None` while all its calls are in the next generation.
    pub(crate) fn heat(&self, id: &Id, rule: &Rule) -> Option<Heat> {
        let (calls, workers) = self.counts();
        (calls > 0).then(|| Heat {
            loop_id: id.key.loop_id(),
            tool: id.tool,
            calls,
            workers,
            missed: 0,
            outcome: self.outcome(),
            action: self.judge(id, rule).action,
        })
    }

    /// Returns whether a cell of a shared call is worth sending to all replicas: it has more than a free call.
    pub(crate) fn is_worth_sending(cell: &Cell, allowance: Allowance) -> bool {
        cell.calls.into_iter().fold(0, u32::saturating_add)
            > u32::from(allowance == Allowance::Once)
    }

    /// Turns by a number of generations. Returns whether any calls are left.
    pub(crate) fn turn(&mut self, generations: u64) -> bool {
        for cell in &mut self.cells {
            cell.calls = turned(cell.calls, generations);
        }
        self.cells.retain(|cell| cell.calls != [0; 3]);
        !self.cells.is_empty()
    }
}

/// Returns the calls after a number of further generations: at least one.
fn turned(calls: Calls, generations: u64) -> Calls {
    let by = usize::try_from(generations).unwrap_or(calls.len());
    let at = |place: usize| calls.get(place.saturating_add(by)).copied().unwrap_or(0);
    [at(0), at(1), 0]
}

/// Returns the maximum number of a rung's calls for which one worker counts: the number that each would have
/// made if as many workers as the rule asks for made equally many.
pub(crate) fn share(rule: &Rule, rung: u8) -> u32 {
    rule.calls.saturating_mul(u32::from(rung)).div_ceil(rule.workers.max(1))
}

/// Returns the maximum count of a cell. Beyond it no verdict changes. It is one more than a share, because the
/// first call may be free.
pub(crate) fn calls_max(rule: &Rule) -> u32 {
    share(rule, RUNGS_MAX).saturating_add(1)
}
