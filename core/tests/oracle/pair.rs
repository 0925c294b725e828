//! Both detectors side by side, with the same events and the same expected verdicts.

use std::collections::HashMap;

use unstuck_core::{
    Action, Call, CallId, Detector, Digest, Finding, Kind, LoopId, Outcome, Policy, RepeatedText,
    RuleIndex, Tool, Turn, Verdict,
};

use crate::model::{
    CallSpec, ECHO_PERIOD, Event, Identity, Model, OutcomeSpec, PlainFinding, PlainVerdict,
};

#[derive(Clone)]
pub(crate) struct Pair<'p, const W: usize> {
    pub(crate) engine: Detector<'p, W>,
    model: Model<'p>,
    calls: Vec<CallId>,
    /// The latest finding.
    last: Option<Finding>,
    /// True if the engine is saved and restored before every event, and its other answers are
    /// checked.
    thorough: bool,
}

/// The id that the engine gave each loop, and the loop of each id.
#[derive(Default)]
pub(crate) struct Ids {
    ids: HashMap<Identity, LoopId>,
    identities: HashMap<LoopId, Identity>,
}

impl Ids {
    fn agree(&mut self, id: LoopId, identity: &Identity) -> Result<(), String> {
        let known = *self.ids.entry(identity.clone()).or_insert(id);
        let meant = self.identities.entry(id).or_insert_with(|| identity.clone());
        if known != id || meant != identity {
            return Err(format!("loop {identity:?} has ids {known} and {id}, which is {meant:?}"));
        }
        Ok(())
    }
}

impl<'p, const W: usize> Pair<'p, W> {
    pub(crate) fn new(policy: &'p Policy<'p>) -> Self {
        Self {
            engine: Detector::new(policy).unwrap(),
            model: Model::new(policy, W),
            calls: Vec::new(),
            last: None,
            thorough: false,
        }
    }

    /// Returns the pair in thorough mode: the engine is saved and restored before every event, and
    /// its nearness, peeks and statistics are compared too.
    pub(crate) fn thorough(mut self) -> Self {
        self.thorough = true;
        self
    }

    /// Returns the number of announced calls.
    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Gives the event to both detectors. Returns their disagreement as an error.
    pub(crate) fn take(&mut self, event: Event, ids: &mut Ids) -> Result<PlainVerdict, String> {
        if self.thorough {
            self.agree_on_nearness()?;
            self.restart();
        }
        let expected = self.peeked(event);
        let (verdict, settled) = self.tell_engine(event);
        if expected.is_some_and(|expected| expected != verdict) {
            return Err(format!("peeked {expected:?}\nannounced {verdict:?}"));
        }
        let (said, said_settled) = self.model.take(event);
        if settled.len() != said_settled.len() {
            return Err(format!("engine {settled:?}\noracle {said_settled:?}"));
        }
        for (verdict, said) in settled.iter().zip(&said_settled) {
            self.agree(verdict, said, ids)?;
        }
        self.agree(&verdict, &said, ids)?;
        if self.thorough {
            self.agree_on_counts()?;
        }
        let mut latest_first = [&verdict].into_iter().chain(settled.iter().rev());
        self.last = latest_first.find_map(|verdict| verdict.finding).or(self.last);
        Ok(said.strongest(said_settled))
    }

    /// Returns the engine's verdict on an announcement by [`Detector::peek`].
    fn peeked(&self, event: Event) -> Option<Verdict> {
        match event {
            Event::Announce(asked) if self.thorough => Some(self.engine.peek(call(asked))),
            _ => None,
        }
    }

    fn tell_engine(&mut self, event: Event) -> (Verdict, Vec<Verdict>) {
        let engine = &mut self.engine;
        let mut settled = Vec::new();
        let each = |verdict| settled.push(verdict);
        let mut verdict = Verdict::PROCEED;
        match event {
            Event::Announce(asked) => {
                let (id, said) = engine.announce_each(call(asked), each);
                self.calls.push(id);
                verdict = said;
            }
            Event::Outcome(n, answer) => engine.outcome_each(self.calls[n], outcome(answer), each),
            Event::Veto(n) => engine.vetoed_each(self.calls[n], each),
            Event::Finish => engine.finish_each(each),
            Event::Text(text, laps) => {
                let repeated = RepeatedText { period: ECHO_PERIOD, laps };
                verdict = engine.text_turn(Turn::new(digest(text)).repeated(repeated));
            }
            Event::UserMessage(message) => verdict = engine.user_message(digest(message)),
            Event::Clear => engine.clear(),
            Event::Retry(calls) => {
                engine.retry(calls);
            }
            Event::Cancel(n) => engine.cancel_each(self.calls[n], each),
            Event::Compacted => engine.compacted(),
            Event::Progress => engine.progress(),
            Event::FalsePositive => {
                if let Some(finding) = &self.last {
                    engine.false_positive(finding);
                }
            }
        }
        (verdict, settled)
    }

