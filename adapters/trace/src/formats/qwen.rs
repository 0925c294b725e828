//! Qwen Code sessions: JSON Lines with the model's own `parts`.
//!
//! They are read as [Gemini CLI](super::gemini)'s chats, from which the program stems. A line of the model
//! is one answer with its calls, and the `status` of a call's result says whether it failed. The time-out
//! and the description of a command are rewordings.

use super::prelude::*;
use crate::formats::gemini;

impl Format {
    /// Qwen Code sessions: JSON Lines.
    pub const QWEN: Self = Self::new(&Definition {
        name: "qwen",
        no_record: "no record of a Qwen Code session: expected lines with a `type`, and a `message` \
                    with `parts`",
        failures: Failures::Flagged,
        layouts: Layouts::Lines,
        recognise,
        read: gemini::read,
    });
}

fn recognise(place: Place, fields: &Fields) -> Option<Clue> {
    let has_parts = || fields.get("message").is_some_and(|message| message.get("parts").is_some());
    match text(fields, "type") {
        "user" | "assistant" | "tool_result" if place == Place::Line && has_parts() => {
            Some(Clue::record("`message` with `parts`"))
        }
        _ => None,
    }
}
