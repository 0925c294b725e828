//! The nearness of each rule to a finding: an early warning.

use crate::cycle::is_primitive;
use crate::detector::Detector;
use crate::mask::Mask;
use crate::pattern;
use crate::record::{Record, Tool};
use crate::rule::{Args, Pattern, Rule, TextRule, Texts};
use crate::verdict::RuleIndex;
use crate::window::View;

/// How near a rule is to a finding, as of the latest record that it saw, if that record is still
/// in the window.
///
/// It counts the matching calls, even if the rule asks for more than matches.
///
/// ```
/// use unstuck_core::{Call, Detector, Digest, Tool, presets};
///
/// let mut detector: Detector<'_, 20> = Detector::new(&presets::REPEAT)?;
/// for _ in 0..2 {
///     let _ = detector.announce(Call::new(Tool::named("ls"), Digest::of(b"{}")));
/// }
/// let near = detector.nearest().expect("two of three calls are there");
/// assert_eq!((near.held, near.needed), (2, 3));
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Nearness {
    /// The rule.
    pub rule: RuleIndex,
    /// The number of calls of its pattern in a row, or within its reach. For a rule about text,
    /// the number of turns. At most `needed`.
    pub held: u16,
    /// The number that a finding takes. For a cycle, the number for the nearest period.
    pub needed: u16,
}

impl Nearness {
    /// Returns whether this is a greater share of a finding than `other` is.
    ///
    /// ```
    /// use unstuck_core::{Nearness, RuleIndex};
    ///
    /// let near = |held, needed| Nearness { rule: RuleIndex::Call(0), held, needed };
    /// assert!(near(2, 3).is_nearer_than(near(3, 5)));
    /// assert!(!near(2, 4).is_nearer_than(near(4, 8)));
    /// ```
    pub fn is_nearer_than(self, other: Self) -> bool {
        is_greater((self.held, self.needed), (other.held, other.needed))
    }
}

impl<const W: usize, const OPEN: usize> Detector<'_, W, OPEN> {
    /// Returns the nearness of each rule in the policy's order, rules about text last. O(rules ·
    /// W).
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
    /// # Ok::<(), unstuck_core::PolicyError>(())
    /// ```
    pub fn nearness(&self) -> impl Iterator<Item = Nearness> {
        let rules = self.policy.rules();
        let tracks = &self.patterns.rules;
        let tracks = tracks.streaks().zip(runs_of_each(tracks.runs(), rules));
        let mut compared = None;
        let calls = (0_u8..).zip(rules).zip(tracks).map(move |((place, rule), (streak, runs))| {
            self.nearness_of(place, rule, streak, runs, &mut compared)
        });
        let texts = (0_u8..).zip(self.policy.texts());
        calls.chain(texts.map(|(place, rule)| self.nearness_of_text(place, rule)))
    }

    /// Returns the rule that is nearest to a finding by its share, or `None` if no rule holds any
    /// call. Of equal rules the first in the policy's order wins, and rules about calls come
    /// before rules about text. O(rules · W).
    ///
    /// A share of two thirds or more is a useful early warning. It comes one call before most
    /// findings. `adapters/cli/EVALUATION.md` has its precision on labelled runs.
    ///
    /// ```
    /// use unstuck_core::{Call, Detector, Digest, Outcome, Tool, presets};
    ///
    /// let mut detector: Detector<'_, 20> = Detector::new(&presets::BALANCED)?;
    /// assert_eq!(detector.nearest(), None);
    /// let call = Call::new(Tool::named("ls"), Digest::of(b"{}"));
    /// for _ in 0..2 {
    ///     let announced = detector.announce(call);
    ///     let _ = detector.outcome(announced.id, Outcome::ok(Digest::of(b"a.rs")));
    /// }
    /// let near = detector.nearest().expect("two calls");
    /// assert_eq!(detector.policy().rule_name(near.rule), "same-effect");
    /// assert_eq!((near.held, near.needed), (2, 3));
    /// # Ok::<(), unstuck_core::PolicyError>(())
    /// ```
    pub fn nearest(&self) -> Option<Nearness> {
        let held = self.nearness().filter(|near| near.held > 0);
        held.reduce(|nearest, near| if near.is_nearer_than(nearest) { near } else { nearest })
    }

    fn nearness_of(
        &self,
        place: u8,
        rule: &Rule<'_>,
        streak: u16,
        runs: &[u16],
        compared: &mut Option<ComparedRecord>,
    ) -> Nearness {
        let seen = pattern::one(place);
        let latest = self.latest_seen(rule, self.history.seen_by(seen, rule.is_judged_early()));
        let tool = latest.map_or(Tool::new(0), |latest| latest.tool);
        let raised = self.feedback.raised_for(rule, self.policy.rules(), tool);
        let before = self.history.next.wrapping_sub(self.history.begun).saturating_sub(1);
        let patience = self.policy.patience(tool, before).saturating_add(raised.into());
        let patience = patience.saturating_add(self.history.heard.patience(rule));
        let asked = rule.pattern.asked(patience);
        let (held, needed) = match rule.pattern {
            Pattern::Streak { .. } => (streak, asked),
            Pattern::Recurrence { within, .. } => {
                let held =
                    latest.and_then(|latest| self.recurrence(rule, &latest, within, compared));
                (held.unwrap_or(0), asked)
            }
            Pattern::Cycle { period_min, .. } => nearest_cycle(runs, period_min, asked),
        };
        let held = if latest.is_some() { held.min(needed) } else { 0 };
        Nearness { rule: RuleIndex::Call(place), held, needed }
    }

    /// Returns the latest of the records that the rule has `seen`, if it is still in the window.
    fn latest_seen(&self, rule: &Rule<'_>, seen: Mask) -> Option<LatestRecord> {
        let later = seen.nth(0)?;
        let open = u32::from(self.history.open.len());
        let seen = seen.since(later.saturating_add(1));
        let after = if rule.is_judged_early() { later } else { later.saturating_add(open) };
        // The number of window records before it.
        let left = u32::from(self.policy.window()).checked_sub(after.saturating_add(1))?;
        let position = match after.checked_sub(open) {
            Some(age) => Position::Window { age },
            None => Position::Open { later: after },
        };
        let tool = match position {
            Position::Window { age } => self.history.window.tool(age)?,
            Position::Open { later } => self.history.open.latest(later)?.tool,
        };
        Some(LatestRecord { tool, position, seen: seen & Mask::newest(left) })
    }

    /// Returns the number of records that match the latest one among the last `within` that the
    /// rule saw, itself included. O(W), or O(1) if the record was `compared` last.
    fn recurrence(
        &self,
        rule: &Rule<'_>,
        latest: &LatestRecord,
        within: u8,
        compared: &mut Option<ComparedRecord>,
    ) -> Option<u16> {
        if compared.as_ref().is_none_or(|compared| compared.position != latest.position) {
            *compared = Some(self.compared(latest.position)?);
        }
        let ComparedRecord { record, view, .. } = compared.as_ref()?;
        // The common case by far: the window does not hold the same call.
        if record.novel && rule.args == Args::Same {
            return Some(1);
        }
        let oldest = latest.seen.nth(u32::from(within).saturating_sub(2));
        let reach = oldest.map_or(latest.seen, |oldest| Mask::newest(oldest.saturating_add(1)));
        let matches = view.matches(rule, record) & latest.seen & reach;
        Some(u16::try_from(matches.count()).unwrap_or(u16::MAX).saturating_add(1))
    }

    /// Returns the record at `position` and the past as seen by it. O(W).
    fn compared(&self, position: Position) -> Option<ComparedRecord> {
        let (record, view) = match position {
            Position::Window { age } => {
                let record = self.history.window.record(age)?;
                (record, self.history.window.compare_from(age, &record, self.policy))
            }
            Position::Open { later } => {
                let record = *self.history.open.latest(later)?;
                (record, self.view_ahead_of(later.saturating_add(1), &record))
            }
        };
        Some(ComparedRecord { position, record, view })
    }

    fn nearness_of_text(&self, place: u8, rule: &TextRule<'_>) -> Nearness {
        let held = match rule.texts {
            Texts::Any => self.talk.any,
            Texts::Same => self.talk.same,
            Texts::Prompt => self.talk.prompts,
            Texts::Inside => 0,
        };
        let raised = self.feedback.raised_by(RuleIndex::Text(place), Tool::new(0));
        let needed = rule.times.saturating_add(raised.into());
        Nearness { rule: RuleIndex::Text(place), held: held.min(needed), needed }
    }
}

