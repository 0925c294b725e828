//! Compares a ledger with its definition, over all calls that it remembers.

use std::collections::BTreeSet;

use proptest::prelude::*;
use unstuck_swarm::{
    Action, Allowance, Digest, Key, Ledger, Observation, Rule, Tool, Verdict, Window, Worker,
};

/// All calls, as they came: generation, key, worker.
struct Model {
    rule: Rule,
    calls: Vec<(u64, Key, Worker)>,
}

impl Model {
    /// Counts by the definition: the calls of this generation and the previous one, less the workers if the
    /// first call of each is free.
    fn record(&mut self, observation: &Observation, now: u64) -> (u32, u32, Action) {
        let allowance = self.rule.allowance(observation);
        if allowance == Allowance::Any {
            return (0, 0, Action::Proceed);
        }
        let time = match self.rule.window {
            Window::Time { .. } => now,
            Window::Calls { .. } => self.calls.len() as u64,
        };
        let generation = time / self.rule.window.span().div_ceil(2);
        self.calls.push((generation, observation.key(), observation.worker));
        let counted = self.calls.iter().filter(|(when, key, _)| {
            *key == observation.key() && (*when == generation || *when + 1 == generation)
        });
        let workers: BTreeSet<_> = counted.clone().map(|(_, _, worker)| *worker).collect();
        let [calls, workers] = [counted.count(), workers.len()].map(|n| u32::try_from(n).unwrap());
        let free = if allowance == Allowance::Once { workers } else { 0 };
        let times = if workers >= self.rule.workers { (calls - free) / self.rule.calls } else { 0 };
        let actions = [Action::Proceed, Action::Nudge, Action::Warn, Action::Block, Action::Stop];
        (calls, workers, actions[times.min(4) as usize].min(self.rule.strongest))
    }
}

fn allowance() -> impl Strategy<Value = Allowance> {
    prop_oneof![Just(Allowance::None), Just(Allowance::Once), Just(Allowance::Any)]
}

fn rule() -> impl Strategy<Value = Rule> {
    let window = prop_oneof![
        (2..40_u64).prop_map(|span| Window::Time { span }),
        (2..60_u64).prop_map(|span| Window::Calls { span }),
    ];
    let strongest = proptest::sample::select(&Action::ALL[1..]);
    (2..6_u32, 1..4_u32, window, strongest, allowance(), allowance()).prop_map(
        |(calls, workers, window, strongest, worked, own)| {
            let rule = Rule::default().calls(calls).workers(workers).window(window);
            rule.strongest(strongest).worked(worked).tool(Tool::new(1), own)
        },
    )
}

/// A call of one of two tools, and how long after the last it comes.
fn step() -> impl Strategy<Value = (Observation, u64)> {
    let answer = proptest::option::of((0..2_u64, any::<bool>()));
    let wait = prop_oneof![8 => 0..3_u64, 1 => 0..50_u64];
    (0..5_u64, 0..2_u32, 0..2_u64, answer, wait).prop_map(|(worker, tool, call, answer, wait)| {
        let call = Digest::new(call).mix(Digest::new(u64::from(tool)));
        let observation = Observation::new(Worker::new(worker), Tool::new(tool), call);
        let observation = match answer {
            None => observation,
            Some((result, true)) => observation.failed(Digest::new(result)),
            Some((result, false)) => observation.ok(Digest::new(result)),
        };
        (observation, wait)
    })
}

proptest! {
    #[test]
    fn every_verdict_is_that_of_the_definition(
        rule in rule(),
        steps in proptest::collection::vec(step(), 1..200),
    ) {
        let mut ledger = Ledger::new(rule.clone()).unwrap();
        let mut model = Model { rule, calls: Vec::new() };
        let mut now = 0;
        for (observation, wait) in steps {
            now += wait;
            let (calls, workers, action) = model.record(&observation, now);
            let Verdict { action: said, finding, rung, .. } = ledger.record(&observation, now);
            prop_assert_eq!(said, action);
            prop_assert_eq!(finding.is_some(), rung > 0);
            if let Some(finding) = finding {
                prop_assert_eq!((finding.calls, finding.workers), (calls, workers));
                prop_assert_eq!(finding.missed, 0);
                prop_assert_eq!(finding.loop_id, observation.key().loop_id());
                prop_assert_eq!(finding.outcome, observation.outcome());
                prop_assert_eq!(finding.tool, observation.tool);
            }
        }
    }

    #[test]
    fn what_was_found_is_known_before_the_next_such_call(
        rule in rule(),
        steps in proptest::collection::vec(step(), 1..100),
    ) {
        let mut ledger = Ledger::new(rule.clone()).unwrap();
        let mut now = 0;
        for (observation, wait) in steps {
            now += wait;
            let said = ledger.look(observation.call, now);
            // A look changes nothing, not even if the window counts calls.
            prop_assert_eq!(ledger.look(observation.call, now), said);
            let verdict = ledger.record(&observation, now);
            let counters = ledger.counters();
            let after = ledger.look(observation.call, now);
            // A window of calls may end with the call that fills it.
            if matches!(rule.window, Window::Time { .. }) || ledger.counters() == counters {
                prop_assert!(after.action >= verdict.action);
                prop_assert!(verdict.finding.is_none() || after.finding.is_some());
            }
        }
    }
}

/// Workers that get different results are not looping. Workers that get the same result are.
#[test]
fn equal_results_are_a_loop_and_different_ones_are_not() {
    let mut ledger = Ledger::new(Rule::default()).unwrap();
    for n in 0..100_u64 {
        let observation = super::call(n % 10, 0).ok(Digest::new(n));
        assert_eq!(ledger.record(&observation, n), Verdict::PROCEED);
    }
    // The first call of each is free, and nine more are too few.
    for n in 0..19_u64 {
        let observation = super::call(n % 10, 0).ok(Digest::new(1000));
        assert_eq!(ledger.record(&observation, n), Verdict::PROCEED);
        // An error is another result, even with the same digest: nine such calls.
        if n >= 9 {
            continue;
        }
        assert_eq!(
            ledger.record(&super::call(n, 0).failed(Digest::new(1000)), n),
            Verdict::PROCEED
        );
    }
    let observation = super::call(9, 0).ok(Digest::new(1000));
    assert_eq!(ledger.record(&observation, 0).action, Action::Nudge);
}
