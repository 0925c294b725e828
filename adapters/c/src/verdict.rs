//! Calls, outcomes and verdicts as C sees them: plain structures of fixed widths.

use unstuck_core::{
    Announced, Call, CallId, Digest, Failure, Finding, LoopId, Nearness, Outcome, Policy,
    RepeatedText, RuleIndex, Statistics, Tool, ToolRule, Turn, Verdict,
};

use crate::memory::Plain;
use crate::status::unstuck_status_t as Status;
use crate::words::{
    self, unstuck_action_t, unstuck_args_t, unstuck_kind_t, unstuck_results_t, unstuck_tag_t,
};

/// A call of a tool, as digests. Start from zeros: they are a call of tool 0 in a step of its own.
///
/// Two calls are equal if tool and args are equal. unstuck_json_fingerprint() makes a good digest of JSON
/// arguments.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct unstuck_call_t {
    /// The digest of the arguments, with or without the tool.
    pub args: u64,
    /// The digest that similar calls of this tool share; read if has_similar is set.
    pub similar: u64,
    /// The step; read if has_step is set. Calls that the agent issued together share a step.
    pub step: u64,
    /// The tool: a number of your own, or the result of unstuck_tool().
    pub tool: u32,
    /// The kind of the tool: one of unstuck_tag_t.
    pub tag: u8,
    /// Nonzero if similar is set.
    pub has_similar: u8,
    /// Nonzero if step is set.
    pub has_step: u8,
    /// Nonzero if the call is idempotent. An idempotent call only reads, or
    /// writes the same content to the same place, so an equal result proves that another call does not
    /// help.
    pub idempotent: u8,
}

/// The outcome of a call, as digests. Start from zeros: they are a success with a result of digest 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct unstuck_outcome_t {
    /// The digest of the result without volatile text.
    pub result: u64,
    /// The digest of the result without volatile text and numbers; read if has_near is set.
    pub near_result: u64,
    /// The score; read if has_score is set. Less is better, for example the number of failing tests or the
    /// distance to a goal. A score below all earlier ones of tools with the same tag is progress.
    pub score: u32,
    /// Nonzero if near_result is set.
    pub has_near: u8,
    /// Nonzero if score is set.
    pub has_score: u8,
    /// Nonzero if the call failed.
    pub failed: u8,
    /// Nonzero if the result is silent (empty, "ok"). A silent result is no
    /// evidence between calls with different arguments.
    pub silent: u8,
    /// The digest of the raw result, including volatile text; read if has_raw is set. Equal raw results prove
    /// that an idempotent call does not help. Without it, result is used instead.
    pub raw: u64,
    /// Nonzero if raw is set.
    pub has_raw: u8,
    /// Nonzero if the result says that something is still under way. The call
    /// then counts as a poll (UNSTUCK_TAG_POLL), unless it tests or ends the run.
    pub pending: u8,
    /// Nonzero if the failure may pass by itself: a time-out, a rate limit, a lock.
    /// Such calls are allowed two more repetitions.
    pub transient: u8,
    /// Not read.
    pub reserved: [u8; 5],
}

/// The id of an announced call, to be passed with its outcome. It can be copied. Use seq in
/// unstuck_announced_t instead of its bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct unstuck_call_id_t {
    /// Private to the detector.
    pub bytes: [u8; 16],
}

/// The evidence for a verdict.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct unstuck_finding_t {
    /// The sequence number of the first call of the pattern. For UNSTUCK_TEXT and UNSTUCK_ECHO it is a number
    /// among text-only turns.
    pub first: u64,
    /// The sequence number of the last call of the pattern, which was judged.
    pub last: u64,
    /// The id of the loop. It is the same in every run in which equal calls with equal results repeat.
    pub loop_id: u64,
    /// The calls that prove it: bit n is the call with the number last - n. 0 if the rule is about text.
    pub evidence: u64,
    /// The tool of the last call.
    pub tool: u32,
    /// The number of repetitions: laps of a cycle, records of a streak or recurrence, or turns.
    pub laps: u16,
    /// The number of calls in a lap of a cycle, or of words for UNSTUCK_ECHO. Otherwise 1.
    pub period: u8,
    /// The confidence of the engine in percent.
    pub confidence: u8,
    /// The rule that fired, by its place in the policy, counted from 0; see unstuck_rule_name().
    pub rule: u8,
    /// 1 if the rule is about text-only turns, which have numbers of their own, else 0.
    pub about_text: u8,
    /// 1 if the last call failed, 2 if that failure may pass by itself, else 0.
    pub failed: u8,
    /// The kind of the pattern.
    pub kind: unstuck_kind_t,
    /// The parts of the calls that are equal.
    pub args: unstuck_args_t,
    /// The parts of the outcomes that are equal.
    pub results: unstuck_results_t,
    /// The kind of the tool of the last call.
    pub tag: unstuck_tag_t,
    /// The strongest action that further repetitions can lead to. UNSTUCK_WARN if the rule needs a proof
    /// before it blocks, and there is no proof yet.
    pub most: unstuck_action_t,
}

