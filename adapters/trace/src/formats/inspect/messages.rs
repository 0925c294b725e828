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
    let message = object::<Message<'_>>(&json)?;
    let role = required(message.role, "a message", "role")?;
    if role == "tool" {
        message.answer(attachments, recorder);
        return Ok(());
    }
    recorder.settle(MAIN);
    let text = texts(message.content);
    match Role::from_name(&role) {
        Role::Assistant => message.turn(&text, recorder),
        role => {
            recorder.message(MAIN, role, &text);
            Ok(())
        }
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Message<'a> {
    role: Raw<'a>,
    content: Raw<'a>,
    tool_calls: Raw<'a>,
    tool_call_id: Raw<'a>,
    error: Raw<'a>,
}

impl Message<'_> {
    fn answer(&self, attachments: &Attachments<'_>, recorder: &mut Recorder<'_>) {
        let id = string(self.tool_call_id).unwrap_or_default();
        let Some(call) = recorder.pairing.answer(MAIN, &id) else { return };
        let Ending { text, failed, refused } = Ending::new(self.content, self.error, attachments);
        recorder.outcome(Outcome { failed, refused, ..Outcome::new(call, MAIN, &text) });
    }

    /// Replays the agent's turn.
    fn turn(&self, text: &str, recorder: &mut Recorder<'_>) -> Done {
        let calls = elements(self.tool_calls);
        if !text.is_empty() || calls.is_empty() {
            recorder.say(MAIN, text);
        }
        let names = ["id", "function", "arguments"];
        let calls = calls.into_iter().filter_map(|call| members(Some(call), names));
        together(calls, |[id, name, args], step| {
            let name = required(name, "a tool call", "function")?;
            let index = recorder.call(MAIN, step, &name, json_args(args));
            recorder.expect(MAIN, Some(&*string(id).unwrap_or_default()), index);
            Ok(())
        })
    }
}
