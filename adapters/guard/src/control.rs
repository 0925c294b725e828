//! Control of a guard: questions that change nothing, and facts that no call shows.

use unstuck_core::{Action, LoopId, Nearness, Statistics};

use crate::asked::Asked;
use crate::calls::CallEntry;
use crate::decision::{Decision, Evidence, Ticket};
use crate::guard::{Blocks, Guard};
use crate::stopped_calls;

impl Guard {
    /// Returns the engine's counts of calls, findings and actions. One loop has many findings, and a
    /// blocked call has two; see [`Guard::loops`] and [`Guard::blocked_calls`].
    pub fn statistics(&self) -> &Statistics {
        self.state.worker.detector.statistics()
    }

    /// Returns the number of loops that were found, each counted once in a run.
    ///
    /// ```
    /// use unstuck::Guard;
    ///
    /// let mut guard = Guard::new();
    /// for _ in 0..6 {
    ///     let before = guard.before("bash", r#"{"command":"make"}"#);
    ///     if !before.is_blocked() {
    ///         let _ = guard.after(before.ticket(), "no rule to make target", true);
    ///     }
    /// }
    /// assert_eq!((guard.loops(), guard.blocked_calls()), (1, 1));
    /// ```
    pub const fn loops(&self) -> u32 {
        self.state.tally.loops
    }

    /// Returns the number of calls that were blocked, each counted once.
    pub const fn blocked_calls(&self) -> u32 {
        self.state.tally.blocked
    }

    /// Returns the rule that is nearest to a finding: an early warning. `Guard::policy().rule_name(rule)`
    /// is its name. See [`Detector::nearest`](unstuck_core::Detector::nearest).
    pub fn nearest(&self) -> Option<Nearness> {
        self.state.worker.detector.nearest()
    }

    /// Returns the decision on a call as if it were announced now. It does not change the guard, asks
    /// neither the host nor a swarm, and has no ticket.
    ///
    /// ```
    /// use unstuck::{Asked, Guard};
    ///
    /// let mut guard = Guard::new();
    /// for _ in 0..5 {
    ///     let ticket = guard.before("bash", "make").ticket();
    ///     let _ = guard.after(ticket, "no rule to make target", true);
    /// }
    /// assert!(guard.peek(&Asked::new("bash", "make")).is_blocked());
    /// assert!(!guard.peek(&Asked::new("bash", "ls")).is_blocked());
    /// ```
    pub fn peek(&self, asked: &Asked<'_>) -> Decision {
        if !self.watches(asked) {
            return Decision::PROCEED;
        }
        let state = &*self.state;
        let (mut known, mut digester) = (state.known_calls.clone(), state.worker.digester.clone());
        let call =
            self.declared.call(self.policy(), &mut known, &mut digester, (asked, asked.digest()));
        if state.stopped.refuses(call.digest()) {
            return stopped_calls::again();
        }
        let upcoming = || state.steps.upcoming(self.setup.outcomes, &state.calls);
        let step = asked.step.unwrap_or_else(upcoming);
        let verdict = state.worker.detector.peek(call.step(step));
        let evidence = self.evidence(verdict);
        evidence.map_or(Decision::PROCEED, |evidence| self.decision(None, evidence))
    }

    /// Returns the calls of this run that only repeat, the oldest first: a host that edits the model's context may
    /// remove each with its result. Repetition in a context feeds repetition.
    ///
    /// Such a call stands between two equal calls, with the same result all three times. The first and the latest of an
    /// unbroken series stay, so the model still reads every result that it ever got, and that it came again. A call that
    /// may change something and worked always stays. So do refused calls, and calls that have not ended.
    ///
    /// Calls and results are compared as the guard compares them, among the latest 64 calls. A restored guard knows only
    /// the repetitions since then. O(64²).
    ///
    /// ```
    /// use unstuck::Guard;
    ///
    /// let mut guard = Guard::new();
    /// let tickets = [(); 4].map(|()| {
    ///     let ticket = guard.before("read_file", r#"{"path":"src/mian.rs"}"#).ticket();
    ///     let _ = guard.after(ticket, "no such file", true);
    ///     ticket.expect("a call has a ticket")
    /// });
    /// assert!(guard.repeated().eq([tickets[1], tickets[2]]));
    /// ```
    pub fn repeated(&self) -> impl Iterator<Item = Ticket> {
        self.state.calls.repeated().map(CallEntry::ticket)
    }

