//! The detector: it takes events and returns verdicts.

use core::mem::take;

use crate::feedback::Feedback;
use crate::history::History;
use crate::ladder::Action;
use crate::pattern::Patterns;
use crate::policy::{Policy, usize_from};
use crate::policy_error::{PolicyError, PolicyErrorKind};
use crate::queue::Recent;
use crate::record::{Call, CallId, Outcome, Record, Score, Status, Tag, Tool};
use crate::talk::{MESSAGES_MAX, TextRow};
use crate::verdict::{Finding, Kind, Verdict};

/// The default number of calls that may be open at once. Agents seldom issue more than eight calls
/// together. If there are more, the detector gives up the oldest. Each open call takes 42 bytes.
pub const OPEN_MAX: usize = 8;

/// The answer to an announcement.
///
/// ```
/// use unstuck_core::{Action, Call, Detector, Digest, Tool, presets};
///
/// let mut detector: Detector<'_, 20> = Detector::new(&presets::BALANCED)?;
/// let announced = detector.announce(Call::new(Tool::named("ls"), Digest::of(b"{}")));
/// if announced.verdict.action >= Action::Block {
///     let _ = detector.vetoed(announced.id);
/// } else {
///     // Run the tool, and pass its outcome to `Detector::outcome`.
/// }
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[must_use = "the verdict says whether to run the call"]
pub struct Announced {
    /// The id of the call. Pass it on with the outcome.
    pub id: CallId,
    /// The verdict on this call, before it runs.
    pub verdict: Verdict,
    /// The strongest verdict on earlier calls that this announcement settled because a later step
    /// began before their outcomes came. It says nothing about this call.
    pub settled: Verdict,
}

/// A detector that watches the calls of one worker by the rules of a policy.
///
/// It is a plain value beside a borrowed policy. `size_of` is all its memory: 1.4 KB for a window
/// of 20. It holds the last `W` records, 1 to 64, and `W` must be at least the policy's window. Up
/// to `OPEN` calls, at least 1, wait for their outcomes. A record takes O(W) time when it is
/// announced and when it settles, and one event may settle all waiting records.
///
/// ```
/// use unstuck_core::{Action, Call, Detector, Digest, Outcome, Tool, presets};
///
/// let mut detector: Detector<'_, 20> = Detector::new(&presets::BALANCED)?;
/// let tests = Call::new(Tool::named("run_tests"), Digest::of(b"{}"));
/// for round in 1..=3 {
///     let announced = detector.announce(tests);
///     assert_eq!(announced.verdict.action, Action::Proceed);
///     let verdict = detector.outcome(announced.id, Outcome::failed(Digest::of(b"1 failed")));
///     assert_eq!(verdict.action, if round < 3 { Action::Proceed } else { Action::Nudge });
/// }
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
///
/// # Calls that are issued together
///
/// Records settle in the order of their calls, so one outcome may settle several records.
/// [`outcome`] and the methods like it return the strongest verdict. [`outcome_each`] and the methods
/// like it pass on every verdict with a finding. These are the same in whatever order outcomes come.
///
/// [`outcome`]: Detector::outcome
/// [`outcome_each`]: Detector::outcome_each
#[derive(Clone, Debug)]
pub struct Detector<'p, const W: usize, const OPEN: usize = OPEN_MAX> {
    pub(crate) policy: &'p Policy<'p>,
    pub(crate) history: History<W, OPEN>,
    pub(crate) patterns: Patterns,
    /// The current row of text-only turns.
    pub(crate) talk: TextRow,
    /// The latest user messages, each as a folded digest.
    pub(crate) messages: Recent<u32, MESSAGES_MAX>,
    /// The best score so far for each tag, by [`Tag::code`].
    pub(crate) best: [Score; Tag::ALL.len()],
    pub(crate) feedback: Feedback,
    pub(crate) statistics: Statistics,
}

impl<'p, const W: usize, const OPEN: usize> Detector<'p, W, OPEN> {
    /// Creates a detector that has seen no event.
    ///
    /// # Errors
    ///
    /// Returns [`PolicyErrorKind::WindowBeyondCapacity`] if the policy's window is longer than `W`.
    pub const fn new(policy: &'p Policy<'p>) -> Result<Self, PolicyError> {
        let window = policy.window();
        if !Self::fits(policy) {
            return Err(
                policy.error(None, PolicyErrorKind::WindowBeyondCapacity { window, capacity: W })
            );
        }
        Ok(Self::fresh(policy))
    }

