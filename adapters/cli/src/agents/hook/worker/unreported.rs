//! The calls of a worker that end without an event of their own, and those for which this program's proxy answers.

use std::path::Path;

use unstuck::SIGN;
use unstuck_core::Digest;
use unstuck_text::is_refusal;

use super::Worker;
use super::calls::CallReplies;
use crate::agents::event::{Call, Ending, Event, EventKind, Listed};
use crate::agents::hook::read::{End, ReadCall};
use crate::agents::reply::Reply;

/// The largest number of tools that are stored as the proxy's.
const PROXIED_MAX: usize = 32;

/// Returns whether the proxy of this program answers for `tool`: it has named it in this result. The proxy knows the
/// tools of its server by their own names, which agents lengthen: `order` is `mcp__desk__order` for the model.
fn is_by_proxy(tool: &str, ending: &Ending<'_>) -> bool {
    let Ending::Answered { text, .. } = ending else { return false };
    let words = text.find(SIGN).and_then(|at| text[at..].split('`').nth(1));
    words.and_then(|name| tool.strip_suffix(name)).is_some_and(|before| !before.is_empty())
}

impl Worker {
    /// Takes in the end of a step, and the calls that the agent lists.
    pub(super) fn step_ended(&mut self, calls: &[Listed<'_>]) -> Reply {
        let reply = self.calls_ended(calls);
        self.position.reports_steps = true;
        self.position.is_step_over = true;
        reply
    }

    /// Takes in calls that have ended. Most of them had events of their own. Returns the most severe of the
    /// replies to the others.
    pub(super) fn calls_ended(&mut self, calls: &[Listed<'_>]) -> Reply {
        let mut reply = Reply::Nothing;
        for listed in calls {
            let call = &listed.call;
            let Some(id) = call.id.as_deref() else { continue };
            let known = self.position.replies_to(id);
            if known.is_some_and(CallReplies::is_closed) {
                continue;
            }
            let ending = match listed.ending() {
                // A call that has run has an event of its own. This one was refused: by a rule of the agent, if
                // it says so, or by another hook.
                Ending::Answered { text, failed: false }
                    if known.is_some() && is_refusal(&text) =>
                {
                    Ending::Answered { text, failed: true }
                }
                Ending::Answered { failed: false, .. } if known.is_some() => Ending::Refused,
                ending => ending,
            };
            reply = reply.or(self.ended(call, &ending));
        }
        reply
    }

    /// Takes in the calls that have ended without an event. The call of this event is not among them.
    pub(super) fn settle_unreported(&mut self, event: &Event<'_>) -> Reply {
        let own = match &event.kind {
            EventKind::Before(call) | EventKind::After(call, _) => call.id.as_deref(),
            EventKind::HandedBack(_) => None,
            // When a session is resumed, the calls before the message of the user were counted already.
            _ => return Reply::Nothing,
        };
        let is_closed = |id: &str| self.position.replies_to(id).is_some_and(CallReplies::is_closed);
        let place = self.host().unreported.zip(event.transcript.as_deref());
        let ended = place.map_or_else(Vec::new, |(read, path)| read(Path::new(path), &is_closed));
        let others = ended.iter().filter(|(call, _)| call.id.as_deref() != own);
        others.fold(Reply::Nothing, |reply, (call, ending)| self.ended(call, ending).or(reply))
    }

    /// Remembers the call that is about to run if the agent does not report its failure.
    pub(super) fn notice_silent(&mut self, call: &Call<'_>) {
        let is_silent = self.host().silent.contains(&call.tool.as_ref());
        if let Some(id) = call.id.as_deref().filter(|_| is_silent) {
            self.position.silent = Some(id.to_owned());
        }
    }

    /// Counts the remembered call as failed if `kind` is an event that comes after its end.
    pub(super) fn settle_silent(&mut self, kind: &EventKind<'_>) -> Reply {
        let is_other = match kind {
            EventKind::Before(call) => call.id != self.position.silent.as_deref().map(Into::into),
            EventKind::HandedBack(_) | EventKind::Prompt(_) => true,
            _ => false,
        };
        let Some(id) = self.position.silent.take_if(|_| is_other) else { return Reply::Nothing };
        let is_closed = self.position.replies_to(&id).is_some_and(CallReplies::is_closed);
        let Some(ticket) = self.guard.ticket(&id).filter(|_| !is_closed) else {
            return Reply::Nothing;
        };
        let decision = self.guard.after(ticket, "", true);
        self.session.errors += 1;
        let reply = self.reply_after(&decision);
        self.position.store(&id).after = Some(reply.clone());
        reply
    }

    /// Takes in a call whose end has no event of its own.
    fn ended(&mut self, call: &Call<'_>, ending: &Ending<'_>) -> Reply {
        self.notice_proxy(call, ending);
        let call = ReadCall::of(call);
        let reply = self.after(&call, &End::of(ending));
        self.beside_proxy(&call, false, reply)
    }

    /// Remembers the tool of a call for which the proxy of this program answers.
    pub(super) fn notice_proxy(&mut self, call: &Call<'_>, ending: &Ending<'_>) {
        let tool = Digest::of(call.tool.as_bytes());
        let proxied = &mut self.position.proxied;
        if proxied.len() < PROXIED_MAX
            && !proxied.contains(&tool)
            && is_by_proxy(&call.tool, ending)
        {
            proxied.push(tool);
        }
    }

    /// Leaves out of `reply` what the proxy says itself. It cannot end a turn, which some hooks can.
    pub(super) fn beside_proxy(&self, call: &ReadCall<'_>, ends_turn: bool, reply: Reply) -> Reply {
        let tool = call.call.tool.as_bytes();
        let is_proxied = || self.position.proxied.contains(&Digest::of(tool));
        match reply {
            Reply::Tell(_) | Reply::Refuse(_) if is_proxied() => Reply::Nothing,
            Reply::Stop(_) if !ends_turn && is_proxied() => Reply::Nothing,
            reply => reply,
        }
    }
}
