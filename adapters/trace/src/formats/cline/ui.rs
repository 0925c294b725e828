//! Tasks of Cline, Roo Code and their forks as the editor shows them: `ui_messages.json`, an array of what was
//! asked and said.
//!
//! - **Calls** are messages of the kinds `tool`, `command`, `use_mcp_server` and `browser_action`.
//! - **Results** stand in the next request to the model, which answers the calls before it in order. Versions that
//!   leave out the request have the output of commands, and what was listed or searched.
//! - **Turns.** A request begins a turn.
//! - **Tokens** stand in the request. The cached ones are no part of the input.
//! - A message that was `partial` when the file was written is skipped.

use super::{OpenCalls, RESULT, without_environment};
use crate::fields::text;
use crate::formats::prelude::*;

/// The tools whose `content` is their result.
const LISTING: [&str; 5] = [
    "listFilesTopLevel",
    "listFilesRecursive",
    "listCodeDefinitionNames",
    "searchFiles",
    "codebaseSearch",
];

pub(in crate::formats) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    let mut task = Task::default();
    source.replay(recorder, &mut |message, recorder| task.replay(message, recorder));
    task.end_turn("", recorder);
}

/// The turn that goes on.
#[derive(Default)]
struct Task {
    open: OpenCalls,
    /// What the editor showed of the results so far, in the order of the calls.
    shown: Vec<Shown>,
}

/// The result of a call as the editor shows it.
struct Shown {
    call: usize,
    text: String,
}

impl Task {
    fn replay(&mut self, message: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
        let kind = message.required("type", "a message")?;
        let what = string(if kind == "ask" { message.get("ask") } else { message.get("say") });
        let Some(what) = what.filter(|_| !is_true(message.get("partial"))) else { return Ok(()) };
        recorder.recognise();
        recorder.time(time(message.get("ts")));
        let text = message.text("text").unwrap_or_default();
        match &*what {
            "task" | "user_feedback" => {
                recorder.hear(MAIN, Role::User, &text);
            }
            "text" | "completion_result" => recorder.speak(MAIN, &text),
            "api_req_started" => self.request(&text, recorder),
            "command" => {
                let command = text.trim_end_matches("REQ_APP");
                let args = command_args(command);
                let call = self.open.issue("execute_command", Args::Json(&args), recorder);
                self.shown.push(Shown { call, text: String::new() });
            }
            "command_output" => {
                if let Some(shown) = self.shown.last_mut() {
                    shown.text.push_str(&text);
                }
            }
            "tool" | "use_mcp_server" | "browser_action" => self.call(&what, &text, recorder),
            _ => {}
        }
        Ok(())
    }

    /// Delivers a call from the JSON that the editor shows.
    fn call(&mut self, what: &str, json: &str, recorder: &mut Recorder<'_>) {
        let mut fields = serde_json::from_str::<Fields>(json).unwrap_or_default();
        let tool = match (what, text(&fields, "toolName"), text(&fields, "uri")) {
            ("tool", ..) => text(&fields, "tool").to_owned(),
            ("use_mcp_server", name, uri) => {
                let name = if name.is_empty() { uri } else { name };
                format!("{}.{name}", text(&fields, "serverName"))
            }
            _ => what.to_owned(),
        };
        let listed = LISTING.contains(&&*tool).then(|| fields.remove("content")).flatten();
        fields.remove("tool");
        let args = Value::Object(fields).to_string();
        let call = self.open.issue(&tool, Args::Json(&args), recorder);
        if let Some(Value::String(text)) = listed {
            self.shown.push(Shown { call, text });
        }
    }

    /// Begins a turn with a request to the model, which has the results of the calls before it.
    fn request(&mut self, json: &str, recorder: &mut Recorder<'_>) {
        let json = serde_json::from_str::<&RawValue>(json).ok();
        self.end_turn(&string(member(json, "request")).unwrap_or_default(), recorder);
        let names = ["tokensIn", "cacheWrites", "cacheReads", "tokensOut"];
        recorder.usage(MAIN, Tokens::of_parts(json, names));
    }

    /// Answers the calls of a turn by the next request, or by what the editor showed.
    fn end_turn(&mut self, request: &str, recorder: &mut Recorder<'_>) {
        let is_told = request.contains(RESULT);
        let is_known = |shown: &Shown| !is_told && !shown.text.is_empty();
        for shown in self.shown.drain(..).filter(is_known) {
            self.open.answer(shown.call, &shown.text, recorder);
        }
        self.open.end_turn(without_environment(request), recorder);
        recorder.begin_turn(MAIN);
    }
}
