//! The detector: events in, verdicts out.

use core::mem::{replace, take};

use heapless::Deque;

use crate::Digest;
use crate::evidence::{self, Evidence};
use crate::ladder::{Action, Basis, Ladder};
use crate::loops::Loops;
use crate::mask::Mask;
use crate::policy::{Flaw, Policy, PolicyError, RULES_MAX, RUNS_MAX};
use crate::record::{Call, CallId, Outcome, Record, Status};
use crate::rule::{Progress, Results, Rule, Texts};
use crate::track::{Hit, Track};
use crate::verdict::{Finding, Kind, RuleIndex, Verdict};
use crate::window::{View, Window};

/// How many calls may be open at once, unless the detector says otherwise. Agents issue a handful
/// of calls together, seldom more than eight; of more, the oldest is given up. 40 bytes each.
pub const OPEN_MAX: usize = 8;

/// How many user messages are remembered, so that one seen before is no new instruction.
pub const MESSAGES_MAX: usize = 8;

/// What an announcement is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the verdict says whether to run the call"]
pub struct Announced {
    /// The call's name, for its outcome.
    pub id: CallId,
    /// The verdict on this call, before it runs.
    pub verdict: Verdict,
    /// The verdict on earlier calls that this announcement settled, since their outcomes had
    /// not come by the time a later step began. It says nothing about this call.
    pub settled: Verdict,
}

/// Watches the calls of one worker by the rules of a policy.
///
/// A plain value beside a borrowed policy: `size_of` is all its memory, about 1.4 KiB for a
/// window of 20. It holds the last `W` records, 1 to 64; `W` must be at least the policy's
/// window. At most `OPEN` calls wait for their outcomes. Every event takes O(W) time.
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
#[derive(Clone, Debug)]
pub struct Detector<'p, const W: usize, const OPEN: usize = OPEN_MAX> {
    policy: &'p Policy<'p>,
    window: Window<W>,
    open: Deque<Record, OPEN>,
    tracks: [Track; RULES_MAX],
    runs: [u16; RUNS_MAX],
    loops: Loops,
    /// The findings since the history was cleared, and the highest rung that their count gave.
    findings: u16,
    rung: u8,
    /// The sequence number of the next record.
    next: u64,
    /// The step of the latest record, and how many records of it came before the next one.
    step: Option<u64>,
    in_step: u8,
    text: TextRow,
    /// The latest user messages, the newest first, in 32 bits each; and how many there were.
    messages: [u32; MESSAGES_MAX],
    heard: u8,
}

/// The row of text-only turns that is going on.
#[derive(Clone, Copy, Debug)]
struct TextRow {
    turns: u64,
    latest: Digest,
    row: u16,
}

