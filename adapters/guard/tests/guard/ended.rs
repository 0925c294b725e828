//! Loops for which a run was ended: their calls stay refused until something is new.

use std::sync::{Arc, Mutex};

use unstuck::{Action, Asked, Decision, Guard, Ruling, Ticket};

use super::{ARGS, fail};

/// The most calls that it takes to end a run.
const CALLS_MAX: usize = 40;

/// An automatic message, as hosts send it when a model stops too early.
const CONTINUE: &str = "Please continue.";

/// The call of [`ARGS`] comes back with `result`.
fn answer(guard: &mut Guard, result: &str, failed: bool) -> Decision {
    let before = guard.before("bash", ARGS);
    assert!(!before.is_blocked(), "{:?}", before.message());
    guard.after(before.ticket(), result, failed)
}

/// A write that works.
fn write(guard: &mut Guard, content: &str) {
    let args = serde_json::json!({ "file_path": "Makefile", "content": content }).to_string();
    let before = guard.before("Write", args);
    assert!(!before.is_blocked(), "{:?}", before.message());
    let after = guard.after(before.ticket(), "The file Makefile has been updated.", false);
    assert!(!after.is_blocked(), "{:?}", after.message());
}

/// Makes the failing call until the run is ended for it.
fn end(guard: &mut Guard) {
    for _ in 0..CALLS_MAX {
        let (before, after) = fail(guard, ARGS);
        if after.unwrap_or(before).judged() == Action::Stop {
            return;
        }
    }
    panic!("no stop in {CALLS_MAX} calls");
}

/// Creates a guard that has stopped a run after `CONTINUE` came once.
fn ended() -> Guard {
    let mut guard = Guard::new();
    let _ = guard.user_message(CONTINUE);
    end(&mut guard);
    guard
}

/// Returns whether the failing call is refused, without making it.
fn is_refused(guard: &Guard) -> bool {
    let before = guard.clone().before("bash", ARGS);
    assert_eq!(before.is_blocked(), before.action() == Action::Stop);
    before.is_blocked()
}

