//! The form of Claude Code's session files: a chain of records, and a file of its own for each other worker.
//!
//! As the program itself does, a turn is spread over several records that share a message id, one
//! record for each block of its content. The session's working folder, its clock (a second a record)
//! and its ids are made up.

use std::io;

use serde::Serialize;

use super::{File, push_line};
use crate::recording::{Called, Event, Thread};
use crate::script::{Action, MAIN, Page, Scenario};

/// The version of the program whose records these are like.
const VERSION: &str = "2.1.81";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    parent_uuid: Option<&'a str>,
    is_sidechain: bool,
    user_type: &'a str,
    cwd: &'a str,
    session_id: &'a str,
    version: &'a str,
    git_branch: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'a str,
    message: Message<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_result: Option<Delegated<'a>>,
    uuid: String,
    timestamp: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Delegated<'a> {
    status: &'a str,
    agent_id: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Message<'a> {
    User {
        content: Content<'a>,
    },
    Assistant {
        id: String,
        #[serde(rename = "type")]
        kind: &'a str,
        model: &'a str,
        content: Content<'a>,
        stop_reason: &'a str,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Blocks([Block<'a>; 1]),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    ToolUse {
        id: String,
        name: &'a str,
        input: Input<'a>,
    },
    ToolResult {
        tool_use_id: String,
        content: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
}

/// The arguments of a call under the names that Claude Code's tools give them.
#[derive(Serialize)]
#[serde(untagged)]
enum Input<'a> {
    Ls {
        path: &'a str,
    },
    Read {
        file_path: &'a str,
        #[serde(flatten)]
        page: Option<Page>,
    },
    Write {
        file_path: &'a str,
        content: &'a str,
    },
    Edit {
        file_path: &'a str,
        old_string: &'a str,
        new_string: &'a str,
    },
    Bash {
        command: &'a str,
    },
    Task {
        description: &'a str,
        prompt: &'a str,
        subagent_type: &'a str,
    },
}

/// Writes the main conversation of a scenario, and each other one beside it.
pub(super) fn write(scenario: &Scenario, main: &Thread<'_>) -> io::Result<Vec<File>> {
    let mut session = Session {
        scenario,
        id: scenario.session(),
        records: 0,
        turns: 0,
        calls: 0,
        threads: 0,
        files: Vec::new(),
    };
    session.thread(main)?;
    Ok(session.files)
}

/// The state that the files of one session share: its ids, and the numbers of the next ids.
struct Session<'s> {
    scenario: &'s Scenario,
    id: String,
    records: usize,
    turns: usize,
    calls: usize,
    threads: usize,
    files: Vec<File>,
}

/// One file in the making.
struct Log<'s> {
    worker: &'s str,
    number: usize,
    text: String,
    parent: Option<String>,
}

impl Session<'_> {
    fn thread(&mut self, thread: &Thread<'_>) -> io::Result<()> {
        let mut log = Log {
            worker: thread.script.worker,
            number: self.threads,
            text: String::new(),
            parent: None,
        };
        self.threads += 1;
        for event in &thread.events {
            match event {
                Event::User(text) => {
                    let content = Content::Text(text);
                    self.push(&mut log, Message::User { content }, None)?;
                }
                Event::Assistant { text, calls } => self.turn(&mut log, text, calls)?,
            }
        }
        let path = if log.worker == MAIN {
            format!("claude-code/{}.jsonl", self.id)
        } else {
            let folder = format!("claude-code/{}/subagents", self.id);
            format!("{folder}/agent-{}.jsonl", log.worker)
        };
        self.files.push(File {
            path,
            text: log.text,
            label: thread.script.label,
            calls: thread.calls(),
        });
        Ok(())
    }

    fn turn(&mut self, log: &mut Log<'_>, text: &str, calls: &[Called<'_>]) -> io::Result<()> {
        self.turns += 1;
        let turn = self.turns;
        let stop_reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
        if !text.is_empty() {
            let block = Block::Text { text };
            self.push(log, assistant(turn, stop_reason, block), None)?;
        }
        let first = self.calls;
        self.calls += calls.len();
        for (called, number) in calls.iter().zip(first..) {
            let (name, input) = tool_use(called.action);
            let id = tool_id(number);
            let block = Block::ToolUse { id, name, input };
            self.push(log, assistant(turn, stop_reason, block), None)?;
        }
        for (called, number) in calls.iter().zip(first..) {
            self.result(log, called, number)?;
        }
        Ok(())
    }

    fn result(&mut self, log: &mut Log<'_>, called: &Called<'_>, number: usize) -> io::Result<()> {
        if let Some(errand) = &called.errand {
            self.thread(errand)?;
        }
        let block = Block::ToolResult {
            tool_use_id: tool_id(number),
            content: &called.outcome.text,
            is_error: called.outcome.failed.then_some(true),
        };
        let content = Content::Blocks([block]);
        let delegated = called
            .errand
            .as_ref()
            .map(|errand| Delegated { status: "completed", agent_id: errand.script.worker });
        self.push(log, Message::User { content }, delegated)
    }

    fn push(
        &mut self,
        log: &mut Log<'_>,
        message: Message<'_>,
        tool_use_result: Option<Delegated<'_>>,
    ) -> io::Result<()> {
        let (kind, request_id) = match &message {
            Message::User { .. } => ("user", None),
            Message::Assistant { id, .. } => ("assistant", Some(id.replace("msg_", "req_"))),
        };
        let (minute, second) = (self.records / 60, self.records % 60);
        self.records += 1;
        let uuid = self.scenario.uuid(log.number, self.records);
        let record = Record {
            parent_uuid: log.parent.as_deref(),
            is_sidechain: log.worker != MAIN,
            user_type: "external",
            cwd: "/project",
            session_id: &self.id,
            version: VERSION,
            git_branch: "main",
            agent_id: (log.worker != MAIN).then_some(log.worker),
            kind,
            message,
            request_id,
            tool_use_result,
            uuid: uuid.clone(),
            timestamp: format!("2026-01-05T09:{minute:02}:{second:02}.000Z"),
        };
        push_line(&mut log.text, &record)?;
        log.parent = Some(uuid);
        Ok(())
    }
}

fn assistant<'a>(turn: usize, stop_reason: &'a str, block: Block<'a>) -> Message<'a> {
    Message::Assistant {
        id: format!("msg_01{turn:022}"),
        kind: "message",
        model: "scripted",
        content: Content::Blocks([block]),
        stop_reason,
    }
}

fn tool_id(call: usize) -> String {
    format!("toolu_01{call:022}")
}

fn tool_use(action: &Action) -> (&'static str, Input<'_>) {
    match *action {
        Action::List { path } => ("LS", Input::Ls { path }),
        Action::Read { path, page } => {
            let file_path = path;
            ("Read", Input::Read { file_path, page })
        }
        Action::Write { path, content } => {
            let file_path = path;
            ("Write", Input::Write { file_path, content })
        }
        Action::Edit { path, old, new } => {
            ("Edit", Input::Edit { file_path: path, old_string: old, new_string: new })
        }
        Action::Shell { command } => ("Bash", Input::Bash { command }),
        Action::Delegate { description, prompt, .. } => {
            ("Task", Input::Task { description, prompt, subagent_type: "general-purpose" })
        }
    }
}
