//! Plays events to a detector and notes the action after each.

use serde::Deserialize;
use serde_json::value::RawValue;
use unstuck_core::{Action, Detector, Policy, Verdict};
use unstuck_text::{Recipe, SimilarCalls};

/// One event of a vector: a call with its outcome, a message, or a control event.
#[derive(Debug, Deserialize)]
#[serde(from = "Wire")]
pub(crate) enum Event {
    Call { tool: String, args: Box<RawValue>, result: Option<String>, failed: bool },
    Message { role: String, text: String },
    Clear,
}

/// An event as it is written: which fields there are depends on its type.
#[derive(Deserialize)]
struct Wire {
    r#type: String,
    #[serde(default)]
    tool: String,
    args: Option<Box<RawValue>>,
    result: Option<String>,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    role: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    control: String,
}

impl From<Wire> for Event {
    fn from(wire: Wire) -> Self {
        match wire.r#type.as_str() {
            "call" => Self::Call {
                tool: wire.tool,
                args: wire.args.unwrap(),
                result: wire.result,
                failed: wire.is_error,
            },
            "message" => Self::Message { role: wire.role, text: wire.text },
            "control" if wire.control == "clear" => Self::Clear,
            other => panic!("an event of type {other} {}", wire.control),
        }
    }
}

/// The strongest action at each event. A call without a result stays without an outcome.
pub(crate) fn actions(policy: &Policy<'_>, recipe: Recipe, events: &[Event]) -> Vec<Action> {
    let mut detector: Detector<'_, 64> = Detector::new(policy).unwrap();
    let mut groups = SimilarCalls::new();
    let mut take = |event: &Event| match event {
        Event::Call { tool, args, result, failed } => {
            let announced = detector.announce(recipe.call_among(&mut groups, tool, args.get()));
            let verdict = announced.settled.or_stronger(announced.verdict);
            let outcome = result.as_deref().map(|result| recipe.outcome(tool, result, *failed));
            match outcome {
                Some(outcome) => verdict.or_stronger(detector.outcome(announced.id, outcome)),
                None => verdict,
            }
        }
        Event::Message { role, text } if role == "assistant" => {
            detector.text_turn(recipe.turn(text))
        }
        Event::Message { role, text } => {
            assert_eq!(role, "user");
            detector.user_message(recipe.message(text))
        }
        Event::Clear => {
            detector.clear();
            Verdict::PROCEED
        }
    };
    events.iter().map(|event| take(event).action).collect()
}
