//! Counts over the life of a detector.

use crate::ladder::Action;
use crate::verdict::{Kind, Verdict};

/// Counts of the events and verdicts of a detector since it was made. They keep their values if
/// the history is cleared or calls are taken back. Every count stops at its maximum.
///
/// ```
/// use unstuck_core::{Action, Call, Detector, Digest, Kind, Tool, presets};
///
/// let mut detector: Detector<'_, 20> = Detector::new(&presets::REPEAT)?;
/// for _ in 0..3 {
///     let _ = detector.announce(Call::new(Tool::named("ls"), Digest::of(b"{}")));
/// }
/// let statistics = detector.statistics();
/// assert_eq!(statistics.checks(), 3);
/// assert_eq!(statistics.findings(Kind::Recurrence), 1);
/// assert_eq!(statistics.actions(Action::Stop), 1);
/// assert_eq!(statistics.mean_confidence(Kind::Recurrence), Some(75));
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Statistics {
    pub(crate) checks: u32,
    pub(crate) kinds: [u32; Kind::ALL.len()],
    pub(crate) actions: [u32; Action::ALL.len()],
    /// The sum of the confidences of each kind, in percent.
    pub(crate) confidences: [u32; Kind::ALL.len()],
    pub(crate) false_positives: u32,
}

impl Statistics {
    pub(crate) const NONE: Self = Self {
        checks: 0,
        kinds: [0; Kind::ALL.len()],
        actions: [0; Action::ALL.len()],
        confidences: [0; Kind::ALL.len()],
        false_positives: 0,
    };

    /// Returns the number of calls and text-only turns that were checked.
    pub const fn checks(&self) -> u32 {
        self.checks
    }

    /// Returns the number of verdicts with a finding of this kind.
    pub fn findings(&self, kind: Kind) -> u32 {
        self.kinds.get(usize::from(kind.code())).copied().unwrap_or(0)
    }

    /// Returns the number of verdicts with a finding that asked for this action.
    pub fn actions(&self, action: Action) -> u32 {
        self.actions.get(usize::from(action.strength())).copied().unwrap_or(0)
    }

    /// Returns the number of findings that the host called wrong.
    pub const fn false_positives(&self) -> u32 {
        self.false_positives
    }

    /// Returns the mean confidence of the findings of this kind, in percent, or `None` if there
    /// were no such findings.
    pub fn mean_confidence(&self, kind: Kind) -> Option<u8> {
        let sum = self.confidences.get(usize::from(kind.code()))?;
        u8::try_from(sum.checked_div(self.findings(kind))?).ok()
    }

    /// Returns whether no mean is more than 100 percent.
    #[cfg(feature = "serde")]
    pub(crate) fn is_sound(&self) -> bool {
        let mut pairs = self.kinds.iter().zip(&self.confidences);
        pairs.all(|(count, sum)| u64::from(*sum) <= u64::from(*count).saturating_mul(100))
    }

    pub(crate) fn check(&mut self) {
        self.checks = self.checks.saturating_add(1);
    }

    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn count(&mut self, verdict: &Verdict) {
        let Some(finding) = verdict.finding else { return };
        if let Some(count) = self.actions.get_mut(usize::from(verdict.action.strength())) {
            *count = count.saturating_add(1);
        }
        let place = usize::from(finding.kind.code());
        if let (Some(count), Some(sum)) =
            (self.kinds.get_mut(place), self.confidences.get_mut(place))
            // The mean would be wrong if only one of the two still grew.
            && let Some(more) = sum.checked_add(u32::from(finding.confidence))
        {
            *count = count.saturating_add(1);
            *sum = more;
        }
    }

    pub(crate) fn count_false_positive(&mut self) {
        self.false_positives = self.false_positives.saturating_add(1);
    }
}
