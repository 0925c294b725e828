//! pi sessions: JSON Lines of entries, which form a tree.
//!
//! - **Tree.** An entry names the one before it in `parentId`. A user who goes back to an earlier entry
//!   begins another branch in the same file, and the last entry of the file ends the conversation. The
//!   other branches were given up, and the model does not see them, so they are left out. A parent
//!   that is not in the file is the line before. A session that is longer than
//!   [`LINE_BYTES_MAX`](crate::LINE_BYTES_MAX) is read in the order of the file, with all branches.
//! - **Calls** are `toolCall` blocks of the assistant's messages, results messages of the role
//!   `toolResult`, flagged by `isError`. The calls of one message share a step.
//! - **Tokens** are in the `usage` of the assistant's messages. Those of branches that were given up were
//!   paid for as well, and are left out with their calls.
//! - Thinking, compactions, commands that the user ran and entries of extensions are skipped.

use std::collections::HashMap;

use super::prelude::*;
use crate::lines::Lines;
use crate::pairing::digest;
use crate::problem::LINE_BYTES_MAX;

/// An entry of the session.
struct Entry {
    line: u64,
    id: Option<u64>,
    parent: Option<u64>,
    /// The entry, if it is a message.
    json: String,
}

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    let mut lines = Lines::new(source.input);
    let (mut entries, mut held) = (Vec::new(), 0);
    while let Some((number, line)) = lines.next() {
        match line.and_then(|json| entry(number, json, recorder)) {
            Ok(entry) => {
                held += entry.json.len();
                entries.push(entry);
            }
            Err(kind) => recorder.problem(kind.at(number)),
        }
        if held > LINE_BYTES_MAX {
            for entry in entries.drain(..) {
                entry.deliver(recorder);
            }
        }
    }
    if held <= LINE_BYTES_MAX {
        keep_last_branch(&mut entries);
    }
    for entry in entries {
        entry.deliver(recorder);
    }
}

fn entry(line: u64, json: &str, recorder: &mut Recorder<'_>) -> Result<Entry, ProblemKind> {
    let record = object(json)?;
    let (kind, id) = (record.text("type").unwrap_or_default(), record.text("id"));
    if id.is_some() || (kind == "message" && is_object(record.get("message"))) {
        recorder.recognise();
    }
    if let Some(id) = id.as_ref().filter(|_| kind == "session") {
        recorder.session(id);
    }
    let json = if kind == "message" { json.to_owned() } else { String::new() };
    Ok(Entry { line, id: id.map(digest), parent: record.text("parentId").map(digest), json })
}

/// Removes the entries that do not lead to the last one. Entries without an id stay.
fn keep_last_branch(entries: &mut Vec<Entry>) {
    let mut places = HashMap::new();
    // The place of each entry's parent, which stands before it.
    let mut parents = Vec::with_capacity(entries.len());
    for (place, entry) in entries.iter().enumerate() {
        let line_before = place.checked_sub(1);
        parents.push(entry.parent.and_then(|id| places.get(&id).copied().or(line_before)));
        if let Some(id) = entry.id {
            places.insert(id, place);
        }
    }
    let mut is_kept: Vec<bool> = entries.iter().map(|entry| entry.id.is_none()).collect();
    let mut place = entries.iter().rposition(|entry| entry.id.is_some());
    while let Some(at) = place {
        is_kept[at] = true;
        place = parents[at];
    }
    let mut is_kept = is_kept.into_iter();
    entries.retain(|_| is_kept.next() == Some(true));
}

impl Entry {
    fn deliver(self, recorder: &mut Recorder<'_>) {
        let Ok(record) = object(&self.json) else { return };
        let Some(message) = nested(record.get("message")) else { return };
        recorder.time(time(record.get("timestamp")).or_else(|| time(message.get("timestamp"))));
        if let Err(kind) = replay(&message, recorder) {
            recorder.problem(kind.at(self.line));
        }
    }
}

fn replay(message: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    match message.text("role").as_deref() {
        Some("assistant") => return answer(message, recorder),
        Some("toolResult") => result(message, recorder),
        Some("user") => {
            recorder.hear(MAIN, Role::User, &flat_text(message.get("content")));
        }
        _ => {}
    }
    Ok(())
}

/// Replays the model's answer. A call that cannot be read is reported after the others.
fn answer(message: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    recorder.begin_turn(MAIN);
    recorder.usage(MAIN, tokens(message));
    recorder.speak(MAIN, &message.text("content").unwrap_or_default());
    let mut outcome = Ok(());
    for block in records(message.get("content")) {
        match block.text("type").as_deref() {
            Some("text") => recorder.speak(MAIN, &block.text("text").unwrap_or_default()),
            Some("toolCall") => outcome = outcome.and(call(&block, recorder)),
            _ => {}
        }
    }
    outcome
}

/// Returns the tokens of the model's answer. Its parts do not overlap.
fn tokens(message: &Object<'_>) -> Option<Tokens> {
    Tokens::of_parts(message.get("usage"), ["input", "cacheWrite", "cacheRead", "output"])
}

fn result(message: &Object<'_>, recorder: &mut Recorder<'_>) {
    let id = message.text("toolCallId");
    let (text, failed) = (flat_text(message.get("content")), is_true(message.get("isError")));
    recorder.noted_within(message.get("content").map_or("", RawValue::get), &text);
    recorder.answer(MAIN, id.as_deref(), &text, failed);
}

fn call(block: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
    let tool = block.required("name", "a toolCall block")?;
    let index = recorder.call_in_turn(MAIN, &tool, json_args(block.get("arguments")));
    recorder.await_answer(MAIN, block.text("id"), index);
    Ok(())
}