/// The engine's verdict on one event: an action and its evidence.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct unstuck_verdict_t {
    /// The action.
    pub action: unstuck_action_t,
    /// The rung of the ladder that was reached, counted from 1; 0 below the first.
    pub rung: u8,
    /// 1 if the rung was reached just now, else 0. A host that sends nudges only then sends one for each rung.
    pub fresh: u8,
    /// 1 if a rule fired, else 0; then finding is all zeros.
    pub has_finding: u8,
    /// Always 0.
    pub reserved: u32,
    /// The evidence.
    pub finding: unstuck_finding_t,
}

/// The answer to an announcement.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct unstuck_announced_t {
    /// The id of the call, for its outcome.
    pub call: unstuck_call_id_t,
    /// The sequence number of the call: 0 for the first call of a detector, then one more each; read if
    /// recorded is 1.
    pub seq: u64,
    /// 1 if the call is recorded; 0 if its tool or its tag is exempt. The outcome of an exempt call changes
    /// nothing.
    pub recorded: u8,
    /// Always 0.
    pub reserved: [u8; 7],
    /// The verdict on this call before it runs. Do not run it if the action is UNSTUCK_BLOCK or stronger.
    pub verdict: unstuck_verdict_t,
    /// The strongest verdict on earlier calls that this announcement settled, because a later step began
    /// before their outcomes came. It says nothing about this call.
    pub settled: unstuck_verdict_t,
}

/// The distance of a rule from a finding.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct unstuck_nearness_t {
    /// The number of calls or turns that match the rule's pattern so far.
    pub held: u16,
    /// The number of calls or turns that a finding needs.
    pub needed: u16,
    /// The rule, by its place in the policy, counted from 0; see unstuck_rule_name().
    pub rule: u8,
    /// 1 if the rule is about text-only turns, which have numbers of their own, else 0.
    pub about_text: u8,
    /// Always 0.
    pub reserved: [u8; 2],
}

/// Counts over the life of a detector. Every count saturates at its largest value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct unstuck_statistics_t {
    /// The number of calls and text-only turns.
    pub checks: u32,
    /// The number of verdicts with a finding, by unstuck_kind_t.
    pub findings: [u32; 5],
    /// The number of verdicts with a finding, by unstuck_action_t.
    pub actions: [u32; 6],
    /// The number of findings that were reported as wrong.
    pub false_positives: u32,
}

/// A rule for the calls of one tool.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct unstuck_tool_rule_t {
    /// The tool.
    pub tool: u32,
    /// Nonzero if its calls are not recorded.
    pub exempt: u8,
    /// Nonzero if its calls have UNSTUCK_TAG_POLL instead of their own tag.
    pub poll: u8,
    /// The number of additional repetitions that a pattern needs if it ends with a call of this tool. If
    /// negative, it needs fewer, but at least 2.
    pub patience: i8,
    /// Not read.
    pub reserved: u8,
}

// SAFETY: made of integers.
unsafe impl Plain for unstuck_call_t {}
// SAFETY: made of integers.
unsafe impl Plain for unstuck_outcome_t {}
// SAFETY: an array of integers.
unsafe impl Plain for unstuck_call_id_t {}
// SAFETY: made of integers.
unsafe impl Plain for unstuck_tool_rule_t {}
// SAFETY: made of integers. C passes a finding back in this form.
unsafe impl Plain for FindingBits {}
// SAFETY: made of integers.
unsafe impl Plain for VerdictBits {}

