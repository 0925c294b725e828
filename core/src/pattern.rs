//! The patterns of rules: what each rule counted, and what it finds at the latest record.
//!
//! A record that shows progress may begin a pattern: its answer is new, but nothing has changed
//! since. Otherwise each loop after a change would be found one call late.
//!
//! Each rule decides about duplicates. Five reads that were issued together and meet one error are
//! one action for a rule about errors, and five for a rule about calls.

use core::mem::take;

use crate::cycle;
use crate::loops::Loops;
use crate::mask::Mask;
use crate::record::{Record, Status, Tag};
use crate::rule::{Outcomes, Pattern, Progress, RULES_MAX, RUNS_MAX, Rule, Silence};
use crate::selection::{RecordRules, RuleSet};
use crate::verdict::Kind;
use crate::window::{Flags, View, Window};

/// A pattern that holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) kind: Kind,
    pub(crate) period: u8,
    pub(crate) repetitions: u16,
    /// The number of repetitions that the rule asked for.
    pub(crate) asked: u16,
    /// The number of calls from the first of the pattern to the last.
    pub(crate) span: u32,
    /// The number of records in the pattern that the window still shows.
    pub(crate) shown: u8,
    /// The records of the pattern: bit *k* is the call *k* before the last.
    pub(crate) evidence: Mask,
    /// The records that the rule saw before this one.
    pub(crate) seen: Mask,
    /// The records before this one that match it.
    pub(crate) matches: Mask,
    /// The novel calls between the matches of a recurrence.
    pub(crate) novel: u8,
}

impl Hit {
    /// Returns the repetitions as the ladder of `rule` counts them, as if the rule's own number
    /// had been asked for.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn count_for(&self, rule: &Rule<'_>) -> u16 {
        let least = rule.pattern.least();
        let less = self.repetitions.saturating_sub(self.asked.saturating_sub(least));
        less.saturating_add(least.saturating_sub(self.asked))
    }

    /// Returns the records after the oldest of the `times` latest matches.
    fn between(&self, times: u16) -> Mask {
        let oldest = u32::from(times).checked_sub(2).and_then(|n| self.matches.nth(n));
        Mask::newest(oldest.unwrap_or(0))
    }
}

/// Everything that the rules have counted since the history was cleared.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    pub(crate) rules: RuleStates,
    pub(crate) loops: Loops,
    /// The findings of all rules.
    pub(crate) findings: u16,
    /// The highest rung that this number of findings reached.
    pub(crate) rung: u8,
}

impl Patterns {
    /// Returns the memory of rules that have seen no record.
    pub(crate) const fn new() -> Self {
        Self { rules: RuleStates::NEW, loops: Loops::new(), findings: 0, rung: 0 }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.rules = RuleStates::NEW;
        self.loops.clear();
        (self.findings, self.rung) = (0, 0);
    }
}

/// The memory of one rule. Its run counters are stored beside it, and each record has the set of the rules that saw it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Track {
    /// The number of latest records that the rule saw and that match in a row.
    streak: u16,
    /// True if a run counter may be above zero.
    running: bool,
    /// True if the rule saw the latest record and may still use it.
    sees: bool,
    /// True if the rule may use no earlier record.
    broken: bool,
}

/// A function that changes the memory of a rule, which it gets with the place of the rule and its run counters.
pub(crate) type Each<'f, 'r, 'p> = dyn FnMut(u8, &'r Rule<'p>, &mut Track, &mut [u16]) + 'f;

/// The memory of all rules. The fields lie side by side, so that a record without a match passes
/// all rules in a few steps each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleStates {
    /// Streaks count to 255, so that a detector stays small.
    streaks: [u8; RULES_MAX],
    running: RuleSet,
    /// The run counters of all cycle rules, in the order of the rules.
    runs: [u16; RUNS_MAX],
}

impl RuleStates {
    /// The memory of rules that have seen no record.
    pub(crate) const NEW: Self = Self { streaks: [0; RULES_MAX], running: 0, runs: [0; RUNS_MAX] };