    /// Creates a detector without checking that it holds the policy's window.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) const fn fresh(policy: &'p Policy<'p>) -> Self {
        Self {
            policy,
            history: History::new(),
            patterns: Patterns::new(),
            talk: TextRow::NONE,
            messages: Recent::new(0),
            best: [Score::NONE; Tag::ALL.len()],
            feedback: Feedback::new(),
            statistics: Statistics::NONE,
        }
    }

    /// Returns whether `W` records are enough for the policy's window.
    pub(crate) const fn fits(policy: &Policy<'_>) -> bool {
        usize_from(policy.window()) <= W
    }

    /// Returns the policy of the detector.
    pub const fn policy(&self) -> &'p Policy<'p> {
        self.policy
    }

    /// Returns the counts of events and verdicts so far.
    pub const fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns the tool of the call with the sequence number `seq`, or `None` if the detector no
    /// longer holds its record.
    ///
    /// With it a host names the tools of [`Finding::lap`](crate::Finding::lap) in a message.
    pub fn tool_of(&self, seq: u64) -> Option<Tool> {
        self.history.tool_of(seq)
    }

    /// Returns the sequence number of the latest failure between the calls of `finding`, or among those of a cycle, if
    /// its tool failed there more than once. Returns `None` if the finding itself is about a failure, or about calls of
    /// that tool, whose name would say nothing. O(W²).
    ///
    /// An agent that reads a file before each of its failing edits is stuck at the edit.
    ///
    /// ```
    /// use unstuck_core::{Call, Detector, Digest, Outcome, Tool, presets};
    ///
    /// let mut detector: Detector<'_, 20> = Detector::new(&presets::BALANCED)?;
    /// let mut found = None;
    /// for attempt in 0..3 {
    ///     let id = detector.announce(Call::new(Tool::named("read"), Digest::of(b"a.rs"))).id;
    ///     found = detector.outcome(id, Outcome::ok(Digest::of(b"fn main"))).finding;
    ///     let id = detector.announce(Call::new(Tool::named("edit"), Digest::new(attempt))).id;
    ///     if found.is_none() {
    ///         let _ = detector.outcome(id, Outcome::failed(Digest::new(attempt)));
    ///     }
    /// }
    /// let finding = found.expect("the same file was read three times");
    /// assert_eq!((finding.tool, detector.failing(&finding)), (Tool::named("read"), Some(3)));
    /// # Ok::<(), unstuck_core::PolicyError>(())
    /// ```
    pub fn failing(&self, finding: &Finding) -> Option<u64> {
        if finding.has_failed() {
            return None;
        }
        self.history.failing(finding).filter(|seq| self.tool_of(*seq) != Some(finding.tool))
    }

    /// Takes in a call that the agent asks for. Judges it by the rules that need no outcome, and
    /// blocks it if it continues a loop whose ladder has reached
    /// [`Action::Block`](crate::Action::Block). O(W).
    ///
    /// Calls that are still open when a later step begins settle as unreported.
    pub fn announce(&mut self, call: Call) -> Announced {
        let mut settled = Verdict::PROCEED;
        let (id, verdict) = self.announce_each(call, |one| settled = settled.or_stronger(one));
        Announced { id, verdict, settled }
    }

    /// Takes in a call like [`Detector::announce`], and passes every verdict on the calls that it
    /// settles to `each`. Returns the id of the call and the verdict on it.
    pub fn announce_each(
        &mut self,
        call: Call,
        mut each: impl FnMut(Verdict),
    ) -> (CallId, Verdict) {
        let Some(tag) = self.policy.tag_of(&call) else {
            return (CallId::NONE, Verdict::PROCEED);
        };
        self.obey(&call, tag);
        self.begin(&call, &mut each);
        self.add(&call, tag)
    }

    /// Takes in the outcome of a call. Judges every record that settles with it and returns the
    /// strongest verdict. O(W) for each record.
    ///
    /// Records settle in the order of their calls, in whatever order outcomes come. An outcome
    /// that comes late, twice, or for an exempt call changes nothing.
    pub fn outcome(&mut self, call: CallId, outcome: Outcome) -> Verdict {
        let mut strongest = Verdict::PROCEED;
        self.outcome_each(call, outcome, |one| strongest = strongest.or_stronger(one));
        strongest
    }

    /// Takes in an outcome like [`Detector::outcome`], and passes every verdict with a finding to
    /// `each`.
    pub fn outcome_each(&mut self, call: CallId, outcome: Outcome, mut each: impl FnMut(Verdict)) {
        if let Some(record) = self.history.open_record(call) {
            record.report(&outcome);
        }
        self.settle(&mut each);
    }

    /// Records that the call did not run because the host or the engine blocked it. It still
    /// counts as an attempt, and matches any result. Returns the strongest verdict.
    pub fn vetoed(&mut self, call: CallId) -> Verdict {
        let mut strongest = Verdict::PROCEED;
        self.vetoed_each(call, |one| strongest = strongest.or_stronger(one));
        strongest
    }

    /// Works like [`Detector::vetoed`], and passes every verdict with a finding to `each`.
    pub fn vetoed_each(&mut self, call: CallId, mut each: impl FnMut(Verdict)) {
        if let Some(record) = self.history.open_record(call) {
            record.status = Status::Vetoed;
        }
        self.settle(&mut each);
    }

    /// Ends the wait for outcomes: open calls settle as unreported. Returns the strongest verdict.
    pub fn finish(&mut self) -> Verdict {
        let mut strongest = Verdict::PROCEED;
        self.finish_each(|one| strongest = strongest.or_stronger(one));
        strongest
    }

    /// Works like [`Detector::finish`], and passes every verdict with a finding to `each`.
    pub fn finish_each(&mut self, mut each: impl FnMut(Verdict)) {
        self.history.give_up(OPEN, Status::Unreported);
        self.settle(&mut each);
    }

    /// Forgets all calls, turns, scores and loops, because a new run begins. Sequence numbers go
    /// on. User messages, feedback and statistics stay.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub fn clear(&mut self) {
        self.history.clear();
        self.patterns.clear();
        self.best = [Score::NONE; Tag::ALL.len()];
        self.talk.end();
    }

    /// Adds a call to the step that has begun, and returns its id and the verdict on it. This is a separate function because
    /// the record and the verdict are not on the stack while earlier records settle.
    #[inline(never)]
    fn add(&mut self, call: &Call, tag: Tag) -> (CallId, Verdict) {
        self.talk.end();
        let seq = self.history.next;
        self.history.next = seq.wrapping_add(1);
        let mut record = Record::open(call, self.history.in_step);
        record.tag = tag;
        record.era = self.history.era;
        record.moved = take(&mut self.history.moved);
        self.history.in_step = self.history.in_step.saturating_add(1);
        let (verdict, seen) = self.foresee(seq, &mut record);
        let verdict = verdict.or_stronger(self.blocked_ahead(seq, &record));
        self.statistics.check();
        self.statistics.count(&verdict);
        if verdict.action.clears() {
            self.clear();
        } else {
            self.history.hold(record, seen);
        }
        (CallId::new(seq, self.history.era), verdict)
    }

    /// Begins the step of `call` if it is a later one, and makes room for one more open call.
    fn begin(&mut self, call: &Call, each: &mut dyn FnMut(Verdict)) {
        let later = call.step.is_none() || call.step != self.history.step;
        if later {
            self.history.give_up(OPEN, Status::Unreported);
        } else if self.history.open.is_full() {
            self.history.give_up(1, Status::Dropped);
        }
        self.settle(each);
        if later {
            self.history.in_step = 0;
        }
        // This comes last: the records that settled may have cleared the history and its step.
        self.history.step = call.step;
    }
}

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
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Statistics {
    pub(crate) checks: u32,
    pub(crate) kinds: [u32; Kind::ALL.len()],
    /// The verdicts with a finding that asked for each action but [`Action::Proceed`].
    pub(crate) actions: [u32; Action::ALL.len() - 1],
    pub(crate) false_positives: u32,
}

