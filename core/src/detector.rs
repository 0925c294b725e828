//! The detector: events in, verdicts out.

use core::mem::take;

use crate::Digest;
use crate::feedback::Feedback;
use crate::history::History;
use crate::patterns::Patterns;
use crate::policy::{Policy, usize_from};
use crate::policy_error::{PolicyError, PolicyErrorKind};
use crate::recent::Recent;
use crate::record::{Call, CallId, Outcome, Record, Score, Status, Tag, Tool};
use crate::repeated_text::Turn;
use crate::rule::Texts;
use crate::statistics::Statistics;
use crate::talk::{MESSAGES_MAX, TextRow};
use crate::verdict::Verdict;

/// How many calls may be open at once, unless the detector says otherwise. Agents issue a handful
/// of calls together, seldom more than eight; of more, the oldest is given up. 40 bytes each.
pub const OPEN_MAX: usize = 8;

/// What an announcement is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[must_use = "the verdict says whether to run the call"]
pub struct Announced {
    /// The call's name, for its outcome.
    pub id: CallId,
    /// The verdict on this call, before it runs.
    pub verdict: Verdict,
    /// The strongest verdict on earlier calls that this announcement settled, since their
    /// outcomes had not come by the time a later step began. It says nothing about this call.
    pub settled: Verdict,
}

