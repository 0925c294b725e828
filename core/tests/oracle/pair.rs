//! Both detectors side by side, fed the same events and held to the same answers.

use std::collections::HashMap;

use unstuck_core::{
    Call, CallId, Detector, Digest, LoopId, Outcome, Policy, RuleIndex, Tool, Verdict,
};

use crate::model::{Answer, Asked, Event, Found, Identity, Model, Said};

#[derive(Clone)]
pub(crate) struct Pair<'p, const W: usize> {
    engine: Detector<'p, W>,
    model: Model<'p>,
    calls: Vec<CallId>,
}

/// Which id the engine gave each loop, and the loop that each id was given to.
#[derive(Default)]
pub(crate) struct Ids {
    ids: HashMap<Identity, LoopId>,
    identities: HashMap<LoopId, Identity>,
}

impl Ids {
    fn agree(&mut self, id: LoopId, identity: &Identity) -> Result<(), String> {
        let known = self.ids.entry(identity.clone()).or_insert(id);
        let meant = self.identities.entry(id).or_insert_with(|| identity.clone());
        if *known != id || meant != identity {
            return Err(format!("loop {identity:?} has ids {known} and {id}, which is {meant:?}"));
        }
        Ok(())
    }
}

impl<'p, const W: usize> Pair<'p, W> {
    pub(crate) fn new(policy: &'p Policy<'p>) -> Self {
        Self {
            engine: Detector::new(policy).unwrap(),
            model: Model::new(policy),
            calls: Vec::new(),
        }
    }

    /// How many calls were announced.
    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Gives both the event; what they disagree on is the error.
    pub(crate) fn take(&mut self, event: Event, ids: &mut Ids) -> Result<Said, String> {
        let (verdict, settled) = self.tell_engine(event);
        let (said, said_settled) = self.model.take(event);
        self.agree(&verdict, &said, ids)?;
        self.agree(&settled, &said_settled, ids)?;
        Ok(said)
    }

    fn tell_engine(&mut self, event: Event) -> (Verdict, Verdict) {
        let engine = &mut self.engine;
        let verdict = match event {
            Event::Announce(asked) => {
                let announced = engine.announce(call(asked));
                self.calls.push(announced.id);
                return (announced.verdict, announced.settled);
            }
            Event::Outcome(n, answer) => engine.outcome(self.calls[n], outcome(answer)),
            Event::Veto(n) => engine.vetoed(self.calls[n]),
            Event::Finish => engine.finish(),
            Event::Text(text) => engine.text_turn(digest(text)),
            Event::UserMessage(message) => {
                engine.user_message(digest(message));
                Verdict::PROCEED
            }
            Event::Clear => {
                engine.clear();
                Verdict::PROCEED
            }
        };
        (verdict, Verdict::PROCEED)
    }

    fn agree(&self, verdict: &Verdict, said: &Said, ids: &mut Ids) -> Result<(), String> {
        let found = verdict.finding.as_ref().map(|finding| Found {
            rule: match finding.rule {
                RuleIndex::Call(place) => Some(usize::from(place)),
                RuleIndex::Text => None,
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
            identity: said
                .finding
                .as_ref()
                .map_or_else(Identity::default, |found| found.identity.clone()),
        });
        let engine = Said {
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
    fn only_first_beyond_window(&self, engine: &Said, said: &Said) -> bool {
        let (Some(ours), Some(theirs)) = (&engine.finding, &said.finding) else { return false };
        let window = u64::from(self.engine.policy().window());
        let beyond = theirs.last - theirs.first > window && theirs.first <= ours.first;
        let aligned =
            Said { finding: Some(Found { first: theirs.first, ..ours.clone() }), ..engine.clone() };
        beyond && &aligned == said
    }
}

fn digest(n: u8) -> Digest {
    Digest::of(&[n])
}

fn call(asked: Asked) -> Call {
    let call = Call::new(Tool::new(u32::from(asked.tool)), digest(asked.args))
        .similar(digest(asked.similar))
        .tag(asked.tag);
    match asked.step {
        Some(step) => call.step(u64::from(step)),
        None => call,
    }
}

fn outcome(answer: Answer) -> Outcome {
    let result = digest(answer.result);
    let outcome = if answer.failed { Outcome::failed(result) } else { Outcome::ok(result) };
    let outcome = outcome.near(digest(answer.near));
    if answer.silent { outcome.silent() } else { outcome }
}
