//! The part of the findings of one input that its report needs, taken as they come.

use std::collections::{BTreeSet, HashSet};

use unstuck_core::{Action, LoopId};

use crate::output::recurring::what_recurs;
use crate::replay::{LoopKey, LoopPrefix, Replay, ReplayFinding, Wanted};
use crate::scan::baseline::{Baseline, Compared, Standing};
use crate::scan::machine;
use crate::scan::spool::Spool;

/// The most loops that are listed if no loop has the id to explain.
pub(super) const NAMED_MAX: usize = 20;

/// The parts of the findings that the outputs need.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Needs {
    /// The most loops to keep with their proofs, the first ones.
    pub(crate) loops: usize,
    /// Each finding as JSON.
    pub(crate) lines: bool,
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

/// The findings of one input.
pub(crate) struct Kept {
    pub(crate) worst: Action,
    /// The first loops.
    pub(crate) loops: Loops,
    /// Each finding as JSON, for programs.
    pub(super) lines: Option<Spool>,
    /// The loops that an explanation can name.
    pub(super) names: Option<Names>,
    /// The loops beside the baseline, if there is one.
    pub(super) compared: Option<Compared>,
}

/// The loops of a feedback file that were found in an input.
pub(super) struct Seen {
    /// All loops of the file, in their order.
    of: &'static [LoopId],
    pub(super) seen: BTreeSet<LoopId>,
}

/// The first loops of an input.
#[derive(Default)]
pub(crate) struct Loops {
    /// The most loops to keep.
    most: usize,
    /// In the order of their first findings.
    pub(crate) shown: Vec<Loop>,
    /// The number of all loops.
    pub(crate) count: usize,
}

/// The findings of one loop, at least one: one for each rung that it reached.
pub(crate) struct Loop {
    pub(crate) rungs: Vec<ReplayFinding>,
    /// The last call or message at which it was found.
    pub(crate) end: Option<usize>,
    /// The place beside the baseline, if there is one.
    pub(super) standing: Option<Standing>,
}

/// The loops that an explanation can name.
pub(super) struct Names {
    wanted: LoopPrefix,
    /// In the order of first findings: some, and all that are wanted.
    pub(super) named: Vec<(LoopId, String)>,
    pub(super) found: HashSet<LoopId>,
}

impl Kept {
    /// Keeps what the outputs need.
    pub(super) fn new(needs: Needs) -> Self {
        let named = |wanted| Names { wanted, named: Vec::new(), found: HashSet::new() };
        Self {
            worst: Action::Proceed,
            loops: Loops { most: needs.loops, ..Loops::default() },
            lines: needs.lines.then(Spool::default),
            names: needs.explain.map(named),
            compared: None,
        }
    }

    /// Compares the loops with a baseline, if there is one.
    pub(super) fn comparing(self, baseline: Option<&'static Baseline>) -> Self {
        Self { compared: baseline.map(Compared::new), ..self }
    }

    /// Takes the findings that `replay` made since the last time.
    pub(super) fn take_from(&mut self, replay: &mut Replay) {
        let mut left = Vec::new();
        for found in replay.take_findings() {
            left.extend(self.take(found));
        }
        for key in left {
            replay.leave(key);
        }
    }

    /// Takes a finding. Returns a loop whose end does not matter.
    fn take(&mut self, found: ReplayFinding) -> Option<LoopKey> {
        self.worst = self.worst.max(found.action);
        let standing = self.compared.as_mut().map(|compared| compared.take(&found));
        if let Some(lines) = &mut self.lines {
            lines.push(found.calls_before, machine::finding(&found, standing));
        }
        if let Some(names) = &mut self.names {
            names.take(&found);
        }
        self.loops.take(found, standing)
    }

    /// Takes the last findings and the ends of the loops.
    pub(super) fn finish(
        &mut self,
        findings: Vec<ReplayFinding>,
        end: impl Fn(LoopKey) -> Option<usize>,
    ) {
        for found in findings {
            self.take(found);
        }
        for one in &mut self.loops.shown {
            one.end = one.rungs.first().and_then(|found| end(found.key));
        }
    }
}

impl Seen {
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

impl Loops {
    fn take(&mut self, found: ReplayFinding, standing: Option<Standing>) -> Option<LoopKey> {
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
        self.shown.insert(place, Loop { rungs: vec![found], end: None, standing });
        let last = if self.shown.len() > self.most { self.shown.pop() } else { None };
        last.map(|last| last.rungs[0].key)
    }
}

impl Names {
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
    use unstuck_text::PRESETS;
    use unstuck_trace::{Args, Call, Event, Outcome};

    use super::*;

    const SHOWN_MAX: usize = 10;

    /// Keeps the findings of `calls` calls, with a new loop every three.
    fn kept(needs: Needs, calls: usize, mut look: impl FnMut(&Kept)) -> Kept {
        let mut replay = Replay::new(&PRESETS[0]);
        let mut kept = Kept::new(needs);
        for index in 0..calls {
            let args = &*(index / 3).to_string();
            let (worker, args) = ("main", Args::Json(args));
            let call =
                Call { index, worker, step: index as u64, tool: "bash", args, reworded: &[] };
            replay.take(&Event::Call(call));
            let (text, failed, cut, refused) = ("no", false, None, false);
            let outcome = Outcome { call: index, worker, text, failed, cut, refused };
            replay.take(&Event::Outcome(outcome));
            kept.take_from(&mut replay);
            look(&kept);
        }
        let findings = replay.finish();
        assert!(findings.ends.len() <= needs.loops, "{} ends", findings.ends.len());
        kept.finish(findings.list, |key| findings.ends.get(&key).copied());
        kept
    }

    #[test]
    fn the_loops_for_people_do_not_grow_with_their_number() {
        let needs = Needs { loops: SHOWN_MAX, ..Needs::default() };
        let kept = kept(needs, 30_000, |kept| {
            assert!(kept.loops.shown.len() <= SHOWN_MAX);
        });
        let Loops { shown, count, .. } = kept.loops;
        assert_eq!(count, 10_000);
        let ends = shown.iter().map(|one| one.end);
        assert!(ends.eq((0..SHOWN_MAX).map(|n| Some(3 * n + 2))));
        assert!(shown.iter().all(|one| !one.rungs[0].proof.is_empty()));
    }

    #[test]
    fn the_findings_for_programs_do_not_grow_in_memory() {
        let needs = Needs { lines: true, ..Needs::default() };
        let mut kept = kept(needs, 60_000, |kept| {
            let lines = kept.lines.as_ref().expect("lines");
            assert!(lines.bytes_in_memory() <= Spool::BYTES_MAX, "{}", lines.bytes_in_memory());
        });
        let lines = kept.lines.as_mut().expect("lines");
        assert!(lines.has_file());
        let mut places = Vec::new();
        let each = &mut |json: &str| {
            let finding: serde_json::Value = serde_json::from_str(json).expect("JSON");
            places.push(finding["at_call"].as_u64());
            Ok::<(), ()>(())
        };
        assert_eq!(lines.each(each).expect("a file"), Ok(()));
        assert!(places.into_iter().eq((0..20_000).map(|n| Some(3 * n + 2))));
    }
}
