//! Groups loops over the same calls, so that people see one loop where several rules or several calls of a lap
//! were found.

use std::cmp::Reverse;

use unstuck_core::Action;

use crate::replay::{Location, ReplayFinding};
use crate::report::Loop;

/// Loops over one stretch of calls of one worker.
pub struct Group<'a> {
    /// The loop with the strongest action, which describes the others best.
    pub strongest: &'a Loop,
    /// In the order of their first findings.
    pub others: Vec<&'a Loop>,
}

/// Groups `loops`, which are in the order of their first findings. Each loop is in one group. The groups are in
/// the order of their first findings.
///
/// Two loops are in one group if they, or a chain of others between them, share a call of their proofs or
/// most of the shorter one's stretch of calls.
pub fn groups(loops: &[Loop]) -> Vec<Group<'_>> {
    let mut groups: Vec<Vec<&Loop>> = Vec::new();
    for one in loops {
        let meets = |group: &Vec<&Loop>| group.iter().any(|other| is_one(one, other));
        let Some(place) = groups.iter().position(meets) else {
            groups.push(vec![one]);
            continue;
        };
        // The loop may connect groups that were separate.
        let later = groups.split_off(place + 1);
        let (met, apart): (Vec<_>, Vec<_>) = later.into_iter().partition(meets);
        groups[place].extend(met.into_iter().flatten());
        groups[place].push(one);
        groups.extend(apart);
    }
    groups.into_iter().filter_map(Group::of).collect()
}

/// Returns whether two loops share a call of their proofs or most of the shorter one's stretch.
fn is_one(a: &Loop, b: &Loop) -> bool {
    let (of_a, of_b) = (Stretch::of(a), Stretch::of(b));
    let shared = (of_a.last.min(of_b.last) + 1).saturating_sub(of_a.first.max(of_b.first));
    if of_a.worker != of_b.worker || of_a.is_of_calls != of_b.is_of_calls || shared == 0 {
        return false;
    }
    2 * shared > of_a.len().min(of_b.len())
        || a.first()
            .proof
            .iter()
            .any(|call| b.first().proof.iter().any(|other| other.index == call.index))
}

impl<'a> Group<'a> {
    /// Returns all loops of the group.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Loop> {
        [self.strongest].into_iter().chain(self.others.iter().copied())
    }

    fn of(mut loops: Vec<&'a Loop>) -> Option<Self> {
        loops.sort_by_key(|one| one.first().calls_before);
        let places = loops.iter().enumerate();
        let (strongest, _) = places.max_by_key(|(place, one)| (one.strength(), Reverse(*place)))?;
        let strongest = loops.remove(strongest);
        Some(Self { strongest, others: loops })
    }
}

impl Loop {
    /// Returns the first finding.
    pub fn first(&self) -> &ReplayFinding {
        &self.rungs[0]
    }

    /// Returns the strongest action that the loop led to.
    pub fn worst(&self) -> Action {
        self.rungs.iter().map(|found| found.action).max().unwrap_or(Action::Proceed)
    }

    /// Orders loops by how much they say: a cycle names all its calls, and a failure is its own reason.
    fn strength(&self) -> (Action, u8, bool) {
        let finding = &self.first().finding;
        (self.worst(), finding.period, finding.has_failed())
    }
}

/// The calls or the messages from the first to the last one of a loop.
struct Stretch<'a> {
    worker: &'a str,
    is_of_calls: bool,
    first: usize,
    last: usize,
}

impl<'a> Stretch<'a> {
    fn of(one: &'a Loop) -> Self {
        let place = |found: &ReplayFinding| match found.location {
            Location::Calls { first, at, last } => (true, first, at.max(last)),
            Location::Messages { first, at } => (false, first, at),
        };
        let (is_of_calls, first, at) = place(one.first());
        let (_, _, last) = one.rungs.last().map_or((true, first, at), place);
        let last = last.max(at).max(one.end.unwrap_or(at)).max(first);
        Self { worker: &one.first().worker, is_of_calls, first, last }
    }

