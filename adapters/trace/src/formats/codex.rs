//! Codex rollouts: JSON Lines of `{"type":…,"payload":{…}}`, one file a thread; the oldest have the
//! items bare, without `payload`.
//!
//! - **Calls** are the items `function_call` (`arguments` is a JSON string), `custom_tool_call`
//!   (`input` is free text, or JSON) and `local_shell_call`. What the provider runs itself (web
//!   search, tool search, images) has no result in the file and is passed over.
//! - **Turns.** Calls with nothing back between them were issued together and share a step.
//! - **Workers.** The first `session_meta` names the thread; later ones are those of threads it was
//!   forked from. A thread with a parent is a worker of its own, named by its id, and its session is
//!   that of the parent; any other is `main`.
//! - **Results** answer the earliest open call of their `call_id`. Their text comes without what
//!   changes each time, see [`output`].
//! - **Failures** have no flag in a result. A call failed if its exit code is not 0, in the event of
//!   its end or in the result's text, or if the text is one that Codex puts in place of a result. An
//!   event may come after the result; then it is counted, and the result stands as delivered. A file
//!   that tells the end of no call does not tell failures.
//! - **Mirrors.** `event_msg` repeats messages and results, `compacted.replacement_history` the
//!   whole conversation: of the former only failures are taken, of the latter nothing.
//! - Texts that Codex wrote in the user's name, told by how they begin, are no messages.

pub(crate) mod output;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::BufRead;

use serde::Deserialize;
use serde_json::Value;

use self::output::{End, Output};
use crate::clue::{Clue, Fields, Place, blocks, is_text, text};
use crate::event::{Args, Outcome, Role};
use crate::field::{Arguments, Raw, flat_text, is_object, nested, object, string};
use crate::formats::{Definition, Failures, Format, Layouts};
use crate::lines;
use crate::pairing::{OPEN_CALLS_MAX, digest};
use crate::problem::ProblemKind;
use crate::recorder::{MAIN, Recorder, Step, Turn};

/// The types of a rollout's lines that no other format has beside a `payload`.
const ROLLOUT_LINES: [&str; 5] =
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

/// How a text begins that stands in a user's place and was not typed as an instruction.
const ECHOES: [&str; 8] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
];

impl Format {
    /// Codex rollouts: JSON Lines.
    pub const CODEX: Self = Self::new(&Definition {
        name: "codex",
        no_record: "no record of a Codex rollout: expected lines with a `type` and a `payload`",
        failures: Failures::Sometimes,
        layouts: Layouts::Lines,
        is_document: |_| false,
        recognise,
        read: |input, _, recorder| read(input, recorder),
    });
}

fn recognise(place: Place, fields: &Fields) -> Option<Clue> {
    let kind = text(fields, "type");
    if fields.get("payload").is_some_and(|payload| is_rollout(kind, payload)) {
        return Some(Clue::mark("`type` and `payload` of a rollout's line"));
    }
    let has_item_text = || blocks(fields).any(|kind| matches!(kind, "input_text" | "output_text"));
    match kind {
        _ if place != Place::Line => None,
        "message" if is_text(fields, "role") && has_item_text() => {
            Some(Clue::hint("`message` items with `input_text`, one a line"))
        }
        "function_call" | "function_call_output" if is_text(fields, "call_id") => {
            Some(Clue::hint("`function_call` items one a line"))
        }
        _ => None,
    }
}

/// Whether a line with this `type` and payload belongs to a rollout. A long payload may hide the
/// `type` behind it.
fn is_rollout(kind: &str, payload: &Value) -> bool {
    payload.is_object()
        && (ROLLOUT_LINES.contains(&kind)
            || (kind.is_empty() && payload.get("originator").is_some()))
}

fn read(input: &mut dyn BufRead, recorder: &mut Recorder<'_>) {
    let mut thread = Thread { worker: None, ends: Ends::default() };
    lines::replay(input, recorder, &mut |json, recorder| thread.replay(json, recorder));
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    payload: Raw<'a>,
    #[serde(borrow)]
    role: Raw<'a>,
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    timestamp: Raw<'a>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    session_id: Raw<'a>,
    #[serde(borrow)]
    parent_thread_id: Raw<'a>,
    #[serde(borrow)]
    source: Raw<'a>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    role: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
    #[serde(borrow)]
    action: Raw<'a>,
    #[serde(borrow)]
    call_id: Raw<'a>,
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    output: Raw<'a>,
}

