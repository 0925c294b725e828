//! The Agent Client Protocol: the JSON-RPC messages between an agent and its client, one a line.
//!
//! - **Calls** begin with a `tool_call` and go on with `tool_call_update`s, each with the fields that
//!   changed: most agents send the arguments late. So a call is delivered when it ends, or when one behind it
//!   does, or when the agent speaks. Calls with no result between them share a step.
//! - **Names.** The protocol has none. A call is named by its `kind`, such as `read` or `execute`, or by its
//!   `title` if it is of no kind. Without `rawInput`, the title and the places stand for the arguments.
//! - **Results** are the latest `content`, or else the `rawOutput`. A result without both, or with a terminal
//!   alone, is unknown and equal to no other. A call failed if its `status` says so.
//! - **Messages** come in chunks, which are put together. A `session/prompt` is the person's message.
//! - **Sessions.** The first is the main worker. Others on the same line are workers of their own.
//! - **Loading** a session sends all of it again. What comes between a `session/load` and its answer is skipped
//!   if the session was read before. Without these messages, a call counts once if its id looks random: some
//!   agents pass on the ids of their providers, which count from 0 with every answer.

mod open;

use std::collections::BTreeMap;

use self::open::OpenCalls;
use super::prelude::*;

/// The most bytes of a message that are put together. The rest of a longer one is left out.
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// The most sessions that are read. One connection has a few.
const SESSIONS_MAX: usize = 64;

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    let mut sessions = Sessions::default();
    source.replay(recorder, &mut |line, recorder| sessions.line(line, recorder));
    sessions.flush(recorder);
}

/// The sessions by their ids, and the calls of all of them.
#[derive(Default)]
struct Sessions {
    by_id: BTreeMap<String, Session>,
    calls: OpenCalls,
}

impl Sessions {
    fn line(&mut self, line: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
        let inner = nested(line.get("params"));
        let params = match line.text("method").as_deref() {
            Some("session/update" | "session/prompt") => inner.as_ref(),
            Some("session/load") => {
                self.load(line);
                return Ok(());
            }
            // The parameters of an update may stand alone.
            None if line.has("update") => Some(line),
            None => {
                for session in self.by_id.values_mut() {
                    let is_answer =
                        |request: &mut String| line.get("id").is_some_and(|id| id.get() == request);
                    session.loading.take_if(is_answer);
                }
                self.end_turn(line.get("result"), recorder);
                return Ok(());
            }
            Some(_) => return Ok(()),
        };
        let missing = |field| ProblemKind::Missing { record: "a message of a session", field };
        let params = params.ok_or(missing("params"))?;
        let id = params.text("sessionId").ok_or(missing("sessionId"))?;
        recorder.recognise();
        recorder.session(&id);
        let Self { by_id: sessions, calls, .. } = self;
        if !sessions.contains_key(&*id) {
            if sessions.len() == SESSIONS_MAX {
                let message = "of a session after the first 64; only these are read";
                return Err(ProblemKind::ForeignPart { message });
            }
            let worker = if sessions.is_empty() { MAIN } else { &*id };
            sessions.insert(id.clone().into_owned(), Session::new(worker));
        }
        let Some(session) = sessions.get_mut(&*id) else { return Ok(()) };
        if session.loading.is_some() && !params.has("prompt") {
            return Ok(());
        }
        if params.has("prompt") {
            session.loading = None;
            session.flush(calls, recorder);
            session.hears(Role::User, &texts(params.get("prompt")), recorder);
            return Ok(());
        }
        let update = nested(params.get("update")).ok_or(missing("update"))?;
        session.update(&update, calls, recorder)
    }

    /// Begins to skip what the agent sends again, if the session is known.
    fn load(&mut self, line: &Object<'_>) {
        let session = string(member(line.get("params"), "sessionId"));
        if let Some(session) = session.and_then(|session| self.by_id.get_mut(&*session)) {
            session.loading = line.get("id").map(|id| id.get().to_owned());
        }
    }

    /// Delivers all that is held back.
    fn flush(&mut self, recorder: &mut Recorder<'_>) {
        for session in self.by_id.values_mut() {
            session.flush(&mut self.calls, recorder);
        }
    }

    /// Delivers the tokens at the end of a turn. Its answer does not name the session, so that the tokens
    /// are delivered only if there is one session.
    fn end_turn(&mut self, result: Raw<'_>, recorder: &mut Recorder<'_>) {
        let Some([Some(_), usage]) = members(result, ["stopReason", "usage"]) else { return };
        self.flush(recorder);
        if self.by_id.len() == 1 {
            recorder.usage_up_to(MAIN, tokens(usage));
        }
    }
}

/// Reads the tokens of a session so far. Its parts do not overlap, and thoughts are part of the output.
fn tokens(usage: Raw<'_>) -> Option<Tokens> {
    Tokens::of_parts(
        usage,
        ["inputTokens", "cachedWriteTokens", "cachedReadTokens", "outputTokens"],
    )
}

/// The state of a session.
struct Session {
    worker: String,
    /// The JSON of the id of a `session/load` without answer so far. The session was read before.
    loading: Option<String>,
    /// The message whose chunks are being put together.
    message: Option<Message>,
}

struct Message {
    role: Role,
    id: Option<String>,
    text: String,
}

impl Session {
    fn new(worker: &str) -> Self {
        Self { worker: worker.to_owned(), loading: None, message: None }
    }

    fn update(
        &mut self,
        update: &Object<'_>,
        calls: &mut OpenCalls,
        recorder: &mut Recorder<'_>,
    ) -> Done {
        match update.text("sessionUpdate").as_deref() {
            Some("agent_message_chunk") => self.chunk(Role::Assistant, update, calls, recorder),
            Some("user_message_chunk") => self.chunk(Role::User, update, calls, recorder),
            Some("tool_call" | "tool_call_update") => {
                let id = update.required("toolCallId", "a tool call")?;
                self.speak(recorder);
                calls.update(&self.worker, &id, update, recorder);
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds a chunk to its message.
    fn chunk(
        &mut self,
        role: Role,
        update: &Object<'_>,
        calls: &mut OpenCalls,
        recorder: &mut Recorder<'_>,
    ) {
        let id = update.text("messageId").map(Cow::into_owned);
        let goes_on = self.message.as_ref().is_some_and(|message| {
            message.role == role && (message.id == id || message.id.is_none() || id.is_none())
        });
        if !goes_on {
            self.flush(calls, recorder);
        }
        let Some(text) = string(member(update.get("content"), "text")) else { return };
        let message = self.message.get_or_insert_with(|| Message { role, id, text: String::new() });
        if message.text.len() + text.len() <= MESSAGE_BYTES_MAX {
            message.text.push_str(&text);
        }
    }

    /// Delivers what is held back: the calls, and then the message behind them.
    fn flush(&mut self, calls: &mut OpenCalls, recorder: &mut Recorder<'_>) {
        calls.issue_all(&self.worker, recorder);
        self.speak(recorder);
    }

    /// Delivers the message that is complete now.
    fn speak(&mut self, recorder: &mut Recorder<'_>) {
        let Some(Message { role, text, .. }) = self.message.take() else { return };
        self.hears(role, &text, recorder);
    }

    fn hears(&mut self, role: Role, text: &str, recorder: &mut Recorder<'_>) {
        recorder.begin_turn(&self.worker);
        if role == Role::Assistant {
            recorder.say(&self.worker, text);
        } else {
            recorder.message(&self.worker, role, text);
        }
    }
}
