//! A detector of any capacity: what a binding to another language holds.

use crate::Digest;
use crate::detector::{Announced, Detector};
use crate::nearness::Nearness;
use crate::policy::Policy;
use crate::record::{Call, CallId, Outcome};
use crate::repeated_text::Turn;
use crate::statistics::Statistics;
use crate::verdict::{Finding, LoopId, Verdict};

mod sealed {
    pub trait Sealed {}
}

impl<const W: usize, const OPEN: usize> sealed::Sealed for Detector<'_, W, OPEN> {}

/// A detector whose capacities are not part of its type.
///
/// Each method is the one of [`Detector`] with the same name. Nobody else implements this trait.
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
/// # Ok::<(), unstuck_core::PolicyError<'_>>(())
/// ```
pub trait AnyDetector<'p>: sealed::Sealed {
    /// The policy whose rules the detector follows.
    fn policy(&self) -> &'p Policy<'p>;

    /// What the detector has seen and said so far.
    fn statistics(&self) -> &Statistics;

    /// The agent asks for `call`.
    fn announce(&mut self, call: Call) -> Announced;

    /// As [`AnyDetector::announce`], with each verdict on the calls that settle.
    fn announce_each(&mut self, call: Call, each: &mut dyn FnMut(Verdict)) -> (CallId, Verdict);

    /// The outcome of a call has come.
    fn outcome(&mut self, call: CallId, outcome: Outcome) -> Verdict;

    /// As [`AnyDetector::outcome`], with each verdict that has a finding.
    fn outcome_each(&mut self, call: CallId, outcome: Outcome, each: &mut dyn FnMut(Verdict));

    /// The call was not run, since somebody blocked it.
    fn vetoed(&mut self, call: CallId) -> Verdict;

    /// As [`AnyDetector::vetoed`], with each verdict that has a finding.
    fn vetoed_each(&mut self, call: CallId, each: &mut dyn FnMut(Verdict));

    /// The call will not be run.
    fn cancel(&mut self, call: CallId) -> Verdict;

    /// As [`AnyDetector::cancel`], with each verdict that has a finding.
    fn cancel_each(&mut self, call: CallId, each: &mut dyn FnMut(Verdict));

    /// No more outcomes will come.
    fn finish(&mut self) -> Verdict;

    /// As [`AnyDetector::finish`], with each verdict that has a finding.
    fn finish_each(&mut self, each: &mut dyn FnMut(Verdict));

    /// The agent took a turn without calling a tool.
    fn text_turn(&mut self, turn: Turn) -> Verdict;

    /// The user says something.
    fn user_message(&mut self, message: Digest) -> Verdict;

    /// A new run begins.
    fn clear(&mut self);

    /// The latest `calls` calls are taken back.
    fn retry(&mut self, calls: usize) -> usize;

    /// The host knows that something moved.
    fn progress(&mut self);

    /// What the verdict on `call` would be.
    fn peek(&self, call: Call) -> Verdict;

    /// The loop `id` is none.
    fn silence(&mut self, id: LoopId);

    /// `finding` was wrong.
    fn false_positive(&mut self, finding: &Finding);

    /// How near each rule is, given to `each` one by one.
    fn nearness(&self, each: &mut dyn FnMut(Nearness));

    /// The rule that is nearest to a finding.
    fn nearest(&self) -> Option<Nearness>;

    /// Writes everything that the detector knows to the start of `buffer`.
    ///
    /// # Errors
    ///
    /// If the buffer is too short.
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
