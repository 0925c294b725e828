//! Settlement and judgement of records: from the view of each rule to a verdict.

use crate::detector::Detector;
use crate::evidence::{self, Ending, Evidence, Proof};
use crate::feedback::Feedback;
use crate::history::History;
use crate::ladder::{Action, Basis, Ladder};
use crate::loops::Blocker;
use crate::mask::Mask;
use crate::patience;
use crate::pattern::{self, Hit, Past, RuleStates, Track};
use crate::policy::Policy;
use crate::record::{Record, Status, Tool};
use crate::rule::{Force, Progress, Results, Rule, Texts};
use crate::selection::{RecordRules, RuleSet};
use crate::talk::{Heard, Turn};
use crate::verdict::{Failure, Finding, RuleIndex, Verdict};
use crate::window::View;

impl<'p, const W: usize, const OPEN: usize> Detector<'p, W, OPEN> {
    /// Settles every record that has no open record before it, and passes each verdict with a
    /// finding to `each`.
    pub(crate) fn settle(&mut self, each: &mut dyn FnMut(Verdict)) {
        while let Some((seq, mut record, seen)) = self.history.pop_settled() {
            let verdict = self.settle_one(seq, &mut record, seen);
            let clears = verdict.action.clears();
            if verdict.finding.is_some() {
                self.statistics.count(&verdict);
                each(verdict);
            }
            if clears {
                self.clear();
            }
        }
    }

    /// Judges a record, which the rules in `seen` saw when it was announced, and moves it into the window.
    pub(crate) fn settle_one(&mut self, seq: u64, record: &mut Record, seen: RuleSet) -> Verdict {
        record.moved |= self.improves(record);
        let concerned = self.policy.selection().of(record, self.policy.rules());
        self.count_unbroken(record);
        // The common case by far: no record of the past is like it.
        if record.novel && !record.moved && !self.looks_beyond_args(record, concerned) {
            let seen = seen | self.pass(concerned);
            self.history.window.push(record, seen);
            return Verdict::PROCEED;
        }
        let view = self.history.window.compare(record, self.policy);
        if record.moved || view.progressed(Results::Same) {
            // The record that made progress may be the first of a pattern.
            self.cut_early_rules(Some(seen));
        }
        let sight = Sight { moment: Moment::Settled, seq, record, view: &view };
        let shown = self.show(&sight);
        let verdict = self.judge(&shown, &sight);
        self.history.window.push(record, seen | shown.seen);
        verdict
    }

    fn looks_beyond_args(&self, record: &Record, concerned: RecordRules) -> bool {
        let holds = |column| self.history.window.holds(record, column);
        self.policy.selection().looks_beyond_args(concerned, record, holds)
    }

    /// Counts how many calls in a row were equal and came back with the same bytes. Calls that
    /// were issued together count once, and a poll ends the row.
    fn count_unbroken(&mut self, record: &Record) {
        if record.status == Status::Cancelled {
            return;
        }
        // The common case by far: the window does not hold the same call.
        let ending = (!record.novel).then(|| Ending::of(record, record.status));
        let before = ending.and_then(|now| self.continued_by(&now));
        self.history.unbroken = match before {
            None => 1,
            Some(age) if age < u32::from(record.in_step) => self.history.unbroken,
            Some(_) => self.history.unbroken.saturating_add(1),
        };
    }

