//! Codex rollouts: JSON Lines of `{"type":…,"payload":{…}}`, one file a thread; the oldest have the
//! items bare, without `payload`.
//!
//! - The items are those of [OpenAI Responses](super::openai_responses), which says what calls,
//!   turns, results and messages are.
//! - **Workers.** The first `session_meta` names the thread; later ones name threads it was forked
//!   from. A thread with a parent is a worker of its own, named by its id, and takes its parent's
//!   session. Any other thread is `main`.
//! - **Failures** have no flag in a result. A call failed if its exit code is not 0, in the event of
//!   its end or in the result's text, or if Codex put one of its own errors in place of a result. An
//!   event may come after the result. The failure is then counted, and the delivered result stays as
//!   it is. Failures are unknown if the file has no event of an end.
//! - **Tokens.** A `token_usage_record` has those of a response. Older versions have only `token_count`
//!   events, which are repeated: an answer was paid for if the total has changed. A file may have
//!   both. They come behind the calls of the answer.
//! - **Mirrors.** `event_msg` repeats messages and results, and `compacted.replacement_history` the
//!   whole conversation. Only failures and tokens are taken from the former, and nothing from the latter.

mod ends;

use self::ends::Ends;
use super::openai_responses::replay_item;
use super::prelude::*;
use crate::tool_result::ToolResult;

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    let mut thread = Thread::default();
    source.replay(recorder, &mut |line, recorder| thread.replay(line, recorder));
}

#[derive(Default)]
struct Thread {
    /// Known from the first `session_meta` on.
    worker: Option<String>,
    ends: Ends,
    /// `true` if the file has a `token_usage_record`.
    has_usage_records: bool,
    /// The latest total of a `token_count` event.
    total: Option<Tokens>,
}

impl Thread {
    fn replay(&mut self, line: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
        let kind = line.text("type");
        if !is_object(line.get("payload")) {
            return self.replay_bare(line, recorder);
        }
        recorder.recognise();
        recorder.time(time(line.get("timestamp")));
        match kind.as_deref() {
            Some("session_meta") => self.meet(line.get("payload"), recorder),
            Some("response_item") => {
                if let Some(item) = nested(line.get("payload")) {
                    return self.item(&item, recorder);
                }
            }
            Some("event_msg") => {
                if let Some(event) = nested(line.get("payload")) {
                    let worker = self.worker.as_deref().unwrap_or(MAIN);
                    self.ends.note(worker, &event, recorder);
                    self.count(&event, recorder);
                }
            }
            Some("token_usage_record") => self.pay(line.get("payload"), recorder),
            _ => {}
        }
        Ok(())
    }

    /// Replays a line of the oldest rollouts: an item, or the thread's name.
    fn replay_bare(&mut self, line: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
        if line.has("payload") {
            return Ok(());
        }
        if line.has("type") || line.has("role") {
            return self.item(line, recorder);
        }
        if line.has("timestamp")
            && let Some(id) = line.text("id")
        {
            recorder.recognise();
            recorder.session(&id);
            recorder.time(time(line.get("timestamp")));
        }
        Ok(())
    }

    /// Delivers the tokens of a response.
    fn pay(&mut self, record: Raw<'_>, recorder: &mut Recorder<'_>) {
        let Some([id, usage]) = members(record, ["response_id", "usage"]) else { return };
        self.has_usage_records = true;
        let worker = self.worker.as_deref().unwrap_or(MAIN);
        recorder.usage_of(worker, string(id).as_deref(), Tokens::of_openai(usage));
    }

    /// Delivers the tokens of the latest response from a `token_count` event, if its total is another one
    /// than before.
    fn count(&mut self, event: &Object<'_>, recorder: &mut Recorder<'_>) {
        let names = ["total_token_usage", "last_token_usage"];
        let Some([total, last]) = members(event.get("info"), names) else { return };
        let total = Tokens::of_openai(total);
        let before = total.and_then(|total| self.total.replace(total));
        if self.has_usage_records || (total.is_some() && total == before) {
            return;
        }
        let known = before.unwrap_or_default();
        let grown = total.map(|total| total.without(known));
        let worker = self.worker.as_deref().unwrap_or(MAIN);
        recorder.usage(worker, Tokens::of_openai(last).or(grown));
    }

    /// Takes the thread's name and its parent's name from the first line that has them.
    fn meet(&mut self, meta: Raw<'_>, recorder: &mut Recorder<'_>) {
        let names = ["id", "session_id", "parent_thread_id", "source"];
        let meta = members(meta, names).filter(|_| self.worker.is_none());
        let Some([id, session, parent, source]) = meta else { return };
        let subagent = member(source, "subagent");
        let spawn = member(subagent, "thread_spawn");
        let parent = string(parent).or_else(|| string(member(spawn, "parent_thread_id")));
        let is_spawned = subagent.is_some() || parent.is_some();
        let id = string(id);
        let worker = id.clone().filter(|_| is_spawned).unwrap_or(Cow::Borrowed(MAIN));
        self.worker = Some(worker.into_owned());
        recorder.session_of(string(session).or(parent).or(id));
    }

    fn item(&mut self, item: &Object<'_>, recorder: &mut Recorder<'_>) -> Done {
        let worker = self.worker.as_deref().unwrap_or(MAIN);
        let ends = &mut self.ends;
        replay_item(item, worker, recorder, &mut |id, result, recorder| {
            ends.deliver(worker, id, &result, recorder);
        })
    }
}

impl<'a> ToolResult<'a> {
    /// Reads a result of Codex, without the header's random id and measured time.
    pub fn codex(json: &'a RawValue) -> Self {
        Self::from_codex(Some(json))
    }
}
