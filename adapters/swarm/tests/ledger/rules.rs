//! Invalid rules, clocks that jump, and exemptions.

use unstuck_swarm::{
    Action, Allowance, CALLS_MAX, Digest, Ledger, Rule, RuleError, Verdict, WORKERS_MAX, Window,
};

use super::{call, tool};

fn spoken(rule: Rule) -> String {
    Ledger::new(rule).unwrap_err().to_string()
}

#[test]
fn the_error_of_an_invalid_rule_names_the_range() {
    let rule = Rule::default;
    let span = |span| rule().window(Window::Time { span });
    assert_eq!(spoken(rule().calls(1)), "a rule of 1 calls is invalid: ask for 2 to 16777216");
    assert_eq!(spoken(rule().workers(0)), "a rule of 0 workers is invalid: ask for 1 to 15");
    assert_eq!(spoken(rule().workers(16)), "a rule of 16 workers is invalid: ask for 1 to 15");
    assert_eq!(spoken(span(1)), "a window of 1 cannot be cut into halves: ask for 2 or more");
    assert_eq!(rule().calls(CALLS_MAX + 1).check(), Err(RuleError::Calls { asked: CALLS_MAX + 1 }));
    for rule in
        [rule().calls(2), rule().calls(CALLS_MAX), rule().workers(1), span(2), span(u64::MAX)]
    {
        assert_eq!(rule.clone().check(), Ok(rule));
    }
    assert!(rule().workers(WORKERS_MAX).check().is_ok());
}

#[test]
fn each_rung_is_a_multiple_of_the_first_up_to_the_strongest_action() {
    for strongest in Action::ALL {
        let rule = Rule::default().calls(3).strongest(strongest);
        let ladder: Vec<_> =
            [2, 3, 5, 6, 8, 9, 11, 12, u32::MAX].map(|calls| rule.rung(calls, 2)).into();
        let rungs: Vec<_> = ladder.iter().map(|(rung, _)| *rung).collect();
        assert_eq!(rungs, [0, 1, 1, 2, 2, 3, 3, 4, 4]);
        let whole = [Action::Nudge, Action::Warn, Action::Block, Action::Stop];
        for (rung, action) in ladder.into_iter().filter(|(rung, _)| *rung > 0) {
            assert_eq!(action, whole[usize::from(rung) - 1].min(strongest));
        }
        assert_eq!(rule.rung(u32::MAX, 1), (0, Action::Proceed));
    }
}

#[test]
fn one_worker_alone_is_no_swarm() {
    let mut ledger = Ledger::new(Rule::default()).unwrap();
    for _ in 0..1000 {
        assert_eq!(ledger.record(&call(1, 0), 0), Verdict::PROCEED);
    }
    assert_eq!(ledger.record(&call(2, 0), 0).action, Action::Block);
}

#[test]
fn every_worker_may_read_the_readme_once() {
    let mut ledger = Ledger::new(Rule::default()).unwrap();
    let read = |worker| call(worker, 0).ok(Digest::of(b"# unstuck"));
    for worker in 0..1000 {
        assert_eq!(ledger.record(&read(worker), 0), Verdict::PROCEED);
    }
    // Fifteen workers are counted exactly.
    let mut ledger = Ledger::new(ledger.rule().clone()).unwrap();
    for worker in 0..12 {
        assert_eq!(ledger.record(&read(worker), 0), Verdict::PROCEED);
    }
    for worker in 0..9 {
        assert_eq!(ledger.record(&read(worker), 0), Verdict::PROCEED);
    }
    let finding = ledger.record(&read(9), 0).finding.expect("ten read it twice");
    assert_eq!((finding.calls, finding.workers), (22, 12));

    // Errors count from the first one, unless a tool is exempt from that, too.
    let mut ledger = Ledger::new(Rule::default()).unwrap();
    let mut plain = Ledger::new(Rule::default().tool(tool(), Allowance::None)).unwrap();
    for worker in 0..10 {
        let failed = call(worker, 0).failed(Digest::of(b"no such file"));
        assert_eq!(ledger.record(&failed, 0).finding.is_some(), worker == 9);
        assert_eq!(plain.record(&read(worker), 0).finding.is_some(), worker == 9);
    }
}