    /// Returns the age of the record whose row of equal answers goes on with a call that ends `now`.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn continued_by(&self, now: &Ending) -> Option<u32> {
        self.history.window.continued_by(now, self.policy.reach())
    }

    /// Returns the length of the row of equal answers that an announced call would continue if it
    /// were answered as before. Returns 0 while other calls are open.
    fn unbroken_before(&self, call: &Record) -> u16 {
        let attempt = Ending::of(call, Status::Vetoed);
        let is_alone = self.history.open.oldest().is_none();
        let goes_on = is_alone && !call.novel && self.continued_by(&attempt).is_some();
        if goes_on { self.history.unbroken } else { 0 }
    }

    /// Shows a record that matches no other to every rule that is judged at settlement. Returns the rules that saw it.
    fn pass(&mut self, concerned: RecordRules) -> RuleSet {
        let judged = self.policy.selection().settled();
        self.patterns.rules.pass(self.policy.rules(), judged, concerned);
        self.history.forget(concerned.broken & judged);
        concerned.selected & !concerned.broken & judged
    }

    /// Returns whether the score of `record` is better than the best so far of its tag, and stores
    /// it as the best.
    fn improves(&mut self, record: &Record) -> bool {
        if !record.score.is_known() {
            return false;
        }
        let Some(best) = self.best.get_mut(usize::from(record.tag.code())) else { return false };
        let before = *best;
        *best = before.min(record.score);
        before.is_known() && record.score < before
    }

    /// Makes the rules that are judged before an answer forget all settled records, because there was progress. They keep
    /// the open records, and before them the `settling` one, which is given with the rules that saw it.
    pub(crate) fn cut_early_rules(&mut self, settling: Option<RuleSet>) {
        let (rules, early) = (self.policy.rules(), self.policy.selection().early());
        let history = &mut self.history;
        self.patterns.rules.for_each(rules, early, &mut |place, rule, track, runs| {
            if rule.progress == Progress::Respect {
                let one = pattern::one(place);
                let first = Mask::NONE.then(settling.is_some_and(|seen| seen & one != 0));
                track.cut(runs, history.open_seen_by(one, first).count());
                history.window.forget(one);
            }
        });
    }

    /// Shows a record to every rule that is judged at this moment.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn show(&mut self, sight: &Sight<'_>) -> Shown<'p> {
        let selection = self.policy.selection();
        let is_early = sight.moment == Moment::Announced;
        let judged = if is_early { selection.early() } else { selection.settled() };
        let Self { policy, history, feedback, patterns, .. } = self;
        let context = Context { policy, history, feedback };
        let shown = context.show(judged, &mut patterns.rules, sight);
        self.history.forget(shown.broken);
        shown
    }

    /// Returns the verdict on a record that was shown to the rules. The first rule that fired makes the finding. This is a
    /// separate function because a finding is large, and is not on the stack while rules look at the record.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn judge(&mut self, shown: &Shown<'p>, sight: &Sight<'_>) -> Verdict {
        let &Some(Found { place, rule, ref hit }) = &shown.found else { return Verdict::PROCEED };
        let &Sight { moment, seq, record, .. } = sight;
        let finding = self.evidence(moment).finding(place, rule, seq, record, hit);
        let climb = Climb {
            most: if record.is_silent() { rule.silent_max } else { Action::Stop },
            now: seq,
            count: hit.count_for(rule),
            proof: self.proof(moment, rule, record, hit),
            blocker: rule.can_block_ahead().then_some(place),
            is_attempt: record.status == Status::Vetoed,
        };
        self.climb(&rule.ladder, finding, &climb)
    }

    /// Returns the proof that making the calls of `hit` again does not help.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn proof(&self, moment: Moment, rule: &Rule<'_>, record: &Record, hit: &Hit) -> Proof {
        if rule.force == Force::Always {
            return Proof::GIVEN;
        }
        // Before the outcome, only the row that the call continues proves anything.
        let (proven, unbroken) = match moment {
            // Whoever asks for a call again is there to decide.
            _ if self.history.heard == Heard::Repeated => (0, 0),
            // Ahead, a known loop is named, and nothing is proven anew.
            Moment::Announced | Moment::Ahead => (0, self.unbroken_before(record)),
            Moment::Settled => (
                self.history.window.proven(record, hit, self.policy.reach()),
                self.history.unbroken,
            ),
        };
        Proof::new(rule, hit, proven, unbroken)
    }

    /// Counts a finding and climbs its ladder.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn climb(
        &mut self,
        ladder: &Ladder<'_>,
        mut finding: Finding,
        climb: &Climb,
    ) -> Verdict {
        if self.is_silenced(&finding) {
            return Verdict::PROCEED;
        }
        self.patterns.findings = self.patterns.findings.saturating_add(1);
        let window = self.policy.window();
        let Some(known) = self.patterns.loops.count_finding(finding.loop_id, climb.now, window)
        else {
            return Verdict::PROCEED;
        };
        // A blocked call has no outcome, so the finding takes the outcome of the calls before it.
        if let (true, Some((_, failed))) = (climb.is_attempt, known.blocker.rule()) {
            finding = finding.with_failure(failed.then_some(Failure::Lasting));
        }
        let (count, highest) = match ladder.basis {
            Basis::Repetitions => (climb.count, &mut known.rung),
            Basis::LoopFindings => (known.findings, &mut known.rung),
            Basis::AllFindings => (self.patterns.findings, &mut self.patterns.rung),
        };
        let (rung, action) = ladder.at(count, climb.most);
        let held = ladder.held(action, count.min(climb.proof.count), climb.most);
        let is_held = action >= Action::Block && held < Action::Block;
        let rung = if is_held { rung.saturating_add(ladder.reminders(count)) } else { rung };
        let action = held;
        let last = ladder.last(climb.most);
        finding.most = if climb.proof.is_latest { last } else { last.min(Action::Warn) };
        // After reminders, the rung of the first block is not above them.
        let begins_to_block = action >= Action::Block && known.blocker == Blocker::NONE;
        let fresh = rung > *highest || begins_to_block && climb.blocker.is_some();
        *highest = rung.max(*highest);
        let blocker = match (known.blocker.rule(), climb.blocker) {
            (_, Some(place)) if action >= Action::Block => {
                Blocker::new(place, finding.has_failed())
            }
            // The blocking rule has lost its proof, or did not look for it.
            (Some((blocking, _)), found)
                if asks_for_proof(self.policy, blocking)
                    && (found != Some(blocking) || !ladder.forces_at(climb.proof.count)) =>
            {
                Blocker::NONE
            }
            (Some((place, _)), _) => Blocker::new(place, finding.has_failed()),
            (None, _) => Blocker::NONE,
        };
        known.blocker = blocker;
        Verdict { action, rung, fresh, finding: Some(finding) }
    }

    /// Judges a turn, or a message of the user, by the rules about text. `counted` returns the
    /// count that a rule compares.
    pub(crate) fn judge_text(
        &mut self,
        number: u64,
        turn: &Turn,
        counted: impl Fn(Texts) -> u16,
    ) -> Verdict {
        let patience = if turn.silent { patience::SILENT } else { 0 };
        // A rule that was wrong before asks for more.
        let raised = |place| {
            let raised = u16::from(self.feedback.raised_by(RuleIndex::Text(place), Tool::new(0)));
            raised.saturating_add(patience)
        };
        let mut rules = (0_u8..).zip(self.policy.texts());
        let found = rules
            .find(|&(place, rule)| counted(rule.texts).saturating_sub(raised(place)) >= rule.times);
        let Some((place, rule)) = found else { return Verdict::PROCEED };
        let asked = rule.times.saturating_add(raised(place));
        let laps = counted(rule.texts);
        let finding = evidence::of_text(place, rule, number, turn, [laps, asked]);
        let climb = Climb {
            most: Action::Stop,
            // The clock counts records: a loop ends after a window of them.
            now: self.history.next,
            count: finding.laps.saturating_sub(raised(place)),
            proof: Proof::GIVEN,
            blocker: None,
            is_attempt: false,
        };
        let verdict = self.climb(&rule.ladder, finding, &climb);
        self.statistics.count(&verdict);
        if verdict.action.clears() {
            self.clear();
        }
        verdict
    }

    fn is_silenced(&self, finding: &Finding) -> bool {
        let id = finding.loop_id;
        self.policy.silenced().contains(&id) || self.feedback.is_silenced(id, finding.kind)
    }

    /// Returns the verdict that blocks an announced call if it continues a blocked loop: the rule would fire again
    /// on that loop if the call were answered as before. A rule that asks for proof blocks only
    /// the call after the one that gave the proof. While other calls are open, their effect is
    /// unknown, and no call is blocked.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn blocked_ahead(&self, seq: u64, record: &Record) -> Verdict {
        let Self { policy, history, feedback, .. } = self;
        if self.history.open.oldest().is_some() {
            return Verdict::PROCEED;
        }
        for (known, place, failed) in self.patterns.loops.blocked(seq, policy.window()) {
            let Some(rule) = policy.rules().get(usize::from(place)) else { continue };
            // The proof holds only while the latest record belongs to the loop. Duplicates of that
            // record, issued in the same step, do not end it.
            let holds =
                || known.since(seq).is_some_and(|since| self.history.window.only_duplicates(since));
            if rule.force == Force::Proven && !holds() {
                continue;
            }
            let attempt = Record { status: Status::Vetoed, failed, ..*record };
            let view = self.history.window.compare(&attempt, policy);
            let sight = Sight { moment: Moment::Ahead, seq, record: &attempt, view: &view };
            // Nothing is counted yet.
            let mut rules = self.patterns.rules;
            let shown =
                Context { policy, history, feedback }.show(pattern::one(place), &mut rules, &sight);
            let Some(Found { hit, .. }) = &shown.found else { continue };
            let evidence = self.evidence(Moment::Ahead);
            let mut finding = evidence.finding(place, rule, seq, &attempt, hit);
            finding.most = rule.ladder.last(Action::Stop);
            if finding.loop_id == known.id {
                let (action, finding) = (Action::Block, Some(finding));
                return Verdict { action, rung: known.rung, fresh: false, finding };
            }
        }
        Verdict::PROCEED
    }

    /// Returns the records before the one that is judged at this moment.
    fn evidence(&self, moment: Moment) -> Evidence<'_, W> {
        let open = match moment {
            Moment::Settled | Moment::Ahead => &[],
            Moment::Announced => self.history.open.as_slice(),
        };
        Evidence { window: &self.history.window, open }
    }

    /// Determines whether an announced call is novel, and judges it by the rules that need no
    /// outcome. Returns the verdict and the rules that saw the call.
    pub(crate) fn foresee(&mut self, seq: u64, record: &mut Record) -> (Verdict, RuleSet) {
        if !self.policy.selection().judges_early() {
            record.novel = self.same_calls_ahead(record).is_empty();
            return (Verdict::PROCEED, 0);
        }
        self.foresee_early(seq, record)
    }

    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn foresee_early(&mut self, seq: u64, record: &mut Record) -> (Verdict, RuleSet) {
        let view = self.view_ahead(record);
        record.novel = view.args.is_empty();
        let sight = Sight { moment: Moment::Announced, seq, record, view: &view };
        let shown = self.show(&sight);
        (self.judge(&shown, &sight), shown.seen)
    }

    /// Returns the same calls as seen by a call that is being announced: the `args` of
    /// [`Detector::view_ahead`].
    fn same_calls_ahead(&self, record: &Record) -> Mask {
        let settled = self.history.window.same_calls(record);
        let open = self.history.open.as_slice().iter();
        let all = open.fold(settled, |mask, open| mask.then(open.is_same_call(record)));
        all & self.policy.reach()
    }

    /// Returns the past as seen by a call that is being announced: open calls first, then the
    /// window.
    pub(crate) fn view_ahead(&self, record: &Record) -> View {
        self.view_ahead_of(0, record)
    }

    /// Returns the past as seen by the open call of `record`, without the `later` latest open calls.
    /// These include the call itself.
    pub(crate) fn view_ahead_of(&self, later: u32, record: &Record) -> View {
        let mut view = self.history.window.compare_call(record, self.policy);
        let earlier = u32::from(self.history.open.len()).saturating_sub(later);
        for (_, open) in (0..earlier).zip(self.history.open.as_slice()) {
            view.add(open, record);
        }
        view.forget_beyond_reach();
        view
    }
}

