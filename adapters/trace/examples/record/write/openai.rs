//! The chat form: an array of messages, arguments as JSON in a string, no flag for failure.

use std::io;

use serde::Serialize;

use super::File;
use crate::recording::{Called, Event, Thread};
use crate::script::Scenario;

const SYSTEM: &str = "You are a coding agent. Your tools are list, read, write, edit and shell.";

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Message<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall<'a>>,
    },
    Tool {
        tool_call_id: String,
        content: &'a str,
    },
}

#[derive(Serialize)]
struct ToolCall<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'a str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: String,
}

/// Writes the main conversation of a scenario; those of other workers would be requests of their own.
pub(super) fn write(scenario: &Scenario, main: &Thread<'_>) -> io::Result<Vec<File>> {
    let mut messages = vec![Message::System { content: SYSTEM }];
    let mut before = 0;
    for event in &main.events {
        match event {
            Event::User(content) => messages.push(Message::User { content }),
            Event::Assistant { text, calls } => {
                messages.push(Message::Assistant {
                    content: (!text.is_empty()).then_some(*text),
                    tool_calls: tool_calls(calls, before)?,
                });
                messages.extend(results(calls, before));
                before += calls.len();
            }
        }
    }
    Ok(vec![File {
        path: format!("openai/{}.json", scenario.name),
        text: serde_json::to_string_pretty(&messages)? + "\n",
        label: main.script.label,
        calls: main.calls(),
    }])
}

fn tool_calls<'a>(calls: &[Called<'a>], before: usize) -> io::Result<Vec<ToolCall<'a>>> {
    let written = |(index, called): (usize, &Called<'a>)| {
        Ok(ToolCall {
            id: call_id(before + index),
            kind: "function",
            function: Function {
                name: called.action.tool(),
                arguments: serde_json::to_string(called.action)?,
            },
        })
    };
    calls.iter().enumerate().map(written).collect()
}

fn results<'a>(calls: &'a [Called<'_>], before: usize) -> impl Iterator<Item = Message<'a>> {
    let written = move |(index, called): (usize, &'a Called<'_>)| Message::Tool {
        tool_call_id: call_id(before + index),
        content: &called.outcome.text,
    };
    calls.iter().enumerate().map(written)
}

fn call_id(index: usize) -> String {
    format!("call_{index:04}")
}
