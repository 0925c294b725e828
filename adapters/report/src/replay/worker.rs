//! One worker of a replay: its engine, excerpts of its latest calls and turns, and the numbers of their records in the
//! file.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use unstuck_core::{Action, Detector, Finding, Kind, RuleIndex, Verdict};
use unstuck_text::{
    Answer, LINE_WORDS, Lines, PastCalls, Preset, SimilarCalls, Ticket, is_notification,
    is_placeholder,
};
use unstuck_trace::{Call, Message, Outcome, Role};

use super::early_warning::{EarlyWarning, Judged};
use super::findings::{Cause, Excerpt, Location, ResultLine, Warning};
use super::history::{CallResult, Explained, LoopHistory, Near, Wanted};
use super::push;

/// The most calls of a worker that are kept, for excerpts and for late outcomes. More than the
/// engine's window and its open calls together.
const KEPT_MAX: usize = 128;

/// The most text-only turns and user messages of a worker that are kept.
const TEXTS_MAX: usize = 8;

/// Room for the largest window, and for more parallel calls than any agent was seen to issue.
type Engine = unstuck_text::Worker<'static, 64, 32, LINE_WORDS>;

/// A verdict with a finding, and the call or message at which it was given.
pub(super) type VerdictAt = (Verdict, usize);

/// The outcome of an event: what the engine made of it, and its verdicts.
pub(super) struct Judgement<T> {
    pub(super) verdicts: Vec<VerdictAt>,
    /// The digests of the call or of its result.
    pub(super) digests: T,
}

/// A call that may still be answered or shown.
#[derive(Serialize, Deserialize)]
struct RecentCall {
    ticket: Ticket,
    excerpt: Excerpt,
}

/// A worker of a replay.
pub(super) struct Worker {
    pub(super) name: Arc<str>,
    /// The number of the worker in the trace. Names may occur again, numbers do not.
    pub(super) number: u64,
    /// The clock of the replay at the latest event.
    pub(super) seen: u64,
    pub(super) engine: Box<Engine>,
    recent: Recent,
    early_warning: EarlyWarning,
    /// The steps of the loop to explain, if there is one.
    history: Option<Box<LoopHistory>>,
}

/// The events of a worker that may still matter.
#[derive(Default, Serialize, Deserialize)]
struct Recent {
    /// The latest calls, oldest first.
    calls: VecDeque<RecentCall>,
    /// Clues to causes, by the indexes of the calls.
    past: PastCalls,
    numbering: Numbering,
    /// The latest text-only turns, oldest first.
    texts: VecDeque<Excerpt>,
    /// The latest messages of the user, oldest first.
    prompts: VecDeque<Excerpt>,
    /// The messages that were text-only turns, by turn.
    turns: Numbering,
    turn: u64,
    /// Whether all results since the last stop were refusals.
    is_stopped: bool,
}

/// A worker that is idle: its engine and its recent events as bytes, some hundred for a short run.
#[derive(Serialize, Deserialize)]
pub(super) struct IdleWorker {
    pub(super) name: Arc<str>,
    number: u64,
    early_warning: EarlyWarning,
    #[serde(skip)]
    history: Option<Box<LoopHistory>>,
    bytes: Box<[u8]>,
}

impl IdleWorker {
    /// Returns the bytes that the worker takes, about.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.name.len() + self.bytes.len()
    }

    /// Returns the worker as it was.
    pub(super) fn resume(self, preset: &'static Preset) -> Worker {
        let Self { name, number, early_warning, history, bytes } = self;
        let mut worker = Worker { early_warning, history, ..Worker::new(name, number, preset) };
        // The bytes never left the process, or were read once when they came back.
        (
            worker.engine.detector,
            (worker.engine.digester.similar, worker.engine.digester.lines, worker.recent),
        ) = state(&bytes, preset).expect(OWN);
        worker
    }

    /// Returns whether the bytes can be read, which another process may have written.
    pub(super) fn can_resume(&self, preset: &'static Preset) -> bool {
        state(&self.bytes, preset).is_some()
    }
}

