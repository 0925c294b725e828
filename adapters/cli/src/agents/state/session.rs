//! The public part of a state: the worker, its counts and its findings.

use serde::{Deserialize, Serialize};
use unstuck::{Action, Decision, Evidence, LoopId};
use unstuck_report::effect::is_left;

use crate::agents::Agent;
use crate::agents::host::Ends;
use crate::output::what_was_found;

/// The worker that a state belongs to. Subagents share the session of the agent that started them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    pub(crate) agent: Agent,
    pub(crate) session: &'a str,
    pub(crate) worker: &'a str,
}

/// The number of findings that are kept of each worker.
pub(crate) const FINDINGS_MAX: usize = 16;

/// The first part of a state, which `unstuck status` shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "agents call it so, too")]
pub(crate) struct Session {
    pub(crate) agent: Agent,
    /// The agent's id of the session.
    pub(crate) session: String,
    /// The agent's id of the subagent, or `main`.
    pub(crate) worker: String,
    /// The folder that the agent works in, if a payload names it.
    pub(crate) cwd: Option<String>,
    /// The number of events of this worker. An event that is delivered twice counts twice.
    pub(crate) events: u64,
    /// The number of calls, each counted once.
    pub(crate) calls: u64,
    /// The number of calls that ran and failed, as far as the agent tells.
    pub(crate) errors: u64,
    /// The number of calls that came back after a stop and were refused, without a new finding.
    pub(crate) refused_again: u64,
    /// The time of the first event, in milliseconds since 1970.
    pub(crate) begun: u64,
    /// The time of the latest event, in milliseconds since 1970.
    pub(crate) last_seen: u64,
    /// The number of calls that were refused.
    pub(crate) refused: u64,
    /// The loops that were found, the latest ones.
    pub(crate) loops: Vec<LoopRecord>,
    /// The loops of which a person was told.
    pub(crate) told: Told,
    /// The latest findings, in their order.
    pub(crate) findings: Vec<FindingRecord>,
    /// The agent's name of the model, if a payload tells it: the latest one.
    pub(crate) model: Option<String>,
    /// The number of findings of the event that is being answered.
    #[serde(skip)]
    new: usize,
}

/// The number of loops that are kept of each worker.
const LOOPS_MAX: usize = 64;

/// A loop, as it was found last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoopRecord {
    #[serde(with = "loop_id")]
    pub(crate) loop_id: LoopId,
    /// The number of calls of the worker until then, also if the agent was not told again.
    pub(crate) call: u64,
    /// The agent was told, and could go on. After a stop nobody knows whether it would have, and after a question to the
    /// person the loop is not looked for any more.
    is_told: bool,
}

/// A finding, without arguments and results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FindingRecord {
    pub(crate) rule: String,
    pub(crate) kind: String,
    /// The action that the policy asks for.
    pub(crate) action: String,
    /// What the agent was told because of it.
    pub(crate) said: Said,
    /// The hook only observes, so that the agent was not told.
    pub(crate) observed: bool,
    pub(crate) tool: String,
    /// A description for people of what recurs.
    pub(crate) what: String,
    /// The number of calls in a lap.
    pub(crate) period: u64,
    pub(crate) laps: u64,
    /// JSON holds it as people see it, because not every reader of JSON keeps numbers of 64 bits.
    #[serde(rename = "loop", alias = "loop_id", with = "loop_id")]
    pub(crate) loop_id: LoopId,
    /// The number of calls of the worker until then.
    pub(crate) call: u64,
    /// The time of the finding, in milliseconds since 1970.
    pub(crate) at: u64,
}

impl FindingRecord {
    /// Returns the record of `decision`, unless it says nothing new: a loop that was found before goes on, and no call
    /// is refused for it.
    pub(crate) fn news(decision: &Decision, said: Said, call: u64, now: u64) -> Option<Self> {
        let evidence = decision.evidence()?;
        let is_new = evidence.fresh || decision.judged() >= Action::Block;
        is_new.then(|| Self::of(evidence, decision, said, call, now))
    }

    /// Returns the record of `evidence` for `decision`. `call` is the number of calls so far.
    pub(crate) fn of(
        evidence: &Evidence,
        decision: &Decision,
        said: Said,
        call: u64,
        now: u64,
    ) -> Self {
        Self {
            rule: evidence.rule.to_owned(),
            kind: evidence.finding.kind.name().to_owned(),
            action: decision.judged().name().to_owned(),
            said,
            observed: decision.action() < decision.judged(),
            tool: evidence.tool.to_string(),
            what: what_was_found(evidence),
            period: u64::from(evidence.finding.period),
            laps: u64::from(evidence.finding.laps),
            loop_id: evidence.finding.loop_id,
            call,
            at: now,
        }
    }