    fn len(&self) -> usize {
        self.last - self.first + 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use unstuck_core::{Finding, LoopId, Tool};

    use super::*;
    use crate::cases::check;
    use crate::replay::Excerpt;

    /// Returns a loop of `worker` over the calls from `first` to `last`, with the number `key`.
    fn of_calls(key: usize, worker: &str, first: usize, last: usize, action: Action) -> Loop {
        let tool = "bash".to_owned();
        let finding = Finding::elsewhere(LoopId::from_bits(key as u64), Tool::named(&tool), 0);
        let location = Location::Calls { first, at: last, last };
        let (worker, message, proof) = (worker.into(), String::new(), Vec::new());
        let (warning, cause, is_first, calls_before) = (None, None, true, last);
        #[rustfmt::skip]
        let found = ReplayFinding {
            rule: "rule", finding, action, tool, worker, location, warning, message, cause, proof, key,
            is_first, calls_before,
        };
        Loop { rungs: vec![found], end: None, novelty: None }
    }

    /// Returns the groups by the numbers of their loops, the strongest one first.
    fn keys(loops: &[Loop]) -> Vec<Vec<usize>> {
        let keys = |Group { strongest, others }: Group<'_>| {
            [strongest].into_iter().chain(others).map(|one| one.first().key).collect()
        };
        groups(loops).into_iter().map(keys).collect()
    }

    fn nudges(stretches: &[(&str, usize, usize)]) -> Vec<Loop> {
        let one = |(key, &(worker, first, last))| of_calls(key, worker, first, last, Action::Nudge);
        sorted(stretches.iter().enumerate().map(one).collect())
    }

    /// Returns the loops in the order of their first findings.
    fn sorted(mut loops: Vec<Loop>) -> Vec<Loop> {
        loops.sort_by_key(|one| one.first().calls_before);
        loops
    }

    #[test]
    fn loops_over_the_same_calls_are_one_group() {
        check("groups: loops by their worker and their calls, and their groups", |text| {
            let loops = text.split(", ").filter(|one| !one.is_empty()).enumerate();
            let loops = loops.map(|(key, one)| {
                let parts: Vec<&str> = one.split(' ').collect();
                let call = |n: usize| parts[n].parse().expect("a call");
                let action = parts.get(3).map_or(Action::Nudge, |_| Action::Block);
                of_calls(key, parts[0], call(1), call(2), action)
            });
            let groups = keys(&sorted(loops.collect())).into_iter();
            let words = |keys: Vec<usize>| keys.iter().map(usize::to_string).collect::<Vec<_>>();
            groups.map(|keys| words(keys).join(" ")).collect::<Vec<_>>().join("; ")
        });
    }

    #[test]
    fn loops_with_a_call_in_both_proofs_are_one_group() {
        let mut loops = nudges(&[("a", 0, 5), ("a", 5, 20), ("a", 20, 30)]);
        let proof = |calls: &[usize]| {
            let excerpt = |index: &usize| {
                let (tool, text, result) = (None, String::new(), None);
                Excerpt { index: *index, tool, text, result }
            };
            calls.iter().map(excerpt).collect()
        };
        loops[0].rungs[0].proof = proof(&[0, 3, 5]);
        loops[1].rungs[0].proof = proof(&[5, 6]);
        loops[2].rungs[0].proof = proof(&[21]);
        assert_eq!(keys(&loops), [vec![0, 1], vec![2]]);
    }

    proptest! {
        #[test]
        fn each_loop_is_in_one_group(
            stretches in vec((prop::sample::select(&["a", "b"][..]), 0..60_usize, 0..20_usize), 0..12),
        ) {
            let stretches: Vec<_> =
                stretches.into_iter().map(|(worker, first, more)| (worker, first, first + more)).collect();
            let loops = nudges(&stretches);
            let found = keys(&loops);
            let mut all: Vec<_> = found.iter().flatten().copied().collect();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..loops.len()));
            prop_assert_eq!(&found, &keys(&loops), "the same twice");
            let group_of = |one: &Loop| found.iter().position(|group| group.contains(&one.first().key));
            for a in &loops {
                let mut of_one = loops.iter().filter(|b| is_one(a, b));
                prop_assert!(of_one.all(|b| group_of(a) == group_of(b)));
                let others = loops.iter().filter(|b| group_of(a) == group_of(b)).count() - 1;
                let met = loops.iter().filter(|b| is_one(a, b)).count() - 1;
                prop_assert!(others == 0 || met > 0, "a loop is in a group because of another one");
            }
            let firsts = groups(&loops).into_iter().map(|Group { strongest, others }| {
                let calls = [strongest].into_iter().chain(others).map(|one| one.first().calls_before);
                calls.min()
            });
            prop_assert!(firsts.is_sorted());
        }
    }
}
