//! Calls, outcomes and verdicts as C sees them: plain structures of fixed widths.

use unstuck_core::{
    Announced, Call, CallId, Digest, Finding, LoopId, Nearness, Outcome, Policy, RepeatedText,
    RuleIndex, Statistics, Tool, ToolRule, Turn, Verdict,
};

use crate::memory::Plain;
use crate::status::unstuck_status_t as Status;
use crate::words::{
    self, unstuck_action_t, unstuck_args_t, unstuck_kind_t, unstuck_results_t, unstuck_tag_t,
};

/// A tool's name with its arguments, as digests. Zeros are a good beginning: they stand for a call of
/// tool 0 in a step of its own.
///
/// Two calls are the same if tool and args are: how args is made decides what "the same" means, and
/// unstuck_json_fingerprint() is one good way.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct unstuck_call_t {
    /// What stands for the arguments; the tool need not be in it.
    pub args: u64,
    /// What stands for all calls of this tool that are held alike; read where has_similar is set.
    pub similar: u64,
    /// The step: calls that the agent issued together share one; read where has_step is set.
    pub step: u64,
    /// Which tool: a number of your own, or that of unstuck_tool().
    pub tool: u32,
    /// What kind of tool: one of unstuck_tag_t.
    pub tag: u8,
    /// Whether similar counts: 0 for no, anything else for yes.
    pub has_similar: u8,
    /// Whether step counts: 0 for no, anything else for yes.
    pub has_step: u8,
    /// Whether the call is idempotent: it only reads, or writes the same content to the same place, so
    /// that an equal answer proves that calling again does not help. 0 for no, anything else for yes.
    pub idempotent: u8,
}

/// What came back from a call, as digests. Zeros are a good beginning: they stand for a call that
/// worked, with a result of digest 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct unstuck_outcome_t {
    /// What stands for the result, without what is volatile in it.
    pub result: u64,
    /// What stands for the result without its numbers, too; read where has_near is set.
    pub near_result: u64,
    /// How good the outcome is: less is better, as in the number of failing tests, or the distance
    /// to a goal. Less than ever before of tools with the same tag is progress. Read where has_score
    /// is set.
    pub score: u32,
    /// Whether near_result counts: 0 for no, anything else for yes.
    pub has_near: u8,
    /// Whether score counts: 0 for no, anything else for yes.
    pub has_score: u8,
    /// Whether the call failed: 0 for no, anything else for yes.
    pub failed: u8,
    /// Whether the result says nothing (empty, "ok"): 0 for no, anything else for yes. Such a result
    /// is no evidence between calls with different arguments.
    pub silent: u8,
    /// The digest of the raw answer, its volatile parts included: equal answers prove that an
    /// idempotent call does not help. Read where has_raw is set; without it, equal results are equal
    /// answers.
    pub raw: u64,
    /// Whether raw counts: 0 for no, anything else for yes.
    pub has_raw: u8,
    /// Whether the answer says that something is still under way: 0 for no, anything else for yes. The
    /// call counts as one with UNSTUCK_TAG_POLL, unless it tests or ends the run.
    pub pending: u8,
    /// Whether the call timed out: 0 for no, anything else for yes. It is judged one repetition later
    /// than others.
    pub timed_out: u8,
    /// Not read.
    pub reserved: [u8; 5],
}

/// The detector's name for one announced call, to be handed back with its outcome. Copy it as you
/// like; look at seq in unstuck_announced_t instead of its bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct unstuck_call_id_t {
    /// Nobody's business but the detector's.
    pub bytes: [u8; 16],
}

/// The evidence for a verdict.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct unstuck_finding_t {
    /// The first call of the pattern, by the sequence number of calls; for UNSTUCK_TEXT and
    /// UNSTUCK_ECHO the first turn, counted likewise among text-only turns.
    pub first: u64,
    /// The last call of the pattern: the one that was judged.
    pub last: u64,
    /// Which loop it is: the same in every run in which the same calls, answered the same, go round.
    pub loop_id: u64,
    /// The calls that prove it: bit n stands for the call numbered last - n. 0 where it is about text.
    pub evidence: u64,
    /// The tool of the last call.
    pub tool: u32,
    /// How often the calls matched: laps of a cycle; records of a streak or recurrence; turns.
    pub laps: u16,
    /// How many calls make a lap: 1 but for cycles, and for UNSTUCK_ECHO, where it is how many words.
    pub period: u8,
    /// How sure the engine is, in percent.
    pub confidence: u8,
    /// Which rule fired, by its place in the policy, counted from 0; see unstuck_rule_name().
    pub rule: u8,
    /// 1 if that is a rule about text-only turns, which are counted apart, else 0.
    pub about_text: u8,
    /// 1 if the last call failed, else 0.
    pub failed: u8,
    /// How things recur.
    pub kind: unstuck_kind_t,
    /// What the calls have in common.
    pub args: unstuck_args_t,
    /// What their outcomes have in common.
    pub results: unstuck_results_t,
    /// What kind of tool the last call was for.
    pub tag: unstuck_tag_t,
    /// The most that more of the same can lead to. UNSTUCK_WARN if the rule asks for proof before it
    /// blocks, and there is none so far.
    pub most: unstuck_action_t,
}

