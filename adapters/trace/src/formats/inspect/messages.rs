//! The messages of a sample, for logs that were written without events.

use std::borrow::Cow;

use serde::Deserialize;

use super::Ending;
use super::attachments::Attachments;
use crate::event::{Args, Outcome, Role};
use crate::field::{Raw, elements, nested, object, string, texts};
use crate::problem::ProblemKind;
use crate::recorder::{MAIN, Recorder, Step};

/// Replays a message.
pub(super) fn replay(
    json: &str,
    attachments: &Attachments<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<(), ProblemKind> {
    let json = attachments.resolve(json);
    let message = object::<Message<'_>>(&json)?;
    let role =
        string(message.role).ok_or(ProblemKind::Missing { record: "a message", field: "role" })?;
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
        let (worker, cut) = (MAIN, None);
        recorder.outcome(Outcome { call, worker, text: &text, failed, cut, refused });
    }

    /// Replays the agent's turn. A call that cannot be read is reported after the others are delivered.
    fn turn(&self, text: &str, recorder: &mut Recorder<'_>) -> Result<(), ProblemKind> {
        #[derive(Deserialize)]
        #[serde(bound(deserialize = "'de: 'a"))]
        struct ToolCall<'a> {
            id: Raw<'a>,
            function: Raw<'a>,
            arguments: Raw<'a>,
        }
        let calls = elements(self.tool_calls);
        if !text.is_empty() || calls.is_empty() {
            recorder.say(MAIN, text);
        }
        let (mut step, mut outcome) = (Step::New, Ok(()));
        for call in calls.into_iter().filter_map(|call| nested::<ToolCall<'_>>(Some(call))) {
            let Some(name) = string(call.function) else {
                outcome = Err(ProblemKind::Missing { record: "a tool call", field: "function" });
                continue;
            };
            let args = Args::Json(call.arguments.map_or("null", |args| args.get()));
            let index = recorder.call(MAIN, step, &name, args);
            step = Step::Same;
            let id = string(call.id).unwrap_or(Cow::Borrowed(""));
            recorder.pairing.issue(MAIN, &id, 0, index);
        }
        outcome
    }
}