/// The engine of an idle worker, and the state of its digester and its events.
type State = (Detector<'static, 64, 32>, (SimilarCalls, Lines<LINE_WORDS>, Recent));

/// Reads the bytes of an idle worker.
fn state(bytes: &[u8], preset: &'static Preset) -> Option<State> {
    let mut reader = postcard::Deserializer::from_bytes(bytes);
    let detector = Detector::deserialize(preset.policy, &mut reader).ok()?;
    Some((detector, Deserialize::deserialize(&mut reader).ok()?))
}

/// Why the bytes of a worker can be read.
const OWN: &str = "bytes that this process wrote";

impl Worker {
    pub(super) fn new(name: Arc<str>, number: u64, preset: &'static Preset) -> Self {
        Self {
            name,
            number,
            seen: 0,
            // No policy has a longer window, not even one from a file.
            engine: Engine::new(preset.policy, preset.recipe)
                .expect("a window of at most 64")
                .into(),
            recent: Recent::default(),
            early_warning: EarlyWarning::default(),
            history: None,
        }
    }

    /// Returns the worker in little memory.
    pub(super) fn idle(self) -> IdleWorker {
        let Self { name, number, seen: _, engine, recent, early_warning, history } = self;
        let state = (&engine.detector, &engine.digester.similar, &engine.digester.lines, &recent);
        // Writing to memory does not fail.
        let bytes = postcard::to_stdvec(&state).expect(OWN).into();
        IdleWorker { name, number, early_warning, history, bytes }
    }

    /// Keeps the steps of the loops that are `wanted`, if there are any.
    pub(super) fn explaining(mut self, wanted: Option<Wanted>) -> Self {
        let policy = self.engine.detector.policy();
        self.history = wanted.map(|wanted| LoopHistory::new(wanted, policy).into());
        self
    }

    /// Takes in a call. Returns the verdicts on earlier calls that settle with it, and on itself.
    pub(super) fn call(&mut self, call: &Call<'_>) -> Judgement<unstuck_core::Call> {
        let args = &*call.compared_args();
        let digests = self.engine.digester.call(call.tool, args).step(call.step);
        let mut verdicts = Vec::new();
        let each = |verdict| verdicts.push((verdict, call.index));
        let (ticket, verdict) = self.engine.announce_each(digests, each);
        if verdict.finding.is_some() {
            verdicts.push((verdict, call.index));
        }
        let excerpt = Excerpt::new(call.index, Some(call.tool), args);
        if let Some(seq) = ticket.id.seq() {
            self.recent.numbering.set(seq, call.index);
            self.early_warning.call(seq, call.step, self.engine.detector.policy());
            self.explain(&verdicts, |history, near| {
                history.call(seq, call.step, excerpt.clone(), near);
            });
        }
        self.recent.past.announce(call.index as u64, call.tool, args);
        push(&mut self.recent.calls, RecentCall { ticket, excerpt }, KEPT_MAX);
        Judgement { verdicts, digests }
    }

    /// Takes in the outcome of a call, if the call is still kept. Returns the verdicts on all calls
    /// that settle, each with its call, and the digest of the result unless the call was refused.
    pub(super) fn outcome(
        &mut self,
        outcome: &Outcome<'_>,
    ) -> Judgement<Option<unstuck_core::Outcome>> {
        let (mut verdicts, mut digests) = (Vec::new(), None);
        let Some(position) = self.recent_position(outcome.call) else {
            return Judgement { verdicts, digests };
        };
        // A placeholder stands for a result that the model no longer sees, so nothing is reported.
        if is_placeholder(outcome.text) {
            return Judgement { verdicts, digests };
        }
        let RecentCall { ticket, excerpt } = &self.recent.calls[position];
        let (ticket, tool) = (*ticket, excerpt.tool.clone().unwrap_or_default());
        let tool = tool.as_str();
        let answer = Answer::new(tool, outcome.text, outcome.failed);
        let answer = Answer { cut: outcome.cut, ..answer };
        let numbering = &self.recent.numbering;
        let each = |verdict: Verdict| {
            let judged = verdict.finding.map(|finding| numbering.index(finding.last));
            verdicts.push((verdict, judged.unwrap_or(outcome.call)));
        };
        match (outcome.refused, self.recent.is_stopped) {
            (false, _) => digests = Some(self.engine.outcome_each(ticket, answer, each)),
            (true, false) => self.engine.detector.vetoed_each(ticket.id, each),
            // The loop has ended. A guard that still refuses its calls does not count them.
            (true, true) => self.engine.detector.cancel_each(ticket.id, each),
        }
        let is_stop = |(verdict, _): &VerdictAt| verdict.action == Action::Stop;
        self.recent.is_stopped =
            verdicts.iter().any(is_stop) || (self.recent.is_stopped && outcome.refused);
        let failed = digests.is_some_and(|outcome| outcome.has_failed());
        let line = ResultLine::of(outcome.text, failed, outcome.refused);
        if let Some(seq) = ticket.id.seq() {
            self.early_warning.outcome(seq);
            if let Some(history) = &self.history {
                let answer = self.call_result(history, tool, outcome, digests);
                let line = line.clone();
                self.explain(&verdicts, |history, near| history.outcome(seq, (answer, line), near));
            }
        }
        if !outcome.refused {
            self.recent.past.answer(outcome.call as u64, outcome.text, failed);
        }
        if let Some(call) = self.recent.calls.get_mut(position) {
            call.excerpt.result = Some(line);
        }
        Judgement { verdicts, digests }
    }

    /// Returns the outcome of a call of `tool` as an explanation shows it. `known` is what the engine made
    /// of it.
    fn call_result(
        &self,
        history: &LoopHistory,
        tool: &str,
        outcome: &Outcome<'_>,
        known: Option<unstuck_core::Outcome>,
    ) -> CallResult {
        let recipe = &self.engine.digester.recipe;
        let refusal = || recipe.result(tool, outcome.text, outcome.cut).result;
        CallResult {
            digest: known.map_or_else(refusal, |known| known.digest()),
            text: history.excerpt(outcome.text).to_owned(),
            failed: outcome.failed,
            refused: outcome.refused,
        }
    }

    /// Takes in a message of the user, or a turn in which the agent called no tool.
    pub(super) fn message(&mut self, message: &Message<'_>) -> Option<VerdictAt> {
        if message.role != Role::Assistant && is_notification(message.text) {
            self.engine.detector.notified();
            return None;
        }
        if message.role == Role::User {
            self.early_warning.user_message();
            self.recent.is_stopped = false;
            let excerpt = Excerpt::new(message.index, None, message.text);
            let verdicts = (self.engine.user_message(message.text), message.index);
            self.explain(&[verdicts], |history, near| history.prompt(excerpt.clone(), near));
            push(&mut self.recent.prompts, excerpt, TEXTS_MAX);
            return verdicts.0.finding.is_some().then_some(verdicts);
        }
        if !message.text_only {
            return None;
        }
        let excerpt = Excerpt::new(message.index, None, message.text);
        let verdicts = (self.engine.text_turn(message.text), message.index);
        let number = self.recent.turn;
        self.explain(&[verdicts], |history, near| history.turn(number, excerpt.clone(), near));
        push(&mut self.recent.texts, excerpt, TEXTS_MAX);
        self.recent.turns.set(self.recent.turn, message.index);
        self.recent.turn += 1;
        Some(verdicts)
    }

    /// Ends the worker's run. Open calls stay without an outcome. Returns the verdicts on them, at
    /// the last call.
    pub(super) fn finish(&mut self) -> Vec<VerdictAt> {
        let last = self.recent.calls.back().map_or(0, |call| call.excerpt.index);
        let mut verdicts = Vec::new();
        self.engine.detector.finish_each(|verdict| verdicts.push((verdict, last)));
        self.explain(&verdicts, LoopHistory::finish);
        verdicts
    }

    /// Returns the steps of the loop to explain, if the worker was in it. The history is gone
    /// afterwards.
    pub(super) fn explained(&mut self) -> Option<Explained> {
        self.history.take()?.end(&self.name)
    }

    /// Passes an event to the history, if a loop is to be explained, with a way to measure the nearness of
    /// each rule, and the verdicts.
    fn explain(
        &mut self,
        verdicts: &[VerdictAt],
        what: impl FnOnce(&mut LoopHistory, &mut Near<'_>),
    ) {
        let Some(history) = &mut self.history else { return };
        // After a start-over the engine's history is empty, so the nearness is unknown.
        let is_cleared = verdicts.iter().any(|(verdict, _)| verdict.action >= Action::StartOver);
        let detector = &self.engine.detector;
        what(history, &mut || {
            detector.nearness().map(|near| Some(near).filter(|_| !is_cleared)).collect()
        });
        for (verdict, _) in verdicts {
            history.judge(verdict);
        }
    }

    /// Measures how near the rules are after an event with these verdicts.
    pub(super) fn watch(&mut self, judged: Judged) {
        let detector = &self.engine.detector;
        self.early_warning.update(|| detector.nearest(), judged, detector.policy());
    }

    /// Returns the early warning of `finding`, which was just made. Findings about text have none.
    pub(super) fn warning(&self, finding: &Finding) -> Option<Warning> {
        let (near, lead) = self.early_warning.warning(finding.last)?;
        let rule = self.engine.detector.policy().rule_name(near.rule);
        let warning = Warning { rule, held: near.held, needed: near.needed, lead };
        matches!(finding.rule, RuleIndex::Call(_)).then_some(warning)
    }

    pub(super) fn location(&self, finding: &Finding, at: usize) -> Location {
        if matches!(finding.rule, RuleIndex::Text(_)) {
            let first = match self.prompted(finding).next() {
                Some(prompt) => prompt.index,
                None => self.recent.turns.index(finding.first),
            };
            return Location::Messages { first, at };
        }
        let (first, last) = (finding.first, finding.last);
        Location::Calls {
            first: self.recent.numbering.index(first),
            at,
            last: self.recent.numbering.index(last),
        }
    }

    fn recent_position(&self, index: usize) -> Option<usize> {
        self.recent.calls.binary_search_by_key(&index, |call| call.excerpt.index).ok()
    }

    fn recent_call(&self, index: usize) -> Option<&RecentCall> {
        self.recent.calls.get(self.recent_position(index)?)
    }

    /// Returns the indexes of the calls that prove `finding`, as far back as their numbers are kept. A
    /// finding about text has none.
    pub(super) fn evidence(&self, finding: &Finding) -> impl Iterator<Item = usize> {
        let is_of_calls = matches!(finding.rule, RuleIndex::Call(_));
        let calls = is_of_calls.then(|| finding.calls()).into_iter().flatten();
        calls.map(|seq| self.recent.numbering.index(seq))
    }

    /// Returns the user messages that `finding` is about, as far as they are kept.
    fn prompted(&self, finding: &Finding) -> impl Iterator<Item = &Excerpt> {
        let count = if finding.is_about_prompts() { finding.laps.into() } else { 0 };
        self.recent.prompts.iter().skip(self.recent.prompts.len().saturating_sub(count))
    }

    /// Returns the tools of one lap of a cycle, in the order of the calls.
    pub(super) fn lap(&self, finding: &Finding) -> Vec<String> {
        let calls = finding.lap().map(|seq| self.recent.numbering.index(seq));
        calls.filter_map(|index| self.recent_call(index)?.excerpt.tool.clone()).collect()
    }

    /// Returns the name of the tool that fails between the calls of `finding`.
    pub(super) fn failing(&self, finding: &Finding) -> Option<String> {
        let seq = self.engine.detector.failing(finding)?;
        let index = self.recent.numbering.index(seq);
        self.recent_call(index)?.excerpt.tool.clone()
    }

    /// Returns the cause of `finding`, as far as the answer to its last call and the calls before it tell.
    pub(super) fn cause(&self, finding: &Finding) -> Option<Cause> {
        let is_told = matches!(finding.rule, RuleIndex::Call(_))
            && (finding.has_failed() || finding.kind != Kind::Cycle);
        let index = self.recent.numbering.index(finding.last);
        let calls = self.recent.past.back_from(index as u64);
        let latest = calls.clone().next().filter(|_| is_told)?;
        // The line that tells a failure may stand anywhere, and the whole answer is not kept.
        let result = self.recent_call(index)?.excerpt.result.as_ref()?;
        let line = Some(&*result.text).filter(|_| latest.failed);
        let told = line.into_iter().chain([latest.answer]);
        told.into_iter().find_map(|answer| Cause::of(answer, calls.clone()))
    }

    pub(super) fn proof(&self, finding: &Finding) -> Vec<Excerpt> {
        if finding.is_about_prompts() {
            return self.prompted(finding).cloned().collect();
        }
        if matches!(finding.rule, RuleIndex::Text(_)) {
            // All turns from the first to the last. A text that repeats itself is a single turn.
            let turns = usize::try_from(finding.last.saturating_sub(finding.first) + 1);
            let turns = turns.unwrap_or(usize::MAX).min(self.recent.texts.len());
            return self
                .recent
                .texts
                .iter()
                .skip(self.recent.texts.len() - turns)
                .cloned()
                .collect();
        }
        let calls = finding.calls().map(|seq| self.recent.numbering.index(seq));
        calls.filter_map(|index| Some(self.recent_call(index)?.excerpt.clone())).collect()
    }
}

/// The most stretches of a worker's calls whose indexes are kept. If two workers alternate call by
/// call, each call is a stretch. Only the beginning of a very long streak can be further back.
const STRETCHES_MAX: usize = 4096;

/// The index of each sequence number. Both rise by one until another worker makes a call.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Numbering {
    /// The beginning of each stretch, in rising order.
    stretches: VecDeque<(u64, usize)>,
}

impl Numbering {
    /// Notes that `seq` has `index`. Both rise from one call to the next.
    pub(super) fn set(&mut self, seq: u64, index: usize) {
        if self.stretches.is_empty() || self.index(seq) != index {
            push(&mut self.stretches, (seq, index), STRETCHES_MAX);
        }
    }

    /// Returns the index of `seq`, or the oldest index that is still kept.
    pub(super) fn index(&self, seq: u64) -> usize {
        let after = self.stretches.partition_point(|&(start, _)| start <= seq);
        let stretch = self.stretches.get(after.saturating_sub(1));
        stretch.map_or(0, |&(start, index)| {
            index + usize::try_from(seq.saturating_sub(start)).unwrap_or(usize::MAX - index)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbering_follows_interleaved_workers() {
        let indexes = [0, 1, 4, 5, 9, 10, 11];
        let mut numbering = Numbering::default();
        for (seq, index) in (0..).zip(indexes) {
            numbering.set(seq, index);
        }
        assert!((0..).zip(indexes).all(|(seq, index)| numbering.index(seq) == index));
        assert_eq!(numbering.stretches.len(), 3);
    }

    #[test]
    fn numbering_drops_old_stretches() {
        let most = STRETCHES_MAX as u64;
        let mut numbering = Numbering::default();
        for seq in 0..2 * most {
            numbering.set(seq, 10 * usize::try_from(seq).expect("few"));
        }
        assert_eq!(numbering.stretches.len(), STRETCHES_MAX);
        assert_eq!(numbering.index(2 * most - 1), 10 * (2 * STRETCHES_MAX - 1));
        assert_eq!(numbering.index(most), 10 * STRETCHES_MAX);
    }
}
