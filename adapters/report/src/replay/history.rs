//! The steps of one loop, for `scan --explain`: its calls or turns, and how near every rule was at
//! each.

use std::collections::{BTreeSet, VecDeque};
use std::ops::RangeInclusive;
use std::str::FromStr;

use unstuck_core::{Action, Digest, Finding, LoopId, Nearness, Policy, Rule, RuleIndex, Verdict};

use super::findings::{Excerpt, ResultLine};
use super::push;
use crate::shown::beginning;

/// The most calls, and the most turns, of a worker that wait for a finding they belong to. More
/// than the engine's window and its open calls together.
const KEPT_MAX: usize = 128;

/// The number of hexadecimal digits of an id.
const DIGITS: usize = 16;

/// The first digits of a loop id, as a range of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopPrefix {
    first: u64,
    last: u64,
}

impl LoopPrefix {
    const ALL: Self = Self { first: 0, last: u64::MAX };

    /// Returns the ids that begin with these digits.
    pub const fn ids(self) -> RangeInclusive<LoopId> {
        LoopId::from_bits(self.first)..=LoopId::from_bits(self.last)
    }

    /// Returns whether `id` begins with these digits.
    pub fn is(self, id: LoopId) -> bool {
        self.ids().contains(&id)
    }

    /// Returns the id, if all of its digits were given.
    pub fn whole(self) -> Option<LoopId> {
        (self.first == self.last).then_some(LoopId::from_bits(self.first))
    }
}

impl FromStr for LoopPrefix {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_beginning =
            (1..=DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bits = |rest: &str| {
            let id = format!("{text}{}", rest.repeat(DIGITS.saturating_sub(text.len())));
            id.parse().map(LoopId::bits).ok().filter(|_| is_beginning)
        };
        let ends = bits("0").zip(bits("f"));
        let (first, last) =
            ends.ok_or("expected a loop id of 16 hexadecimal digits, or its first ones")?;
        Ok(Self { first, last })
    }
}

/// The loops whose steps are kept, and how much of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    prefix: LoopPrefix,
    /// The most steps of a worker.
    steps_max: usize,
    /// The most bytes of a result.
    text_max: usize,
}

impl Wanted {
    /// Wants all steps of the loop with this prefix.
    pub const fn one(prefix: LoopPrefix) -> Self {
        Self { prefix, steps_max: usize::MAX, text_max: usize::MAX }
    }

    /// Wants the first steps of all loops, in limited memory.
    pub const fn all() -> Self {
        Self { prefix: LoopPrefix::ALL, steps_max: 256, text_max: 4096 }
    }
}

/// One call of a loop, or one turn.
#[derive(Clone, Debug)]
pub struct Step {
    /// The call or the turn, as far as it is shown.
    pub excerpt: Excerpt,
    /// The outcome, or `None` for a turn and for a call that has no known outcome.
    pub result: Option<CallResult>,
    /// The strongest verdict on this step. Verdicts about the wanted loop come first.
    pub(crate) verdict: Verdict,
    pub(crate) near: NearnessByRule,
    /// The number of the call among the calls of its worker, or of the turn among the turns.
    number: u64,
    /// The step of the transcript, which calls that were issued together share.
    issued: u64,
    settled: bool,
    /// The wanted loops that it belongs to.
    pub(crate) loops: Vec<LoopId>,
}

/// The outcome of a call.
#[derive(Clone, Debug)]
pub struct CallResult {
    pub(crate) digest: Digest,
    /// The text, cut to a few KB.
    pub text: String,
    /// Whether the call failed.
    pub failed: bool,
    /// Whether the call was refused and not made.
    pub refused: bool,
}

/// The nearness of each rule, in the policy's order. For a call these are the rules about calls,
/// for a turn the rules about text. `None` means unknown.
pub(crate) type NearnessByRule = Vec<Option<Nearness>>;

/// Measures the nearness of each rule after an event, which takes some time.
pub(super) type Near<'a> = dyn FnMut() -> NearnessByRule + 'a;

/// The steps of one worker in the loop to explain.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The name of the worker.
    pub worker: String,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The loops whose ids begin with the digits: one, unless too few digits were given.
    pub loops: BTreeSet<LoopId>,
}

impl Explained {
    /// Returns the noun for one step.
    pub fn unit(&self) -> &'static str {
        let is_call = self.steps.iter().any(|step| step.excerpt.tool.is_some());
        if is_call { "call" } else { "turn" }
    }
}

/// The recent steps of a worker that may belong to the wanted loop.
pub(super) struct LoopHistory {
    wanted: Wanted,
    policy: &'static Policy<'static>,
    /// The latest calls, and the latest turns, oldest first.
    calls: VecDeque<Step>,
    turns: VecDeque<Step>,
    /// The latest user messages, oldest first, and the number of all user messages.
    prompts: VecDeque<Step>,
    prompted: u64,
    /// The steps of the loop that have left the queues above.
    steps: Vec<Step>,
    /// The loops whose ids begin with the wanted digits.
    loops: BTreeSet<LoopId>,
}