    /// A finding that nobody made, to try how it is shown.
    pub(crate) fn example(now: u64) -> Self {
        Self {
            rule: "streak".to_owned(),
            kind: "streak".to_owned(),
            action: "block".to_owned(),
            said: Said::Refusal,
            observed: false,
            tool: "example".to_owned(),
            what: "`example` 6 times in a row, failing alike".to_owned(),
            period: 1,
            laps: 6,
            loop_id: LoopId::from_bits(0),
            call: 6,
            at: now,
        }
    }

    /// Returns whether this finding would have refused the call that `later` is about, so that there would
    /// not have been a second one about it.
    pub(crate) fn is_refusal_of(&self, later: &Self) -> bool {
        let is_same = self.loop_id == later.loop_id && self.call == later.call;
        self.observed && later.observed && is_same && self.said >= Said::Refusal
    }
}

/// What an agent is told because of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Said {
    /// A note with a result.
    Nudge,
    /// A sharper note.
    Warning,
    /// A question to the person whether a call may run.
    Question,
    /// The refusal of a call.
    Refusal,
    /// The end of the turn.
    Stop,
}

impl Said {
    pub(crate) const ALL: [Self; 5] =
        [Self::Nudge, Self::Warning, Self::Question, Self::Refusal, Self::Stop];

    /// The answer to a call that has not run, if an answer can end these turns.
    pub(crate) fn before(action: Action, ends: Ends) -> Self {
        match action {
            Action::Block => Self::Refusal,
            Action::Stop | Action::StartOver if ends == Ends::Nothing => Self::Refusal,
            _ => Self::after(action, ends),
        }
    }

    /// The answer to anything that has happened. It is too late to refuse that.
    pub(crate) fn after(action: Action, ends: Ends) -> Self {
        match action {
            Action::Proceed | Action::Nudge => Self::Nudge,
            Action::Stop | Action::StartOver if ends != Ends::Nothing => Self::Stop,
            _ => Self::Warning,
        }
    }

    /// Returns the past participle, for example "nudged".
    pub(crate) fn done(self) -> &'static str {
        match self {
            Self::Nudge => "nudged",
            Self::Warning => "warned",
            Self::Question => "asked the person",
            Self::Refusal => "refused",
            Self::Stop => "stopped",
        }
    }

    /// Returns the noun.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nudge => "nudge",
            Self::Warning => "warning",
            Self::Question => "question",
            Self::Refusal => "refusal",
            Self::Stop => "stop",
        }
    }
}

impl Session {
    /// The session of a new worker at the time `now`.
    pub(crate) fn new(key: &Key<'_>, now: u64) -> Self {
        Self {
            agent: key.agent,
            session: key.session.to_owned(),
            worker: key.worker.to_owned(),
            cwd: None,
            events: 0,
            calls: 0,
            errors: 0,
            refused_again: 0,
            begun: now,
            last_seen: now,
            refused: 0,
            loops: Vec::new(),
            told: Told::default(),
            findings: Vec::new(),
            model: None,
            new: 0,
        }
    }

    /// Returns the findings of the event that is being answered.
    pub(crate) fn new_findings(&self) -> &[FindingRecord] {
        let old = self.findings.len().saturating_sub(self.new);
        self.findings.get(old..).unwrap_or_default()
    }

    /// Returns whether the state belongs to `key`. File names are short digests, which may collide.
    pub(crate) fn is_of(&self, key: &Key<'_>) -> bool {
        self.agent == key.agent && self.session == key.session && self.worker == key.worker
    }

    /// Returns the number of loops that the agent has left: it was told, and went on without the loop.
    pub(crate) fn freed(&self) -> usize {
        let is_left = |one: &&LoopRecord| one.is_told && is_left(one.call, self.calls);
        self.loops.iter().filter(is_left).count()
    }

    /// Adds a finding. Drops the oldest one if there are [`FINDINGS_MAX`] already.
    pub(crate) fn note(&mut self, record: FindingRecord) {
        self.note_loop(&record);
        if let Some(last) = self.findings.last_mut().filter(|last| last.is_refusal_of(&record)) {
            let said = last.said.max(record.said);
            self.new = usize::from(said > last.said || record.action != last.action);
            *last = FindingRecord { said, ..record };
            return;
        }
        if self.findings.len() >= FINDINGS_MAX {
            self.findings.remove(0);
        }
        self.findings.push(record);
        self.new += 1;
    }