/// An [`unstuck_finding_t`] that comes from C. Its enumerations may have any value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct FindingBits {
    first: u64,
    last: u64,
    loop_id: u64,
    evidence: u64,
    tool: u32,
    laps: u16,
    period: u8,
    confidence: u8,
    rule: u8,
    about_text: u8,
    failed: u8,
    kind: u8,
    args: u8,
    results: u8,
    tag: u8,
    most: u8,
}

/// An [`unstuck_verdict_t`] that comes from C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerdictBits {
    pub(crate) action: u8,
    rung: u8,
    fresh: u8,
    has_finding: u8,
    reserved: u32,
    finding: FindingBits,
}

const _: () = assert!(size_of::<FindingBits>() == size_of::<unstuck_finding_t>());
const _: () = assert!(size_of::<VerdictBits>() == size_of::<unstuck_verdict_t>());

impl unstuck_call_t {
    pub(crate) fn call(&self) -> Result<Call, Status> {
        let mut call =
            Call::new(Tool::new(self.tool), Digest::new(self.args)).tag(words::tag(self.tag)?);
        if self.has_similar != 0 {
            call = call.similar(Digest::new(self.similar));
        }
        if self.has_step != 0 {
            call = call.step(self.step);
        }
        if self.idempotent != 0 {
            call = call.idempotent();
        }
        Ok(call)
    }
}

impl unstuck_outcome_t {
    pub(crate) fn outcome(&self) -> Outcome {
        let result = Digest::new(self.result);
        let mut outcome =
            if self.failed == 0 { Outcome::ok(result) } else { Outcome::failed(result) };
        if self.has_near != 0 {
            outcome = outcome.near(Digest::new(self.near_result));
        }
        if self.has_score != 0 {
            outcome = outcome.score(self.score);
        }
        if self.silent != 0 {
            outcome = outcome.silent();
        }
        self.qualified(outcome)
    }

    /// Returns `outcome` with the facts about the call besides its result.
    fn qualified(&self, mut outcome: Outcome) -> Outcome {
        if self.has_raw != 0 {
            outcome = outcome.raw(Digest::new(self.raw));
        }
        if self.pending != 0 {
            outcome = outcome.pending();
        }
        if self.transient != 0 { outcome.transient() } else { outcome }
    }
}

impl unstuck_call_id_t {
    fn of(id: CallId) -> Self {
        let mut bytes = [0; 16];
        // It fits: a number takes at most ten bytes, an era and a flag one each.
        let _ = postcard::to_slice(&id, &mut bytes);
        Self { bytes }
    }

    pub(crate) fn id(&self) -> Result<CallId, Status> {
        postcard::from_bytes(&self.bytes).map_err(|_| Status::UNSTUCK_NO_CALL)
    }
}

impl unstuck_tool_rule_t {
    pub(crate) fn rule(self) -> ToolRule {
        let mut rule = ToolRule::new(Tool::new(self.tool)).patience(self.patience);
        if self.exempt != 0 {
            rule = rule.exempt();
        }
        if self.poll != 0 { rule.poll() } else { rule }
    }
}

/// Returns the place of a rule, and 1 if the rule is about text.
fn place_of(rule: RuleIndex) -> (u8, u8) {
    match rule {
        RuleIndex::Call(place) => (place, 0),
        RuleIndex::Text(place) => (place, 1),
    }
}

impl unstuck_finding_t {
    const NONE: Self = Self {
        first: 0,
        last: 0,
        loop_id: 0,
        evidence: 0,
        tool: 0,
        laps: 0,
        period: 0,
        confidence: 0,
        rule: 0,
        about_text: 0,
        failed: 0,
        kind: unstuck_kind_t::UNSTUCK_STREAK,
        args: unstuck_args_t::UNSTUCK_ARGS_SAME,
        results: unstuck_results_t::UNSTUCK_RESULTS_IGNORED,
        tag: unstuck_tag_t::UNSTUCK_TAG_OTHER,
        most: unstuck_action_t::UNSTUCK_PROCEED,
    };
}