/// The parts of a detector that a rule takes into account besides its own memory.
struct Context<'d, 'p, const W: usize, const OPEN: usize> {
    policy: &'p Policy<'p>,
    history: &'d History<W, OPEN>,
    feedback: &'d Feedback,
}

impl<'p, const W: usize, const OPEN: usize> Context<'_, 'p, W, OPEN> {
    /// Shows a record to the rules in `judged`, whose memory is in `rules`. O(rules), and for each rule that sees a record
    /// like it O(1), O(longest period) for a cycle, or O(W²) for a rule that looks for progress anywhere.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn show(&self, judged: RuleSet, rules: &mut RuleStates, sight: &Sight<'_>) -> Shown<'p> {
        let mut shown = Shown { found: None, seen: 0, broken: 0 };
        rules.for_each(self.policy.rules(), judged, &mut |place, rule, track, runs| {
            let one = pattern::one(place);
            if let Some(past) = self.observe(one, rule, track, runs, sight) {
                let hit = self.evaluate(rule, track, runs, &past, sight);
                if let (None, Some(hit)) = (&shown.found, hit) {
                    shown.found = Some(Found { place, rule, hit });
                }
            }
            shown.seen |= if track.sees() { one } else { 0 };
            shown.broken |= if track.is_broken() { one } else { 0 };
        });
        shown
    }

    /// Takes a record into the memory of the rule in `one`, and returns what it has in common with the records that the
    /// rule saw, if anything. A record without a match returns at once.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    #[cfg_attr(target_pointer_width = "64", inline)]
    fn observe<'s>(
        &self,
        one: RuleSet,
        rule: &Rule<'_>,
        track: &mut Track,
        runs: &mut [u16],
        sight: &Sight<'s>,
    ) -> Option<Past<'s>> {
        let saw = || self.history.seen_by(one, sight.moment == Moment::Announced);
        track.see(runs, rule, sight.record, sight.view, saw)
    }

    /// Returns a hit if the pattern of a rule holds at a record with the `past` that the rule saw. O(1), O(longest period)
    /// for a cycle, or O(W²) for a rule that looks for progress anywhere.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn evaluate(
        &self,
        rule: &Rule<'_>,
        track: &mut Track,
        runs: &mut [u16],
        past: &Past<'_>,
        sight: &Sight<'_>,
    ) -> Option<Hit> {
        let asked = rule.pattern.asked(self.patience(rule, sight));
        let window = &self.history.window;
        let hit = track.evaluate(runs, asked, rule, past, window);
        let early = sight.moment == Moment::Announced;
        let open = if early { self.history.open.len() } else { 0 };
        hit.filter(|_| !window.undoes(rule, sight.record, sight.view, open))
    }

    /// Returns the number of additional repetitions that `rule` asks for.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn patience(&self, rule: &Rule<'_>, sight: &Sight<'_>) -> i16 {
        let &Sight { moment, seq, record, view } = sight;
        let raised = self.feedback.raised_for(rule, self.policy.rules(), record.tool);
        let before = seq.wrapping_sub(self.history.begun);
        let asked = self.policy.patience(record.tool, before).saturating_add(raised.into());
        let asked = asked.saturating_add(self.history.heard.patience(rule));
        // What a call that did not run would have told is unknown.
        let told = match moment {
            Moment::Ahead => 0,
            Moment::Announced | Moment::Settled => {
                patience::of(rule, record, view, &self.history.window)
            }
        };
        asked.saturating_add(told)
    }
}