impl LoopHistory {
    pub(super) fn new(wanted: Wanted, policy: &'static Policy<'static>) -> Self {
        Self {
            wanted,
            policy,
            calls: VecDeque::new(),
            turns: VecDeque::new(),
            prompts: VecDeque::new(),
            prompted: 0,
            steps: Vec::new(),
            loops: BTreeSet::new(),
        }
    }

    /// Takes in an announced call. All calls of earlier steps have settled.
    pub(super) fn call(&mut self, number: u64, issued: u64, excerpt: Excerpt, near: &mut Near<'_>) {
        self.settle(near, |step| step.issued != issued);
        let mut step = Step::new(number, issued, excerpt);
        let rules = self.policy.rules();
        step.near = vec![None; rules.len()];
        if rules.iter().any(Rule::is_judged_early) {
            let early = rules.iter().map(Rule::is_judged_early).zip(near());
            step.near = early.map(|(early, near)| near.filter(|_| early)).collect();
        }
        let left = push(&mut self.calls, step, KEPT_MAX);
        self.keep(left);
    }

    /// Returns the part of a result that is kept.
    pub(super) fn excerpt<'t>(&self, text: &'t str) -> &'t str {
        beginning(text, self.wanted.text_max)
    }

    /// Takes in the outcome of the call with this number.
    pub(super) fn outcome(
        &mut self,
        number: u64,
        (result, line): (CallResult, ResultLine),
        near: &mut Near<'_>,
    ) {
        let step = self.calls.iter_mut().rev().find(|step| step.number == number);
        if let Some(step) = step.filter(|step| !step.settled) {
            step.result = Some(result);
            step.excerpt.result = Some(line);
        }
        self.settle(near, |step| step.result.is_some());
    }

    /// Takes in a turn without a call.
    pub(super) fn turn(&mut self, number: u64, excerpt: Excerpt, near: &mut Near<'_>) {
        let step = self.text_step(number, excerpt, near);
        let left = push(&mut self.turns, step, KEPT_MAX);
        self.keep(left);
    }

    /// Takes in a user message.
    pub(super) fn prompt(&mut self, excerpt: Excerpt, near: &mut Near<'_>) {
        let step = self.text_step(self.prompted, excerpt, near);
        self.prompted += 1;
        let left = push(&mut self.prompts, step, KEPT_MAX);
        self.keep(left);
    }

    /// Keeps the steps among `left` that belong to a wanted loop.
    fn keep(&mut self, left: impl IntoIterator<Item = Step>) {
        let room = self.wanted.steps_max - self.steps.len();
        let of_loop = left.into_iter().filter(|step| !step.loops.is_empty());
        self.steps.extend(of_loop.take(room));
    }

    fn text_step(&self, number: u64, excerpt: Excerpt, near: &mut Near<'_>) -> Step {
        let mut step = Step::new(number, number, excerpt);
        step.near = near().into_iter().skip(self.policy.rules().len()).collect();
        step
    }

    /// Ends the run: no more outcomes will arrive.
    pub(super) fn finish(&mut self, near: &mut Near<'_>) {
        self.settle(near, |_| true);
    }

    /// Takes in a verdict.
    pub(super) fn judge(&mut self, verdict: &Verdict) {
        let Some(finding) = &verdict.finding else { return };
        let (steps, last, of_loop) = match finding.rule {
            RuleIndex::Call(_) => (&mut self.calls, finding.last, finding.calls().collect()),
            RuleIndex::Text(_) if finding.is_about_prompts() => {
                // The engine does not number user messages.
                let first = self.prompted.saturating_sub(finding.laps.into());
                let last = self.prompted.saturating_sub(1);
                (&mut self.prompts, last, (first..=last).collect())
            }
            RuleIndex::Text(_) => (&mut self.turns, finding.last, turns(finding)),
        };
        if let Some(step) = steps.iter_mut().rev().find(|step| step.number == last) {
            step.judge(verdict, self.wanted.prefix);
        }
        if verdict.action > Action::Proceed && self.wanted.prefix.is(finding.loop_id) {
            self.loops.insert(finding.loop_id);
            for step in steps.iter_mut().filter(|step| of_loop.contains(&step.number)) {
                if !step.loops.contains(&finding.loop_id) {
                    step.loops.push(finding.loop_id);
                }
            }
        }
    }

    /// Returns the steps of the worker `worker` in the loop, or `None` if it was not in it.
    pub(super) fn end(mut self, worker: &str) -> Option<Explained> {
        let (calls, turns) = (std::mem::take(&mut self.calls), std::mem::take(&mut self.turns));
        let prompts = std::mem::take(&mut self.prompts);
        self.keep(calls.into_iter().chain(turns).chain(prompts));
        let explained =
            Explained { worker: worker.to_owned(), steps: self.steps, loops: self.loops };
        Some(explained).filter(|explained| !explained.steps.is_empty())
    }

    /// Settles the oldest open calls, as long as `is_settled` holds. Rules that count outcomes are
    /// known for the last of these calls only.
    fn settle(&mut self, near: &mut Near<'_>, is_settled: impl Fn(&Step) -> bool) {
        let first = self.calls.partition_point(|step| step.settled);
        let mut last = None;
        for step in self.calls.range_mut(first..).take_while(|step| is_settled(step)) {
            step.settled = true;
            last = Some(&mut step.near);
        }
        let Some(last) = last else { return };
        for (rule, (near, now)) in self.policy.rules().iter().zip(last.iter_mut().zip(near())) {
            if !rule.is_judged_early() {
                *near = now;
            }
        }
    }
}

