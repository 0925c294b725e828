//! What a rule remembers between two records, and how its pattern is told.

use core::mem::take;

use crate::hit::Hit;
use crate::mask::Mask;
use crate::record::{Record, Status};
use crate::rule::{Outcomes, Pattern, Progress, RULES_MAX, Rule, Silence};
use crate::selection::{RecordRules, RuleSet};
use crate::verdict::Kind;
use crate::window::View;

/// What one rule remembers; its run counters are kept beside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Track {
    /// The records that the rule saw and may still use.
    seen: Mask,
    /// How many of the latest of those match in a row.
    streak: u16,
    /// Whether a run counter may be above zero.
    running: bool,
}

/// What all rules remember: side by side, so that a record which matches nothing passes them all in a
/// few steps each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleStates {
    seen: [Mask; RULES_MAX],
    streaks: [u16; RULES_MAX],
    running: RuleSet,
    /// The findings of all rules since the history was cleared.
    pub(crate) findings: u16,
    /// The highest rung that this number of findings gave.
    pub(crate) rung: u8,
}

impl RuleStates {
    /// Rules that saw nothing yet.
    pub(crate) const NEW: Self = Self {
        seen: [Mask::NONE; RULES_MAX],
        streaks: [0; RULES_MAX],
        running: 0,
        findings: 0,
        rung: 0,
    };

    /// What the rule at `place` remembers.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn at(&self, place: usize) -> Track {
        let seen = self.seen.get(place).copied().unwrap_or(Mask::NONE);
        let streak = self.streaks.get(place).copied().unwrap_or(0);
        Track { seen, streak, running: self.running & one(place) != 0 }
    }

    /// What each rule remembers, in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Track> {
        (0..RULES_MAX).map(|place| self.at(place))
    }

    /// Lets the rule at `place` remember `track`.
    pub(crate) fn set(&mut self, place: usize, track: Track) {
        let (Some(seen), Some(streak)) = (self.seen.get_mut(place), self.streaks.get_mut(place))
        else {
            return;
        };
        (*seen, *streak) = (track.seen, track.streak);
        self.running =
            if track.running { self.running | one(place) } else { self.running & !one(place) };
    }

    /// Takes in one record that matches none before it: the `rules` first rules are `concerned` by it, and of
    /// those only the ones in `judged` are judged now. Every row begins anew; of which rules the run
    /// counters, too, must fall to zero. O(rules).
    pub(crate) fn pass(
        &mut self,
        rules: usize,
        judged: RuleSet,
        concerned: RecordRules,
    ) -> RuleSet {
        let selected = concerned.selected & judged;
        let (mut left, mut now) = (selected, judged);
        for (mask, streak) in self.seen.iter_mut().zip(&mut self.streaks).take(rules) {
            // Without a branch: the rules that see a record are others from one to the next.
            let (is_selected, is_judged) = (left & 1, now & 1);
            *mask = mask.then_if(is_judged == 1, is_selected == 1);
            *streak = (*streak & is_selected.wrapping_sub(1)) | is_selected;
            (left, now) = (left >> 1, now >> 1);
        }
        self.forget(concerned.broken & judged);
        let fallen = self.running & selected;
        self.running &= !selected;
        fallen
    }

    /// Lets the rules in `broken` forget all that they saw.
    fn forget(&mut self, mut broken: RuleSet) {
        let mut tracks = self.seen.iter_mut().zip(&mut self.streaks);
        while broken != 0 {
            if let Some((mask, streak)) = tracks.next()
                && broken & 1 == 1
            {
                (*mask, *streak) = (Mask::NONE, 0);
            }
            broken >>= 1;
        }
    }
}

/// The set of the one rule at `place`.
fn one(place: usize) -> RuleSet {
    1_u16.rotate_left(u32::try_from(place).unwrap_or(0))
}

impl Track {
    /// A rule that remembers this.
    #[cfg(feature = "serde")]
    pub(crate) const fn restored(seen: Mask, streak: u16, running: bool) -> Self {
        Self { seen, streak, running }
    }

    /// The records that the rule saw and may still use.
    pub(crate) const fn seen(&self) -> Mask {
        self.seen
    }

    /// How many of the latest of those match in a row.
    pub(crate) const fn streak(&self) -> u16 {
        self.streak
    }

    /// Forgets all but what the `keep` newest records tell: none of the others will be part
    /// of a pattern again. O(run counters).
    pub(crate) fn cut(&mut self, runs: &mut [u16], keep: u32) {
        self.seen = self.seen & Mask::newest(keep);
        let left = u16::try_from(self.seen.count()).unwrap_or(u16::MAX);
        self.streak = self.streak.min(left);
        for (run, period) in runs.iter_mut().zip(1_u16..) {
            *run = (*run).min(left.saturating_sub(period));
        }
    }