impl From<Finding> for unstuck_finding_t {
    fn from(finding: Finding) -> Self {
        let (rule, about_text) = place_of(finding.rule);
        let bit = |call: u64| {
            let back = finding.last.saturating_sub(call);
            1_u64.checked_shl(u32::try_from(back).unwrap_or(u32::MAX)).unwrap_or(0)
        };
        Self {
            first: finding.first,
            last: finding.last,
            loop_id: finding.loop_id.bits(),
            evidence: finding.calls().fold(0, |bits, call| bits | bit(call)),
            tool: finding.tool.id(),
            laps: finding.laps,
            period: finding.period,
            confidence: finding.confidence,
            rule,
            about_text,
            failed: match finding.failure() {
                None => 0,
                Some(Failure::Lasting) => 1,
                Some(Failure::Transient) => 2,
            },
            kind: finding.kind.into(),
            args: finding.args.into(),
            results: finding.results.into(),
            tag: finding.tag.into(),
            most: finding.most.into(),
        }
    }
}

impl VerdictBits {
    /// Returns the finding of the verdict under `policy`, made from `seed`.
    pub(crate) fn finding(&self, seed: Finding, policy: &Policy<'_>) -> Result<Finding, Status> {
        if self.has_finding == 0 {
            return Err(Status::UNSTUCK_NO_FINDING);
        }
        self.finding.finding(seed, policy)
    }
}

impl FindingBits {
    /// Returns the finding with these fields, made from `seed`, another finding of the same detector. Only
    /// the engine can create one. The evidence of the seed stays.
    fn finding(&self, seed: Finding, policy: &Policy<'_>) -> Result<Finding, Status> {
        let mut finding = seed;
        let (rule, rules) = match self.about_text {
            0 => (RuleIndex::Call(self.rule), policy.rules().len()),
            1 => (RuleIndex::Text(self.rule), policy.texts().len()),
            _ => return Err(Status::UNSTUCK_VALUE),
        };
        // A detector with feedback about an unknown rule could not be restored.
        if usize::from(self.rule) >= rules {
            return Err(Status::UNSTUCK_VALUE);
        }
        finding.rule = rule;
        finding.first = self.first;
        finding.last = self.last;
        finding.loop_id = LoopId::from_bits(self.loop_id);
        finding.tool = Tool::new(self.tool);
        finding.laps = self.laps;
        finding.period = self.period;
        finding.confidence = self.confidence;
        finding = finding.with_failure(match self.failed {
            0 => None,
            2 => Some(Failure::Transient),
            _ => Some(Failure::Lasting),
        });
        finding.kind = words::kind(self.kind)?;
        finding.args = words::args(self.args)?;
        finding.results = words::results(self.results)?;
        finding.tag = words::tag(self.tag)?;
        finding.most = words::action(self.most)?;
        Ok(finding)
    }
}

impl From<Verdict> for unstuck_verdict_t {
    fn from(verdict: Verdict) -> Self {
        Self {
            action: verdict.action.into(),
            rung: verdict.rung,
            fresh: verdict.fresh.into(),
            has_finding: verdict.finding.is_some().into(),
            reserved: 0,
            finding: verdict.finding.map_or(unstuck_finding_t::NONE, Into::into),
        }
    }
}

impl From<Announced> for unstuck_announced_t {
    fn from(announced: Announced) -> Self {
        let Announced { id, verdict, settled } = announced;
        Self {
            call: unstuck_call_id_t::of(id),
            seq: id.seq().unwrap_or(0),
            recorded: id.seq().is_some().into(),
            reserved: [0; 7],
            verdict: verdict.into(),
            settled: settled.into(),
        }
    }
}

impl From<Option<Nearness>> for unstuck_nearness_t {
    fn from(nearest: Option<Nearness>) -> Self {
        let (held, needed) = nearest.map_or((0, 0), |near| (near.held, near.needed));
        let (rule, about_text) = nearest.map_or((0, 0), |near| place_of(near.rule));
        Self { held, needed, rule, about_text, reserved: [0; 2] }
    }
}

impl From<&Statistics> for unstuck_statistics_t {
    fn from(statistics: &Statistics) -> Self {
        use unstuck_core::{Action, Kind};
        Self {
            checks: statistics.checks(),
            findings: Kind::ALL.map(|kind| statistics.findings(kind)),
            actions: Action::ALL.map(|action| statistics.actions(action)),
            false_positives: statistics.false_positives(),
        }
    }
}

/// Returns the turn with the digest `text` and `laps` repetitions of `period` words.
pub(crate) fn turn(text: u64, period: u8, laps: u16) -> Turn {
    let turn = Turn::new(Digest::new(text));
    if period == 0 || laps < 2 { turn } else { turn.repeated(RepeatedText { period, laps }) }
}