/// Returns whether the rule at `place` goes beyond a warning only on proof.
fn asks_for_proof(policy: &Policy<'_>, place: u8) -> bool {
    policy.rules().get(usize::from(place)).is_some_and(|rule| rule.force == Force::Proven)
}

/// The facts, besides the ladder, that decide how far a finding climbs.
pub(crate) struct Climb {
    /// The strongest action allowed.
    pub(crate) most: Action,
    /// The sequence number of the judged record.
    pub(crate) now: u64,
    /// The repetitions as the ladder counts them.
    pub(crate) count: u16,
    pub(crate) proof: Proof,
    /// The rule that blocks the calls of the loop before they run, from [`Action::Block`] on.
    pub(crate) blocker: Option<u8>,
    /// True if the record is of a call that did not run.
    pub(crate) is_attempt: bool,
}

/// The moment at which a rule is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Announced,
    /// As if the announced call had been blocked.
    Ahead,
    Settled,
}

/// The effect of a record on the rules that it was shown to.
pub(crate) struct Shown<'p> {
    /// The first pattern found.
    found: Option<Found<'p>>,
    /// The rules that saw the record and may still use it.
    pub(crate) seen: RuleSet,
    /// The rules that may use no earlier record.
    broken: RuleSet,
}

/// The pattern that a rule found, and the place of the rule.
struct Found<'p> {
    place: u8,
    rule: &'p Rule<'p>,
    hit: Hit,
}

/// A record that is judged, and the past as seen by it.
pub(crate) struct Sight<'d> {
    pub(crate) moment: Moment,
    /// The number of the record.
    pub(crate) seq: u64,
    pub(crate) record: &'d Record,
    pub(crate) view: &'d View,
}