/// Returns the numbers of the turns that prove `finding`.
fn turns(finding: &Finding) -> BTreeSet<u64> {
    (finding.first..=finding.last).rev().take(KEPT_MAX).collect()
}

impl Step {
    fn new(number: u64, issued: u64, excerpt: Excerpt) -> Self {
        Self {
            excerpt,
            result: None,
            verdict: Verdict::PROCEED,
            near: NearnessByRule::new(),
            number,
            issued,
            settled: false,
            loops: Vec::new(),
        }
    }

    fn judge(&mut self, verdict: &Verdict, wanted: LoopPrefix) {
        let is_about =
            |verdict: &Verdict| verdict.finding.is_some_and(|finding| wanted.is(finding.loop_id));
        self.verdict = match (is_about(&self.verdict), is_about(verdict)) {
            (true, false) => self.verdict,
            (false, true) => *verdict,
            _ => self.verdict.or_stronger(*verdict),
        };
    }
}

#[cfg(test)]
mod tests {
    use unstuck_text::Preset;

    use super::*;
    use crate::cases::check;

    #[test]
    fn a_loop_is_identified_by_its_first_digits() {
        let id = LoopId::from_bits(0x9f0c_5e8b_2a7d_4411);
        check("history: the first digits of a loop's id", |text| {
            match text.parse::<LoopPrefix>() {
                Ok(wanted) => {
                    let whole = wanted.whole().map(|id| format!(", whole {id}"));
                    format!("{}{}", wanted.is(id), whole.unwrap_or_default())
                }
                Err(why) => why.to_owned(),
            }
        });
    }
    /// A history of every loop, by a preset that looks at results.
    fn history() -> LoopHistory {
        let policy = Preset::named("start_over").expect("a preset").policy;
        LoopHistory::new(Wanted::one(LoopPrefix::ALL), policy)
    }

    /// The nearness of the preset's only rule.
    fn near(held: u16) -> impl FnMut() -> NearnessByRule {
        move || vec![Some(Nearness { rule: RuleIndex::Call(0), held, needed: 5 })]
    }

    fn excerpt() -> Excerpt {
        Excerpt::new(0, Some("ls"), "{}")
    }

    /// The count of the preset's only rule at each call that is kept.
    fn held(history: &LoopHistory) -> Vec<Option<u16>> {
        history.calls.iter().map(|step| step.near[0].map(|near| near.held)).collect()
    }

    fn result() -> (CallResult, ResultLine) {
        let text = String::new();
        let result = CallResult { digest: Digest::new(0), text, failed: false, refused: false };
        (result, ResultLine::of("", false, false))
    }

    #[test]
    fn among_calls_that_settle_together_only_the_last_has_the_nearness() {
        let mut history = history();
        for number in 0..3 {
            history.call(number, 7, excerpt(), &mut near(0));
        }
        history.outcome(1, result(), &mut near(0));
        assert_eq!(held(&history), [None, None, None]);
        history.outcome(0, result(), &mut near(2));
        assert_eq!(held(&history), [None, Some(2), None]);
        // The next step settles the open calls without an outcome.
        history.call(3, 8, excerpt(), &mut near(3));
        history.outcome(2, result(), &mut near(9));
        assert_eq!(held(&history), [None, Some(2), Some(3), None]);
        assert!(history.calls[2].result.is_none());
        history.finish(&mut near(4));
        assert_eq!(held(&history), [None, Some(2), Some(3), Some(4)]);
    }

    #[test]
    fn steps_outside_the_loop_are_dropped() {
        let mut history = history();
        for number in 0..3 * KEPT_MAX as u64 {
            history.call(number, number, excerpt(), &mut near(0));
            history.turn(number, excerpt(), &mut near(0));
            assert!(history.calls.len() <= KEPT_MAX && history.turns.len() <= KEPT_MAX);
        }
        assert!(history.steps.is_empty());
        assert!(history.end("main").is_none());
    }
}
