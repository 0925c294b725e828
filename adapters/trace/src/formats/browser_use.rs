//! Histories of browser-use, as `save_history` writes them: one document with `history`, a list of steps.
//!
//! - **Calls** are the members of `action` in a step's `model_output`, and share its step. An action is an object
//!   with one member: the tool's name, with the arguments.
//! - **Results** are in `result`, in the order of the actions. After an error, or if the page has changed, the
//!   rest of the actions is not run, and has no result.
//! - **Pages** are a part of the answer that is not in the result: "Scrolled down the page" is the same on each. A
//!   step shows the page on which it began by its address and a picture. Newer files have only the path of the
//!   picture. What such an action brought is unknown, and equals no other result. An answer of a tool that
//!   [reads](READERS) stands in its result, and is compared with others from the same address.
//! - **Failures** have an `error`. A step without `model_output` is a failure of the model or the host, and no call.
//! - **Tokens** are the input that browser-use estimates for a step. Newer versions leave them out.

use super::prelude::*;
use crate::pairing::digest;

/// A member of an action that is not its tool.
const ELEMENT: &str = "interacted_element";

/// The tools whose answer is in their result. They read a page or a file, and change nothing.
const READERS: &[&str] = &[
    "extract",
    "extract_content",
    "extract_structured_data",
    "find_elements",
    "read_file",
    "search_page",
];

pub(super) fn replay(step: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    if !step.has("result") {
        return Err(ProblemKind::Missing { record: "a step", field: "result" });
    }
    recorder.recognise();
    recorder.time(time_in_seconds(member(step.get("metadata"), "step_start_time")));
    recorder.begin_turn(MAIN);
    let input = count(member(step.get("metadata"), "input_tokens"));
    recorder.usage(MAIN, input.map(|input| Tokens { input, ..Tokens::default() }));
    if let Some(goal) = goal(step) {
        recorder.say(MAIN, &goal);
    }
    let calls = act(elements(member(step.get("model_output"), "action")), recorder);
    for (call, result) in calls.into_iter().zip(elements(step.get("result"))) {
        if let Some((call, is_reader)) = call {
            let page = page(step, is_reader).unwrap_or_else(|| call.to_string());
            answer(call, result, &page, recorder);
        }
    }
    Ok(())
}

/// Returns what the model wants to reach. Older versions have it in a part of the output.
fn goal<'a>(step: &Object<'a>) -> Option<Cow<'a, str>> {
    let [goal, state] = members(step.get("model_output"), ["next_goal", "current_state"])?;
    string(goal.or(member(state, "next_goal"))).filter(|goal| !goal.is_empty())
}

/// Returns a digest of the page on which the step began. Without a picture, only a tool that reads has one.
fn page(step: &Object<'_>, is_reader: bool) -> Option<String> {
    let [url, picture] = members(step.get("state"), ["url", "screenshot"]).unwrap_or_default();
    let picture = picture.filter(|_| !is_reader).map(RawValue::get);
    (is_reader || picture.is_some()).then(|| digest((url.map(RawValue::get), picture)).to_string())
}

/// Delivers the calls of a step, and returns for each its index and whether its tool is a [reader](READERS). An action
/// without a tool is no call.
fn act(actions: Vec<&RawValue>, recorder: &mut Recorder<'_>) -> Vec<Option<(usize, bool)>> {
    let call = |action| {
        let members = entries(Some(action));
        let is_tool = |name: &str, args: &RawValue| name != ELEMENT && args.get() != "null";
        let (tool, args) = members.iter().find(|(name, args)| is_tool(name, args))?;
        let call = recorder.call_in_turn(MAIN, tool, Args::Json(args.get()));
        Some((call, READERS.contains(&&**tool)))
    };
    actions.into_iter().map(call).collect()
}

/// Delivers the result of a call. An error does not depend on the page.
fn answer(call: usize, result: &RawValue, page: &str, recorder: &mut Recorder<'_>) {
    let names = ["error", "extracted_content", "long_term_memory"];
    let [error, content, memory] = members(Some(result), names).unwrap_or_default();
    let failed = error.is_some();
    let cut = Some(page).filter(|_| !failed);
    let text = flat_text(error.or(content).or(memory));
    recorder.outcome(Outcome { failed, cut, ..Outcome::new(call, MAIN, &text) });
}