/// Returns each rule's own run counters, in the order of the rules.
fn runs_of_each<'r>(runs: &'r [u16], rules: &[Rule<'_>]) -> impl Iterator<Item = &'r [u16]> {
    let mut rest = runs;
    rules.iter().map(move |rule| {
        let count = usize::from(rule.pattern.runs());
        let (own, others) = rest.split_at_checked(count).unwrap_or_default();
        rest = others;
        own
    })
}

/// The latest record that a rule saw.
#[derive(Clone, Copy)]
struct LatestRecord {
    tool: Tool,
    position: Position,
    /// The records before it that the rule saw and the window still holds.
    seen: Mask,
}

/// A record and the past as seen by it.
struct ComparedRecord {
    position: Position,
    record: Record,
    view: View,
}

/// The position of a record: in the window with `age` newer records, or among the open calls with
/// `later` newer calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Window { age: u32 },
    Open { later: u32 },
}

/// Returns the calls held and needed for the period that is nearest to a cycle. Of two equal
/// periods the shorter wins.
fn nearest_cycle(runs: &[u16], period_min: u8, laps: u16) -> (u16, u16) {
    let mut nearest = (0, u16::from(period_min).saturating_mul(laps));
    let periods = runs.iter().zip(1_u8..).skip_while(|&(_, period)| period < period_min);
    for (&run, period) in periods {
        let (length, needed) = (u16::from(period), u16::from(period).saturating_mul(laps));
        let held = run.saturating_add(length);
        if run == 0 || !is_primitive(runs, period, held) {
            continue;
        }
        let here = (held.min(needed), needed);
        if is_greater(here, nearest) {
            nearest = here;
        }
    }
    nearest
}

/// Returns whether the first share is greater than the other.
fn is_greater((held, needed): (u16, u16), other: (u16, u16)) -> bool {
    let ratio = |held: u16, of: u16| u32::from(held).saturating_mul(u32::from(of));
    ratio(held, other.1) > ratio(other.0, needed)
}