    /// Shows the memory of each rule in `chosen`, and its run counters, to `each`, which may change them. `rules` are those
    /// of the policy.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    #[cfg_attr(target_pointer_width = "64", inline)]
    pub(crate) fn for_each<'r, 'p>(
        &mut self,
        rules: &'r [Rule<'p>],
        chosen: RuleSet,
        each: &mut Each<'_, 'r, 'p>,
    ) {
        let mut rest = &mut self.runs[..];
        let mut one: RuleSet = 1;
        for ((place, rule), streak) in (0_u8..).zip(rules).zip(&mut self.streaks) {
            let count = usize::from(rule.pattern.runs());
            let (runs, others) = take(&mut rest).split_at_mut_checked(count).unwrap_or_default();
            if chosen & one != 0 {
                let mut track = Track::new((*streak).into(), self.running & one != 0);
                each(place, rule, &mut track, runs);
                *streak = u8::try_from(track.streak).unwrap_or(u8::MAX);
                self.running = self.running & !one | if track.running { one } else { 0 };
            }
            rest = others;
            one = one.wrapping_shl(1);
        }
    }

    /// Returns the streak of each rule, in their order.
    pub(crate) fn streaks(&self) -> impl Iterator<Item = u16> {
        self.streaks.iter().copied().map(u16::from)
    }

    /// Returns all run counters.
    pub(crate) const fn runs(&self) -> &[u16] {
        &self.runs
    }

    /// Takes in a record that matches no earlier one. Only the rules in `judged` are judged now. Every row begins again.
    /// O(rules).
    pub(crate) fn pass(&mut self, rules: &[Rule<'_>], judged: RuleSet, concerned: RecordRules) {
        let selected = concerned.selected & judged;
        let (mut left, mut whole) = (selected, selected & !concerned.broken);
        for streak in &mut self.streaks {
            // This has no branch, because other rules see the next record.
            let (is_selected, is_whole) = (u8::from(left & 1 == 1), u8::from(whole & 1 == 1));
            *streak = (*streak & is_selected.wrapping_sub(1)) | is_whole;
            (left, whole) = (left >> 1, whole >> 1);
        }
        let fallen = self.running & selected;
        if fallen != 0 {
            self.for_each(rules, fallen, &mut |_, _, track, runs| {
                track.running = false;
                runs.fill(0);
            });
        }
    }
}

/// Returns the set of the one rule at `place`.
pub(crate) fn one(place: u8) -> RuleSet {
    1_u16.wrapping_shl(place.into())
}

impl Track {
    /// Creates the memory of a rule that has not seen the latest record.
    const fn new(streak: u16, running: bool) -> Self {
        Self { streak, running, sees: false, broken: false }
    }

    /// Restores the memory from a checkpoint.
    #[cfg(feature = "serde")]
    pub(crate) fn restore(&mut self, streak: u16, running: bool) {
        (self.streak, self.running) = (streak, running);
    }

    /// Returns whether the rule saw the latest record and may still use it.
    pub(crate) const fn sees(self) -> bool {
        self.sees
    }

    /// Returns whether the rule may use no record before the latest one.
    pub(crate) const fn is_broken(self) -> bool {
        self.broken
    }

    /// Forgets all but the `left` newest records that the rule saw, because no other record will be part of a
    /// pattern again. O(run counters).
    pub(crate) fn cut(&mut self, runs: &mut [u16], left: u32) {
        let left = u16::try_from(left).unwrap_or(u16::MAX);
        self.streak = self.streak.min(left);
        for (run, period) in runs.iter_mut().zip(1_u16..) {
            *run = (*run).min(left.saturating_sub(period));
        }
    }

    /// Takes in one record that matches no earlier one, if it is `selected`. Every row begins again. Returns whether
    /// the run counters must fall to zero. O(1).
    fn pass(&mut self, selected: bool, rule: &Rule<'_>, record: &Record) -> bool {
        self.sees = selected;
        if !selected {
            return false;
        }
        self.streak = 1;
        if !rule.allows(record) {
            (self.sees, self.broken, self.streak) = (false, true, 0);
        }
        take(&mut self.running)
    }

    /// Takes in one record, and returns what it has in common with the records that the rule `saw`,
    /// if anything. A record without a match returns at once.
    pub(crate) fn see<'r>(
        &mut self,
        runs: &mut [u16],
        rule: &Rule<'_>,
        record: &'r Record,
        view: &'r View,
        saw: impl Fn() -> Mask,
    ) -> Option<Past<'r>> {
        let progressed = record.moved || view.progressed(rule.results);
        if rule.progress == Progress::Respect && progressed {
            self.broken = true;
            self.cut(runs, 0);
        }
        let selected = rule.selects(record);
        let alike = if selected && !self.broken && rule.outcomes.includes(record) {
            view.matches(rule, record)
        } else {
            Mask::NONE
        };
        let before = if alike.is_empty() { Mask::NONE } else { saw() };
        let matches = alike & before;
        if matches.is_empty() {
            if self.pass(selected, rule, record) {
                runs.fill(0);
            }
            return None;
        }
        // A duplicate of a call of its own step: both count once.
        self.sees = (matches & Mask::newest(u32::from(record.in_step))).is_empty();
        self.sees.then(|| Past { seen: before & view.reach, matches, view, record })
    }

    /// Returns a hit if the pattern holds at a record with a match, and `times` repetitions are asked for.
    pub(crate) fn evaluate<const W: usize>(
        &mut self,
        runs: &mut [u16],
        times: u16,
        rule: &Rule<'_>,
        past: &Past<'_>,
        window: &Window<W>,
    ) -> Option<Hit> {
        match rule.pattern {
            Pattern::Streak { .. } => self.grow_streak(times, past),
            Pattern::Recurrence { within, novel, .. } => {
                let hit = past.recurrence(past.matches, times, within, novel)?;
                if rule.progress != Progress::Respect {
                    return Some(hit);
                }
                let (between, failures) = (hit.between(times), rule.outcomes == Outcomes::Failures);
                if failures && past.has_recovered(between, window) {
                    return None;
                }
                if !past.has_moved(between & !hit.matches, rule, window) {
                    return Some(hit);
                }
                // A failure that comes back byte for byte shows that the work did not help, unless the
                // work was to mend what the tool refused.
                if !failures || past.record.tag == Tag::Write {
                    return None;
                }
                let equal = past.matches & window.equal_answers(past.record);
                past.recurrence(equal, times, within, novel)
            }
            Pattern::Cycle { period_min, .. } => {
                self.running = true;
                past.cycle(runs, period_min, times)
            }
        }
    }

    fn grow_streak(&mut self, times: u16, past: &Past<'_>) -> Option<Hit> {
        let row = past.matches.among(past.seen).leading_run();
        let row = u16::try_from(row).unwrap_or(u16::MAX);
        let all = u16::try_from(past.seen.count()).unwrap_or(u16::MAX);
        // If the whole window matches, the row may reach back beyond it.
        let before = if row == all { self.streak.max(row) } else { row };
        self.streak = before.saturating_add(1);
        (self.streak >= times)
            .then(|| past.stretch(Kind::Streak, 1, [self.streak, times], u32::from(self.streak)))
    }
}

