//! The messages of a sample, for logs that were written without events.

use super::Ending;
use super::attachments::Attachments;
use crate::formats::prelude::*;

/// Replays a message.
pub(super) fn replay(
    json: &str,
    attachments: &Attachments<'_>,
    recorder: &mut Recorder<'_>,
) -> Done {
    let json = attachments.resolve(json);
    let message = object(&json)?;
    let role = message.required("role", "a message")?;
    if role == "tool" {
        answer(&message, attachments, recorder);
        return Ok(());
    }
    recorder.begin_turn(MAIN);
    let text = texts(message.get("content"));
    match Role::from_name(&role) {
        Role::Assistant => turn(&message, &text, recorder),
        role => {
            recorder.message(MAIN, role, &text);
            Ok(())
        }
    }
}

fn answer(message: &Object<'_>, attachments: &Attachments<'_>, recorder: &mut Recorder<'_>) {
    let id = message.text("tool_call_id").unwrap_or_default();
    let Some(call) = recorder.pairing.answer(MAIN, &id) else { return };
    let Ending { text, failed, refused } =
        Ending::new(message.get("content"), message.get("error"), attachments);
    recorder.outcome(Outcome { failed, refused, ..Outcome::new(call, MAIN, &text) });
}

/// Replays the agent's turn.
fn turn(message: &Object<'_>, text: &str, recorder: &mut Recorder<'_>) -> Done {
    let calls = elements(message.get("tool_calls"));
    if !text.is_empty() || calls.is_empty() {
        recorder.say(MAIN, text);
    }
    let names = ["id", "function", "arguments"];
    let calls = calls.into_iter().filter_map(|call| members(Some(call), names));
    all(calls, |[id, name, args]| {
        let name = required(name, "a tool call", "function")?;
        let index = recorder.call_in_turn(MAIN, &name, json_args(args));
        recorder.expect(MAIN, Some(&*string(id).unwrap_or_default()), index);
        Ok(())
    })
}