impl Statistics {
    pub(crate) const NONE: Self = Self {
        checks: 0,
        kinds: [0; Kind::ALL.len()],
        actions: [0; Action::ALL.len() - 1],
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
        let Some(place) = action.strength().checked_sub(1) else {
            let sum = |counts: &[u32]| counts.iter().fold(0, |sum: u32, n| sum.saturating_add(*n));
            return sum(&self.kinds).saturating_sub(sum(&self.actions));
        };
        self.actions.get(usize::from(place)).copied().unwrap_or(0)
    }

    /// Returns the number of findings that the host called wrong.
    pub const fn false_positives(&self) -> u32 {
        self.false_positives
    }

    pub(crate) fn check(&mut self) {
        self.checks = self.checks.saturating_add(1);
    }

    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn count(&mut self, verdict: &Verdict) {
        let Some(finding) = verdict.finding else { return };
        if let Some(place) = verdict.action.strength().checked_sub(1)
            && let Some(count) = self.actions.get_mut(usize::from(place))
        {
            *count = count.saturating_add(1);
        }
        if let Some(count) = self.kinds.get_mut(usize::from(finding.kind.code())) {
            *count = count.saturating_add(1);
        }
    }

    pub(crate) fn count_false_positive(&mut self) {
        self.false_positives = self.false_positives.saturating_add(1);
    }
}