impl<'p, const W: usize, const OPEN: usize> Detector<'p, W, OPEN> {
    /// A detector that has seen nothing yet.
    ///
    /// # Errors
    ///
    /// [`Flaw::WindowBeyondCapacity`] if the policy's window is longer than `W`.
    pub const fn new(policy: &'p Policy<'p>) -> Result<Self, PolicyError<'p>> {
        let window = policy.window();
        if !fits(window, W) {
            return Err(policy.error(None, Flaw::WindowBeyondCapacity { window, capacity: W }));
        }
        Ok(Self {
            policy,
            window: Window::new(),
            open: Deque::new(),
            tracks: [Track::NEW; RULES_MAX],
            runs: [0; RUNS_MAX],
            loops: Loops::new(),
            findings: 0,
            rung: 0,
            next: 0,
            step: None,
            in_step: 0,
            text: TextRow { turns: 0, latest: Digest::new(0), row: 0 },
            messages: [0; MESSAGES_MAX],
            heard: 0,
        })
    }

    /// The policy whose rules the detector follows.
    pub const fn policy(&self) -> &'p Policy<'p> {
        self.policy
    }

    /// The agent asks for `call`. Judges it by the rules that need no outcome, and blocks it if
    /// it continues a loop whose ladder has reached [`Action::Block`]. O(W).
    ///
    /// Calls that are still open when a later step begins settle as unreported.
    pub fn announce(&mut self, call: Call) -> Announced {
        if self.policy.exempt().contains(call.tag) {
            let (verdict, settled) = (Verdict::PROCEED, Verdict::PROCEED);
            return Announced { id: CallId(None), verdict, settled };
        }
        let settled = self.begin(&call);
        self.text.row = 0;
        let seq = self.next;
        self.next = seq.wrapping_add(1);
        let mut record = Record::open(&call, false, self.in_step);
        self.in_step = self.in_step.saturating_add(1);
        let view = self.view_ahead(&record);
        record.novel = view.args.is_empty();
        let verdict = self.judge(Moment::Announced, seq, &record, &view);
        let verdict = verdict.or_stronger(self.blocked_ahead(seq, &record));
        if verdict.action.clears() {
            self.clear();
        } else if self.open.push_back(record).is_err() {
            debug_assert!(false, "`begin` makes room");
        }
        Announced { id: CallId(Some(seq)), verdict, settled }
    }

    /// The outcome of a call has come. Judges every record that settles with it: records settle
    /// in the order of their calls, whatever the order in which outcomes come. O(W) a record.
    ///
    /// An outcome that comes late, twice, or for an exempt call changes nothing.
    pub fn outcome(&mut self, call: CallId, outcome: Outcome) -> Verdict {
        if let Some(record) = self.open_record(call) {
            record.report(&outcome);
        }
        self.settle()
    }

    /// The call was not run: the host, or this engine, blocked it. It still counts as an
    /// attempt, and stands for any result.
    pub fn vetoed(&mut self, call: CallId) -> Verdict {
        if let Some(record) = self.open_record(call) {
            record.status = Status::Vetoed;
        }
        self.settle()
    }

    /// No more outcomes will come: what is open settles as unreported.
    pub fn finish(&mut self) -> Verdict {
        self.give_up(OPEN, Status::Unreported);
        self.settle()
    }

    /// The agent took a turn without calling a tool; `text` stands for what it said. O(1).
    pub fn text_turn(&mut self, text: Digest) -> Verdict {
        let turn = self.text.turns;
        let Some(rule) = self.policy.text() else { return Verdict::PROCEED };
        let goes_on = rule.texts == Texts::Any || self.text.latest == text;
        let row = if goes_on { self.text.row.saturating_add(1) } else { 1 };
        self.text = TextRow { turns: turn.wrapping_add(1), latest: text, row };
        if row < rule.times {
            return Verdict::PROCEED;
        }
        let finding = evidence::of_text(rule, turn, row, text);
        let verdict = self.climb(&rule.ladder, Action::Stop, finding, None);
        if verdict.action.clears() {
            self.clear();
        }
        verdict
    }

    /// The user says something; `message` stands for what. A new instruction starts everything
    /// afresh; a message seen before (an automatic "please continue") is none. O(1).
    pub fn user_message(&mut self, message: Digest) {
        let mut message = message.folded();
        if self.messages.iter().take(usize::from(self.heard)).any(|known| *known == message) {
            return;
        }
        self.heard = self.heard.saturating_add(1);
        for known in &mut self.messages {
            message = replace(known, message);
        }
        self.clear();
    }

    /// Forgets all calls, turns and loops. Sequence numbers go on, and user messages stay known.
    pub fn clear(&mut self) {
        self.window.clear();
        self.open.clear();
        self.tracks = [Track::NEW; RULES_MAX];
        self.runs = [0; RUNS_MAX];
        self.loops.clear();
        self.findings = 0;
        self.rung = 0;
        self.step = None;
        self.in_step = 0;
        self.text.row = 0;
    }

    /// Begins the step of `call` if it is a later one, and makes room for one more open call.
    fn begin(&mut self, call: &Call) -> Verdict {
        let later = call.step.is_none() || call.step != self.step;
        if later {
            self.give_up(OPEN, Status::Unreported);
        } else if self.open.is_full() {
            self.give_up(1, Status::Dropped);
        }
        let verdict = self.settle();
        if later {
            self.in_step = 0;
        }
        // Set last: what settled may have cleared the history, and the step with it.
        self.step = call.step;
        verdict
    }

    /// Gives up waiting for the outcomes of the `n` oldest open calls.
    fn give_up(&mut self, n: usize, status: Status) {
        let oldest = self.open.iter_mut().take(n);
        for record in oldest.filter(|record| record.status == Status::Open) {
            record.status = status;
        }
    }

    /// The open record of `call`, if it is one that still waits for its outcome.
    fn open_record(&mut self, call: CallId) -> Option<&mut Record> {
        let waiting = u64::try_from(self.open.len()).ok()?;
        let place = call.seq()?.checked_sub(self.next.wrapping_sub(waiting))?;
        let record = self.open.iter_mut().nth(usize::try_from(place).ok()?)?;
        (record.status == Status::Open).then_some(record)
    }

    /// Settles every record that no open one stands before.
    fn settle(&mut self) -> Verdict {
        let mut verdict = Verdict::PROCEED;
        while let Some(record) = self.open.front().copied() {
            if record.status == Status::Open {
                break;
            }
            let waiting = u64::try_from(self.open.len()).unwrap_or(0);
            let seq = self.next.wrapping_sub(waiting);
            self.open.pop_front();
            let one = self.settle_one(seq, &record);
            let stronger = verdict.or_stronger(one);
            let weaker = if stronger == verdict { one } else { verdict };
            verdict = stronger;
            if weaker.fresh && !verdict.action.clears() && !verdict.shares_loop_with(&weaker) {
                self.take_back(&weaker);
            }
        }
        verdict
    }

    /// A fresh verdict gave way to a stronger one of the same event, about another loop: its rung is
    /// still to be told.
    fn take_back(&mut self, verdict: &Verdict) {
        let Some(Finding { rule: RuleIndex::Call(place), loop_id, .. }) = verdict.finding else {
            return;
        };
        let rule = self.policy.rules().get(usize::from(place));
        // A count of all findings has gone on with the stronger verdict.
        if rule.is_some_and(|rule| rule.ladder.basis != Basis::AllFindings)
            && let Some(known) = self.loops.known(loop_id)
        {
            known.rung = verdict.rung.saturating_sub(1);
        }
    }

    fn settle_one(&mut self, seq: u64, record: &Record) -> Verdict {
        let view = self.window.compare(record, self.policy);
        if view.progressed(Results::Same) {
            self.cut_early_rules();
        }
        let verdict = self.judge(Moment::Settled, seq, record, &view);
        if verdict.action.clears() {
            self.clear();
        } else {
            self.window.push(record);
        }
        verdict
    }

    /// The record before the open ones made progress: tells the rules that were judged before
    /// its answer was known.
    fn cut_early_rules(&mut self) {
        let keep = u32::try_from(self.open.len()).unwrap_or(u32::MAX).saturating_add(1);
        let rules = self.policy.rules();
        let runs = runs_by_rule(&mut self.runs, rules);
        for ((rule, track), runs) in rules.iter().zip(&mut self.tracks).zip(runs) {
            if rule.is_judged_early() && rule.progress == Progress::Respect {
                track.cut(runs, keep);
            }
        }
    }

    /// Shows a record to every rule that is judged at this moment; the first that fires makes
    /// the finding.
    fn judge(&mut self, moment: Moment, seq: u64, record: &Record, view: &View) -> Verdict {
        let policy = self.policy;
        if moment == Moment::Announced && !policy.needs().early {
            return Verdict::PROCEED;
        }
        let mut found = None;
        let rules = (0_u8..).zip(policy.rules());
        let runs = runs_by_rule(&mut self.runs, policy.rules());
        for (((place, rule), track), runs) in rules.zip(&mut self.tracks).zip(runs) {
            if rule.is_judged_early() == (moment == Moment::Announced)
                && let Some(hit) = track.observe(runs, rule, record, view)
                && found.is_none()
            {
                found = Some((place, rule, hit));
            }
        }
        let Some((place, rule, hit)) = found else { return Verdict::PROCEED };
        let finding = self.evidence(moment).finding(place, rule, seq, record, &hit);
        let most = if record.silent { rule.silent_max } else { Action::Stop };
        self.climb(&rule.ladder, most, finding, rule.can_block_ahead().then_some(place))
    }

    /// Counts a finding and climbs its ladder, to no more than `most`; from [`Action::Block`] on,
    /// `blocker` blocks the calls of the loop before they run.
    fn climb(
        &mut self,
        ladder: &Ladder<'_>,
        most: Action,
        finding: Finding,
        blocker: Option<u8>,
    ) -> Verdict {
        self.findings = self.findings.saturating_add(1);
        let window = self.policy.window();
        // For a text the clock is still that of the records: a loop ends when they move on.
        let now = if finding.kind == Kind::Text { self.next } else { finding.last };
        let Some(known) = self.loops.found(finding.loop_id, now, window) else {
            return Verdict::PROCEED;
        };
        let (count, highest) = match ladder.basis {
            Basis::Repetitions => (finding.laps, &mut known.rung),
            Basis::LoopFindings => (known.findings, &mut known.rung),
            Basis::AllFindings => (self.findings, &mut self.rung),
        };
        let (rung, action) = ladder.at(count, most);
        let fresh = rung > *highest;
        *highest = rung.max(*highest);
        known.failed = finding.failed;
        if action >= Action::Block {
            known.blocked_by = blocker;
        }
        Verdict { action, rung, fresh, finding: Some(finding) }
    }

    /// The verdict on an announced call that continues a blocked loop: one with which the rule
    /// would fire again on that loop if it were answered as before. While other calls are open,
    /// nobody knows what they will change, and nothing is blocked.
    fn blocked_ahead(&self, seq: u64, record: &Record) -> Verdict {
        let policy = self.policy;
        if !self.open.is_empty() {
            return Verdict::PROCEED;
        }
        for (known, place) in self.loops.blocked(seq, policy.window()) {
            let attempt = Record { status: Status::Vetoed, failed: known.failed, ..*record };
            let view = self.window.compare(&attempt, policy);
            let Some(hit) = self.try_rule(place, &attempt, &view) else { continue };
            let Some(rule) = policy.rules().get(usize::from(place)) else { continue };
            let evidence = self.evidence(Moment::Settled);
            let finding = evidence.finding(place, rule, seq, &attempt, &hit);
            if finding.loop_id == known.id {
                return Verdict {
                    action: Action::Block,
                    rung: known.rung,
                    fresh: false,
                    finding: Some(finding),
                };
            }
        }
        Verdict::PROCEED
    }

    /// What the rule at `place` would say if `attempt` settled now. Changes nothing.
    fn try_rule(&self, place: u8, attempt: &Record, view: &View) -> Option<Hit> {
        let place = usize::from(place);
        let rule = self.policy.rules().get(place)?;
        let mut track = *self.tracks.get(place)?;
        let mut runs = self.runs;
        let own = runs_by_rule(&mut runs, self.policy.rules()).nth(place)?;
        track.observe(own, rule, attempt, view)
    }

    /// The records before the one that is judged at this moment.
    fn evidence(&self, moment: Moment) -> Evidence<'_, W, OPEN> {
        let (window, open) = (&self.window, &self.open);
        match moment {
            Moment::Settled => Evidence { window, open: None },
            Moment::Announced => Evidence { window, open: Some(open) },
        }
    }

    /// The past as a call sees it that is being announced: open calls first, then the window.
    fn view_ahead(&self, record: &Record) -> View {
        let masks = self.open.iter().fold([Mask::NONE; 4], |masks, open| {
            let equal = [
                open.args == record.args,
                open.similar == record.similar,
                open.tool == record.tool,
                open.novel,
            ];
            let mut equal = equal.into_iter();
            masks.map(|mask| mask.then(equal.next().unwrap_or(false)))
        });
        let open = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        self.window.compare_call(record, self.policy).behind(open, masks)
    }
}

/// Whether `window` records fit into a capacity of `capacity`, which is at most 64.
const fn fits(window: u8, capacity: usize) -> bool {
    let [lowest, ..] = capacity.to_le_bytes();
    window <= lowest
}

/// When a rule is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Announced,
    Settled,
}

/// Each rule's own part of the run counters, in the order of the rules.
fn runs_by_rule<'r>(
    runs: &'r mut [u16],
    rules: &[Rule<'_>],
) -> impl Iterator<Item = &'r mut [u16]> {
    let mut rest = runs;
    rules.iter().map(move |rule| {
        let count = usize::from(rule.pattern.runs()).min(rest.len());
        let (own, others) = take(&mut rest).split_at_mut_checked(count).unwrap_or_default();
        rest = others;
        own
    })
}