    /// Takes in one record and says whether the rule's pattern holds with it, if it asks for
    /// `patience` more repetitions. O(1), and O(longest period) for a cycle; a record that
    /// matches nothing is told at once.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    #[cfg_attr(not(target_pointer_width = "32"), inline)]
    pub(crate) fn observe(
        &mut self,
        runs: &mut [u16],
        rule: &Rule<'_>,
        patience: i16,
        record: &Record,
        view: &View,
    ) -> Option<Hit> {
        let past = self.see(runs, rule, record, view)?;
        let pattern = if patience == 0 { rule.pattern } else { rule.pattern.patient(patience) };
        self.tell(runs, pattern, rule, &past)
    }

    /// Takes in one record that matches none before it. Every row begins anew: whether the run
    /// counters, too, must fall to zero. O(1).
    fn pass(&mut self, rule: &Rule<'_>, record: &Record) -> bool {
        let selected = rule.selects(record);
        self.seen = self.seen.then(selected);
        if !selected {
            return false;
        }
        self.streak = 1;
        if !rule.allows(record) {
            self.seen = Mask::NONE;
            self.streak = 0;
        }
        take(&mut self.running)
    }

    /// Takes in one record, and finds what it has in common with those that the rule saw, if
    /// anything.
    fn see<'r>(
        &mut self,
        runs: &mut [u16],
        rule: &Rule<'_>,
        record: &'r Record,
        view: &View,
    ) -> Option<Past<'r>> {
        let progressed = record.moved || view.progressed(rule.results);
        if rule.progress == Progress::Respect && progressed {
            self.cut(runs, 0);
        }
        let before = self.seen;
        let matches =
            if rule.takes(record) { view.matches(rule, record) & before } else { Mask::NONE };
        if matches.is_empty() {
            if self.pass(rule, record) {
                runs.fill(0);
            }
            return None;
        }
        self.seen = before.then(false);
        // A duplicate of a call of its own step: both count as one.
        if !(matches & Mask::newest(u32::from(record.in_step))).is_empty() {
            return None;
        }
        self.seen = before.then(true);
        let View { novel, written, reach, .. } = *view;
        // A blocked call came back with nothing.
        let equal = view.raw & view.answered;
        Some(Past { seen: before & reach, matches, novel, written, equal, record })
    }

    /// Whether the pattern holds at a record that matches something.
    fn tell(
        &mut self,
        runs: &mut [u16],
        pattern: Pattern,
        rule: &Rule<'_>,
        past: &Past<'_>,
    ) -> Option<Hit> {
        match pattern {
            Pattern::Streak { times } => self.grow_streak(times, past),
            Pattern::Recurrence { times, within, novel } => {
                let hit = past.recurrence(times, within, novel)?;
                if rule.progress != Progress::Respect || !past.has_moved(times, &hit, rule) {
                    return Some(hit);
                }
                // A failure that comes back byte for byte says that the work did not help.
                let failures = rule.outcomes == Outcomes::Failures;
                failures.then(|| past.with_equal_answers().recurrence(times, within, novel))?
            }
            Pattern::Cycle { period_min, laps, .. } => {
                self.running = true;
                past.cycle(runs, period_min, laps)
            }
        }
    }

    fn grow_streak(&mut self, times: u16, past: &Past<'_>) -> Option<Hit> {
        let row = past.matches.among(past.seen).leading_run();
        let row = u16::try_from(row).unwrap_or(u16::MAX);
        let all = u16::try_from(past.seen.count()).unwrap_or(u16::MAX);
        // When the whole window matches, the row may reach back beyond it.
        let before = if row == all { self.streak.max(row) } else { row };
        self.streak = before.saturating_add(1);
        (self.streak >= times)
            .then(|| past.stretch(Kind::Streak, 1, [self.streak, times], u32::from(self.streak)))
    }
}

/// What a record that a rule sees finds before it.
struct Past<'a> {
    seen: Mask,
    matches: Mask,
    novel: Mask,
    written: Mask,
    /// The records with the same answer, byte for byte.
    equal: Mask,
    record: &'a Record,
}