#[test]
fn a_loop_stays_refused_after_the_stop() {
    let mut guard = ended();
    for _ in 0..9 {
        let (before, after) = fail(&mut guard, ARGS);
        assert_eq!((before.action(), before.judged()), (Action::Stop, Action::Stop));
        assert!(before.is_blocked() && after.is_none());
    }
    let refusal = guard.before("bash", ARGS).refusal();
    assert!(refusal.starts_with("[unstuck] This call was not run. The run was ended"), "{refusal}");
    assert!(!guard.before("bash", r#"{"command":"make some"}"#).is_blocked(), "another call");
    assert!(!guard.before("sh", ARGS).is_blocked(), "another tool");
}

#[test]
fn a_call_is_refused_however_it_is_written() {
    let mut guard = ended();
    assert!(guard.before("bash", "{ \"command\" : \"make\\u0020all\" }").is_blocked());
}

#[test]
fn only_words_that_are_new_lift_it() {
    for (message, is_lifted) in
        [(CONTINUE, false), (" Please continue.\n", false), ("The target is called `some`.", true)]
    {
        let mut guard = ended();
        let _ = guard.user_message(message);
        assert_eq!(is_refused(&guard), !is_lifted, "{message}");
    }
}

#[test]
fn a_message_is_new_only_once() {
    let mut guard = ended();
    let _ = guard.user_message("Try again.");
    end(&mut guard);
    let _ = guard.user_message("Try again.");
    assert!(is_refused(&guard));
}

#[test]
fn a_new_run_begins_without_refusals() {
    let mut guard = ended();
    guard.clear();
    assert!(!is_refused(&guard));
}

#[test]
fn what_leaves_all_as_it_is_lifts_nothing() {
    for (tool, args, result, failed) in [
        ("Read", r#"{"file_path":"Makefile"}"#, "some:\n\ttouch some", false),
        ("Grep", r#"{"pattern":"all"}"#, "Makefile:1:all", false),
        ("Write", r#"{"file_path":"Makefile","content":"all:"}"#, "EACCES", true),
        ("bash", r#"{"command":"ls"}"#, "Makefile", false),
        ("bash", r#"{"command":"sleep 5"}"#, "", false),
    ] {
        let mut guard = ended();
        let before = guard.before(tool, args);
        let _ = guard.after(before.ticket(), result, failed);
        assert!(is_refused(&guard), "{tool} {args}");
    }
}

#[test]
fn a_text_turn_and_a_compaction_lift_nothing() {
    let mut guard = ended();
    let _ = guard.text_turn("Let me look at the Makefile.");
    guard.compacted();
    assert!(is_refused(&guard));
}

#[test]
fn a_change_that_worked_allows_one_attempt() {
    let mut guard = ended();
    write(&mut guard, "some:");
    let (before, after) = fail(&mut guard, ARGS);
    assert!(!before.is_blocked());
    let after = after.expect("the call is made");
    assert_eq!(after.action(), Action::Stop, "it came back the same");
    assert!(after.message().is_some());
    assert!(is_refused(&guard));
    write(&mut guard, "all: some");
    assert!(!is_refused(&guard), "each change allows one");
}

#[test]
fn a_call_that_comes_back_otherwise_is_free() {
    for (result, failed) in [("cc -o all all.c", false), ("make: *** [all] Error 1", true)] {
        let mut guard = ended();
        write(&mut guard, "all: some");
        assert!(!answer(&mut guard, result, failed).is_blocked());
        assert!(!is_refused(&guard), "{result}");
        assert_eq!(fail(&mut guard, ARGS).1.expect("a call").action(), Action::Proceed);
    }
}

#[test]
fn calls_of_a_cycle_are_all_refused() {
    let commands = [r#"{"command":"cat a.log"}"#, r#"{"command":"make all"}"#];
    let mut guard = Guard::new();
    let turn = |guard: &mut Guard, args: &str| {
        let before = guard.before("bash", args);
        if before.is_blocked() {
            return before.action();
        }
        guard.after(before.ticket(), format!("error: {args} is broken"), true).action()
    };
    let stop = (0..CALLS_MAX).find(|n| turn(&mut guard, commands[n % 2]) == Action::Stop);
    assert!(stop.is_some());
    for args in commands {
        assert_eq!(turn(&mut guard, args), Action::Stop, "{args}");
    }
}

#[test]
fn a_restored_guard_still_refuses_the_call() {
    let restored = |guard: &Guard| Guard::builder().restore(&guard.save()).expect("a checkpoint");
    let mut guard = restored(&ended());
    assert!(is_refused(&guard));
    write(&mut guard, "some:");
    let mut guard = restored(&guard);
    assert!(!is_refused(&guard), "the change is remembered");
    let (_, after) = fail(&mut guard, ARGS);
    assert_eq!(after.expect("a call").action(), Action::Stop, "and what it came back with");
    let mut guard = restored(&guard);
    let _ = guard.user_message(CONTINUE);
    assert!(is_refused(&guard));
}

#[test]
fn a_refusal_tells_of_the_calls_that_settle_with_it() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&heard);
    let mut guard = Guard::builder()
        .on_finding(move |found| {
            told.lock().expect("nobody panicked").push(found.tool.clone());
            Ruling::Agree
        })
        .build()
        .expect("a guard");
    end(&mut guard);
    heard.lock().expect("nobody panicked").clear();
    let announce = |guard: &mut Guard, tool: &str, args: &str, step: u64| -> Ticket {
        let before = guard.announce(&Asked::new(tool, args).step(step));
        before.ticket().expect("a call has a ticket")
    };
    for step in 1..=3 {
        if step == 3 {
            let _ = announce(&mut guard, "slow", "{}", step);
        }
        let ticket = announce(&mut guard, "look", r#"{"file":"a"}"#, step);
        let _ = guard.after(ticket, "cannot open a", true);
    }
    assert_eq!(*heard.lock().expect("nobody panicked"), [""; 0], "the third waits for `slow`");
    let refused = guard.announce(&Asked::new("bash", ARGS).step(4));
    assert_eq!(refused.action(), Action::Stop);
    assert_eq!(*heard.lock().expect("nobody panicked"), ["look"]);
}

#[test]
fn a_guard_that_observes_never_refuses() {
    let mut guard = Guard::builder().observe_only().build().expect("a guard");
    for _ in 0..CALLS_MAX {
        let (before, after) = fail(&mut guard, ARGS);
        let after = after.expect("nothing is refused");
        assert_eq!((before.action(), after.action()), (Action::Proceed, Action::Proceed));
    }
    assert!(guard.statistics().actions(Action::Stop) > 0);
}

#[test]
fn a_host_that_overrules_the_stop_ends_no_run() {
    let rule = |found: &unstuck::Evidence| match found.action {
        Action::Stop => unstuck::Ruling::Instead(Action::Warn),
        _ => unstuck::Ruling::Agree,
    };
    let mut guard = Guard::builder().on_finding(rule).build().expect("a guard");
    for _ in 0..CALLS_MAX {
        let (before, _) = fail(&mut guard, ARGS);
        assert!(before.action() < Action::Stop);
    }
}
