//! The messages and actions as a loop goes on, and the rulings of a host.

use std::sync::{Arc, Mutex};

use unstuck::Action::Proceed;
use unstuck::{Action, Guard, Ruling, ToolOutput};

use super::{ARGS, actions, fail};

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
