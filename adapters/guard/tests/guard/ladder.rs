//! The messages and actions as a loop goes on, and the rulings of a host.

use std::sync::{Arc, Mutex};

use unstuck::Action::{Block, Nudge, Proceed, Stop};
use unstuck::{Action, BLOCKS_MAX, Decision, Evidence, Guard, Ruling, ToolOutput};

use super::{ARGS, actions, fail};

#[test]
fn a_loop_is_nudged_warned_of_blocked_and_stopped() {
    let mut guard = Guard::new();
    let ladder = [Proceed, Proceed, Nudge, Nudge, Block, Block, Block, Stop];
    assert_eq!(actions(&mut guard, 8), ladder);
    assert_eq!(actions(&mut guard, 8), [Stop; 8], "and it stays refused");
    let _ = guard.user_message("Try once more.");
    assert_eq!(actions(&mut guard, 8), ladder, "and then from the beginning");
}

#[test]
fn every_message_of_a_loop_reads_well() {
    let mut guard = Guard::new();
    let mut said = Vec::new();
    for _ in 0..8 {
        let (before, after) = fail(&mut guard, ARGS);
        said.extend(before.message().map(|_| before.refusal()));
        said.extend(after.iter().filter_map(|after| Some(after.message()?.note())));
    }
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_result_is_annotated_where_there_is_something_to_say() {
    let mut guard = Guard::new();
    let annotated = [(); 3].map(|()| {
        let ticket = guard.before("bash", ARGS).ticket();
        guard.after(ticket, "no", true).annotate("no").into_owned()
    });
    assert_eq!(annotated[..2], ["no", "no"]);
    assert!(annotated[2].starts_with("no\n\n[unstuck] You have made"), "{}", annotated[2]);
    let said = [(); 3].map(|()| guard.text_turn("Let me see.").annotate("").into_owned());
    assert_eq!(said[..2], ["", ""]);
    assert!(said[2].starts_with("[unstuck] Your last 3 turns"), "{}", said[2]);
    let proceed = guard.before("read_file", "{}");
    assert_eq!(proceed.refusal(), "[unstuck] This call was not run.");
    assert_eq!(guard.after(None, "no", true).action(), Proceed);
}

/// The texts of an output in the shapes of all providers.
fn shapes(output: &ToolOutput) -> Vec<String> {
    let gemini = output.gemini_function_response("bash", Some("7"));
    assert_eq!(gemini["functionResponse"]["id"], "7");
    let key = if output.failed { "error" } else { "output" };
    let [chat, anthropic] = [output.openai_tool_result("7"), output.anthropic_tool_result("7")];
    assert_eq!((&chat["role"], &chat["tool_call_id"]), (&"tool".into(), &"7".into()));
    assert_eq!(
        (&anthropic["tool_use_id"], &anthropic["is_error"]),
        (&"7".into(), &output.failed.into())
    );
    let item = output.openai_function_call_output("7");
    assert_eq!((&item["type"], &item["call_id"]), (&"function_call_output".into(), &"7".into()));
    let texts = [
        &chat["content"],
        &item["output"],
        &anthropic["content"],
        &gemini["functionResponse"]["response"][key],
    ];
    texts.map(|text| text.as_str().expect("a text").to_owned()).to_vec()
}

#[test]
fn a_result_has_the_shape_of_each_provider() {
    let mut guard = Guard::new();
    let before = loop {
        let (before, after) = fail(&mut guard, ARGS);
        if before.is_blocked() {
            break before;
        }
        // A call that has run keeps its result, even if the decision is to block the next.
        let after = after.expect("the call has run");
        for output in [ToolOutput::failed("no"), ToolOutput::ok("no")] {
            let text = after.annotate("no").into_owned();
            assert_eq!(shapes(&after.annotated(output)), [(); 4].map(|()| text.clone()));
            assert!(!after.refusal().contains("was not run"), "{}", after.refusal());
        }
    };
    let refused = before.refused();
    assert!(refused.failed && refused.text.starts_with("[unstuck] This call was not run. You"));
    assert_eq!(shapes(&refused), [(); 4].map(|()| refused.text.clone()));
    let message = before.message().expect("a blocked call has a message");
    let note = format!("[unstuck] {}", message.text());
    assert_eq!(message.user()["content"], *note);
    assert_eq!(message.gemini_user()["parts"][0]["text"], *note);
}

#[test]
fn an_agent_that_insists_is_stopped_by_presets_that_only_block() {
    let mut guard = Guard::builder().named("nudge").expect("a preset").build().expect("a guard");
    let mut blocked = 0;
    let stopped = loop {
        let (before, _) = fail(&mut guard, ARGS);
        match before.action() {
            Action::Block => blocked += 1,
            Action::Stop => break before,
            _ => assert_eq!(blocked, 0, "what was blocked once stays so"),
        }
    };
    assert_eq!(blocked, BLOCKS_MAX - 1);
    assert!(stopped.ends_the_run() && stopped.is_blocked());
    let message = stopped.message().expect("who stops says why").text();
    assert!(message.ends_with("The run ends here."), "{message}");
    assert_eq!(fail(&mut guard, ARGS).0.action(), Action::Stop, "it stays refused");
}

#[test]
fn the_host_may_overrule_that_an_agent_that_insists_is_stopped() {
    let never_stop = |found: &Evidence| match found.action {
        Stop => Ruling::Instead(Block),
        _ => Ruling::Agree,
    };
    let guard = Guard::builder().named("nudge").expect("a preset").on_finding(never_stop);
    let mut guard = guard.build().expect("a guard");
    let decided = actions(&mut guard, 20);
    assert_eq!(decided.iter().max(), Some(&Block), "{decided:?}");
    assert!(decided.ends_with(&[Block; 10]), "{decided:?}");
}

#[test]
fn blocks_are_counted_for_each_loop_and_forgotten_with_a_new_instruction() {
    let guard = Guard::builder().named("nudge").expect("a preset").build().expect("a guard");
    let mut told = guard.begin("", "main");
    for message in ["Build it.", "Try once more."] {
        let _ = told.user_message(message);
        assert!(actions(&mut told, 5 + 3).iter().all(|action| *action < Action::Stop));
    }
}

#[test]
fn while_it_observes_it_only_says_what_it_would_do() {
    let mut guard = Guard::builder().observe_only().build().expect("a guard");
    let mut judged = Vec::new();
    for _ in 0..8 {
        let (before, after) = fail(&mut guard, ARGS);
        let after = after.expect("nothing is blocked");
        assert_eq!((before.action(), after.action()), (Action::Proceed, Action::Proceed));
        assert!(before.message().is_none() && after.message().is_none());
        judged.push(before.judged().max(after.judged()));
    }
    assert_eq!(judged, [Proceed, Proceed, Nudge, Nudge, Block, Block, Block, Stop]);
}

#[test]
fn a_host_may_do_something_else() {
    let instead = |action| move |_: &Evidence| Ruling::Instead(action);
    for (ruling, expected) in [
        (Action::Proceed, Action::Proceed),
        (Action::Block, Action::Block),
        (Action::Stop, Action::Stop),
    ] {
        let guard = Guard::builder().on_finding(instead(ruling)).build();
        let decided = actions(&mut guard.expect("a guard"), 3);
        assert_eq!(decided, [Action::Proceed, Action::Proceed, expected]);
    }
}

#[test]
fn what_the_host_calls_wrong_is_not_found_again() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let guard = Guard::builder().on_finding(move |found| {
        told.lock().expect("nobody panicked").push(found.to_string());
        Ruling::FalsePositive
    });
    let mut guard = guard.build().expect("a guard");
    assert!(actions(&mut guard, 9).iter().all(|action| *action == Action::Proceed));
    assert!(guard.statistics().false_positives() > 0);
    let seen = seen.lock().expect("nobody panicked");
    assert!(seen[0].starts_with("same-effect: streak of 3 at `bash`, loop "), "{}", seen[0]);
    let mut once = seen.clone();
    once.dedup();
    assert_eq!(once.len(), seen.len(), "each rule asks once");
}

