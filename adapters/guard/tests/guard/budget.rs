//! Budgets: notes at 80 %, refusals at 100 %, and no word of a loop.

use std::time::Duration;

use unstuck::{AtLimit, Budget, Decision, Guard, Limits};

const NONE: Limits = Limits { calls: None, tokens: None, dollars: None, minutes: None };

/// A budget of this many calls in a session.
fn calls(limit: u64, at_limit: AtLimit) -> Budget {
    let session = Limits { calls: Some(limit), ..NONE };
    Budget { session, at_limit, ..Budget::default() }
}

fn guard(budget: Budget) -> Guard {
    Guard::builder().budget(budget).build().expect("a guard")
}

/// Makes another call than before, and returns the decision on its result, or the refusal.
fn step(guard: &mut Guard) -> Decision {
    let spent = guard.account().map_or(0, |account| account.spent().calls);
    let args = format!("file-{spent}");
    let before = guard.before("read_file", &*args);
    if before.is_blocked() {
        return before;
    }
    guard.after(before.ticket(), &*args, false)
}

fn text(decision: &Decision) -> Option<&str> {
    decision.message().map(unstuck::Message::text)
}

/// Makes `times` calls and returns the texts of the last decision.
fn last(guard: &mut Guard, times: usize) -> Option<String> {
    (0..times).map(|_| text(&step(guard)).map(str::to_owned)).last().flatten()
}

#[test]
fn minutes_are_those_in_which_the_agent_works() {
    let turn = Limits { minutes: Some(10), ..NONE };
    let day = Limits { minutes: Some(20), ..NONE };
    let mut guard = guard(Budget { turn, day, ..Budget::default() });
    let clock = |minute: u64| Duration::from_secs(60 * (20_000 * 24 * 60 + minute));
    let at = |guard: &mut Guard, minute: u64| {
        guard.tell_time(clock(minute));
        text(&step(guard)).map(|text| text.split(" are spent").next().unwrap().to_owned())
    };
    let today = |guard: &Guard, minute: u64| {
        guard.account().map(|account| account.spent_on_day(clock(minute)).time.as_secs() / 60)
    };
    assert_eq!(at(&mut guard, 100), None);
    assert_eq!(at(&mut guard, 107), None);
    assert_eq!(at(&mut guard, 108).as_deref(), Some("8 of 10 minutes of this turn"));
    // The user thinks for two hours.
    let _ = guard.user_message("And now the tests.");
    assert_eq!(at(&mut guard, 228), None);
    assert_eq!(at(&mut guard, 235), None);
    assert_eq!(at(&mut guard, 236).as_deref(), Some("8 of 10 minutes of this turn"));
    assert_eq!(today(&guard, 236), Some(16));
    // A new day begins with nothing spent.
    let tomorrow = 24 * 60 + 1;
    assert_eq!(today(&guard, tomorrow), Some(0));
    let _ = guard.user_message("Good morning.");
    assert_eq!((at(&mut guard, tomorrow), today(&guard, tomorrow)), (None, Some(0)));
}

#[test]
fn what_is_spent_survives_a_restart() {
    let budget = calls(10, AtLimit::Refuse);
    let mut first = guard(budget);
    assert!(last(&mut first, 8).is_some());
    let restore = |builder: unstuck::Builder, guard: &Guard| builder.restore(&guard.save());
    let mut restored = restore(Guard::builder().budget(budget), &first).expect("a guard");
    assert_eq!(last(&mut restored, 1), None, "it was said before");
    assert!(last(&mut restored, 1).is_some_and(|text| text.starts_with("10 of 10 calls")));
    assert!(step(&mut restored).is_blocked());
    // A guard without a budget goes on from the same state, and one with a budget from a state without.
    let mut free = restore(Guard::builder(), &restored).expect("a guard");
    assert!(free.account().is_none() && !step(&mut free).is_blocked());
    let fresh = restore(Guard::builder().budget(budget), &free).expect("a guard");
    assert_eq!(fresh.account().map(|account| account.spent().calls), Some(0));
}

#[test]
fn a_guard_that_observes_or_has_no_limit_says_nothing() {
    let mut observing =
        Guard::builder().budget(calls(2, AtLimit::Refuse)).observe_only().build().expect("a guard");
    assert_eq!(last(&mut observing, 5), None);
    let spent = |guard: &Guard| guard.account().map(|account| account.spent().calls);
    assert_eq!(spent(&observing), Some(5));
    let empty = guard(Budget { at_limit: AtLimit::Refuse, ..Budget::default() });
    assert_eq!(spent(&empty), None);
    // The same bytes as ever.
    assert_eq!(empty.save(), Guard::new().save());
}

#[test]
fn a_call_that_comes_twice_counts_once() {
    let mut guard = guard(calls(10, AtLimit::Refuse));
    let asked = unstuck::Asked::new("read_file", "a").id("1");
    for _ in 0..3 {
        assert!(!guard.announce(&asked).is_blocked());
    }
    let _ = guard.finished(&unstuck::Asked::new("read_file", "b").id("2"), "b", false);
    assert_eq!(guard.account().map(|account| account.spent().calls), Some(2));
}
