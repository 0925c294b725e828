//! What a replica knows of the calls under one key: a count for each worker.

use alloc::vec::Vec;

use unstuck_core::{Digest, Tool};

use crate::ledger::Heat;
use crate::observation::{Answer, Key, Observation, Worker};
use crate::rule::{Allowance, Rule};
use crate::verdict::{Counts, Finding, Outcome, Verdict};

/// How many rungs the ladder of a rule has.
pub(crate) const RUNGS_MAX: u8 = 4;

/// Calls of one worker: in the generation before, in the one that goes on, and in the next, in which
/// peers may be whose clocks are ahead. Those do not count yet.
pub(crate) type Calls = [u32; 3];

/// The places of the generations among [`Calls`].
pub(crate) const BEFORE: usize = 0;
pub(crate) const NOW: usize = 1;

/// What a topic is known by: the call, so that all topics of a call stand together, what its calls are
/// counted under, and the tool, so that peers who name another one do not meddle with this one's count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    pub(crate) call: Digest,
    pub(crate) key: Key,
    pub(crate) tool: Tool,
}

impl Id {
    /// The first id there may be of a call.
    pub(crate) const fn first(call: Digest) -> Self {
        Self { call, key: Key::new(Digest::new(0)), tool: Tool::new(0) }
    }

    /// What an observation is counted under.
    pub(crate) const fn of(observation: &Observation) -> Self {
        Self { call: observation.call, key: observation.key(), tool: observation.tool }
    }
}

/// The calls of one worker under one key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) worker: Worker,
    pub(crate) calls: Calls,
    /// In how many frames more it goes out as news.
    pub(crate) left: u8,
    /// The number of the last frame that it went out in, so that it is in none twice.
    pub(crate) frame: u16,
}

impl Cell {
    /// How many calls count that are in the window.
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
    pub(crate) answer: Option<Answer>,
    /// In the order of the workers; none without a call.
    pub(crate) cells: Vec<Cell>,
    /// Whether some of the calls were recorded here.
    pub(crate) own: bool,
}

impl Topic {
    /// A topic without a call, and with room for one worker: most have no other.
    pub(crate) fn new(answer: Option<Answer>) -> Self {
        Self { answer, cells: Vec::with_capacity(1), own: false }
    }

    pub(crate) const fn outcome(&self) -> Outcome {
        Outcome::of(self.answer)
    }

    /// How much would be lost with it: its calls, and one more where some were recorded here, which others
    /// may not know.
    pub(crate) fn weight(&self) -> u32 {
        let calls = self.cells.iter().flat_map(|cell| cell.calls);
        calls.fold(u32::from(self.own), u32::saturating_add)
    }

    /// All calls in the window, and the workers that made them.
    fn counts(&self) -> (u32, u32) {
        let cells = self.cells.iter().filter(|cell| cell.is_in_window());
        cells.fold((0, 0), |(calls, workers): (u32, u32), cell| {
            (calls.saturating_add(cell.counted(Allowance::None)), workers.saturating_add(1))
        })
    }

    /// The counted calls in the window, where no worker stands for more than `share` of them.
    fn counted(&self, allowance: Allowance, share: u32) -> u32 {
        let cells = self.cells.iter().map(|cell| cell.counted(allowance).min(share));
        cells.fold(0, u32::saturating_add)
    }

    /// The rung that is reached, and the verdict there.
    ///
    /// A rung asks for so many calls of so many workers; one worker stands for no more than its [`share`]
    /// of them, whatever a peer says that it did.
    pub(crate) fn judge(&self, id: &Id, rule: &Rule) -> Verdict {
        let (_, workers) = self.counts();
        // Nearly all calls are made by one worker alone.
        if workers < rule.workers {
            return Verdict::PROCEED;
        }
        let allowance = rule.allowance_of(id.tool, self.outcome());
        let counted = |rung| self.counted(allowance, share(rule, rung));
        let reached = |rung: &u8| rule.rung(counted(*rung), workers).0 >= *rung;
        let Some(reached) = (1..=RUNGS_MAX).rev().find(reached) else { return Verdict::PROCEED };
        let (rung, action) = rule.rung(counted(reached), workers);
        let beyond = counted(1).saturating_sub(rule.calls);
        // What is free was made all the same.
        let free = if allowance == Allowance::Once { workers } else { 0 };
        let calls = counted(RUNGS_MAX).saturating_add(free);
        let counts = Counts { calls, workers, missed: 0, beyond };
        let finding = Finding::new(id.key.loop_id(), id.tool, self.outcome(), counts);
        Verdict { action, rung, finding: Some(finding) }
    }

    /// What there is to see of it; nothing while all of its calls lie ahead.
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

    /// Whether a cell is worth telling everybody of, once several workers make the call: one that says
    /// more than that a worker made a call that each may make once.
    pub(crate) fn tells(cell: &Cell, allowance: Allowance) -> bool {
        cell.calls.into_iter().fold(0, u32::saturating_add)
            > u32::from(allowance == Allowance::Once)
    }

    /// Goes on by so many generations. Says whether anything is left.
    pub(crate) fn turn(&mut self, generations: u64) -> bool {
        for cell in &mut self.cells {
            cell.calls = turned(cell.calls, generations);
        }
        self.cells.retain(|cell| cell.calls != [0; 3]);
        !self.cells.is_empty()
    }
}

/// The calls, where so many generations more have gone by: one at least.
fn turned(calls: Calls, generations: u64) -> Calls {
    let by = usize::try_from(generations).unwrap_or(calls.len());
    let at = |place: usize| calls.get(place.saturating_add(by)).copied().unwrap_or(0);
    [at(0), at(1), 0]
}

/// How many of the calls of a rung one worker may stand for: what each must have made if as many workers
/// as the rule asks for made equally many.
pub(crate) fn share(rule: &Rule, rung: u8) -> u32 {
    rule.calls.saturating_mul(u32::from(rung)).div_ceil(rule.workers.max(1))
}

/// The most that a cell counts: beyond it no verdict changes. One more than a share, since the first call
/// may be free.
pub(crate) fn calls_max(rule: &Rule) -> u32 {
    share(rule, RUNGS_MAX).saturating_add(1)
}
