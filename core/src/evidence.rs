//! The step from a pattern that holds to a finding with its calls, loop id and confidence.

use crate::Digest;
use crate::hit::Hit;
use crate::ladder::Action;
use crate::mask::Mask;
use crate::patience;
use crate::record::{Record, Tag, Tool};
use crate::repeated_text::Turn;
use crate::rule::{Args, RUNS_MAX, Results, Rule, TextRule, Texts};
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
            first: seq.saturating_sub(hit.span),
            last: seq,
            loop_id: self.loop_id(rule, record, hit),
            confidence: confidence(rule.args, rule.results, hit.novel, beyond),
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
            Kind::Cycle => (hit.seen, hit.shown),
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
        let modes = [rule.select.code(), rule.args.code(), rule.results.code(), 0, 0, 0, 0, 0];
        let modes = Digest::new(u64::from_le_bytes(modes));
        LoopId::new(match hit.period {
            1 => modes.mix(known(0)),
            period => turned_lap(modes, period, &known),
        })
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
/// `step(n)`. The lap starts at the step that sorts first. This is a separate function because a
/// lap takes 200 bytes of stack.
#[inline(never)]
fn turned_lap(modes: Digest, period: u8, step: &dyn Fn(u32) -> Digest) -> Digest {
    let mut steps = [Digest::new(0); RUNS_MAX];
    let lap = steps.get_mut(..usize::from(period)).unwrap_or_default();
    for (place, back) in lap.iter_mut().zip((0..u32::from(period)).rev()) {
        *place = step(back);
    }
    let begin = least_rotation(lap);
    (0..lap.len()).fold(modes, |id, step| id.mix(turned(lap, begin, step)))
}

/// Returns the start of the rotation of `lap` that sorts first. O(n²).
fn least_rotation(lap: &[Digest]) -> usize {
    let mut least = 0;
    for begin in 1..lap.len() {
        for step in 0..lap.len() {
            let (here, there) = (turned(lap, begin, step), turned(lap, least, step));
            if here != there {
                least = if here < there { begin } else { least };
                break;
            }
        }
    }
    least
}

/// Returns the step `step` of `lap` if the lap began at `begin`.
fn turned(lap: &[Digest], begin: usize, step: usize) -> Digest {
    let place = begin.saturating_add(step);
    lap.get(place.checked_sub(lap.len()).unwrap_or(place)).copied().unwrap_or_default()
}