#[test]
fn calls_of_an_exempt_tool_are_as_if_they_had_never_been_made() {
    let rule = Rule::default().tool(tool(), Allowance::Any).window(Window::Calls { span: 4 });
    let mut ledger = Ledger::new(rule).unwrap();
    for n in 0..100 {
        assert_eq!(ledger.record(&call(n, 0), 0), Verdict::PROCEED);
    }
    assert_eq!((ledger.counters(), ledger.hottest(9, 0)), (0, Vec::new()));
}

#[test]
fn a_call_counts_for_half_the_span_at_least_and_never_for_longer_than_all_of_it() {
    // By a clock of 100 ticks: from 0 to 49 is a generation.
    let rule = || Rule::default().calls(2).window(Window::Time { span: 100 });
    for first in 0..100_u64 {
        for later in first..300 {
            let mut ledger = Ledger::new(rule()).unwrap();
            let _ = ledger.record(&call(1, 0), first);
            let found = ledger.record(&call(2, 0), later).finding.is_some();
            match later - first {
                0..=50 => assert!(found, "{first} {later}"),
                100.. => assert!(!found, "{first} {later}"),
                _ => assert_eq!(found, later / 50 - first / 50 <= 1),
            }
        }
    }
}

#[test]
fn a_clock_that_is_set_back_makes_no_old_call_count() {
    let rule = Rule::default().calls(2).window(Window::Time { span: 100 });
    let mut ledger = Ledger::new(rule).unwrap();
    let _ = ledger.record(&call(1, 0), 1000);
    // Less than half a span: the clock stands still.
    assert!(ledger.record(&call(2, 0), 990).finding.is_some());
    // More: all calls are forgotten.
    assert!(ledger.record(&call(3, 0), 500).finding.is_none());
    assert!(ledger.record(&call(4, 0), 500).finding.is_some());
    // A read with an earlier time forgets nothing.
    assert_eq!(ledger.hottest(9, 0).len(), 1);
    assert!(ledger.look(call(3, 0).call, 0).finding.is_some());
    // Far ahead: all calls are forgotten.
    assert!(ledger.record(&call(3, 0), u64::MAX).finding.is_none());
    assert_eq!(ledger.counters(), 1);
}

#[test]
fn a_cleared_ledger_is_empty() {
    let mut ledger = Ledger::new(Rule::default()).unwrap();
    for n in 0..10 {
        let _ = ledger.record(&call(n, 0), 0);
    }
    assert_eq!(ledger.look(call(0, 0).call, 0).action, Action::Nudge);
    ledger.clear();
    assert_eq!(ledger.look(call(0, 0).call, 0), Verdict::PROCEED);
    assert_eq!(ledger.counters(), 0);
    assert_eq!(ledger.record(&call(1, 0), 0), Verdict::PROCEED);
}

#[test]
fn the_strongest_of_several_loops_of_a_call_is_reported() {
    let mut ledger = Ledger::new(Rule::default()).unwrap();
    for n in 0..20 {
        let _ = ledger.record(&call(n % 10, 0).ok(Digest::new(1)), 0);
    }
    for n in 0..20 {
        let _ = ledger.record(&call(n, 0).failed(Digest::new(2)), 0);
    }
    let known = ledger.look(call(0, 0).call, 0);
    assert_eq!((known.action, known.finding.map(|found| found.calls)), (Action::Warn, Some(20)));
    // When the window has passed, so has the loop.
    assert_eq!(ledger.look(call(0, 0).call, 1_200_000), Verdict::PROCEED);
}

#[test]
fn the_oldest_of_too_many_loops_are_found_anew_by_their_next_call() {
    let mut ledger = Ledger::new(Rule::default().calls(2)).unwrap();
    for number in 0..100 {
        for worker in 0..2 {
            let _ = ledger.record(&call(worker, number), 0);
        }
    }
    assert_eq!(ledger.look(call(0, 0).call, 0), Verdict::PROCEED);
    assert_eq!(ledger.look(call(0, 99).call, 0).action, Action::Nudge);
    assert_eq!(ledger.record(&call(0, 0), 0).action, Action::Nudge);
    assert_eq!(ledger.look(call(0, 0).call, 0).action, Action::Nudge);
}
