//! Loops for which a run was ended: their calls stay refused until something is new.

use std::sync::{Arc, Mutex};

use unstuck::{Action, Asked, Builder, Guard, Ruling, Ticket};
use unstuck_core::{Args, Ladder, Pattern, Policy, Results, Rule, Rung, TextRule, Texts};
use unstuck_text::Recipe;

use super::{ARGS, actions, fail};

/// More calls than it takes to end a run.
const CALLS_MAX: usize = 40;

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
    let _ = actions(&mut guard, 8);
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