    /// Notes that a loop goes on at the latest call, of which the agent is not told again.
    pub(crate) fn goes_on(&mut self, loop_id: LoopId) {
        if let Some(known) = self.loops.iter_mut().find(|one| one.loop_id == loop_id) {
            known.call = self.calls;
        }
    }

    /// Keeps the loop of a finding. Drops the one that was found the longest time ago if there are [`LOOPS_MAX`] already.
    fn note_loop(&mut self, record: &FindingRecord) {
        let is_stop =
            [Action::Stop, Action::StartOver].iter().any(|one| record.action == one.name());
        let is_told = !record.observed && !is_stop && record.said != Said::Question;
        let seen = LoopRecord { loop_id: record.loop_id, call: record.call, is_told };
        self.loops.retain(|one| one.loop_id != seen.loop_id);
        if self.loops.len() >= LOOPS_MAX {
            self.loops.remove(0);
        }
        self.loops.push(seen);
    }
}

/// The form of a loop's id: hexadecimal digits in text formats, and a number in others.
mod loop_id {
    use serde::de::{Deserialize as _, Deserializer, Error as _};
    use serde::ser::{Serialize as _, Serializer};
    use unstuck_core::LoopId;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(id: &LoopId, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(id)
        } else {
            id.bits().serialize(serializer)
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<LoopId, D::Error> {
        if from.is_human_readable() {
            String::deserialize(from)?.parse().map_err(D::Error::custom)
        } else {
            u64::deserialize(from).map(LoopId::from_bits)
        }
    }
}

/// The most loops that are remembered. A loop that comes back after so many others is news again.
const TOLD_MAX: usize = 64;

/// The loops of which a person was told, the latest ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told(Vec<u64>);

impl Told {
    /// Adds the loop with this id. Returns whether it is new: no person was told of it before.
    pub(crate) fn add(&mut self, loop_id: LoopId) -> bool {
        let loop_id = loop_id.bits();
        if self.0.contains(&loop_id) {
            return false;
        }
        if self.0.len() >= TOLD_MAX {
            self.0.remove(0);
        }
        self.0.push(loop_id);
        true
    }
}

#[cfg(test)]
mod tests {
    use unstuck_report::effect::FOLLOWED_BY;

    use super::*;

    #[test]
    fn a_loop_is_left_if_the_agent_was_told_and_goes_on_without_it() {
        let key = Key { agent: Agent::ALL[0], session: "s", worker: "main" };
        let finding = |loop_id, said: Said, action: Action, observed| FindingRecord {
            action: action.name().to_owned(),
            said,
            observed,
            loop_id: LoopId::from_bits(loop_id),
            call: 10,
            ..FindingRecord::example(0)
        };
        for (said, action, observed, expected) in [
            (Said::Nudge, Action::Nudge, false, 1),
            (Said::Refusal, Action::Block, false, 1),
            (Said::Question, Action::Block, false, 0),
            (Said::Refusal, Action::Stop, false, 0),
            (Said::Stop, Action::Stop, false, 0),
            (Said::Nudge, Action::Nudge, true, 0),
        ] {
            let mut session = Session::new(&key, 0);
            session.note(finding(1, said, action, observed));
            for (calls, freed) in [(10, 0), (10 + FOLLOWED_BY - 1, 0), (10 + FOLLOWED_BY, expected)]
            {
                session.calls = calls;
                assert_eq!(session.freed(), freed, "{said:?} {action} {observed} {calls}");
            }
        }
        // A loop that went on without another note is left later.
        let mut session = Session::new(&key, 0);
        session.note(finding(1, Said::Nudge, Action::Nudge, false));
        session.calls = 12;
        session.goes_on(LoopId::from_bits(1));
        for (calls, freed) in [(12 + FOLLOWED_BY - 1, 0), (12 + FOLLOWED_BY, 1)] {
            session.calls = calls;
            assert_eq!(session.freed(), freed, "{calls}");
        }
        let mut session = Session::new(&key, 0);
        let many = u64::try_from(LOOPS_MAX).expect("a small number") + 9;
        (0..many).for_each(|id| session.note(finding(id, Said::Nudge, Action::Nudge, false)));
        assert_eq!((session.loops.len(), session.loops[0].loop_id.bits()), (LOOPS_MAX, 9));
    }
}