    /// Saves the engine, and continues with the restored one.
    #[cfg(feature = "postcard")]
    fn restart(&mut self) {
        let mut buffer = vec![0; Detector::<W>::CHECKPOINT_MAX];
        let written = self.engine.save(&mut buffer).unwrap();
        self.engine = Detector::restore(self.engine.policy(), written).unwrap();
    }

    #[cfg(not(feature = "postcard"))]
    fn restart(&mut self) {
        self.engine = self.engine.clone();
    }

    fn agree_on_nearness(&self) -> Result<(), String> {
        let near = self.engine.nearness().map(|near| (near.held.into(), near.needed.into()));
        let (near, said) = (near.collect::<Vec<(usize, usize)>>(), self.model.nearness());
        if near == said { Ok(()) } else { Err(format!("near: engine {near:?}, oracle {said:?}")) }
    }

    fn agree_on_counts(&self) -> Result<(), String> {
        let (statistics, tally) = (self.engine.statistics(), &self.model.tally);
        let count = |n: usize| u32::try_from(n).unwrap();
        let mut same = statistics.checks() == count(tally.checks)
            && statistics.false_positives() == count(tally.false_positives);
        for kind in Kind::ALL {
            let of_kind = tally.findings.iter().filter(|(of, _)| *of == kind);
            same &= statistics.findings(kind) == count(of_kind.count());
        }
        for action in Action::ALL {
            let asked = tally.findings.iter().filter(|(_, asked)| *asked == action);
            same &= statistics.actions(action) == count(asked.count());
        }
        if same { Ok(()) } else { Err(format!("engine {statistics:?}\noracle {tally:?}")) }
    }

    fn agree(&self, verdict: &Verdict, said: &PlainVerdict, ids: &mut Ids) -> Result<(), String> {
        let found = verdict.finding.as_ref().zip(said.finding.as_ref());
        if found.is_none() && (verdict.finding.is_some() || said.finding.is_some()) {
            return Err(format!("engine {verdict:?}\noracle {said:?}"));
        }
        let found = found.map(|(finding, said)| PlainFinding {
            rule: match finding.rule {
                RuleIndex::Call(place) => Ok(usize::from(place)),
                RuleIndex::Text(place) => Err(usize::from(place)),
            },
            kind: finding.kind,
            period: usize::from(finding.period),
            laps: usize::from(finding.laps),
            first: finding.first,
            last: finding.last,
            calls: finding.calls().collect(),
            tool: u8::try_from(finding.tool.id()).unwrap(),
            tag: finding.tag,
            confidence: usize::from(finding.confidence),
            most: finding.most,
            identity: said.identity.clone(),
        });
        let engine = PlainVerdict {
            action: verdict.action,
            rung: usize::from(verdict.rung),
            fresh: verdict.fresh,
            finding: found,
        };
        if &engine != said && !self.only_first_beyond_window(&engine, said) {
            return Err(format!("engine {engine:?}\noracle {said:?}"));
        }
        match (&verdict.finding, &said.finding) {
            (Some(finding), Some(found)) => ids.agree(finding.loop_id, &found.identity),
            _ => Ok(()),
        }
    }

    /// Beyond the window the engine gives a bound: the pattern began there or earlier.
    fn only_first_beyond_window(&self, engine: &PlainVerdict, said: &PlainVerdict) -> bool {
        let (Some(ours), Some(theirs)) = (&engine.finding, &said.finding) else { return false };
        let window = u64::from(self.engine.policy().window());
        let beyond = theirs.last - theirs.first > window && theirs.first <= ours.first;
        let aligned = PlainVerdict {
            finding: Some(PlainFinding { first: theirs.first, ..ours.clone() }),
            ..engine.clone()
        };
        beyond && &aligned == said
    }
}

fn digest(n: u8) -> Digest {
    Digest::of(&[n])
}

fn call(asked: CallSpec) -> Call {
    let call = Call::new(Tool::new(u32::from(asked.tool)), digest(asked.args))
        .similar(digest(asked.similar))
        .tag(asked.tag);
    let call = if asked.idempotent { call.idempotent() } else { call };
    match asked.step {
        Some(step) => call.step(u64::from(step)),
        None => call,
    }
}

fn outcome(answer: OutcomeSpec) -> Outcome {
    let result = digest(answer.result);
    let outcome = if answer.failed { Outcome::failed(result) } else { Outcome::ok(result) };
    let outcome = answer.near.map_or(outcome, |near| outcome.near(digest(near)));
    let outcome = outcome.raw(digest(answer.raw));
    let outcome = answer.score.map_or(outcome, |score| outcome.score(score.into()));
    let outcome = if answer.pending { outcome.pending() } else { outcome };
    let outcome = if answer.late { outcome.transient() } else { outcome };
    let outcome = if answer.telling { outcome.telling() } else { outcome };
    let outcome = match (answer.weak, answer.pending) {
        (true, true) => outcome.started(),
        (true, false) => outcome.weak(),
        (false, _) => outcome,
    };
    if answer.silent { outcome.silent() } else { outcome }
}