impl Past<'_> {
    fn recurrence(&self, times: u8, within: u8, novel_max: u8) -> Option<Hit> {
        let earlier = u32::from(times).checked_sub(1)?;
        if self.matches.count() < earlier {
            return None;
        }
        let limit = self.seen.nth(u32::from(within).saturating_sub(2));
        let matches = match limit {
            Some(limit) => self.matches & Mask::newest(limit.saturating_add(1)),
            None => self.matches,
        };
        let oldest = matches.nth(earlier.checked_sub(1)?)?;
        let novel = self.novel_within(oldest);
        if novel > u32::from(novel_max) {
            return None;
        }
        Some(Hit {
            kind: Kind::Recurrence,
            period: 1,
            repetitions: u16::try_from(matches.count()).unwrap_or(u16::MAX).saturating_add(1),
            asked: u16::from(times),
            span: u64::from(matches.oldest()?).saturating_add(1),
            shown: matches.count().saturating_add(1),
            evidence: matches.then(true),
            seen: self.seen,
            matches,
            novel,
        })
    }

    /// The same, with only those matches whose answers are the same byte for byte.
    fn with_equal_answers(&self) -> Self {
        Self { matches: self.matches & self.equal, ..*self }
    }

    /// Whether work was done between the `times` latest matches of a recurrence. If the result is
    /// silent, any novel call is work. Else one that wrote is, unless the result is a failure and the
    /// rule is not about failures among others.
    fn has_moved(&self, times: u8, hit: &Hit, rule: &Rule<'_>) -> bool {
        let oldest = u32::from(times).checked_sub(2).and_then(|n| hit.matches.nth(n));
        let between = Mask::newest(oldest.unwrap_or(0));
        let silent = self.record.silent && rule.silence == Silence::Ignored;
        let still = self.record.failed && rule.outcomes != Outcomes::Failures;
        let work = match (self.record.status, silent, still) {
            (Status::Reported, true, _) => self.novel,
            (Status::Reported, false, false) => self.written,
            _ => Mask::NONE,
        };
        // The matches themselves are what is repeated, and no work.
        !(work & between & !hit.matches).is_empty()
    }

    fn cycle(&self, runs: &mut [u16], period_min: u8, laps: u8) -> Option<Hit> {
        let matches = self.matches.among(self.seen);
        for (run, behind) in runs.iter_mut().zip(0_u32..) {
            *run = if matches.has(behind) { run.saturating_add(1) } else { 0 };
        }
        let runs = &*runs;
        for (&run, period) in runs.iter().zip(1_u8..) {
            let (length, laps) = (u16::from(period), u16::from(laps));
            let tail = length.saturating_mul(laps);
            if period < period_min
                || run < tail.saturating_sub(length)
                || !is_primitive(runs, period, tail)
            {
                continue;
            }
            let done = run.checked_div(length).unwrap_or(0).saturating_add(1);
            let length = u32::from(run).saturating_add(u32::from(period));
            return Some(self.stretch(Kind::Cycle, period, [done, laps], length));
        }
        None
    }

    /// The hit made of the `length` latest records that the rule saw, this one included; `counts`
    /// are the repetitions that there are and those that were asked for.
    fn stretch(&self, kind: Kind, period: u8, counts: [u16; 2], length: u32) -> Hit {
        let [repetitions, asked] = counts;
        let earlier = length.saturating_sub(1);
        let known = self.seen.count();
        let within = earlier.min(known);
        let oldest = within.checked_sub(1).and_then(|n| self.seen.nth(n));
        let part = match oldest {
            Some(oldest) => self.seen & Mask::newest(oldest.saturating_add(1)),
            None => Mask::NONE,
        };
        // What the window no longer shows counts as if the rule had seen every call there.
        let beyond = u64::from(earlier.saturating_sub(within));
        let inside = oldest.map_or(0, |oldest| u64::from(oldest).saturating_add(1));
        Hit {
            kind,
            period,
            repetitions,
            asked,
            span: inside.saturating_add(beyond),
            shown: within.saturating_add(1),
            evidence: part.then(true),
            seen: self.seen,
            matches: self.matches,
            novel: 0,
        }
    }

    /// How many novel records the rule saw after the one at `oldest`, this one included.
    fn novel_within(&self, oldest: u32) -> u32 {
        let between = (self.novel & self.seen & Mask::newest(oldest)).count();
        between.saturating_add(u32::from(self.record.novel))
    }
}

/// Whether no shorter period explains the whole tail of `tail` records, which has `period`.
/// By the theorem of Fine and Wilf (1965) one that does would divide `period`.
pub(crate) fn is_primitive(runs: &[u16], period: u8, tail: u16) -> bool {
    let shorter = runs.iter().zip(1_u8..).take_while(|&(_, divisor)| divisor < period);
    !shorter.into_iter().any(|(&run, divisor)| {
        period.checked_rem(divisor) == Some(0) && run >= tail.saturating_sub(u16::from(divisor))
    })
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::is_primitive;

    /// How many symbols at the end of `word` equal the one `period` before them.
    fn run(word: &[u32], period: usize) -> u16 {
        let pairs = word.iter().rev().zip(word.iter().rev().skip(period));
        u16::try_from(pairs.take_while(|(a, b)| a == b).count()).unwrap()
    }

    #[test]
    fn divisors_decide_for_every_shorter_period() {
        for length in 4..=10_u32 {
            for code in 0..3_u32.pow(length) {
                let word: Vec<u32> = (0..length).map(|n| code / 3_u32.pow(n) % 3).collect();
                let runs: Vec<u16> = (1..=5).map(|period| run(&word, period)).collect();
                for period in 2..=5_u8 {
                    let tail = u16::from(period) * 2;
                    if runs[usize::from(period) - 1] < u16::from(period) {
                        continue;
                    }
                    let explained =
                        (1..period).any(|p| runs[usize::from(p) - 1] >= tail - u16::from(p));
                    assert_eq!(is_primitive(&runs, period, tail), !explained, "{word:?}");
                }
            }
        }
    }
}
