//! Loops for which a run was ended: their calls stay refused until something is new.

use std::sync::{Arc, Mutex};

use unstuck::{Action, Asked, Builder, Decision, Guard, Ruling, Ticket};
use unstuck_core::{Args, Ladder, Pattern, Policy, Results, Rule, Rung, TextRule, Texts};
use unstuck_text::Recipe;

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
    assert!(refusal.starts_with("[unstuck] This call was not run. This call keeps"), "{refusal}");
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
fn what_worked_may_be_read_again_after_a_compaction_and_failures_stay() {
    let found = |result: &str, failed: bool| {
        let mut guard = Guard::builder().build().expect("a guard");
        let mut made = (0..4).map(|_| {
            let before = guard.before("Read", r#"{"file_path":"a.rs"}"#);
            let after = guard.after(before.ticket(), result, failed);
            guard.compacted();
            after.message().is_some()
        });
        made.position(|told| told)
    };
    assert_eq!(
        found("fn main() { println!(\"a long enough answer to be evidence\"); }", false),
        None
    );
    assert_eq!(found("File does not exist: a.rs", true), Some(2));
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
            told.lock().expect("nobody panicked").push(found.tool.to_string());
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

/// A policy that stops what `balanced` only warns of.
fn strict() -> Builder {
    const LADDER: Ladder<'_> =
        Ladder::by_repetitions(&[Rung::new(3, Action::Nudge), Rung::new(5, Action::Stop)]);
    const VARIANTS: Rule<'_> =
        Rule::new("variants", Args::SameTool, Results::Same, Pattern::Streak { times: 3 }, LADDER);
    const TALK: &[TextRule<'_>] = &[TextRule::new("talk", Texts::Any, 3, LADDER)];
    const POLICY: Policy<'_> = match Policy::new("strict", 20, &[VARIANTS]) {
        Ok(policy) => match policy.with_texts(TALK) {
            Ok(policy) => policy,
            Err(_) => unreachable!(),
        },
        Err(_) => unreachable!(),
    };
    Guard::builder().policy(&POLICY, Recipe::BALANCED)
}

/// Makes calls that differ and fail alike. Returns the actions.
fn variants(guard: &mut Guard, numbers: std::ops::Range<u32>) -> Vec<Action> {
    let vary = |number: u32| {
        let args = serde_json::json!({ "command": format!("make -f Makefile.{number} all") });
        let before = guard.before("bash", args.to_string());
        if before.is_blocked() {
            return before.action();
        }
        guard
            .after(before.ticket(), "make: *** No rule to make target 'all'.  Stop.", true)
            .action()
    };
    numbers.map(vary).collect()
}

#[test]
fn the_ladder_does_not_start_again_with_another_variant() {
    let mut guard = strict().build().expect("a guard");
    let first = variants(&mut guard, 0..40);
    let stopped = first.iter().position(|action| *action == Action::Stop).expect("a stop");
    assert!(first[..stopped].contains(&Action::Nudge), "{first:?}");
    let later = &first[stopped..];
    assert!(
        later.iter().all(|action| [Action::Proceed, Action::Stop].contains(action)),
        "{first:?}"
    );
    assert!(later.iter().filter(|action| **action == Action::Stop).count() > 1, "{first:?}");
    let _ = guard.user_message("The target is called `some`.");
    let anew = variants(&mut guard, 40..60);
    assert_eq!(anew.iter().find(|action| **action > Action::Proceed), Some(&Action::Nudge));
}

#[test]
fn where_no_run_can_end_nothing_claims_that_it_does() {
    let says = |guard: &mut Guard| {
        let mut says = Vec::new();
        for _ in 0..CALLS_MAX {
            let (before, after) = fail(guard, ARGS);
            let decided = after.unwrap_or(before);
            says.extend(decided.message().map(|message| (decided.action(), message.note())));
        }
        says
    };
    let mut guard = Guard::builder().without_end().build().expect("a guard");
    let mut said = says(&mut guard);
    let whole = says(&mut Guard::new());
    let actions = |said: &[(Action, String)]| said.iter().map(|one| one.0).collect::<Vec<_>>();
    assert_eq!(actions(&said), actions(&whole));
    assert!(said.iter().all(|(_, text)| !text.contains("run ends")), "{said:?}");
    said.retain(|(action, _)| *action == Action::Stop);
    let held = "stays refused until the user says something new or a change has worked.";
    assert!(said.iter().all(|(_, text)| text.contains(held)), "{said:?}");
    // Text is no call that could be refused.
    let mut guard = strict().without_end().build().expect("a guard");
    let texts: Vec<_> = (0..CALLS_MAX).map(|_| guard.text_turn("Let me see.")).collect();
    let stopped = texts.iter().find(|decision| decision.action() == Action::Stop).expect("a stop");
    let text = stopped.message().expect("a message").text();
    assert!(!text.contains("refused") && !text.contains("run ends"), "{text}");
}
