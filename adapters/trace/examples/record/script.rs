//! The script of an agent, and a person's judgement of it, as plain data.

use serde::Serialize;

/// The worker that every script begins with.
pub(crate) const MAIN: &str = "main";

/// One scripted run: a project to work on, the script, and the formats in which it is wanted.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// The name of the run's files.
    pub(crate) name: &'static str,
    /// The number from which the run's ids are made; no two scenarios share one.
    pub(crate) number: u16,
    /// The files of the project before the agent begins: relative path and content.
    pub(crate) project: &'static [(&'static str, &'static str)],
    pub(crate) script: Script,
    pub(crate) formats: &'static [Format],
}

impl Scenario {
    /// The run's session id: fixed, in the shape of a UUID.
    pub(crate) fn session(&self) -> String {
        self.uuid(0, 0)
    }

    /// A fixed id in the shape of a UUID, for a record of one of the run's threads.
    pub(crate) fn uuid(&self, thread: usize, record: usize) -> String {
        format!("6f1c0de0-{:04x}-4{thread:03x}-8000-{record:012x}", self.number)
    }
}

/// The transcript formats that a run can be written in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    Native,
    ClaudeCode,
    OpenAi,
}

/// The task of a worker, its turns, and the judgement of them.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) worker: &'static str,
    pub(crate) task: &'static str,
    pub(crate) turns: Vec<Turn>,
    pub(crate) label: Label,
}

/// One turn of the agent: its words, and the calls that it issues together.
#[derive(Debug)]
pub(crate) struct Turn {
    /// Empty when the agent calls without a word.
    pub(crate) text: &'static str,
    /// Empty when the agent only talks.
    pub(crate) calls: Vec<Action>,
}

/// A turn with calls.
pub(crate) fn turn<const N: usize>(text: &'static str, calls: [Action; N]) -> Turn {
    Turn { text, calls: calls.into() }
}

/// A turn of words only.
pub(crate) fn say(text: &'static str) -> Turn {
    turn(text, [])
}

/// A call that the agent can make; it serialises as the arguments of the call.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Action {
    List {
        path: &'static str,
    },
    Read {
        path: &'static str,
        #[serde(flatten)]
        page: Option<Page>,
    },
    Write {
        path: &'static str,
        content: &'static str,
    },
    Edit {
        path: &'static str,
        old: &'static str,
        new: &'static str,
    },
    Shell {
        command: &'static str,
    },
    Delegate {
        description: &'static str,
        prompt: &'static str,
        #[serde(skip)]
        script: Box<Script>,
    },
}

/// The lines of a file that a read asks for.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Page {
    /// The first line, counted from 1.
    pub(crate) offset: usize,
    /// The number of lines.
    pub(crate) limit: usize,
}

impl Action {
    /// The tool's name, in the formats that prescribe none.
    pub(crate) fn tool(&self) -> &'static str {
        match self {
            Action::List { .. } => "list",
            Action::Read { .. } => "read",
            Action::Write { .. } => "write",
            Action::Edit { .. } => "edit",
            Action::Shell { .. } => "shell",
            Action::Delegate { .. } => "delegate",
        }
    }
}

/// Lists a folder.
pub(crate) fn list(path: &'static str) -> Action {
    Action::List { path }
}

/// Reads a whole file.
pub(crate) fn read(path: &'static str) -> Action {
    Action::Read { path, page: None }
}

/// Reads `limit` lines of a file, from line `offset` on.
pub(crate) fn page(path: &'static str, offset: usize, limit: usize) -> Action {
    Action::Read { path, page: Some(Page { offset, limit }) }
}

/// Writes a file.
pub(crate) fn write(path: &'static str, content: &'static str) -> Action {
    Action::Write { path, content }
}

/// Replaces the one place in a file where `old` stands.
pub(crate) fn edit(path: &'static str, old: &'static str, new: &'static str) -> Action {
    Action::Edit { path, old, new }
}

/// Runs a command line.
pub(crate) fn shell(command: &'static str) -> Action {
    Action::Shell { command }
}

/// Has another worker run a script of its own in the same project.
pub(crate) fn delegate(description: &'static str, script: Script) -> Action {
    Action::Delegate { description, prompt: script.task, script: Box::new(script) }
}

/// A person's judgement of a run.
///
/// Indexes count the run's calls from 0, or its messages where it has no calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Label {
    /// No loop, and what makes it look like one.
    Work { kind: &'static str, why: &'static str },
    /// A loop.
    Stuck {
        kind: &'static str,
        why: &'static str,
        /// The first call of the loop.
        start: usize,
        /// The call at which a competent supervisor steps in.
        at: usize,
        /// The last call of the loop.
        end: usize,
    },
}

impl Label {
    /// Returns the same judgement in a file where `before` other calls stand before the first.
    pub(crate) fn after(self, before: usize) -> Self {
        match self {
            Label::Work { .. } => self,
            Label::Stuck { kind, why, start, at, end } => Label::Stuck {
                kind,
                why,
                start: start + before,
                at: at + before,
                end: end + before,
            },
        }
    }
}
