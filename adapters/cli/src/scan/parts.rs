//! The parts of a report that only some outputs of the program need.

use std::collections::{BTreeSet, HashSet};

use unstuck_core::LoopId;
use unstuck_report::loops::{Novelty, Observer};
use unstuck_report::machine;
use unstuck_report::recurring::what_recurs;
use unstuck_report::replay::{LoopKey, LoopPrefix, Replay, ReplayFinding, Wanted};
use unstuck_report::rows::FindingRow;

use crate::scan::baseline::{Baseline, Compared};
use crate::scan::spool::Spool;

/// The most loops that are listed if no loop has the id to explain.
pub(super) const NAMED_MAX: usize = 20;

/// The parts of the findings that the outputs need.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a part that some output needs")]
pub(crate) struct Needs {
    /// The most loops to keep with their proofs, the first ones.
    pub(crate) loops: usize,
    /// Each finding as JSON.
    pub(crate) lines: bool,
    /// Each finding as a row of a table.
    pub(crate) rows: bool,
    /// The loops that an explanation can name.
    pub(crate) explain: Option<LoopPrefix>,
    /// The calls as they are drawn.
    pub(crate) picture: bool,
    /// The first steps of all loops.
    pub(crate) steps: bool,
}

impl Needs {
    /// Returns the needs of both.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            loops: self.loops.max(other.loops),
            lines: self.lines || other.lines,
            rows: self.rows || other.rows,
            explain: self.explain.or(other.explain),
            picture: self.picture || other.picture,
            steps: self.steps || other.steps,
        }
    }

    /// Returns the loops whose steps are kept.
    pub(super) fn wanted(self) -> Option<Wanted> {
        let all = self.steps.then_some(Wanted::all());
        self.explain.map(Wanted::one).or(all)
    }
}

/// The parts of a report that are neither the run nor its first loops.
#[derive(Default)]
pub(crate) struct Parts {
    /// Each finding as JSON, for programs.
    pub(super) lines: Option<Spool>,
    /// Each finding as a row of a table, in JSON.
    pub(super) rows: Option<Spool>,
    /// The loops that an explanation can name.
    pub(super) names: Option<Explainable>,
    /// The loops compared with the baseline, if there is one.
    pub(super) compared: Option<Compared>,
    /// The loops of the feedback that were found, if silenced loops have to be reported.
    pub(super) unsilenced: Option<BTreeSet<LoopId>>,
}

/// The loops of a feedback file that were found in an input.
pub(super) struct FeedbackFound {
    /// All loops of the file, in their order.
    of: &'static [LoopId],
    pub(super) seen: BTreeSet<LoopId>,
}

/// The loops that an explanation can name.
pub(super) struct Explainable {
    wanted: LoopPrefix,
    /// In the order of first findings: some, and all that are wanted.
    pub(super) named: Vec<(LoopId, String)>,
    pub(super) found: HashSet<LoopId>,
}

impl Parts {
    /// Keeps what the outputs need, and compares the loops with a baseline, if there is one.
    pub(super) fn new(needs: Needs, baseline: Option<&'static Baseline>) -> Self {
        let named = |wanted| Explainable { wanted, named: Vec::new(), found: HashSet::new() };
        Self {
            lines: needs.lines.then(Spool::default),
            rows: needs.rows.then(Spool::default),
            names: needs.explain.map(named),
            compared: baseline.map(Compared::new),
            unsilenced: None,
        }
    }
}

impl Observer for Parts {
    fn found(&mut self, found: &ReplayFinding) -> Option<bool> {
        let is_known = self.compared.as_mut().map(|compared| compared.take(found));
        if let Some(lines) = &mut self.lines {
            let json = machine::finding(found, is_known.map(Novelty::of));
            lines.push(found.calls_before, json);
        }
        if let Some(rows) = &mut self.rows {
            // Strings and numbers always have a JSON form.
            let row = serde_json::to_string(&FindingRow::of(found)).unwrap_or_default();
            rows.push(found.calls_before, row);
        }
        if let Some(names) = &mut self.names {
            names.take(found);
        }
        is_known
    }
}

impl FeedbackFound {
    /// Looks for the loops `of`, which are sorted.
    pub(super) fn new(of: &'static [LoopId]) -> Self {
        Self { of, seen: BTreeSet::new() }
    }

    /// Takes the findings that `replay` made since the last time.
    pub(super) fn take_from(&mut self, replay: &mut Replay) {
        let left: Vec<_> = replay.take_findings().map(|found| self.take(&found)).collect();
        for key in left {
            replay.leave(key);
        }
    }

    /// Takes a finding. Returns its loop, whose end does not matter.
    pub(super) fn take(&mut self, found: &ReplayFinding) -> LoopKey {
        let id = found.finding.loop_id;
        self.seen.extend(self.of.binary_search(&id).ok().map(|_| id));
        found.key
    }
}

impl Explainable {
    fn take(&mut self, found: &ReplayFinding) {
        let id = found.finding.loop_id;
        let may_be_named = self.named.len() < NAMED_MAX || self.wanted.is(id);
        if self.found.insert(id) && may_be_named {
            self.named.push((id, what_recurs(&found.finding, &found.tool)));
        }
    }
}

#[cfg(test)]
mod tests {
    use unstuck_report::loops::JudgedInput;

    use super::*;
    use unstuck_text::PRESETS;
    use unstuck_trace::{Args, Call, Event, Outcome};

    #[test]
    fn the_findings_for_programs_do_not_grow_in_memory() {
        let needs = Needs { lines: true, ..Needs::default() };
        let mut parts = Parts::new(needs, None);
        let (mut replay, mut judged) = (Replay::new(&PRESETS[0]), JudgedInput::new(0));
        // A new loop every three calls.
        for index in 0..24_000 {
            let args = &*(index / 3).to_string();
            let (worker, step, args) = ("main", index as u64, Args::Json(args));
            replay.take(&Event::Call(Call { index, worker, step, tool: "bash", args }));
            let (text, failed, cut, refused) = ("no", false, None, false);
            let outcome = Outcome { call: index, worker, text, failed, cut, refused };
            replay.take(&Event::Outcome(outcome));
            judged.take_from(&mut replay, &mut parts);
            let lines = parts.lines.as_ref().expect("lines");
            assert!(lines.bytes_in_memory() <= Spool::BYTES_MAX, "{}", lines.bytes_in_memory());
        }
        judged.finish(replay.finish().list, |_| None, &mut parts);
        let lines = parts.lines.as_mut().expect("lines");
        assert!(lines.has_file());
        let mut places = Vec::new();
        let each = &mut |json: &str| {
            let finding: serde_json::Value = serde_json::from_str(json).expect("JSON");
            places.push(finding["at_call"].as_u64());
            Ok::<(), ()>(())
        };
        assert_eq!(lines.each(each).expect("a file"), Ok(()));
        assert!(places.into_iter().eq((0..8_000).map(|n| Some(3 * n + 2))));
    }
}