/// The past of a record as a rule sees it.
pub(crate) struct Past<'a> {
    seen: Mask,
    matches: Mask,
    view: &'a View,
    record: &'a Record,
}

impl Past<'_> {
    /// Returns the hit of the `matches`, if there are enough of them.
    fn recurrence(&self, matches: Mask, times: u16, within: u8, novel_max: u8) -> Option<Hit> {
        let earlier = u32::from(times).checked_sub(1)?;
        if matches.count() < earlier {
            return None;
        }
        let limit = self.seen.nth(u32::from(within).saturating_sub(2));
        let matches = match limit {
            Some(limit) => matches & Mask::newest(limit.saturating_add(1)),
            None => matches,
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
            asked: times,
            span: matches.oldest()?.saturating_add(1),
            shown: small(matches.count()).saturating_add(1),
            evidence: matches.then(true),
            seen: self.seen,
            matches,
            novel: small(novel),
        })
    }

    /// Returns whether work was done in the records `between` matches, without the matches themselves, which are
    /// repetitions. If the result is silent, any novel call is work. Otherwise a novel write is work, unless the
    /// result is a failure and the rule does not select `Failures`.
    fn has_moved<const W: usize>(
        &self,
        between: Mask,
        rule: &Rule<'_>,
        window: &Window<W>,
    ) -> bool {
        let silent = self.record.is_silent() && rule.silence != Silence::Evidence;
        let still = self.record.failed && rule.outcomes != Outcomes::Failures;
        match (self.record.status, silent, still) {
            (Status::Reported, true, _) => !(self.view.novel & between).is_empty(),
            (Status::Reported, false, false) => window.has_written(between & self.view.reach),
            _ => false,
        }
    }

    /// Returns whether the tool that timed out worked in the records `between` matches, other than by a novel write.
    fn has_recovered<const W: usize>(&self, between: Mask, window: &Window<W>) -> bool {
        let worked = self.view.tool & self.view.answered & !self.view.failed & between;
        self.record.transient && worked.places().any(|age| !window.has(age, Flags::WRITTEN))
    }

    fn cycle(&self, runs: &mut [u16], period_min: u8, laps: u16) -> Option<Hit> {
        let cycle = cycle::scan(runs, self.matches.among(self.seen), period_min, laps)?;
        Some(self.stretch(Kind::Cycle, cycle.period, [cycle.laps, cycle.asked], cycle.length))
    }

    /// Returns the hit of the `length` latest records that the rule saw, this one included.
    /// `counts` are the repetitions found and the repetitions asked for.
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
        // Beyond the window, the span counts as if the rule had seen every call.
        let beyond = earlier.saturating_sub(within);
        let inside = oldest.map_or(0, |oldest| oldest.saturating_add(1));
        Hit {
            kind,
            period,
            repetitions,
            asked,
            span: inside.saturating_add(beyond),
            shown: small(within).saturating_add(1),
            evidence: part.then(true),
            seen: self.seen,
            matches: self.matches,
            novel: 0,
        }
    }

    /// Returns the number of novel records that the rule saw after the one at `oldest`, this one
    /// included.
    fn novel_within(&self, oldest: u32) -> u32 {
        let between = (self.view.novel & self.seen & Mask::newest(oldest)).count();
        between.saturating_add(u32::from(self.record.novel))
    }
}

/// Returns a number of records of the window, which are few, in a byte.
fn small(records: u32) -> u8 {
    u8::try_from(records).unwrap_or(u8::MAX)
}
