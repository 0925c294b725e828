//! The history that aider keeps of its chats, `.aider.chat.history.md`: text in Markdown, with a chat after the
//! other. Each is a run.
//!
//! - **Lines** behind `####` are a person's, lines behind `>` are the program's, and all others the agent's.
//! - **Calls** are edits, the `SEARCH` and `REPLACE` blocks of an answer, and commands that are `Running`. An edit
//!   in another form is known by its result alone, so that its arguments are absent.
//! - **Results.** `Applied edit to` a file answers the edits of this file. If the program says that a block failed
//!   to match, the other edits of the answer failed. What a command printed is not in the file.
//! - **Turns.** An answer ends with its tokens, or with a person's words. Words behind its first call are skipped.
//! - **Tokens** are rounded by the program. What came from a cache is part of what was sent.
//! - **Times.** Only the beginning of a chat has one.

use serde_json::json;

use super::prelude::*;
use crate::time::time_of;

/// The heading of a chat, before its time.
const HEADING: &str = "# aider chat started at ";

/// The most bytes of a message or of a part of an edit that are kept. The rest of a longer one is left out.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Returns whether a text begins with the heading of a chat.
pub(super) fn is_chat(fields: &Fields) -> bool {
    fields::text(fields, "heading").starts_with(HEADING)
}

pub(super) fn read(Source { input, .. }: Source<'_>, recorder: &mut Recorder<'_>) {
    let mut chat = Chat::default();
    lines::replay(input, recorder, &mut |line, recorder| {
        chat.line(line, recorder);
        Ok(())
    });
    chat.hear(recorder);
}

/// The chat up to a line.
#[derive(Default)]
struct Chat {
    /// `true` behind the first heading. What stands before it belongs to no chat.
    has_begun: bool,
    /// The person's words so far.
    asked: String,
    /// The latest line that is no fence: the file, if an edit follows.
    path: String,
    edit: Option<Edit>,
    /// The edits of the answer that have no result so far, with their files.
    open: Vec<(usize, String)>,
    /// `true` if the answer has ended.
    has_ended: bool,
}

/// An edit that is being read.
#[derive(Default)]
struct Edit {
    search: String,
    /// `None` before the line between both parts.
    replace: Option<String>,
}

impl Chat {
    fn line(&mut self, line: &str, recorder: &mut Recorder<'_>) {
        if !self.has_begun && !line.starts_with(HEADING) {
            return;
        }
        if let Some(edit) = self.edit.take() {
            self.edit = self.continue_edit(edit, line, recorder);
        } else if let Some(begin) = line.strip_prefix(HEADING) {
            self.begin(begin, recorder);
        } else if let Some(words) = line.strip_prefix("####") {
            add_line(&mut self.asked, words.strip_prefix(' ').unwrap_or(words));
        } else {
            self.hear(recorder);
            match line.strip_prefix("> ") {
                Some(told) => self.program(told, recorder),
                None => self.agent(line, recorder),
            }
        }
    }

    fn begin(&mut self, time: &str, recorder: &mut Recorder<'_>) {
        self.hear(recorder);
        recorder.recognise();
        if recorder.has_begun() {
            recorder.begin(None);
        }
        *self = Self { has_begun: true, ..Self::default() };
        recorder.time(time_of(time));
    }

    /// Delivers the person's words.
    fn hear(&mut self, recorder: &mut Recorder<'_>) {
        if !self.asked.is_empty() {
            self.begin_turn(recorder);
            recorder.message(MAIN, Role::User, &core::mem::take(&mut self.asked));
        }
    }

    fn begin_turn(&mut self, recorder: &mut Recorder<'_>) {
        recorder.begin_turn(MAIN);
        self.open.clear();
        self.has_ended = false;
    }

    /// Replays a line of the agent's answer.
    fn agent(&mut self, line: &str, recorder: &mut Recorder<'_>) {
        if self.has_ended {
            self.begin_turn(recorder);
        }
        if line.starts_with("<<<<<<< ") {
            self.edit = Some(Edit::default());
        } else if !line.starts_with("```") {
            line.trim().clone_into(&mut self.path);
            if !recorder.turn(MAIN).called {
                recorder.say(MAIN, line);
            }
        }
    }

    /// Adds a line to an edit, and delivers the edit at its end.
    fn continue_edit(
        &mut self,
        mut edit: Edit,
        line: &str,
        recorder: &mut Recorder<'_>,
    ) -> Option<Edit> {
        if line.starts_with(">>>>>>> ") {
            let replace = edit.replace.unwrap_or_default();
            let args = json!({ "path": self.path, "search": edit.search, "replace": replace });
            let call = recorder.call_in_turn(MAIN, "edit", Args::Json(&args.to_string()));
            self.open.push((call, self.path.clone()));
            return None;
        }
        match &mut edit.replace {
            None if line == "=======" => edit.replace = Some(String::new()),
            None => add_line(&mut edit.search, line),
            Some(replace) => add_line(replace, line),
        }
        Some(edit)
    }

    /// Replays a line of the program.
    fn program(&mut self, told: &str, recorder: &mut Recorder<'_>) {
        if let Some(path) = told.strip_prefix("Applied edit to ") {
            let edits = self.open.extract_if(.., |(_, of)| of == path);
            let mut calls: Vec<usize> = edits.map(|(call, _)| call).collect();
            if calls.is_empty() {
                calls.push(recorder.call_in_turn(MAIN, "edit", Args::Absent));
            }
            for call in calls {
                answer(call, told, false, recorder);
            }
        } else if let Some(command) = told.strip_prefix("Running ") {
            recorder.call_in_turn(MAIN, "run", Args::Json(&command_args(command)));
        } else if let Some(tokens) = told.strip_prefix("Tokens: ") {
            recorder.usage(MAIN, tokens_of(tokens));
            self.has_ended = true;
        } else if told.contains("failed to match") || told.contains("did not conform to the edit") {
            for (call, _) in self.open.drain(..) {
                answer(call, told, true, recorder);
            }
        }
    }
}

fn add_line(text: &mut String, line: &str) {
    if text.len() + line.len() < TEXT_BYTES_MAX {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
    }
}

fn answer(call: usize, text: &str, failed: bool, recorder: &mut Recorder<'_>) {
    recorder.outcome(Outcome { failed, ..Outcome::new(call, MAIN, text) });
}

/// Reads tokens such as `6,765 sent, 1.2k cache hit, 3,693 received. Cost: …`.
fn tokens_of(text: &str) -> Option<Tokens> {
    let of = |what: &str| {
        let before = text.split_once(what)?.0.trim_end();
        number(before.rsplit_once(' ').map_or(before, |(_, number)| number))
    };
    let (sent, received) = (of("sent")?, of("received")?);
    Some(Tokens::with_cached_in_input(sent, of("cache hit").unwrap_or(0), received))
}

/// Reads a number such as `6,765`, `12k` or `1.2M`.
fn number(text: &str) -> Option<u64> {
    let (digits, unit) = match text.strip_suffix(['k', 'M']) {
        Some(digits) if text.ends_with('k') => (digits, 3),
        Some(digits) => (digits, 6),
        None => (text, 0),
    };
    let digits = digits.replace(',', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let zeros = usize::checked_sub(unit, fraction.len())?;
    format!("{whole}{fraction}{}", "0".repeat(zeros)).parse().ok()
}
