//! Control events: facts that the host knows and no call shows.
//!
//! After `retry` or `cancel`, the detector counts again what remains. Undoing would need every
//! earlier state. A streak that reached beyond the window is shorter afterwards, which errs on the
//! side of the agent.
//!
//! A cancelled call keeps its place, because the place of a record is its number. A retried one
//! does not: `retry` removes the end of the history, so no place shifts.

use core::mem::replace;

use crate::detector::Detector;
use crate::judge::{Moment, Sight};
use crate::record::{Call, CallId, Record, Score, Status};
use crate::selection::RuleSet;
use crate::verdict::{Finding, LoopId, RuleIndex, Verdict};
use crate::window::Window;

impl<const W: usize, const OPEN: usize> Detector<'_, W, OPEN> {
    /// Returns the verdict on `call` as if it were announced now. Works on a copy and changes
    /// nothing. O(W).
    pub fn peek(&self, call: Call) -> Verdict {
        self.clone().announce_each(call, |_| {}).1
    }

    /// Takes back the latest `calls` calls, because the provider failed and sends them again.
    /// Returns how many calls were taken back. Calls that have left the window stay. Calls of
    /// exempt tools and allowed calls were never recorded and do not count. O(W²).
    ///
    /// If a rule has seen one of them, everything is counted again from the remaining calls, as if
    /// the first call still held had been the first of all, and each had been answered before the
    /// next. The numbers of the taken calls are given again. Their outcomes, if they still come,
    /// change nothing.
    pub fn retry(&mut self, calls: usize) -> usize {
        let (open, mut taken) = (usize::from(self.history.open.len()), 0_usize);
        let mut oldest = None;
        while taken < calls {
            let Some(record) = self.take_back_one() else { break };
            oldest = Some(record);
            taken = taken.saturating_add(1);
        }
        let Some(oldest) = oldest else { return 0 };
        let count = u64::try_from(taken).unwrap_or(u64::MAX);
        self.history.next = self.history.next.wrapping_sub(count);
        self.history.begun = self.history.begun.min(self.history.next);
        self.history.era = self.history.era.wrapping_add(1);
        // The latest step goes on if a part of it is left. The step may be longer than what the
        // detector holds.
        let left = u32::from(self.history.open.len()).saturating_add(self.history.window.len());
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let cut = usize::from(self.history.in_step).saturating_sub(taken);
        let kept = cut.min(left);
        if usize::from(oldest.in_step).min(left) == kept {
            self.history.in_step = u8::try_from(cut).unwrap_or(u8::MAX);
        } else {
            self.history.step = None;
            self.history.in_step = 0;
        }
        // Only rules that are judged early have seen a waiting call.
        if taken > open || self.policy.selection().judges_early() {
            self.rebuild();
        }
        taken
    }

    /// Cancels a call that waits for its outcome and will not run. It counts as if it had never
    /// been announced, but keeps its number. Returns the strongest verdict on the calls that
    /// settle with it. O(W²).
    ///
    /// If a rule has seen the call, everything is counted again, as after [`Detector::retry`]. A
    /// call whose outcome came, or that was given up, stays. Use [`Detector::vetoed`] for a
    /// refused call, because an agent that asks for it again and again is stuck.
    pub fn cancel(&mut self, call: CallId) -> Verdict {
        let mut strongest = Verdict::PROCEED;
        self.cancel_each(call, |one| strongest = strongest.or_stronger(one));
        strongest
    }

    /// Works like [`Detector::cancel`], and passes every verdict with a finding to `each`.
    pub fn cancel_each(&mut self, call: CallId, mut each: impl FnMut(Verdict)) {
        let Some(record) = self.history.open_record(call) else { return };
        record.status = Status::Cancelled;
        record.novel = false;
        // Only rules that are judged early have seen it.
        if self.policy.selection().judges_early() {
            self.rebuild();
        }
        self.settle(&mut each);
    }

    /// Reports that the model has lost the answers that it was shown, because the host compacted its memory. Calls that
    /// worked may be made again: they count as if they had never been announced, but keep their numbers. Failures, and
    /// calls that wait for their outcomes, stay. O(W²).
    ///
    /// ```
    /// use unstuck_core::{Call, Detector, Digest, Outcome, Tool, presets};
    ///
    /// let mut detector: Detector<'_, 20> = Detector::new(&presets::BALANCED)?;
    /// let read = Call::new(Tool::named("read"), Digest::of(b"a.rs"));
    /// for _ in 0..5 {
    ///     let id = detector.announce(read).id;
    ///     let verdict = detector.outcome(id, Outcome::ok(Digest::of(b"fn main")));
    ///     assert!(verdict.finding.is_none());
    ///     detector.compacted();
    /// }
    /// # Ok::<(), unstuck_core::PolicyError>(())
    /// ```
    pub fn compacted(&mut self) {
        self.history.window.forget_answers();
        self.rebuild();
    }

    /// Records that the host saw progress, whatever the answers say. The oldest call that has not
    /// settled, or else the next call, counts as progress. Call this before the outcome of the
    /// call that made the progress. O(rules).
    pub fn progress(&mut self) {
        match self.history.open.as_mut_slice().first_mut() {
            Some(record) => record.moved = true,
            None => self.history.moved = true,
        }
        self.cut_early_rules(None);
    }

    /// Silences the loop `id`. It is not found again as long as it is among the latest
    /// [`SILENCED_MAX`](crate::SILENCED_MAX) silenced loops.
    pub fn silence(&mut self, id: LoopId) {
        self.feedback.silence(id);
        self.patterns.loops.forget(id);
    }

    /// Records that `finding` was wrong. Its rule asks for one more repetition of that tool, up to
    /// [`RAISE_MAX`](crate::RAISE_MAX) more, and the finding no longer counts. If calls, results
    /// or texts identify the loop, the same kind of finding is not made of it again. The
    /// statistics count the false positive.
    pub fn false_positive(&mut self, finding: &Finding) {
        // Silencing "any three failing commands" would silence its rule for good.
        if finding.names_its_loop() {
            self.feedback.silence_kind(finding.loop_id, finding.kind);
        }
        self.patterns.loops.forget(finding.loop_id);
        self.patterns.findings = self.patterns.findings.saturating_sub(1);
        self.patterns.rung = self.patterns.rung.saturating_sub(1);
        // A finding of another policy may name a rule that this policy does not have.
        if self.policy.has(finding.rule) {
            let rules = self.policy.rules();
            let rule = match finding.rule {
                RuleIndex::Call(place) => rules.get(usize::from(place)),
                RuleIndex::Text(_) => None,
            };
            let before = rule.map_or_else(
                || self.feedback.raised_by(finding.rule, finding.tool),
                |rule| self.feedback.raised_for(rule, rules, finding.tool),
            );
            self.feedback.raise(finding.rule, finding.tool, before);
        }
        self.statistics.count_false_positive();
    }

    /// Takes back the latest call.
    fn take_back_one(&mut self) -> Option<Record> {
        let (record, is_open) = self.history.take_back()?;
        if is_open {
            // The host saw progress before the call, and that still holds.
            self.history.moved |= record.moved;
            return Some(record);
        }
        if let Some(best) = self.best.get_mut(usize::from(record.tag.code()))
            && record.moved
            && best.is_known()
        {
            // The earlier best score is unknown, so every known score is better.
            *best = Score::WORST;
        }
        Some(record)
    }

    /// Counts everything again from the records that the detector holds.
    pub(crate) fn rebuild(&mut self) {
        let held = replace(&mut self.history.window, Window::new());
        let open = self.history.take_open();
        self.patterns.clear();
        let next = self.history.next;
        let count = u64::from(held.len()).saturating_add(u64::from(open.len()));
        self.history.next = next.wrapping_sub(count);
        for age in (0..held.len()).rev() {
            if let Some(mut record) = held.record(age) {
                let (seq, seen) = self.announce_again(&record);
                // Its findings were reported before.
                let _ = self.settle_one(seq, &mut record, seen);
            }
        }
        for record in open.as_slice() {
            let (_, seen) = self.announce_again(record);
            self.history.hold(*record, seen);
        }
        debug_assert_eq!(self.history.next, next, "every record has its number again");
    }

    /// Shows a record to the rules that are judged at announcement. Returns its number, and the rules that saw it.
    fn announce_again(&mut self, record: &Record) -> (u64, RuleSet) {
        let seq = self.history.next;
        self.history.next = seq.wrapping_add(1);
        if !self.policy.selection().judges_early() {
            return (seq, 0);
        }
        let call = record.without_outcome();
        let view = self.view_ahead(&call);
        // Its findings were reported before.
        let sight = Sight { moment: Moment::Announced, seq, record: &call, view: &view };
        let shown = self.show(&sight);
        let _ = self.judge(&shown, &sight);
        (seq, shown.seen)
    }
}