#[test]
fn talk_without_action_is_found() {
    let mut guard = Guard::new();
    let said = [(); 3].map(|()| guard.text_turn("Let me look into this.").action());
    assert_eq!(said, [Action::Proceed, Action::Proceed, Action::Nudge]);
    let mut guard = Guard::new();
    let said = [(); 9].map(|()| guard.text_turn("  ").action());
    assert_eq!(
        said[..5],
        [[Action::Proceed; 4].as_slice(), &[Action::Nudge]].concat(),
        "empty turns"
    );
}

#[test]
fn a_new_instruction_begins_afresh_and_an_automatic_one_does_not() {
    let mut guard = Guard::new();
    let _ = guard.user_message("Please continue.");
    for round in 0..3 {
        assert_eq!(actions(&mut guard, 1) == [Action::Nudge], round == 2);
        let _ = guard.user_message("Please continue.");
    }
    let said = |(_, after): (Decision, Option<Decision>)| after.map(|after| after.action());
    let _ = guard.user_message("Now build the other one.");
    let others = [(); 2].map(|()| said(fail(&mut guard, r#"{"command":"make other"}"#)));
    assert_eq!(others, [Some(Action::Proceed); 2]);
    // Whoever fails as before does not begin afresh.
    for n in 0..3 {
        let _ = guard.user_message(&format!("Try again, for the {n}th time."));
        let again = said(fail(&mut guard, r#"{"command":"make other"}"#));
        assert_eq!(again == Some(Action::Nudge), n >= 1, "{n}");
    }
    guard.clear();
    assert_eq!(actions(&mut guard, 2), [Action::Proceed; 2]);
}
