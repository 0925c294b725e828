//! What a finding rests on: its calls, its loop id, and the proof that making the calls again does
//! not help.

use core::cmp::Ordering;

use crate::Digest;
use crate::ladder::{Action, RUNAWAY_MIN};
use crate::mask::Mask;
use crate::patience;
use crate::pattern::Hit;
use crate::record::{Record, Status, Tag, Tool};
use crate::rule::{Args, Results, Rule, TextRule, Texts};
use crate::talk::Turn;
use crate::verdict::{Ended, Failure, Finding, Kind, LoopId, RuleIndex, confidence};
use crate::window::{Key, Window};

/// The records before the judged one: the window, and for a call that is being announced also the
/// open calls.
pub(crate) struct Evidence<'d, const W: usize> {
    pub(crate) window: &'d Window<W>,
    pub(crate) open: &'d [Record],
}

/// Returns the finding of the rule at `place` about text, at the turn `number`. The array holds
/// the turns in a row, or the repetitions inside `turn`, and the number that the rule asked for.
pub(crate) fn of_text(
    place: u8,
    rule: &TextRule<'_>,
    number: u64,
    turn: &Turn,
    [laps, asked]: [u16; 2],
) -> Finding {
    let one = u64::from(laps.saturating_sub(1));
    let (kind, args, said, first) = match rule.texts {
        Texts::Any => (Kind::Text, Args::Any, Digest::new(0), number.saturating_sub(one)),
        Texts::Same => (Kind::Text, Args::Same, turn.text, number.saturating_sub(one)),
        Texts::Inside => (Kind::Echo, Args::Same, turn.text.mix(Digest::new(1)), number),
        Texts::Prompt => (Kind::Text, Args::Any, turn.text.mix(Digest::new(2)), number),
    };
    // The answers may differ, but the message that asked for them is the same.
    let results = if rule.texts == Texts::Prompt { Results::Same } else { Results::Ignored };
    Finding {
        rule: RuleIndex::Text(place),
        kind,
        args,
        results,
        tool: Tool::new(0),
        tag: Tag::Other,
        ended: Ended::Worked,
        period: if kind == Kind::Echo { turn.repeated.period } else { 1 },
        laps,
        first,
        last: number,
        loop_id: LoopId::new(said.mix(Digest::new(u64::MAX))),
        confidence: confidence(args, results, 0, laps.saturating_sub(asked)),
        most: Action::Stop,
        evidence: Mask::NONE,
    }
}

