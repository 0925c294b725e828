//! A central counter of every call, written from the definition: slow, and easy to check.

use std::collections::BTreeMap;

use unstuck_swarm::{
    Allowance, Digest, FRAME_MAX, Key, Limits, Observation, Replica, Rule, Tool, Verdict, Window,
    Worker,
};

/// The swarm of all these tests.
pub(crate) const SWARM: Digest = Digest::new(7);

/// Half the window.
pub(crate) const HALF: u64 = 1_000;

/// Every call, with its time.
#[derive(Clone, Debug)]
pub(crate) struct Central {
    rule: Rule,
    calls: Vec<(Observation, u64)>,
}

/// The result: calls, workers and the rung.
pub(crate) type Found = (u32, u32, u8);

impl Central {
    pub(crate) fn new(rule: &Rule) -> Self {
        Self { rule: rule.clone(), calls: Vec::new() }
    }

    pub(crate) fn record(&mut self, observation: &Observation, now: u64) {
        self.calls.push((*observation, now));
    }

    /// Returns the number of calls of each worker with this key in the window.
    fn by_worker(&self, key: Key, now: u64) -> BTreeMap<Worker, u32> {
        let generation = |time| self.rule.window.generation(time);
        let mut by_worker = BTreeMap::new();
        for (observation, time) in &self.calls {
            let age = generation(now).checked_sub(generation(*time));
            if observation.key() == key && age.is_some_and(|age| age < 2) {
                *by_worker.entry(observation.worker).or_insert(0) += 1;
            }
        }
        by_worker
    }

    /// Returns all calls of a key in the window, and its workers, with the free calls.
    pub(crate) fn heat(&self, key: Key, now: u64) -> (u32, u32) {
        let by_worker = self.by_worker(key, now);
        (by_worker.values().sum(), by_worker.len().try_into().unwrap())
    }

    /// Returns the highest rung that is reached if each worker counts for at most its share.
    pub(crate) fn found(&self, like: &Observation, now: u64) -> Option<Found> {
        let by_worker = self.by_worker(like.key(), now);
        let workers = u32::try_from(by_worker.len()).unwrap();
        let counted = |rung: u32| -> u32 {
            let share = (rung * self.rule.calls).div_ceil(self.rule.workers);
            let counts = by_worker.values().map(|calls| match self.rule.allowance(like) {
                Allowance::None => *calls,
                Allowance::Once => calls - 1,
                Allowance::Any => 0,
            });
            counts.map(|calls| calls.min(share)).sum()
        };
        let is_there = |rung: &u32| counted(*rung) >= rung * self.rule.calls;
        let enough = workers >= self.rule.workers;
        let rung = (1..=4).rev().find(is_there).filter(|_| enough)?;
        let free = if self.rule.allowance(like) == Allowance::Once { workers } else { 0 };
        Some((counted(4) + free, workers, rung.try_into().unwrap()))
    }

    /// Returns the rung that is reached if each worker counts for all its calls.
    pub(crate) fn rung_without_shares(&self, like: &Observation, now: u64) -> u8 {
        let by_worker = self.by_worker(like.key(), now);
        let calls = by_worker.values().map(|calls| match self.rule.allowance(like) {
            Allowance::None => *calls,
            Allowance::Once => calls - 1,
            Allowance::Any => 0,
        });
        self.rule.rung(calls.sum(), by_worker.len().try_into().unwrap()).0
    }
}

/// Returns the result of a verdict.
pub(crate) fn found(verdict: &Verdict) -> Option<Found> {
    verdict.finding.map(|finding| (finding.calls, finding.workers, verdict.rung))
}

/// Returns a rule over a window of two halves.
pub(crate) fn rule(calls: u32, workers: u32) -> Rule {
    let rule = Rule::default().calls(calls).workers(workers);
    rule.window(Window::Time { span: 2 * HALF }).check().expect("a rule that works")
}

/// Creates a replica with room for everything.
pub(crate) fn replica(rule: &Rule, number: u64) -> Replica {
    Replica::new(rule.clone(), SWARM, Worker::new(number), Limits::default()).expect("it can work")
}

/// Returns the next frame of a replica.
pub(crate) fn frame_of(replica: &mut Replica, now: u64) -> Vec<u8> {
    let mut buffer = [0; FRAME_MAX];
    replica.frame(&mut buffer, now).to_vec()
}

/// Returns an observation of the call `call` by the worker `worker`. A third of the calls have an unknown
/// result, and a third failed. Each call has its own tool.
pub(crate) fn observation(worker: u64, call: u8) -> Observation {
    let observation = Observation::new(Worker::new(worker), tool(call), Digest::of(&[call]));
    match call % 3 {
        0 => observation,
        1 => observation.failed(Digest::of(b"no way")),
        _ => observation.ok(Digest::of(b"done")),
    }
}

pub(crate) fn tool(call: u8) -> Tool {
    Tool::new(call.into())
}
