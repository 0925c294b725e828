//! One worker of a replay: its detector, and what is kept of its calls and turns.

use std::collections::VecDeque;

use unstuck_core::{Action, CallId, Detector, Finding, Nearness, RuleIndex, Tag, Verdict};
use unstuck_text::{Answer, Lines, Preset, Recipe, SimilarCalls, is_placeholder};
use unstuck_trace::{Args, Call, Message, Outcome, Role};

use super::found::{Place, Shown, Warning};
use super::numbering::Numbering;
use super::push;
use super::trail::{self, Explained, Near, Trail, Wanted};
use super::watch::{Told, Watch};

/// How many calls of a worker are kept to be shown and to be answered: more than the engine's
/// window and its open calls together.
const KEPT_MAX: usize = 128;

/// How many text-only turns of a worker are kept to be shown.
const TEXTS_MAX: usize = 8;

/// Room for the largest window, and for more calls issued together than any agent was seen to.
type Engine = Detector<'static, 64, 32>;

/// A verdict that has a finding, and the call or message at which it was given.
pub(super) type Given = (Verdict, usize);

/// What is kept of a call.
struct Kept {
    id: CallId,
    kind: Tag,
    shown: Shown,
}

pub(super) struct Worker {
    pub(super) name: String,
    /// Which one it is of all that there have been: names come again.
    pub(super) number: u64,
    pub(super) seen: u64,
    pub(super) engine: Engine,
    groups: SimilarCalls,
    lines: Box<Lines>,
    /// The latest calls, oldest first.
    calls: VecDeque<Kept>,
    numbering: Numbering,
    /// The latest text-only turns, oldest first.
    texts: VecDeque<Shown>,
    /// The latest messages of the user, oldest first.
    prompts: VecDeque<Shown>,
    /// The messages that were text-only turns, by turn.
    turns: Numbering,
    turn: u64,
    watch: Watch,
    /// Where a loop is to be explained.
    trail: Option<Trail>,
}

impl Worker {
    pub(super) fn new(name: &str, number: u64, seen: u64, preset: &'static Preset) -> Self {
        Self {
            name: name.to_owned(),
            number,
            seen,
            // No policy has a longer window, those from files included.
            engine: Engine::new(preset.policy).expect("a window of at most 64"),
            groups: SimilarCalls::new(),
            lines: Box::default(),
            calls: VecDeque::new(),
            numbering: Numbering::default(),
            texts: VecDeque::new(),
            prompts: VecDeque::new(),
            turns: Numbering::default(),
            turn: 0,
            watch: Watch::new(preset.policy),
            trail: None,
        }
    }

    /// Keeps what is needed to explain the loop that is `wanted`, if there is one.
    pub(super) fn explaining(mut self, wanted: Option<Wanted>) -> Self {
        self.trail = wanted.map(|wanted| Trail::new(wanted, self.engine.policy()));
        self
    }

    /// Takes in a call; gives the verdicts on earlier calls that settle with it, and on itself.
    pub(super) fn call(&mut self, recipe: &Recipe, call: &Call<'_>) -> Vec<Given> {
        let (Args::Json(args) | Args::Text(args)) = call.args;
        let digests = recipe.call_among(&mut self.groups, call.tool, args).step(call.step);
        let mut given = Vec::new();
        let each = |verdict| given.push((verdict, call.index));
        let (id, verdict) = self.engine.announce_each(digests, each);
        if verdict.finding.is_some() {
            given.push((verdict, call.index));
        }
        let shown = Shown::new(call.index, Some(call.tool), args);
        if let Some(seq) = id.seq() {
            self.numbering.set(seq, call.index);
            self.watch.call(seq, call.step);
            self.explain(&given, |trail, near| trail.call(seq, call.step, shown.clone(), near));
        }
        push(&mut self.calls, Kept { id, kind: digests.kind(), shown }, KEPT_MAX);
        given
    }

    /// Takes in the outcome of a call, if that is still known; gives the verdicts on all that
    /// settle with it, each at the call that it is about.
    pub(super) fn outcome(&mut self, recipe: &Recipe, outcome: &Outcome<'_>) -> Vec<Given> {
        let mut given = Vec::new();
        let Some(Kept { id: call, kind, shown }) = self.kept(outcome.call) else { return given };
        // What is gone from a history was not reported to whoever reads it now.
        if is_placeholder(outcome.text) {
            return given;
        }
        let (call, kind, tool) = (*call, *kind, shown.tool.clone().unwrap_or_default());
        let tool = tool.as_str();
        // Only an explanation shows what stands for the result; nobody else waits for it twice.
        let result = || recipe.result(tool, outcome.text, outcome.cut).result;
        let result = self.trail.is_some().then(result);
        let answer =
            Answer { cut: outcome.cut, kind, ..Answer::new(tool, outcome.text, outcome.failed) };
        let digests = recipe.outcome_among(&mut self.lines, &answer);
        let numbering = &self.numbering;
        self.engine.outcome_each(call, digests, |verdict| {
            let judged = verdict.finding.map(|finding| numbering.index(finding.last));
            given.push((verdict, judged.unwrap_or(outcome.call)));
        });
        if let Some(seq) = call.seq() {
            self.watch.outcome(seq);
            if let Some(result) = result {
                let text = outcome.text.to_owned();
                let answer = trail::Answer { result, text, failed: outcome.failed };
                self.explain(&given, |trail, near| trail.outcome(seq, answer, near));
            }
        }
        given
    }

