//! mini-swe-agent trajectories (`.traj.json`): an object with `info` and `messages`, or the bare
//! array of messages.
//!
//! - Every call is `bash` with `{"command": …}`. Three shapes hold the command: `extra.actions`
//!   beside `tool_calls` that mirror it, `extra.actions` alone, and in the oldest the only fenced
//!   block of the message's text. If a text has no block or several, the program answers with a
//!   user's message.
//! - A result is the `tool` message with the call's id, or the next user's message. It failed if
//!   `extra.returncode`, or the `<returncode>` it begins with, is not 0.
//! - The tokens of an answer are in the response that `extra` keeps, and the time of a message is
//!   `extra.timestamp`.
//! - `info.config` may repeat the whole run as a script for the model; only `messages` is read.
//! - The last command ends the run, so its result is missing. The program writes the message `exit`.

use unstuck_text::{Envelope, Unescaped};

use super::prelude::*;

/// The beginning of the block with the command: today's tag, and the tag of the first versions.
const FENCES: [&str; 2] = ["```mswea_bash_command", "```bash"];

/// Returns whether only this program writes such a message: a command in its own fence, or a result
/// that begins with its tag.
pub(super) fn is_own(message: &Fields) -> bool {
    let content = fields::text(message, "content");
    match fields::text(message, "role") {
        "assistant" => fenced(content, &FENCES[..1]).is_some(),
        "user" => content.trim_start().starts_with("<returncode>"),
        _ => false,
    }
}

pub(super) fn replay(message: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let role = message.required("role", "a message")?;
    recorder.recognise();
    let text = flat_text(message.get("content"));
    let extra = nested(message.get("extra")).unwrap_or_default();
    recorder.time(time_in_seconds(extra.get("timestamp")));
    match role.as_ref() {
        "assistant" => turn(message, &text, &extra, recorder),
        "user" | "tool" if result(message, &text, &extra, recorder) => {}
        "tool" => {}
        role => {
            recorder.hear(MAIN, Role::from_name(role), &text);
        }
    }
    Ok(())
}

fn turn(message: &Object<'_>, text: &str, extra: &Object<'_>, recorder: &mut Recorder<'_>) {
    recorder.begin_turn(MAIN);
    // The open calls of earlier turns are not answered any more.
    while recorder.pairing.answer(MAIN, "").is_some() {}
    recorder.usage(MAIN, Tokens::of_openai(member(extra.get("response"), "usage")));
    if !text.is_empty() {
        recorder.say(MAIN, text);
    }
    let mut issue = |tool: &str, args: Args<'_>, id: Raw<'_>| {
        let index = recorder.call_in_turn(MAIN, tool, args);
        recorder.pairing.issue(MAIN, &string(id).unwrap_or_default(), 0, index);
    };
    if extra.has("actions") {
        for action in elements(extra.get("actions")) {
            if let Some([command, id]) = members(Some(action), ["command", "tool_call_id"]) {
                let command = string(command).unwrap_or_default();
                issue("bash", Args::Json(&command_args(&command)), id);
            }
        }
    } else if message.has("tool_calls") {
        for call in elements(message.get("tool_calls")) {
            let function = members(member(Some(call), "function"), ["name", "arguments"]);
            if let Some([name, arguments]) = function {
                let tool = string(name).unwrap_or(Cow::Borrowed("bash"));
                issue(&tool, Arguments::new(arguments).as_args(), member(Some(call), "id"));
            }
        }
    } else if let Some(command) = fenced(text, &FENCES) {
        issue("bash", Args::Json(&command_args(command)), None);
    }
}

/// Delivers a result, and returns whether the message is one.
fn result(
    message: &Object<'_>,
    text: &str,
    extra: &Object<'_>,
    recorder: &mut Recorder<'_>,
) -> bool {
    let id = message.text("tool_call_id").unwrap_or_default();
    let call = recorder.pairing.answer(MAIN, &id);
    if let Some(call) = call {
        let code = integer(extra.get("returncode"))
            .or_else(|| Envelope::open(text, &mut Unescaped::default()).exit.map(i64::from));
        let failed = code.is_some_and(|code| code != 0);
        recorder.outcome(Outcome { failed, ..Outcome::new(call, MAIN, text) });
    }
    call.is_some()
}

/// Returns the content of the only fenced block with a command.
fn fenced<'t>(text: &'t str, fences: &[&'static str]) -> Option<&'t str> {
    fences.iter().find_map(|fence| {
        let mut blocks = blocks(text, fence);
        blocks.next().filter(|_| blocks.next().is_none())
    })
}

/// Returns the contents of the blocks whose first line is a fence.
fn blocks<'t>(text: &'t str, fence: &'static str) -> impl Iterator<Item = &'t str> {
    let mut rest = text;
    core::iter::from_fn(move || {
        loop {
            let (line, body) = rest.split_once('\n')?;
            rest = body;
            if line.trim_end() == fence {
                let end = if body.starts_with("```") { 0 } else { body.find("\n```")? };
                let (block, behind) = body.split_at(end);
                // The line that ends a block does not begin another one.
                let behind = behind.strip_prefix('\n').unwrap_or(behind);
                rest = behind.split_once('\n').map_or("", |(_, behind)| behind);
                return Some(block.trim());
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::rows;

    /// A case a line: an answer, and its command, or a dash if it has none.
    const COMMANDS: &str = include_str!("../../tests/tables/fenced_commands.txt");

    #[test]
    fn a_command_is_the_content_of_the_only_block() {
        for [text, command] in rows(COMMANDS) {
            assert_eq!(fenced(&text, &FENCES).unwrap_or("-"), command, "{text}");
        }
    }
}
