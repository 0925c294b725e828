//! One run of an agent, step by step: what to do next, and what comes of it.

use std::collections::VecDeque;
use std::mem::take;

use unstuck_core::Action;

use super::{
    CALLS_MAX, Chat, ChatError, Entry, GO_ON, LoopDetected, Reply, START_OVERS_MAX, TOO_MANY,
    ToolCall, ToolOutput,
};
use crate::decision::{Decision, Found, Message, SIGN};
use crate::guard::Asked;

/// What the host is to do.
pub(super) enum Next {
    /// Ask the model.
    Ask,
    /// Run this call.
    Call(ToolCall),
    /// Nothing: the model is done.
    Done,
}

/// A run that is going on.
pub(super) struct Run<'c> {
    chat: Chat<'c>,
    transcript: Vec<Entry>,
    /// The calls of the last answer that were not run yet, in order.
    waiting: VecDeque<ToolCall>,
    /// The call that the host runs now, and what was decided before it.
    running: Option<(String, Decision)>,
    /// How often the model was asked: the step of the calls that it asks for at once.
    turns: u32,
    start_overs: u32,
    is_done: bool,
}

impl<'c> Run<'c> {
    pub(super) fn new(chat: Chat<'c>, instruction: &str) -> Self {
        chat.guard.clear();
        let _: Decision = chat.guard.user_message(instruction);
        Self {
            chat,
            transcript: vec![Entry::User(instruction.to_owned())],
            waiting: VecDeque::new(),
            running: None,
            turns: 0,
            start_overs: 0,
            is_done: false,
        }
    }

    pub(super) fn transcript(&self) -> &[Entry] {
        &self.transcript
    }

    pub(super) fn into_transcript(self) -> Vec<Entry> {
        self.transcript
    }

    /// What to do next.
    pub(super) fn next<E>(&mut self) -> Result<Next, ChatError<E>> {
        while let Some(call) = self.waiting.pop_front() {
            if self.may_run(&call)? {
                return Ok(Next::Call(call));
            }
        }
        if self.is_done {
            return Ok(Next::Done);
        }
        if self.turns >= self.chat.turns_max {
            let transcript = take(&mut self.transcript);
            return Err(ChatError::Turns { max: self.turns, transcript });
        }
        self.turns += 1;
        Ok(Next::Ask)
    }

    /// The model answered.
    pub(super) fn replied<E>(&mut self, reply: Reply) -> Result<(), ChatError<E>> {
        self.is_done = (self.chat.done)(&reply);
        if !self.is_done {
            self.waiting.extend(reply.calls.iter().take(CALLS_MAX).cloned());
        }
        let beyond = reply.calls.iter().skip(CALLS_MAX).filter(|_| !self.is_done);
        let too_many: Vec<_> = beyond.map(|call| call.id.clone()).collect();
        let is_talk = !self.is_done && reply.calls.is_empty();
        let decision = is_talk.then(|| self.chat.guard.text_turn(&reply.text));
        self.transcript.push(Entry::Assistant(reply));
        for id in too_many {
            self.answer(id, ToolOutput::failed(format!("{SIGN} {TOO_MANY}")));
        }
        let Some(decision) = decision else { return Ok(()) };
        if decision.ends_the_run() {
            return self.end(&decision);
        }
        let said = decision.message().map_or_else(|| GO_ON.to_owned(), Message::note);
        self.transcript.push(Entry::User(said));
        Ok(())
    }

    /// The call that was run came back.
    pub(super) fn returned<E>(&mut self, output: &ToolOutput) -> Result<(), ChatError<E>> {
        let Some((id, early)) = self.running.take() else { return Ok(()) };
        let guard = &mut *self.chat.guard;
        let late = guard.after(early.ticket(), &output.text, output.failed);
        // What is said after the call knows more than what was said before it.
        let told = if late.message().is_some() { &late } else { &early };
        let text = told.annotate(&output.text).into_owned();
        self.answer(id, ToolOutput { text, failed: output.failed });
        if late.ends_the_run() { self.end(&late) } else { Ok(()) }
    }

    /// Whether `call` may run; if not, it is answered, or the run ends.
    fn may_run<E>(&mut self, call: &ToolCall) -> Result<bool, ChatError<E>> {
        let asked = Asked::new(&call.tool, &call.args).step(self.turns.into());
        let decision = self.chat.guard.announce(&asked);
        if !decision.is_blocked() {
            self.running = Some((call.id.clone(), decision));
            return Ok(true);
        }
        self.answer(call.id.clone(), ToolOutput::failed(decision.refusal()));
        if decision.ends_the_run() {
            self.end(&decision)?;
        }
        Ok(false)
    }

    fn answer(&mut self, id: String, output: ToolOutput) {
        self.transcript.push(Entry::Tool { id, output });
    }

    /// The run starts over if that is asked for and possible, and else ends.
    fn end<E>(&mut self, decision: &Decision) -> Result<(), ChatError<E>> {
        if decision.action() == Action::StartOver
            && self.start_overs < START_OVERS_MAX
            && let Some(recovery) = &mut self.chat.recovery
        {
            match recovery.start_over() {
                Ok(undone) => self.start_over(&Message::new(undone.message())),
                Err(error) => {
                    let Some(stuck) = self.stuck(decision) else { return Ok(()) };
                    return Err(ChatError::Recovery { error, stuck });
                }
            }
            return Ok(());
        }
        self.stuck(decision).map_or(Ok(()), |stuck| Err(ChatError::Loop(stuck)))
    }

    /// The evidence, with which the run ends. Every decision to end one has some.
    fn stuck(&mut self, decision: &Decision) -> Option<Box<LoopDetected>> {
        let found = Found { action: Action::Stop, ..decision.found()?.clone() };
        let message = Message::of(&found);
        let transcript = take(&mut self.transcript);
        Some(Box::new(LoopDetected { found, message, transcript }))
    }

    /// The conversation goes back to the instruction; the model is told why.
    fn start_over(&mut self, undone: &Message) {
        self.start_overs += 1;
        self.waiting.clear();
        self.transcript.truncate(1);
        self.transcript.push(Entry::User(undone.note()));
        self.chat.guard.clear();
    }
}
