//! The part of the findings of one input that its report needs, taken as they come.

use std::collections::{BTreeSet, HashSet};

use unstuck_core::{Action, LoopId};

use crate::output::recurring::what_recurs;
use crate::replay::{LoopKey, LoopPrefix, Replay, ReplayFinding};
use crate::scan::machine;
use crate::scan::options::OutputFormat;
use crate::scan::spool::Spool;

/// The most loops of one run that are shown to people. More loops usually have one common cause.
const SHOWN_MAX: usize = 10;

/// The most loops that are listed if no loop has the id to explain.
pub(super) const NAMED_MAX: usize = 20;

/// The findings of one input.
pub(super) struct Kept {
    pub(super) worst: Action,
    pub(super) detail: Detail,
}

/// What is kept of each finding.
pub(super) enum Detail {
    /// For people: the first loops.
    Loops(Loops),
    /// For programs: each finding as JSON.
    Lines(Spool),
    /// For an explanation: the loops that it can name.
    Names(Names),
    /// The loops among these that were found.
    Seen { of: &'static [LoopId], seen: BTreeSet<LoopId> },
}

/// The first loops of an input.
#[derive(Default)]
pub(super) struct Loops {
    /// In the order of their first findings.
    pub(super) shown: Vec<Loop>,
    /// The number of all loops.
    pub(super) count: usize,
}

/// The findings of one loop, at least one: one for each rung that it reached.
pub(super) struct Loop {
    pub(super) rungs: Vec<ReplayFinding>,
    /// The last call or message at which it was found.
    pub(super) end: Option<usize>,
}

/// The loops that an explanation can name.
pub(super) struct Names {
    wanted: LoopPrefix,
    /// In the order of first findings: some, and all that are wanted.
    pub(super) named: Vec<(LoopId, String)>,
    pub(super) found: HashSet<LoopId>,
}

impl Kept {
    /// Keeps what a report in this format needs, or an explanation.
    pub(super) fn new(format: OutputFormat, explain: Option<LoopPrefix>) -> Self {
        let detail = match (explain, format) {
            (Some(wanted), _) => {
                Detail::Names(Names { wanted, named: Vec::new(), found: HashSet::new() })
            }
            (None, OutputFormat::Human) => Detail::Loops(Loops::default()),
            (None, OutputFormat::Json | OutputFormat::Jsonl) => Detail::Lines(Spool::default()),
        };
        Self { worst: Action::Proceed, detail }
    }

    /// Keeps the loops among `of`, which is sorted, that were found.
    pub(super) fn seen(of: &'static [LoopId]) -> Self {
        Self { worst: Action::Proceed, detail: Detail::Seen { of, seen: BTreeSet::new() } }
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
        let key = found.key;
        match &mut self.detail {
            Detail::Loops(loops) => return loops.take(found),
            Detail::Lines(lines) => lines.push(found.calls_before, machine::finding(&found)),
            Detail::Names(names) => names.take(&found),
            Detail::Seen { of, seen } => {
                let id = found.finding.loop_id;
                seen.extend(of.binary_search(&id).ok().map(|_| id));
            }
        }
        Some(key)
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
        if let Detail::Loops(loops) = &mut self.detail {
            for one in &mut loops.shown {
                one.end = one.rungs.first().and_then(|found| end(found.key));
            }
        }
    }
}

impl Loops {
    fn take(&mut self, found: ReplayFinding) -> Option<LoopKey> {
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
        if place == SHOWN_MAX {
            return Some(found.key);
        }
        self.shown.insert(place, Loop { rungs: vec![found], end: None });
        let last = if self.shown.len() > SHOWN_MAX { self.shown.pop() } else { None };
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

    /// Keeps the findings of `calls` calls, with a new loop every three.
    fn kept(format: OutputFormat, calls: usize, mut look: impl FnMut(&Kept)) -> Kept {
        let mut replay = Replay::new(&PRESETS[0]);
        let mut kept = Kept::new(format, None);
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
        assert!(findings.ends.len() <= SHOWN_MAX, "{} ends", findings.ends.len());
        kept.finish(findings.list, |key| findings.ends.get(&key).copied());
        kept
    }

    #[test]
    fn the_loops_for_people_do_not_grow_with_their_number() {
        let kept = kept(OutputFormat::Human, 30_000, |kept| {
            let Detail::Loops(loops) = &kept.detail else { panic!("no loops") };
            assert!(loops.shown.len() <= SHOWN_MAX);
        });
        let Detail::Loops(Loops { shown, count }) = kept.detail else { panic!("no loops") };
        assert_eq!(count, 10_000);
        let ends = shown.iter().map(|one| one.end);
        assert!(ends.eq((0..SHOWN_MAX).map(|n| Some(3 * n + 2))));
        assert!(shown.iter().all(|one| !one.rungs[0].proof.is_empty()));
    }

    #[test]
    fn the_findings_for_programs_do_not_grow_in_memory() {
        let kept = kept(OutputFormat::Jsonl, 60_000, |kept| {
            let Detail::Lines(lines) = &kept.detail else { panic!("no lines") };
            assert!(lines.bytes_in_memory() <= Spool::BYTES_MAX, "{}", lines.bytes_in_memory());
        });
        let Detail::Lines(lines) = kept.detail else { panic!("no lines") };
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