    /// Takes in a message: what a user says, or a turn in which the agent called no tool.
    pub(super) fn message(&mut self, recipe: &Recipe, message: &Message<'_>) -> Option<Given> {
        if message.role == Role::User {
            self.watch.user_message();
            self.lines.clear();
            let shown = Shown::new(message.index, None, message.text);
            let given = (self.engine.user_message(recipe.message(message.text)), message.index);
            self.explain(&[given], |trail, near| trail.prompt(shown.clone(), near));
            push(&mut self.prompts, shown, TEXTS_MAX);
            return given.0.finding.is_some().then_some(given);
        }
        if !message.text_only || message.text.trim().is_empty() {
            return None;
        }
        let shown = Shown::new(message.index, None, message.text);
        let given = (self.engine.text_turn(recipe.turn(message.text)), message.index);
        let number = self.turn;
        self.explain(&[given], |trail, near| trail.turn(number, shown.clone(), near));
        push(&mut self.texts, shown, TEXTS_MAX);
        self.turns.set(self.turn, message.index);
        self.turn += 1;
        Some(given)
    }

    /// The worker's run is over: what is still open will not be answered. Gives the verdicts on
    /// that, at the last call.
    pub(super) fn finish(&mut self) -> Vec<Given> {
        let last = self.calls.back().map_or(0, |call| call.shown.index);
        let mut given = Vec::new();
        self.engine.finish_each(|verdict| given.push((verdict, last)));
        self.explain(&given, Trail::finish);
        given
    }

    /// What was kept to explain a loop, if the worker was in it. The last that is asked of it.
    pub(super) fn explained(&mut self) -> Option<Explained> {
        self.trail.take()?.end(&self.name)
    }

    /// Where a loop is to be explained, lets the trail know `what` happened, how near each rule is
    /// since, and what was judged.
    fn explain(&mut self, given: &[Given], what: impl FnOnce(&mut Trail, &[Option<Nearness>])) {
        let Some(trail) = &mut self.trail else { return };
        // A cleared history no longer tells how near the rules were.
        let is_cleared = given.iter().any(|(verdict, _)| verdict.action >= Action::StartOver);
        let near: Near =
            self.engine.nearness().map(|near| Some(near).filter(|_| !is_cleared)).collect();
        what(trail, &near);
        for (verdict, _) in given {
            trail.judge(verdict);
        }
    }

    /// Takes a look at how near the rules are after an event that told of a loop, or did not.
    pub(super) fn watch(&mut self, told: Told) {
        self.watch.look(|| self.engine.nearest(), told);
    }

    /// The early warning of `finding`, which is given now. Talk has none: it is no call.
    pub(super) fn warning(&self, finding: &Finding) -> Option<Warning> {
        let (near, lead) = self.watch.warning(finding.last)?;
        let rule = self.engine.policy().rule_name(near.rule);
        let warning = Warning { rule, held: near.held, needed: near.needed, lead };
        matches!(finding.rule, RuleIndex::Call(_)).then_some(warning)
    }

    pub(super) fn place(&self, finding: &Finding, at: usize) -> Place {
        if matches!(finding.rule, RuleIndex::Text(_)) {
            let first = match self.prompted(finding).next() {
                Some(prompt) => prompt.index,
                None => self.turns.index(finding.first),
            };
            return Place::Messages { first, at };
        }
        let (first, last) = (finding.first, finding.last);
        Place::Calls { first: self.numbering.index(first), at, last: self.numbering.index(last) }
    }

    fn kept(&self, index: usize) -> Option<&Kept> {
        let place = self.calls.binary_search_by_key(&index, |call| call.shown.index).ok()?;
        self.calls.get(place)
    }

    /// The messages of the user that `finding` is about, as far as they are kept.
    fn prompted(&self, finding: &Finding) -> impl Iterator<Item = &Shown> {
        let count = if finding.is_about_prompts() { finding.laps.into() } else { 0 };
        self.prompts.iter().skip(self.prompts.len().saturating_sub(count))
    }

    /// Returns the tools of one lap of a cycle, in the order of the calls.
    pub(super) fn lap(&self, finding: &Finding) -> Vec<String> {
        let calls = finding.lap().map(|seq| self.numbering.index(seq));
        calls.filter_map(|index| self.kept(index)?.shown.tool.clone()).collect()
    }

    pub(super) fn proof(&self, finding: &Finding) -> Vec<Shown> {
        if finding.is_about_prompts() {
            return self.prompted(finding).cloned().collect();
        }
        if matches!(finding.rule, RuleIndex::Text(_)) {
            // As many as there are from the first to the last: an echo is in one alone.
            let turns = usize::try_from(finding.last.saturating_sub(finding.first) + 1);
            let turns = turns.unwrap_or(usize::MAX).min(self.texts.len());
            return self.texts.iter().skip(self.texts.len() - turns).cloned().collect();
        }
        let calls = finding.calls().map(|seq| self.numbering.index(seq));
        calls.filter_map(|index| Some(self.kept(index)?.shown.clone())).collect()
    }
}
