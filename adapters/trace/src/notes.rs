//! The words of this project in transcripts: notes of its hooks and its proxy, and refusals.
//!
//! Agents keep these words, each in a dressing of its own. They are left out when the transcript is
//! read again: a note counts the repetitions, so two results with notes are never equal, and a call
//! that was refused has not failed.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};
use serde::de::IgnoredAny;
use unstuck_text::{Envelope, Unescaped};

/// The beginning of every message of this project, with the space behind it.
const SIGN: &str = "[unstuck] ";

/// The search for the sign.
static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(SIGN));

/// The words behind the sign in place of the result of a call that did not run.
const NOT_RUN: &str = "This call was not run.";

/// The beginnings of a note that an agent has joined to a result, one for each wording.
const JOINED: [&str; 2] =
    ["[unstuck] You have made the same `", "[unstuck] You have made the same call "];

/// The words before what an MCP server says, around the part that differs: of Copilot CLI and of Codex.
const SERVERS: [(&str, &str); 2] = [("MCP server '", "': "), ("Wall time: ", "\nOutput:\n")];

/// The member with the note in a structured result of an MCP server behind the proxy.
const MEMBER: &str = "\"unstuck_note\":\"[unstuck] ";

/// The beginning of a block with a note, in a result that quotes the JSON of an MCP server behind the proxy (Qwen Code).
const BLOCK: &str = "{\"type\":\"text\",\"text\":\"[unstuck] ";

/// The tag around a note of Gemini CLI.
const CONTEXT: &str = "<hook_context>";

/// The last words before a note of Copilot CLI, which names the tool first.
const GUIDANCE: &str = " Additional guidance from postToolUse hooks:\n";

/// The beginning of a failed result that a hook replaced by the same result with a note (Gemini CLI).
const REPLACED: &str = "Tool result blocked: ";

/// The texts before the reason for which a hook refused a call.
const REFUSALS: [&str; 6] = [
    // Codex, and its Code Mode.
    "Command blocked by PreToolUse hook: ",
    "Tool call blocked by PreToolUse hook: ",
    "Script error:\nCommand blocked by PreToolUse hook: ",
    // Gemini CLI.
    "Tool execution blocked: ",
    "Agent execution stopped by hook: ",
    // Copilot CLI.
    "Denied by preToolUse hook: ",
];

/// Returns whether a text is nothing but a message of this project.
pub(crate) fn is_note(text: &str) -> bool {
    text.starts_with(SIGN)
}

/// Returns whether a message of this project stands in `json` and was left out of `text`, which was read from it.
pub(crate) fn is_left_out(json: &str, text: &str) -> bool {
    let has = |text: &str| FINDER.find(text.as_bytes()).is_some();
    has(json) && !has(text)
}

/// Returns whether a block of a result is a note on the others. A refusal stands in place of a result.
pub(crate) fn is_added(block: &str) -> bool {
    block.strip_prefix(SIGN).is_some_and(|message| !message.starts_with(NOT_RUN))
}

/// Returns a result without the notes at its end. A text that quotes a note elsewhere stays as it is.
pub(crate) fn without_notes(text: &str) -> Cow<'_, str> {
    // Most results have no note at all, and this search is faster than the ones for its place.
    if FINDER.find(text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut rest = text;
    while let Some(before) = without_note(rest) {
        rest = before.strip_prefix(REPLACED).unwrap_or(before);
    }
    let bare = without_member(rest).or_else(|| without_blocks(rest));
    bare.map_or(Cow::Borrowed(rest), Cow::Owned)
}

/// Returns the error of a failed call without the notes of this project. A note is a paragraph at the end, the last
/// line of the joined blocks of an MCP server (Claude Code, and without a line break Copilot CLI), or a block in the
/// JSON of such a server (Qwen Code).
///
/// ```
/// use unstuck_trace::error_without_notes;
///
/// assert_eq!(error_without_notes("no such file\n\n[unstuck] Again."), "no such file");
/// ```
pub fn error_without_notes(text: &str) -> Cow<'_, str> {
    let rest = without_notes(text);
    let Cow::Borrowed(rest) = rest else { return rest };
    let last = rest.trim_ascii_end().rsplit_once('\n');
    let rest = last.filter(|(_, last)| is_added(last)).map_or(rest, |(before, _)| before);
    let joined = JOINED.iter().filter_map(|beginning| rest.rfind(beginning)).max();
    let joined = joined.filter(|at| !rest[*at..].contains('\n'));
    Cow::Borrowed(joined.map_or(rest, |at| &rest[..at]))
}