impl<const W: usize> Evidence<'_, W> {
    /// Returns the finding of the rule at `place` from its `hit` at `record`, which has the number
    /// `seq`.
    pub(crate) fn finding(
        &self,
        place: u8,
        rule: &Rule<'_>,
        seq: u64,
        record: &Record,
        hit: &Hit,
    ) -> Finding {
        let beyond = hit.repetitions.saturating_sub(hit.asked);
        Finding {
            rule: RuleIndex::Call(place),
            kind: hit.kind,
            args: rule.args,
            results: rule.results,
            tool: record.tool,
            tag: record.tag,
            ended: match (record.failed, record.transient) {
                (false, _) if patience::starts_again(record) => Ended::Started,
                (false, _) if record.idempotent => Ended::Settled,
                (false, _) => Ended::Worked,
                (true, false) => Ended::Failed(Failure::Lasting),
                (true, true) => Ended::Failed(Failure::Transient),
            },
            period: hit.period,
            laps: hit.repetitions,
            first: seq.saturating_sub(hit.span.into()),
            last: seq,
            loop_id: self.loop_id(rule, record, hit),
            confidence: confidence(rule.args, rule.results, hit.novel.into(), beyond),
            most: Action::Stop,
            evidence: hit.evidence,
        }
    }

    /// Returns the id of the loop that `hit` found: the digest of its lap. The lap begins at the
    /// step that sorts first, so that the id is the same wherever the loop is entered. O(period²).
    fn loop_id(&self, rule: &Rule<'_>, record: &Record, hit: &Hit) -> LoopId {
        let period = u32::from(hit.period);
        let (steps, shown) = match hit.kind {
            // A cycle steps through the records that the rule saw, lap by lap.
            Kind::Cycle => (hit.seen, u32::from(hit.shown)),
            Kind::Streak | Kind::Recurrence | Kind::Text | Kind::Echo => (hit.matches, u32::MAX),
        };
        let own = Key::of(record, rule);
        let key = |back: u32| match back.checked_sub(1) {
            None => Some(own),
            Some(back) => steps.nth(back).and_then(|age| self.key(rule, age)),
        };
        let known = |place: u32| {
            let Some(step) = key(place) else { return Digest::new(0) };
            // A vetoed call has no result. The same call has one a lap or two earlier.
            let (mut latest, mut back) = (step, place);
            while latest.vetoed {
                back = back.saturating_add(period.max(1));
                let earlier = if back < shown { key(back) } else { None };
                latest = earlier.unwrap_or_default();
            }
            step.args.mix(latest.result)
        };
        let [a, b, c, d] = rule.select.tool().to_le_bytes();
        let modes = [rule.select.code(), rule.args.code(), rule.results.code(), 0, a, b, c, d];
        let modes = Digest::new(u64::from_le_bytes(modes));
        LoopId::new(turned_lap(modes, hit.period, &known))
    }

    /// Returns the key under `rule` of the record `age` records before the judged one.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn key(&self, rule: &Rule<'_>, age: u32) -> Option<Key> {
        let open = u32::try_from(self.open.len()).ok()?;
        if let Some(age) = age.checked_sub(open) {
            return self.window.key(rule, age);
        }
        let record = self.open.iter().nth_back(usize::try_from(age).ok()?)?;
        Some(Key::of(record, rule))
    }
}

/// Returns the digest of `modes` with a lap of `period` steps, where the step `n` calls back is
/// `step(n)`. The lap starts at the step that sorts first. The steps are not stored, because a lap would take 200 bytes
/// of stack.
#[inline(never)]
fn turned_lap(modes: Digest, period: u8, step: &dyn Fn(u32) -> Digest) -> Digest {
    let lap = Lap { period: u32::from(period), step };
    let begin = lap.least_rotation();
    (0..lap.period).fold(modes, |id, place| id.mix(lap.turned(begin, place)))
}

/// The steps of a lap, the oldest first. The function `step` returns the step that is so many calls back.
struct Lap<'s> {
    period: u32,
    step: &'s dyn Fn(u32) -> Digest,
}

impl Lap<'_> {
    /// Returns the start of the rotation that sorts first. Asks for O(period) steps.
    fn least_rotation(&self) -> u32 {
        // Two rotations that agree in their first steps. Once they differ, the greater one is out, and
        // with it each rotation that starts inside those steps.
        let (mut one, mut other, mut agreed) = (0_u32, 1_u32, 0_u32);
        while one.max(other) < self.period && agreed < self.period {
            match self.turned(one, agreed).cmp(&self.turned(other, agreed)) {
                Ordering::Equal => {
                    agreed = agreed.saturating_add(1);
                    continue;
                }
                Ordering::Less => other = other.saturating_add(agreed).saturating_add(1),
                Ordering::Greater => one = one.saturating_add(agreed).saturating_add(1),
            }
            if one == other {
                other = other.saturating_add(1);
            }
            agreed = 0;
        }
        one.min(other)
    }

    /// Returns the step at `place` if the lap began at `begin`.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn turned(&self, begin: u32, place: u32) -> Digest {
        let place = begin.saturating_add(place);
        let place = place.checked_sub(self.period).unwrap_or(place);
        (self.step)(self.period.saturating_sub(place).saturating_sub(1))
    }
}

/// The ending of a call, as evidence together with another ending of the same call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub(crate) args: Digest,
    pub(crate) result: u32,
    pub(crate) raw: u16,
    pub(crate) end: End,
}