/// The engine's answer to one event: what to do, and why.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct unstuck_verdict_t {
    /// What to do.
    pub action: unstuck_action_t,
    /// The rung of the ladder that is reached, counted from 1; 0 below the first.
    pub rung: u8,
    /// 1 if that rung was reached just now, else 0: who speaks only then speaks once a rung.
    pub fresh: u8,
    /// 1 if a rule fired, else 0; then finding is all zeros.
    pub has_finding: u8,
    /// Always 0.
    pub reserved: u32,
    /// The evidence.
    pub finding: unstuck_finding_t,
}

/// What an announcement is answered with.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct unstuck_announced_t {
    /// The call's name, for its outcome.
    pub call: unstuck_call_id_t,
    /// Its sequence number: 0 for the first that a detector recorded, then one more each; read where
    /// recorded is 1.
    pub seq: u64,
    /// 1 if the call is recorded; 0 if its tool or its tag is exempt, and its outcome changes nothing.
    pub recorded: u8,
    /// Always 0.
    pub reserved: [u8; 7],
    /// The verdict on this call, before it runs: from UNSTUCK_BLOCK on, do not run it.
    pub verdict: unstuck_verdict_t,
    /// The strongest verdict on earlier calls that this announcement settled, since a later step
    /// began before their outcomes came. It says nothing about this call.
    pub settled: unstuck_verdict_t,
}

/// How near a rule is to a finding.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct unstuck_nearness_t {
    /// How many calls, or turns, of its pattern there are; 0 where nothing was seen yet.
    pub held: u16,
    /// How many a finding takes.
    pub needed: u16,
    /// Which rule, by its place in the policy, counted from 0; see unstuck_rule_name().
    pub rule: u8,
    /// 1 if that is a rule about text-only turns, which are counted apart, else 0.
    pub about_text: u8,
    /// Always 0.
    pub reserved: [u8; 2],
}

/// Counts over the life of a detector. Every count stops at its greatest value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct unstuck_statistics_t {
    /// How many calls and text-only turns were looked at.
    pub checks: u32,
    /// How many verdicts had a finding, by unstuck_kind_t.
    pub findings: [u32; 5],
    /// How many verdicts with a finding asked for what, by unstuck_action_t.
    pub actions: [u32; 6],
    /// How many findings were called wrong.
    pub false_positives: u32,
}

/// What holds for the calls of one tool.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct unstuck_tool_rule_t {
    /// Which tool.
    pub tool: u32,
    /// Whether its calls are not recorded: 0 for no, anything else for yes.
    pub exempt: u8,
    /// Whether its calls have UNSTUCK_TAG_POLL, whatever tag they come with: 0 for no, anything else
    /// for yes.
    pub poll: u8,
    /// How many repetitions more than a rule says are asked for where its pattern ends with a call of
    /// this tool; fewer, if negative. Never fewer than 2.
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
// SAFETY: made of integers: this is the form in which C hands a finding back.
unsafe impl Plain for FindingBits {}
// SAFETY: made of integers.
unsafe impl Plain for VerdictBits {}

/// An [`unstuck_finding_t`] that comes from C: in the place of each enumeration any number may be.
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

    /// The `outcome`, with what is known of the answer beside the result.
    fn qualified(&self, mut outcome: Outcome) -> Outcome {
        if self.has_raw != 0 {
            outcome = outcome.raw(Digest::new(self.raw));
        }
        if self.pending != 0 {
            outcome = outcome.pending();
        }
        if self.timed_out != 0 { outcome.timed_out() } else { outcome }
    }
}

impl unstuck_call_id_t {
    fn of(id: CallId) -> Self {
        let mut bytes = [0; 16];
        // It fits: a number takes ten bytes at most, an era and a flag one each.
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

/// The place of a rule, and whether it is one about text.
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
            failed: finding.failed.into(),
            kind: finding.kind.into(),
            args: finding.args.into(),
            results: finding.results.into(),
            tag: finding.tag.into(),
            most: finding.most.into(),
        }
    }
}

impl VerdictBits {
    /// The finding of the verdict, made under `policy`, in the form of `seed`.
    pub(crate) fn finding(&self, seed: Finding, policy: &Policy<'_>) -> Result<Finding, Status> {
        if self.has_finding == 0 {
            return Err(Status::UNSTUCK_NO_FINDING);
        }
        self.finding.finding(seed, policy)
    }
}

impl FindingBits {
    /// The finding that these stand for, in the form of `seed`, which is another of the same
    /// detector: nobody else can make one. The calls that prove it are those of the seed.
    fn finding(&self, seed: Finding, policy: &Policy<'_>) -> Result<Finding, Status> {
        let mut finding = seed;
        let (rule, rules) = match self.about_text {
            0 => (RuleIndex::Call(self.rule), policy.rules().len()),
            1 => (RuleIndex::Text(self.rule), policy.texts().len()),
            _ => return Err(Status::UNSTUCK_VALUE),
        };
        // A detector that learned of a rule that is not there could not be restored.
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
        finding.failed = self.failed != 0;
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

/// The turn that said what `text` stands for, with so many laps of so many words inside.
pub(crate) fn turn(text: u64, period: u8, laps: u16) -> Turn {
    let turn = Turn::new(Digest::new(text));
    if period == 0 || laps < 2 { turn } else { turn.repeated(RepeatedText { period, laps }) }
}