/// Returns a structured result without the note in its last member, if it has one.
fn without_member(object: &str) -> Option<String> {
    let inner = object.trim_ascii_end().strip_suffix("\"}")?;
    let start = memmem::rfind(inner.as_bytes(), MEMBER.as_bytes())?;
    let before = inner[..start].strip_suffix(',').unwrap_or(&inner[..start]);
    let whole = format!("{before}}}");
    (object.starts_with('{') && serde_json::from_str::<IgnoredAny>(&whole).is_ok()).then_some(whole)
}

/// Returns a text that quotes JSON without the blocks that are notes, or `None` if it has none. The result of a server
/// stands before a note of the proxy.
fn without_blocks(text: &str) -> Option<String> {
    let mut pieces = text.split(BLOCK);
    let mut bare = pieces.next()?.to_owned();
    for piece in pieces {
        let (_, behind) = piece.split_once("\"}")?;
        bare.truncate(bare.strip_suffix(',')?.len());
        bare += behind;
    }
    (bare.len() < text.len()).then_some(bare)
}

/// Returns the text before the last note, if that note ends the text and is one paragraph.
fn without_note(text: &str) -> Option<&str> {
    // A search from the end looks only at the last paragraph.
    let start = memmem::rfind(text.trim_ascii_end().as_bytes(), b"\n\n")?;
    let (before, last) = text.split_at(start);
    let last = last.trim_ascii();
    let undressed = match last.strip_prefix("Tool \"").and_then(|rest| rest.split_once(GUIDANCE)) {
        Some((_, note)) => note,
        None => last.strip_prefix(CONTEXT).unwrap_or(last),
    };
    is_note(undressed).then_some(before)
}

/// Returns whether a result is the refusal of a call that did not run.
///
/// Without a hook's words before it, a message of this project stands in place of a result if the result
/// is flagged as failed or says so.
pub(crate) fn is_refusal(text: &str, failed: bool) -> bool {
    let mut memory = Unescaped::default();
    let text = Envelope::open(text, &mut memory).body.trim_start();
    if let Some(message) = text.strip_prefix(SIGN) {
        return failed || message.starts_with(NOT_RUN);
    }
    let said =
        |(before, behind): (&str, &str)| Some(text.strip_prefix(before)?.split_once(behind)?.1);
    let mut of_server = SERVERS.into_iter().filter_map(said);
    if of_server.any(|said| said.strip_prefix(SIGN).is_some_and(|rest| rest.starts_with(NOT_RUN))) {
        return true;
    }
    REFUSALS.iter().any(|before| text.strip_prefix(before).is_some_and(is_note))
        || behind_hook(text).is_some_and(is_note)
}

/// Returns the reason of a refusal by a hook of Claude Code, which newer versions put behind the names of
/// event and tool.
fn behind_hook(text: &str) -> Option<&str> {
    let (tool, reason) = text.strip_prefix("PreToolUse:")?.split_once(" hook error: ")?;
    (!tool.contains('\n')).then_some(reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::rows;

    /// A case a line: what is read, a text, and what is found.
    const NOTES: &str = include_str!("../tests/tables/notes.txt");

    #[test]
    fn notes_are_left_out_and_refusals_known() {
        for [what, text, expected] in rows(NOTES) {
            let refused =
                |failed| Cow::from(if is_refusal(&text, failed) { "refused" } else { "run" });
            let found = match &*what {
                "note" => without_notes(&text),
                "error" => error_without_notes(&text),
                "failed" => refused(true),
                "returned" => refused(false),
                other => panic!("unknown reading {other}"),
            };
            assert_eq!(found, expected, "{what} {text:?}");
        }
    }
}