struct Thread {
    /// Known from the first `session_meta` on.
    worker: Option<String>,
    ends: Ends,
}

impl Thread {
    fn replay(&mut self, json: &str, recorder: &mut Recorder<'_>) -> Result<(), ProblemKind> {
        let line = object::<Line<'_>>(json)?;
        let kind = string(line.kind);
        if !is_object(line.payload) {
            return self.replay_bare(json, &line, recorder);
        }
        recorder.recognise();
        match kind.as_deref() {
            Some("session_meta") => {
                self.meet(line.payload, recorder);
                Ok(())
            }
            Some("response_item") => match nested::<Item<'_>>(line.payload) {
                Some(item) => self.item(&item, recorder),
                None => Ok(()),
            },
            Some("event_msg") => {
                if let Some(end) = output::end_of_call(line.payload) {
                    let worker = self.worker.as_deref().unwrap_or(MAIN);
                    self.ends.tell(worker, &end, recorder);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A line of the oldest rollouts: an item, or the thread's name.
    fn replay_bare(
        &mut self,
        json: &str,
        line: &Line<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), ProblemKind> {
        if line.payload.is_some() {
            return Ok(());
        }
        if line.kind.is_some() || line.role.is_some() {
            return self.item(&object::<Item<'_>>(json)?, recorder);
        }
        if line.timestamp.is_some()
            && let Some(id) = string(line.id)
        {
            recorder.recognise();
            recorder.session(&id);
        }
        Ok(())
    }

    /// Takes the thread's name, and that of its parent, from the first line that has them.
    fn meet(&mut self, meta: Raw<'_>, recorder: &mut Recorder<'_>) {
        let Some(meta) = nested::<Meta<'_>>(meta).filter(|_| self.worker.is_none()) else {
            return;
        };
        let id = string(meta.id);
        let (is_spawned, parent) = meta.parent();
        let worker = id.clone().filter(|_| is_spawned).unwrap_or(Cow::Borrowed(MAIN));
        self.worker = Some(worker.into_owned());
        if let Some(session) = string(meta.session_id).or(parent).or(id) {
            recorder.session(&session);
        }
    }

    fn item(&mut self, item: &Item<'_>, recorder: &mut Recorder<'_>) -> Result<(), ProblemKind> {
        let worker = self.worker.as_deref().unwrap_or(MAIN);
        let kind = string(item.kind).or_else(|| item.role.map(|_| Cow::Borrowed("message")));
        match kind.as_deref() {
            Some("message") => item.message(worker, recorder),
            Some("function_call" | "custom_tool_call" | "local_shell_call") => {
                return item.call(worker, recorder);
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                recorder.recognise();
                recorder.turn(worker).answered = true;
                if let Some(id) = string(item.call_id) {
                    self.ends.answer(worker, &id, &Output::new(item.output), recorder);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl<'a> Meta<'a> {
    /// Whether another thread spawned this one, and that thread's id.
    fn parent(&self) -> (bool, Option<Cow<'a, str>>) {
        #[derive(Deserialize)]
        struct Source<'a> {
            #[serde(borrow)]
            subagent: Raw<'a>,
        }
        #[derive(Deserialize)]
        struct Subagent<'a> {
            #[serde(borrow)]
            thread_spawn: Raw<'a>,
        }
        #[derive(Deserialize)]
        struct Spawn<'a> {
            #[serde(borrow)]
            parent_thread_id: Raw<'a>,
        }
        let subagent = nested::<Source<'a>>(self.source).and_then(|source| source.subagent);
        let parent = string(self.parent_thread_id).or_else(|| {
            let spawn = nested::<Subagent<'a>>(subagent)?.thread_spawn;
            string(nested::<Spawn<'a>>(spawn)?.parent_thread_id)
        });
        (subagent.is_some() || parent.is_some(), parent)
    }
}

impl Item<'_> {
    fn message(&self, worker: &str, recorder: &mut Recorder<'_>) {
        if self.content.is_none() {
            return;
        }
        recorder.recognise();
        let text = flat_text(self.content);
        let role = string(self.role).unwrap_or_default();
        match Role::from_name(&role) {
            Role::Assistant => {
                let turn = recorder.turn(worker);
                if turn.called && !turn.answered {
                    recorder.message(worker, Role::Assistant, &text);
                    return;
                }
                *turn = Turn::default();
                recorder.settle(worker);
                recorder.say(worker, &text);
            }
            Role::User if is_echo(&text) => {}
            role => {
                recorder.settle(worker);
                *recorder.turn(worker) = Turn::default();
                recorder.message(worker, role, &text);
            }
        }
    }

    fn call(&self, worker: &str, recorder: &mut Recorder<'_>) -> Result<(), ProblemKind> {
        recorder.recognise();
        let tool = match (string(self.name), self.action) {
            (Some(name), _) => name,
            (None, Some(_)) => Cow::Borrowed("local_shell"),
            (None, None) => {
                return Err(ProblemKind::Missing { record: "a function call", field: "name" });
            }
        };
        let arguments = Arguments::new(self.arguments.or(self.input));
        let args = match self.action {
            Some(action) if self.name.is_none() => Args::Json(action.get()),
            _ => arguments.as_args(),
        };
        let turn = recorder.turn(worker);
        let step = if turn.called && !turn.answered { Step::Same } else { Step::New };
        *turn = Turn { called: true, ..Turn::default() };
        let index = recorder.call(worker, step, &tool, args);
        if let Some(id) = string(self.call_id.or(self.id)) {
            recorder.pairing.issue(worker, &id, digest(&*tool), index);
        }
        Ok(())
    }
}

/// How calls ended, told apart from their results and before or behind them.
#[derive(Default)]
struct Ends {
    latest: VecDeque<Told>,
}

struct Told {
    id: u64,
    /// Whether the call failed; none if its result did not tell.
    failed: Option<bool>,
    /// Whether the result was delivered; if not, the end was told before it.
    answered: bool,
}

impl Ends {
    /// Notes how a call ended: for its result if that is still to come, or because its result did
    /// not tell.
    fn tell(&mut self, worker: &str, end: &End<'_>, recorder: &mut Recorder<'_>) {
        recorder.flags_failures();
        let is_open = recorder.pairing.is_open(worker, &end.id);
        let id = digest(&*end.id);
        let told = self.latest.iter_mut().rev().find(|told| told.id == id);
        match told {
            Some(told) if is_open && !told.answered => told.failed = Some(end.failed),
            _ if is_open => self.remember(Told { id, failed: Some(end.failed), answered: false }),
            Some(told) if told.failed.is_none() => {
                told.failed = Some(end.failed);
                if end.failed {
                    recorder.failed_late();
                }
            }
            _ => {}
        }
    }

    /// Delivers a result, with what is known of the call's end.
    fn answer(&mut self, worker: &str, id: &str, output: &Output<'_>, recorder: &mut Recorder<'_>) {
        let Some(call) = recorder.pairing.answer(worker, id) else {
            return;
        };
        let id = digest(id);
        let before = self.latest.iter().position(|told| told.id == id && !told.answered);
        let before = before.and_then(|at| self.latest.remove(at)).and_then(|told| told.failed);
        let failed = before.or(output.failed);
        if failed.is_some() {
            recorder.flags_failures();
        }
        self.remember(Told { id, failed, answered: true });
        let failed = failed == Some(true);
        recorder.outcome(Outcome { call, worker, text: &output.text, failed, cut: None });
    }

    fn remember(&mut self, told: Told) {
        if self.latest.len() == OPEN_CALLS_MAX {
            self.latest.pop_front();
        }
        self.latest.push_back(told);
    }
}

/// Whether a text was written by the program in the user's name.
fn is_echo(text: &str) -> bool {
    let text = text.trim_start();
    ECHOES.iter().any(|echo| text.starts_with(echo))
}
