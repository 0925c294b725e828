//! How near every rule of a policy is to a finding: an early warning.

use crate::detector::Detector;
use crate::mask::Mask;
use crate::record::Tool;
use crate::rule::{Pattern, Rule, TextRule, Texts};
use crate::track::{Track, is_primitive};
use crate::verdict::RuleIndex;

/// How near a rule is to a finding, as of the latest record that it saw, if that is still in the
/// window.
///
/// Counted are the calls that match, whatever else the rule asks of those between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Nearness {
    /// Which rule.
    pub rule: RuleIndex,
    /// How many calls of its pattern there are in a row, or within its reach; turns, for a rule
    /// about text. At most `needed`.
    pub held: u16,
    /// How many a finding takes. For a cycle those of the period that is nearest.
    pub needed: u16,
}

impl<const W: usize, const OPEN: usize> Detector<'_, W, OPEN> {
    /// How near each rule is, in the policy's order, those about text last. O(rules · W).
    ///
    /// ```
    /// use unstuck_core::{Call, Detector, Digest, Outcome, Tool, presets};
    ///
    /// let mut detector: Detector<'_, 20> = Detector::new(&presets::START_OVER)?;
    /// let call = Call::new(Tool::named("ls"), Digest::of(b"{}"));
    /// for _ in 0..2 {
    ///     let announced = detector.announce(call);
    ///     let _ = detector.outcome(announced.id, Outcome::ok(Digest::of(b"a.rs")));
    /// }
    /// let near: Vec<_> = detector.nearness().map(|near| (near.held, near.needed)).collect();
    /// assert_eq!(near, [(2, 5)]);
    /// # Ok::<(), unstuck_core::PolicyError<'_>>(())
    /// ```
    pub fn nearness(&self) -> impl Iterator<Item = Nearness> {
        let rules = (0_u8..).zip(self.policy.rules());
        let calls = rules.map(|(place, rule)| self.nearness_of(place, rule));
        let texts = (0_u8..).zip(self.policy.texts());
        calls.chain(texts.map(|(place, rule)| self.nearness_of_text(place, rule)))
    }

    fn nearness_of(&self, place: u8, rule: &Rule<'_>) -> Nearness {
        let index = usize::from(place);
        let track = self.tracks.at(index);
        let patterns = self.policy.rules().iter().map(|rule| usize::from(rule.pattern.runs()));
        let start = patterns.take(index).fold(0, usize::saturating_add);
        let runs = self.runs.get(start..).unwrap_or(&[]);
        let runs = runs.get(..usize::from(rule.pattern.runs())).unwrap_or(&[]);
        let latest = self.latest_seen(rule, &track);
        let tool = latest.map_or(Tool::new(0), |latest| latest.tool);
        let raised = self.feedback.raised_by(RuleIndex::Call(place), tool);
        let before = self.next.wrapping_sub(self.begun).saturating_sub(1);
        let patience = self.policy.patience(tool, before).saturating_add(raised.into());
        let (held, needed) = match rule.pattern.patient(patience) {
            Pattern::Streak { times } => (track.streak(), times),
            Pattern::Recurrence { times, within, .. } => {
                (latest.map_or(0, |latest| latest.recurrence(within)), u16::from(times))
            }
            Pattern::Cycle { period_min, laps, .. } => nearest_cycle(runs, period_min, laps),
        };
        let held = if latest.is_some() { held.min(needed) } else { 0 };
        Nearness { rule: RuleIndex::Call(place), held, needed }
    }

    /// What the latest record that the rule saw has in common with those before it, if that is
    /// still in the window.
    fn latest_seen(&self, rule: &Rule<'_>, track: &Track) -> Option<Latest> {
        let early = rule.is_judged_early();
        let mut past = self.clone();
        // How many records of the window are still to be looked at.
        let mut left = usize::from(self.policy.window());
        if !early {
            left = left.saturating_sub(past.open.len());
            past.open.clear();
        }
        let mut seen = track.seen();
        while left > 0 {
            left = left.saturating_sub(1);
            let record = past.open.pop_back().or_else(|| past.window.pop())?;
            let is_seen = seen.has(0);
            seen = seen.since(1);
            if is_seen {
                let view = if early {
                    past.view_ahead(&record)
                } else {
                    past.window.compare(&record, past.policy)
                };
                // Only what is still in the window now.
                let reach = Mask::newest(u32::try_from(left).unwrap_or(0));
                let seen = seen & view.reach & reach;
                let matches = view.matches(rule, &record) & seen;
                return Some(Latest { tool: record.tool, matches, seen });
            }
        }
        None
    }

    fn nearness_of_text(&self, place: u8, rule: &TextRule<'_>) -> Nearness {
        let held = match rule.texts {
            Texts::Any => self.text.any,
            Texts::Same => self.text.same,
            Texts::Inside => 0,
        };
        let raised = self.feedback.raised_by(RuleIndex::Text(place), Tool::new(0));
        let needed = rule.times.saturating_add(raised.into());
        Nearness { rule: RuleIndex::Text(place), held: held.min(needed), needed }
    }
}

/// The latest record that a rule saw: its tool, the records before it that match it, and those
/// that the rule saw.
#[derive(Clone, Copy)]
struct Latest {
    tool: Tool,
    matches: Mask,
    seen: Mask,
}

impl Latest {
    /// How many records match among the last `within` that the rule saw, this one included.
    fn recurrence(&self, within: u8) -> u16 {
        let oldest = self.seen.nth(u32::from(within).saturating_sub(2));
        let reach = oldest.map_or(self.seen, |oldest| Mask::newest(oldest.saturating_add(1)));
        let earlier = u16::try_from((self.matches & reach).count()).unwrap_or(u16::MAX);
        earlier.saturating_add(1)
    }
}

/// The calls that there are, and those that it takes, of the period that is nearest to a cycle;
/// of two, the shorter.
fn nearest_cycle(runs: &[u16], period_min: u8, laps: u8) -> (u16, u16) {
    let mut nearest = (0, u16::from(period_min).saturating_mul(u16::from(laps)));
    let periods = runs.iter().zip(1_u8..).skip_while(|&(_, period)| period < period_min);
    for (&run, period) in periods {
        let (length, needed) = (u16::from(period), u16::from(period).saturating_mul(laps.into()));
        let held = run.saturating_add(length);
        if run == 0 || !is_primitive(runs, period, held) {
            continue;
        }
        let held = held.min(needed);
        let ratio = |held: u16, of: u16| u32::from(held).saturating_mul(u32::from(of));
        if ratio(held, nearest.1) > ratio(nearest.0, needed) {
            nearest = (held, needed);
        }
    }
    nearest
}
