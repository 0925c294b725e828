//! One worker of a replay: its detector, and what is kept of its calls and turns.

use std::collections::VecDeque;

use unstuck_core::{CallId, Detector, Finding, RuleIndex};
use unstuck_text::Preset;

use super::found::{Place, Shown};
use super::numbering::Numbering;

/// How many calls of a worker are kept to be shown and to be answered: more than the engine's
/// window and its open calls together.
pub(super) const KEPT_MAX: usize = 128;

/// How many text-only turns of a worker are kept to be shown.
pub(super) const TEXTS_MAX: usize = 8;

/// Room for the largest window, and for more calls issued together than any agent was seen to.
type Engine = Detector<'static, 64, 32>;

/// What is kept of a call.
pub(super) struct Kept {
    pub(super) id: CallId,
    pub(super) shown: Shown,
}

pub(super) struct Worker {
    pub(super) name: String,
    /// Which one it is of all that there have been: names come again.
    pub(super) number: u64,
    pub(super) seen: u64,
    pub(super) engine: Engine,
    /// The latest calls, oldest first.
    pub(super) calls: VecDeque<Kept>,
    pub(super) numbering: Numbering,
    /// The latest text-only turns, oldest first.
    pub(super) texts: VecDeque<Shown>,
    /// The messages that were text-only turns, by turn.
    pub(super) turns: Numbering,
    pub(super) turn: u64,
}

impl Worker {
    pub(super) fn new(name: &str, number: u64, seen: u64, preset: &'static Preset) -> Self {
        Self {
            name: name.to_owned(),
            number,
            seen,
            // No policy has a longer window, those from files included.
            engine: Engine::new(preset.policy).expect("a window of at most 64"),
            calls: VecDeque::new(),
            numbering: Numbering::default(),
            texts: VecDeque::new(),
            turns: Numbering::default(),
            turn: 0,
        }
    }

    pub(super) fn place(&self, finding: &Finding, at: usize) -> Place {
        if matches!(finding.rule, RuleIndex::Text(_)) {
            return Place::Messages { first: self.turns.index(finding.first), at };
        }
        let (first, last) = (finding.first, finding.last);
        Place::Calls { first: self.numbering.index(first), at, last: self.numbering.index(last) }
    }

    pub(super) fn kept(&self, index: usize) -> Option<&Kept> {
        let place = self.calls.binary_search_by_key(&index, |call| call.shown.index).ok()?;
        self.calls.get(place)
    }

    pub(super) fn proof(&self, finding: &Finding) -> Vec<Shown> {
        if matches!(finding.rule, RuleIndex::Text(_)) {
            let turns = usize::from(finding.laps).min(self.texts.len());
            return self.texts.iter().skip(self.texts.len() - turns).cloned().collect();
        }
        let calls = finding.calls().map(|seq| self.numbering.index(seq));
        calls.filter_map(|index| Some(self.kept(index)?.shown.clone())).collect()
    }
}