    /// Returns whether the latest call with this id is among the [repeated](Self::repeated) ones. A provider may give an id
    /// to several calls; a host that shows more than one of them must leave them alone. O(64).
    ///
    /// ```
    /// use unstuck::{Asked, Guard};
    ///
    /// let mut guard = Guard::new();
    /// for id in ["a", "b", "c"] {
    ///     let ticket = guard.announce(&Asked::new("bash", "make").id(id)).ticket();
    ///     let _ = guard.after(ticket, "no rule to make target", true);
    /// }
    /// assert_eq!(["a", "b", "c"].map(|id| guard.is_repeated(id)), [false, true, false]);
    /// ```
    pub fn is_repeated(&self, id: &str) -> bool {
        let calls = &self.state.calls;
        calls.by_id(id).is_some_and(|entry| calls.is_repeated(entry))
    }

    /// Reports progress that no result shows, such as a robot that moved. Report it before the outcome of
    /// the call that caused it. See [`Detector::progress`](unstuck_core::Detector::progress).
    pub fn progress(&mut self) {
        self.state.worker.detector.progress();
    }

    /// Takes the latest `calls` calls back, because the provider failed and sends them again. Returns how
    /// many were taken back. See [`Detector::retry`](unstuck_core::Detector::retry).
    ///
    /// ```
    /// use unstuck::{Asked, Guard};
    ///
    /// let mut guard = Guard::new();
    /// let _ = guard.announce(&Asked::new("bash", "make").id("1"));
    /// assert_eq!(guard.retry(1), 1);
    /// assert_eq!(guard.ticket("1"), None);
    /// ```
    pub fn retry(&mut self, calls: usize) -> usize {
        let taken = self.state.worker.detector.retry(calls);
        self.state.calls.take_back(taken);
        taken
    }

    /// Reports, after the decision, that its evidence was wrong: the loop is not found again, its calls are
    /// not refused any more, and the rule asks for one repetition more of that tool. It has the effect of
    /// [`Ruling::FalsePositive`](crate::Ruling::FalsePositive), for a host that asks a person.
    ///
    /// ```
    /// use unstuck::{Action, Guard};
    ///
    /// let mut guard = Guard::new();
    /// let fail = |guard: &mut Guard| {
    ///     let ticket = guard.before("bash", "make").ticket();
    ///     guard.after(ticket, "no rule to make target", true)
    /// };
    /// let third = [(); 3].map(|()| fail(&mut guard))[2].clone();
    /// let evidence = third.evidence().expect("three equal failures");
    /// guard.false_positive(evidence);
    /// assert_eq!([(); 6].map(|()| fail(&mut guard).action()), [Action::Proceed; 6]);
    /// ```
    pub fn false_positive(&mut self, evidence: &Evidence) {
        let (state, id) = (&mut *self.state, evidence.finding.loop_id);
        if evidence.is_of_swarm() {
            state.swarm.silence(id);
        } else {
            state.worker.detector.false_positive(&evidence.finding);
        }
        self.allow(id);
    }

    /// Silences the loop `id`: it is not found again, and its calls are not refused any more. The rules
    /// stay as they are. See [`Detector::silence`](unstuck_core::Detector::silence).
    pub fn silence(&mut self, id: LoopId) {
        self.state.worker.detector.silence(id);
        self.state.swarm.silence(id);
        self.allow(id);
    }

    /// Ends the run because of the loop of `evidence`, as [`Action::Stop`] does, for a host that asked somebody about a
    /// decision that [escalates](Decision::escalates).
    ///
    /// ```
    /// use unstuck::Guard;
    ///
    /// let mut guard = Guard::builder().escalate(1).build()?;
    /// for _ in 0..5 {
    ///     let ticket = guard.before("bash", "make").ticket();
    ///     let after = guard.after(ticket, "no rule to make target", true);
    ///     if let (true, Some(evidence)) = (after.escalates(), after.evidence()) {
    ///         assert!(guard.stop(evidence).ends_the_run());
    ///     }
    /// }
    /// assert!(guard.before("bash", "make").is_blocked());
    /// # Ok::<(), unstuck::BuildError>(())
    /// ```
    pub fn stop(&mut self, evidence: &Evidence) -> Decision {
        let mut evidence = evidence.clone();
        (evidence.action, evidence.fresh) = (Action::Stop, true);
        self.carried_out(None, evidence)
    }

    /// Lets the calls of a loop run again.
    fn allow(&mut self, id: LoopId) {
        let state = &mut *self.state;
        state.stopped.forget(id);
        if state.blocks.of == Some(id) {
            state.blocks = Blocks::default();
            state.calls.unblock();
        }
    }
}