/// Watches the calls of one worker by the rules of a policy.
///
/// A plain value beside a borrowed policy: `size_of` is all its memory, 1.6 KB for a
/// window of 20. It holds the last `W` records, 1 to 64; `W` must be at least the policy's
/// window. At most `OPEN` calls wait for their outcomes, 1 at least. A record takes O(W) time when it
/// is announced and when it settles; an event may settle all that wait.
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
/// # Ok::<(), unstuck_core::PolicyError<'_>>(())
/// ```
///
/// # Calls that are issued together
///
/// Records settle in the order of their calls, so one outcome may settle several. [`outcome`] and
/// its like return the strongest verdict; [`outcome_each`] and its like give every verdict with a
/// finding, one by one, and those are the same in whatever order outcomes come.
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
    /// A detector that has seen nothing yet.
    ///
    /// # Errors
    ///
    /// [`PolicyErrorKind::WindowBeyondCapacity`] if the policy's window is longer than `W`.
    pub const fn new(policy: &'p Policy<'p>) -> Result<Self, PolicyError<'p>> {
        let window = policy.window();
        if !Self::fits(policy) {
            return Err(
                policy.error(None, PolicyErrorKind::WindowBeyondCapacity { window, capacity: W })
            );
        }
        Ok(Self::fresh(policy))
    }

    /// A detector that has seen nothing yet, whether or not it holds the policy's window.
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

    /// Whether `W` records are enough for the policy's window.
    pub(crate) const fn fits(policy: &Policy<'_>) -> bool {
        usize_from(policy.window()) <= W
    }

    /// The policy whose rules the detector follows.
    pub const fn policy(&self) -> &'p Policy<'p> {
        self.policy
    }

    /// What the detector has seen and said so far.
    pub const fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns the tool of the call with the sequence number `seq`, or `None` if the detector no
    /// longer holds its record.
    ///
    /// A message about a cycle names the tools of [`Finding::lap`](crate::Finding::lap) by it.
    pub fn tool_of(&self, seq: u64) -> Option<Tool> {
        self.history.tool_of(seq)
    }

    /// The agent asks for `call`. Judges it by the rules that need no outcome, and blocks it if
    /// it continues a loop whose ladder has reached [`Action::Block`](crate::Action::Block). O(W).
    ///
    /// Calls that are still open when a later step begins settle as unreported.
    pub fn announce(&mut self, call: Call) -> Announced {
        let mut settled = Verdict::PROCEED;
        let (id, verdict) = self.announce_each(call, |one| settled = settled.or_stronger(one));
        Announced { id, verdict, settled }
    }

    /// As [`Detector::announce`], with every verdict on the calls that it settles given to `each`.
    /// Returns the call's name, and the verdict on it.
    pub fn announce_each(
        &mut self,
        call: Call,
        mut each: impl FnMut(Verdict),
    ) -> (CallId, Verdict) {
        let Some(tag) = self.policy.tag_of(&call) else {
            return (CallId::NONE, Verdict::PROCEED);
        };
        self.begin(&call, &mut each);
        self.talk.end();
        let seq = self.history.next;
        self.history.next = seq.wrapping_add(1);
        let mut record = Record::open(&call, self.history.in_step);
        record.tag = tag;
        record.era = self.history.era;
        record.moved = take(&mut self.history.moved);
        self.history.in_step = self.history.in_step.saturating_add(1);
        let mut verdict = self.foresee(seq, &mut record);
        if let Some(blocked) = self.blocked_ahead(seq, &record) {
            verdict = verdict.or_stronger(blocked);
        }
        self.statistics.check();
        self.statistics.count(&verdict);
        if verdict.action.clears() {
            self.clear();
        } else {
            self.history.hold(record);
        }
        (CallId::new(seq, self.history.era), verdict)
    }

    /// The outcome of a call has come. Judges every record that settles with it: records settle
    /// in the order of their calls, whatever the order in which outcomes come. O(W) a record.
    /// Returns the strongest verdict.
    ///
    /// An outcome that comes late, twice, or for an exempt call changes nothing.
    pub fn outcome(&mut self, call: CallId, outcome: Outcome) -> Verdict {
        let mut strongest = Verdict::PROCEED;
        self.outcome_each(call, outcome, |one| strongest = strongest.or_stronger(one));
        strongest
    }

    /// As [`Detector::outcome`], with every verdict that has a finding given to `each`.
    pub fn outcome_each(&mut self, call: CallId, outcome: Outcome, mut each: impl FnMut(Verdict)) {
        if let Some(record) = self.history.open_record(call) {
            record.report(&outcome);
        }
        self.settle(&mut each);
    }

    /// The call was not run: the host, or this engine, blocked it. It still counts as an
    /// attempt, and stands for any result. Returns the strongest verdict.
    pub fn vetoed(&mut self, call: CallId) -> Verdict {
        let mut strongest = Verdict::PROCEED;
        self.vetoed_each(call, |one| strongest = strongest.or_stronger(one));
        strongest
    }

    /// As [`Detector::vetoed`], with every verdict that has a finding given to `each`.
    pub fn vetoed_each(&mut self, call: CallId, mut each: impl FnMut(Verdict)) {
        if let Some(record) = self.history.open_record(call) {
            record.status = Status::Vetoed;
        }
        self.settle(&mut each);
    }

    /// No more outcomes will come: what is open settles as unreported. Returns the strongest
    /// verdict.
    pub fn finish(&mut self) -> Verdict {
        let mut strongest = Verdict::PROCEED;
        self.finish_each(|one| strongest = strongest.or_stronger(one));
        strongest
    }

    /// As [`Detector::finish`], with every verdict that has a finding given to `each`.
    pub fn finish_each(&mut self, mut each: impl FnMut(Verdict)) {
        self.history.give_up(OPEN, Status::Unreported);
        self.settle(&mut each);
    }

    /// The agent took a turn without calling a tool. O(1).
    pub fn text_turn(&mut self, turn: impl Into<Turn>) -> Verdict {
        let turn = turn.into();
        let number = self.talk.add(&turn);
        let TextRow { any, same, .. } = self.talk;
        self.statistics.check();
        self.judge_text(number, &turn, |texts| match texts {
            Texts::Any => any,
            Texts::Same => same,
            Texts::Prompt => 0,
            Texts::Inside => turn.repeated.laps,
        })
    }

    /// The user, or the host in their name, says something; `message` stands for what. A new
    /// instruction starts everything afresh. A message that is among the latest [`MESSAGES_MAX`] (an
    /// automatic "please continue") is none; where it comes again and again with no call between, a
    /// rule about [prompts](Texts::Prompt) may find that. For an old message that is meant as a new
    /// instruction there is [`Detector::clear`]. O(1).
    pub fn user_message(&mut self, message: Digest) -> Verdict {
        let heard = message.folded();
        let is_again = self.messages.iter().next() == Some(&heard);
        let is_known = self.messages.take(|known| *known == heard).is_some();
        self.messages.push(heard);
        if !is_known {
            self.clear();
        }
        let prompts = if is_again { self.talk.prompts.saturating_add(1) } else { 1 };
        self.talk.prompts = prompts;
        if !is_known {
            return Verdict::PROCEED;
        }
        let turn = Turn::new(message);
        self.judge_text(self.talk.turns, &turn, |texts| match texts {
            Texts::Prompt => prompts,
            Texts::Any | Texts::Same | Texts::Inside => 0,
        })
    }

    /// Whether `message` is among the latest [`MESSAGES_MAX`], so that it is no new instruction. O(1).
    pub fn has_heard(&self, message: Digest) -> bool {
        self.messages.iter().any(|heard| *heard == message.folded())
    }

    /// Forgets all calls, turns, scores and loops: a new run begins. Sequence numbers go on, and
    /// user messages, feedback and statistics stay.
    pub fn clear(&mut self) {
        self.history.clear();
        self.patterns.clear();
        self.best = [Score::NONE; Tag::ALL.len()];
        self.talk.end();
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
        // Set last: what settled may have cleared the history, and the step with it.
        self.history.step = call.step;
    }
}
