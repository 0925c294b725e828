//! Budgets: notes at 80 %, refusals at 100 %, and no word of a loop.

use std::time::Duration;

use unstuck::{Action, AtLimit, Budget, Decision, Guard, Limits, Spent};

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

const FINISH: &str = "Finish what matters, or say what is missing.";

#[test]
fn the_notes_come_at_80_and_at_100_percent_and_once() {
    let mut guard = guard(calls(100, AtLimit::Note));
    let mut notes = Vec::new();
    for call in 1..=150 {
        let decision = step(&mut guard);
        if let Some(text) = text(&decision) {
            assert_eq!(decision.action(), Action::Nudge);
            assert!(decision.evidence().is_none() && !text.contains("loop"), "{text}");
            notes.push((call, text.to_owned()));
        }
    }
    let end = "Come to an end: say what is done and what is missing.";
    let expected = [
        (80, format!("80 of 100 calls of this session are spent. {FINISH}")),
        (100, format!("100 of 100 calls of this session are spent. {end}")),
    ];
    assert_eq!(notes, expected);
}

#[test]
fn a_share_is_near_at_80_percent_and_reached_at_100() {
    for (tokens, near, reached) in
        [(79, false, false), (80, true, false), (99, true, false), (100, true, true)]
    {
        let session = Limits { tokens: Some(100), ..NONE };
        let at_limit = AtLimit::Refuse;
        let mut guard = guard(Budget { session, at_limit, ..Budget::default() });
        guard.spend(&Spent { tokens, ..Spent::default() });
        assert_eq!(step(&mut guard).message().is_some(), near, "{tokens}");
        assert_eq!(step(&mut guard).is_blocked(), reached, "{tokens}");
    }
}

#[test]
fn calls_are_refused_at_the_limit_and_insisting_ends_the_run() {
    // A guard cannot ask a person.
    for at_limit in [AtLimit::Refuse, AtLimit::Ask] {
        let mut guard = guard(calls(10, at_limit));
        let end = "Further calls are refused: say what is done and what is missing.";
        let expected = format!("10 of 10 calls of this session are spent. {end}");
        assert_eq!(last(&mut guard, 10), Some(expected));
        let decisions = [(); 5].map(|()| step(&mut guard));
        assert_eq!(
            decisions[0].refusal(),
            "[unstuck] This call was not run. 10 of 10 calls of this session are spent. Say what is \
             done and what is missing."
        );
        let expected = [Action::Block, Action::Block, Action::Block, Action::Block, Action::Stop];
        assert_eq!(decisions.each_ref().map(Decision::action), expected);
        assert!(decisions.iter().all(|one| one.evidence().is_none() && one.ticket().is_none()));
        // No loop was found, and the refused calls are not among those that were judged.
        let judged = guard.statistics().checks();
        assert_eq!((guard.loops(), guard.blocked_calls(), judged), (0, 0, 10));
    }
}

#[test]
fn a_turn_ends_with_a_new_message_and_a_session_does_not() {
    let (turn, session) = (Limits { calls: Some(5), ..NONE }, Limits { calls: Some(8), ..NONE });
    let budget = Budget { turn, session, at_limit: AtLimit::Refuse, ..Budget::default() };
    let mut guard = guard(budget);
    let _ = guard.user_message("Begin.");
    assert!(last(&mut guard, 4).is_some_and(|text| text.starts_with("4 of 5 calls of this turn")));
    assert!(!step(&mut guard).is_blocked() && step(&mut guard).is_blocked());
    // A text that came before begins no turn.
    let _ = guard.user_message("Begin.");
    assert!(step(&mut guard).is_blocked());
    let _ = guard.user_message("Now do the rest.");
    assert!(
        last(&mut guard, 2).is_some_and(|text| text.starts_with("7 of 8 calls of this session"))
    );
    assert!(!step(&mut guard).is_blocked());
    let refused = step(&mut guard);
    assert_eq!(refused.action(), Action::Block, "the refusals before were in another turn");
    assert!(text(&refused).is_some_and(|text| text.starts_with("8 of 8 calls of this session")));
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
fn several_limits_share_a_note_and_dollars_have_cents() {
    let session = Limits { calls: Some(1), dollars: Some(5.0), ..NONE };
    let mut guard = guard(Budget { session, ..Budget::default() });
    guard.spend(&Spent { dollars: 4.02, ..Spent::default() });
    let note = step(&mut guard);
    let expected =
        "1 of 1 calls of this session are spent. 4.02 of 5.00 dollars of this session are spent. ";
    assert!(text(&note).is_some_and(|text| text.starts_with(expected)), "{note:?}");
}

#[test]
fn the_note_of_a_budget_stands_behind_that_of_a_loop() {
    let mut guard = guard(calls(3, AtLimit::Note));
    let failing = || {
        let before = guard.before("bash", "make");
        guard.after(before.ticket(), "no rule to make target", true)
    };
    let decisions: Vec<_> = std::iter::repeat_with(failing).take(3).collect();
    assert!(decisions[..2].iter().all(|one| one.message().is_none()));
    let note = text(&decisions[2]).expect("a note").to_owned();
    assert!(note.starts_with("You have made the same `bash` call"), "{note}");
    assert!(note.contains(" 3 of 3 calls of this session are spent. "), "{note}");
    assert!(decisions[2].evidence().is_some());
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
