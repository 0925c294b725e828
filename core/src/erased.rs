//! A detector whose capacity is erased from its type, for bindings to other languages.

use crate::Digest;
use crate::detector::{Announced, Detector, Statistics};
use crate::nearness::Nearness;
use crate::policy::Policy;
use crate::record::{Call, CallId, Outcome};
use crate::talk::Turn;
use crate::verdict::{Finding, LoopId, Verdict};

mod sealed {
    pub trait Sealed {}
}

impl<const W: usize, const OPEN: usize> sealed::Sealed for Detector<'_, W, OPEN> {}

/// A detector whose capacities are not part of its type.
///
/// Each method is the method of [`Detector`] with the same name. The trait is sealed.
///
/// ```
/// use unstuck_core::{AnyDetector, Call, Detector, Digest, Tool, presets};
///
/// let mut small: Detector<'_, 20> = Detector::new(&presets::REPEAT)?;
/// let mut large: Detector<'_, 64, 32> = Detector::new(&presets::REPEAT)?;
/// let any: [&mut dyn AnyDetector<'_>; 2] = [&mut small, &mut large];
/// for detector in any {
///     let announced = detector.announce(Call::new(Tool::named("ls"), Digest::of(b"{}")));
///     assert_eq!(announced.id.seq(), Some(0));
/// }
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
pub trait AnyDetector<'p>: sealed::Sealed {
    /// Returns the policy of the detector.
    fn policy(&self) -> &'p Policy<'p>;

    /// Returns the counts of events and verdicts so far.
    fn statistics(&self) -> &Statistics;

    /// Takes in a call that the agent asks for.
    fn announce(&mut self, call: Call) -> Announced;

    /// Works like [`AnyDetector::announce`], and passes on each verdict on the calls that settle.
    fn announce_each(&mut self, call: Call, each: &mut dyn FnMut(Verdict)) -> (CallId, Verdict);

    /// Takes in the outcome of a call.
    fn outcome(&mut self, call: CallId, outcome: Outcome) -> Verdict;

    /// Works like [`AnyDetector::outcome`], and passes on each verdict with a finding.
    fn outcome_each(&mut self, call: CallId, outcome: Outcome, each: &mut dyn FnMut(Verdict));

    /// Records that the call was blocked and did not run.
    fn vetoed(&mut self, call: CallId) -> Verdict;

    /// Works like [`AnyDetector::vetoed`], and passes on each verdict with a finding.
    fn vetoed_each(&mut self, call: CallId, each: &mut dyn FnMut(Verdict));

    /// Cancels a call that will not run.
    fn cancel(&mut self, call: CallId) -> Verdict;

    /// Works like [`AnyDetector::cancel`], and passes on each verdict with a finding.
    fn cancel_each(&mut self, call: CallId, each: &mut dyn FnMut(Verdict));

    /// Ends the wait for outcomes.
    fn finish(&mut self) -> Verdict;

    /// Works like [`AnyDetector::finish`], and passes on each verdict with a finding.
    fn finish_each(&mut self, each: &mut dyn FnMut(Verdict));

    /// Takes in a turn in which the agent called no tool.
    fn text_turn(&mut self, turn: Turn) -> Verdict;

    /// Takes in a message of the user.
    fn user_message(&mut self, message: Digest) -> Verdict;

    /// Takes in news that the host gives to the agent.
    fn notified(&mut self);

    /// Forgets the history, because a new run begins.
    fn clear(&mut self);

    /// Takes back the latest `calls` calls.
    fn retry(&mut self, calls: usize) -> usize;

    /// Records that the host saw progress.
    fn progress(&mut self);

    /// Returns the verdict on `call` as if it were announced now.
    fn peek(&self, call: Call) -> Verdict;

    /// Silences the loop `id`.
    fn silence(&mut self, id: LoopId);

    /// Records that `finding` was wrong.
    fn false_positive(&mut self, finding: &Finding);

    /// Passes the nearness of each rule to `each`.
    fn nearness(&self, each: &mut dyn FnMut(Nearness));

    /// Returns the rule that is nearest to a finding.
    fn nearest(&self) -> Option<Nearness>;

    /// Writes a checkpoint of the detector to the start of `buffer`.
    ///
    /// # Errors
    ///
    /// Returns an error if the buffer is too short.
    #[cfg(feature = "postcard")]
    fn save<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b mut [u8], crate::CheckpointError>;
}

impl<'p, const W: usize, const OPEN: usize> AnyDetector<'p> for Detector<'p, W, OPEN> {
    fn policy(&self) -> &'p Policy<'p> {
        self.policy()
    }

    fn statistics(&self) -> &Statistics {
        self.statistics()
    }

    fn announce(&mut self, call: Call) -> Announced {
        self.announce(call)
    }

    fn announce_each(&mut self, call: Call, each: &mut dyn FnMut(Verdict)) -> (CallId, Verdict) {
        self.announce_each(call, each)
    }

    fn outcome(&mut self, call: CallId, outcome: Outcome) -> Verdict {
        self.outcome(call, outcome)
    }

    fn outcome_each(&mut self, call: CallId, outcome: Outcome, each: &mut dyn FnMut(Verdict)) {
        self.outcome_each(call, outcome, each);
    }

    fn vetoed(&mut self, call: CallId) -> Verdict {
        self.vetoed(call)
    }

    fn vetoed_each(&mut self, call: CallId, each: &mut dyn FnMut(Verdict)) {
        self.vetoed_each(call, each);
    }

    fn cancel(&mut self, call: CallId) -> Verdict {
        self.cancel(call)
    }

    fn cancel_each(&mut self, call: CallId, each: &mut dyn FnMut(Verdict)) {
        self.cancel_each(call, each);
    }

    fn finish(&mut self) -> Verdict {
        self.finish()
    }

    fn finish_each(&mut self, each: &mut dyn FnMut(Verdict)) {
        self.finish_each(each);
    }

    fn text_turn(&mut self, turn: Turn) -> Verdict {
        self.text_turn(turn)
    }

    fn user_message(&mut self, message: Digest) -> Verdict {
        self.user_message(message)
    }

    fn notified(&mut self) {
        self.notified();
    }

    fn clear(&mut self) {
        self.clear();
    }

    fn retry(&mut self, calls: usize) -> usize {
        self.retry(calls)
    }

    fn progress(&mut self) {
        self.progress();
    }

    fn peek(&self, call: Call) -> Verdict {
        self.peek(call)
    }

    fn silence(&mut self, id: LoopId) {
        self.silence(id);
    }

    fn false_positive(&mut self, finding: &Finding) {
        self.false_positive(finding);
    }

    fn nearness(&self, each: &mut dyn FnMut(Nearness)) {
        self.nearness().for_each(each);
    }

    fn nearest(&self) -> Option<Nearness> {
        self.nearest()
    }

    #[cfg(feature = "postcard")]
    fn save<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b mut [u8], crate::CheckpointError> {
        self.save(buffer)
    }
}