/// The fate of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The outcome is unknown, or the call was a poll and something is under way.
    Open,
    /// The call was blocked.
    Vetoed,
    Failed,
    Worked {
        idempotent: bool,
    },
}

impl Ending {
    /// Returns the ending of `record` if it had this status.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn of(record: &Record, status: Status) -> Self {
        let end = match status {
            _ if record.tag == Tag::Poll => End::Open,
            Status::Vetoed => End::Vetoed,
            Status::Reported if record.failed => End::Failed,
            Status::Reported => End::Worked { idempotent: record.idempotent },
            Status::Open | Status::Unreported | Status::Dropped | Status::Cancelled => End::Open,
        };
        Self { args: record.args, result: record.result, raw: record.raw, end }
    }

    /// Returns whether the call worked.
    pub(crate) fn worked(&self) -> bool {
        matches!(self.end, End::Worked { .. })
    }

    /// Returns whether both are of the same call and have an outcome.
    pub(crate) fn is_comparable_to(&self, other: &Self) -> bool {
        self.args == other.args && self.end != End::Open && other.end != End::Open
    }

    /// Returns whether the call was blocked, or came back with the same bytes as `answer`.
    pub(crate) fn has_answer_of(&self, answer: &Self) -> bool {
        let failed_alike = (self.end == End::Failed) == (answer.end == End::Failed);
        let is_same = self.is_comparable_to(answer) && self.raw == answer.raw;
        self.end == End::Vetoed || is_same && failed_alike
    }

    /// Returns whether this ending, after the `older` one, proves that making the call again does
    /// not help. It does if both failed alike, or if the call is idempotent and the answers are
    /// the same. A blocked call matches any ending.
    pub(crate) fn proves_with(&self, older: &Self) -> bool {
        let proves = match (self.end, older.end) {
            (End::Vetoed, older) => older != End::Open,
            (newer, End::Vetoed) => newer != End::Open,
            (End::Failed, End::Failed) => self.result == older.result,
            (End::Worked { idempotent }, End::Worked { .. }) => idempotent && self.raw == older.raw,
            _ => false,
        };
        proves && self.args == older.args
    }
}

/// The limit up to which a ladder may go beyond a warning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    /// The count up to which force is proved.
    pub(crate) count: u16,
    /// True if the latest repetition is proved, so that more of the same goes on to force.
    pub(crate) is_latest: bool,
}

impl Proof {
    /// The proof of a rule that needs none.
    pub(crate) const GIVEN: Self = Self { count: u16::MAX, is_latest: true };

    /// Returns the proof from the `proven` latest repetitions of `hit` and a row of `unbroken`
    /// equal answers.
    pub(crate) fn new(rule: &Rule<'_>, hit: &Hit, proven: u16, unbroken: u16) -> Self {
        // A single call proves nothing.
        let is_proven = proven >= 2;
        let unproven = hit.repetitions.saturating_sub(proven);
        let left = hit.count_for(rule).saturating_sub(unproven);
        let counted = if is_proven { rule.ladder.proof_of(left, rule.pattern.least()) } else { 0 };
        let runaway = rule.ladder.runaway(unbroken);
        Self { count: counted.max(runaway), is_latest: is_proven || unbroken >= RUNAWAY_MIN }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::Lap;
    use crate::digest::Digest;

    proptest! {
        #[test]
        fn the_least_rotation_is_the_first_of_all_in_their_order(
            steps in prop::collection::vec(0..3_u64, 1..24),
        ) {
            let lap: Vec<_> = steps.iter().map(|step| Digest::new(*step)).collect();
            let turned = |begin: usize| [&lap[begin..], &lap[..begin]].concat();
            let least = (0..lap.len()).map(turned).min();
            let step = |back: u32| lap[lap.len() - 1 - usize::try_from(back).unwrap()];
            let begin = Lap { period: u32::try_from(lap.len()).unwrap(), step: &step }.least_rotation();
            prop_assert_eq!(Some(turned(usize::try_from(begin).unwrap())), least);
        }
    }
}
