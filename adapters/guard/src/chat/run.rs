//! One run of an agent, step by step.
//!
//! A run knows no provider and no runtime, so a blocking and an async driver take a few lines each. It
//! announces calls one by one, because nothing is blocked ahead while other calls are open.

use std::collections::VecDeque;
use std::mem::take;

use unstuck_core::Action;

use super::{
    CALLS_MAX, Chat, ChatError, Entry, GO_ON, LoopDetected, Reply, START_OVERS_MAX, TOO_MANY,
    ToolCall,
};
use crate::asked::Asked;
use crate::decision::End;
use crate::decision::{Decision, Evidence, Message, SIGN};
use crate::payload::ToolOutput;

/// The next step of a [`Run`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask the model with [`Run::transcript`], then report its answer by [`Run::replied`].
    Ask,
    /// Run this call, then report its output by [`Run::returned`].
    Call(ToolCall),
    /// The model is done.
    Done,
}

/// A run that the host drives.
///
/// It borrows no future and holds no lock, so that the host decides how to wait: the loop below works in
/// a task of any async runtime, with `.await` behind both questions. A host that streams shows the parts of
/// an answer as they come and reports the whole by [`Run::replied`]. `examples/spawned.rs` does both on
/// tokio.
///
/// ```
/// use unstuck::{Chat, ChatError, Guard, Next, Reply, ToolOutput};
///
/// let mut guard = Guard::new();
/// let mut run = Chat::new(&mut guard).begin("Which files are there?");
/// loop {
///     match run.advance()? {
///         Next::Ask if run.transcript().len() == 1 => {
///             run.replied(Reply::call("1", "list_files", "{}"))?;
///         }
///         Next::Ask => run.replied(Reply::text("main.rs"))?,
///         Next::Call(_) => run.returned(&ToolOutput::ok("main.rs"))?,
///         Next::Done => break,
///     }
/// }
/// assert_eq!(run.into_transcript().len(), 4);
/// # Ok::<(), ChatError>(())
/// ```
#[derive(Debug)]
#[must_use = "a run does nothing before it is driven"]
pub struct Run<'c> {
    chat: Chat<'c>,
    transcript: Vec<Entry>,
    /// The calls of the latest answer that have not run yet, in order.
    waiting: VecDeque<ToolCall>,
    /// The id of the call that the host runs now, and the decision before it.
    running: Option<(String, Decision)>,
    /// The number of times that the model was asked, which is the step of the calls in its answer.
    turns: u32,
    start_overs: u32,
    /// The question of the next turn, if someone else takes it.
    question: Option<String>,
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
            question: None,
            is_done: false,
        }
    }

    /// Returns the conversation so far.
    pub fn transcript(&self) -> &[Entry] {
        &self.transcript
    }

    /// Returns the question with which someone else takes the next turn, such as a stronger model, if a decision
    /// [escalates](Decision::escalates). They get the conversation, and the question as a message of the user that
    /// is not kept. Their answer is reported by [`Run::replied`] like any other.
    pub fn question(&self) -> Option<&str> {
        self.question.as_deref()
    }

    /// Returns the conversation, and ends the run.
    pub fn into_transcript(self) -> Vec<Entry> {
        self.transcript
    }

    /// Returns the next step. Calls that are blocked are answered on the way.
    ///
    /// # Errors
    ///
    /// [`ChatError::Loop`], [`ChatError::Recovery`] or [`ChatError::Turns`], as [`Chat::run`] says. The run
    /// is over then.
    pub fn advance(&mut self) -> Result<Next, ChatError> {
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

    /// Reports the model's answer.
    ///
    /// # Errors
    ///
    /// The errors of [`Run::advance`].
    pub fn replied(&mut self, reply: Reply) -> Result<(), ChatError> {
        self.question = None;
        self.is_done = (self.chat.done)(&reply);
        if !self.is_done {
            self.waiting.extend(reply.calls.iter().take(CALLS_MAX).cloned());
        }
        let beyond = reply.calls.iter().skip(CALLS_MAX).filter(|_| !self.is_done);
        let too_many: Vec<_> = beyond.map(|call| call.id.clone()).collect();
        let is_text = !self.is_done && reply.calls.is_empty();
        let decision = is_text.then(|| self.chat.guard.text_turn(&reply.text));
        self.transcript.push(Entry::Assistant(reply));
        for id in too_many {
            self.answer(id, ToolOutput::failed(format!("{SIGN} {TOO_MANY}")));
        }
        let Some(decision) = decision else { return Ok(()) };
        self.ask_about(&decision);
        if decision.ends_the_run() {
            return self.end(&decision);
        }
        let answer = decision.message().map_or_else(|| GO_ON.to_owned(), Message::note);
        self.transcript.push(Entry::User(answer));
        Ok(())
    }

    /// Reports the output of the call that has run.
    ///
    /// # Errors
    ///
    /// The errors of [`Run::advance`].
    pub fn returned(&mut self, output: &ToolOutput) -> Result<(), ChatError> {
        let Some((id, before)) = self.running.take() else { return Ok(()) };
        let guard = &mut *self.chat.guard;
        let after = guard.after(before.ticket(), &output.text, output.failed);
        // The decision after the call rests on more than the one before it.
        let noted = if after.message().is_some() { &after } else { &before };
        self.answer(id, noted.annotated(output.clone()));
        self.ask_about(&before);
        self.ask_about(&after);
        if after.ends_the_run() { self.end(&after) } else { Ok(()) }
    }

    /// Returns whether `call` may run. If not, it is answered, or the run ends.
    fn may_run(&mut self, call: &ToolCall) -> Result<bool, ChatError> {
        let asked = Asked::new(&call.tool, &call.args).step(self.turns.into());
        let decision = self.chat.guard.announce(&asked);
        if !decision.is_blocked() {
            self.running = Some((call.id.clone(), decision));
            return Ok(true);
        }
        self.answer(call.id.clone(), decision.refused());
        self.ask_about(&decision);
        if decision.ends_the_run() {
            self.end(&decision)?;
        }
        Ok(false)
    }

    /// Keeps the question of a decision for the next turn, if there is one.
    fn ask_about(&mut self, decision: &Decision) {
        self.question = decision.question().or_else(|| self.question.take());
    }

    fn answer(&mut self, id: String, output: ToolOutput) {
        self.transcript.push(Entry::Tool { id, output });
    }

    /// Starts over if the decision asks for that and it is possible. Otherwise the run ends.
    fn end(&mut self, decision: &Decision) -> Result<(), ChatError> {
        if let Some(evidence) = decision.evidence()
            && decision.action() == Action::StartOver
            && self.start_overs < START_OVERS_MAX
            && let Some(recovery) = &mut self.chat.recovery
        {
            match recovery.start_over() {
                Ok(undone) => self.start_over(&Message::new(undone.message_about(evidence))),
                Err(error) => {
                    let Some(stuck) = self.stuck(decision) else { return Ok(()) };
                    return Err(ChatError::Recovery { error, stuck });
                }
            }
            return Ok(());
        }
        self.stuck(decision).map_or(Ok(()), |stuck| Err(ChatError::Loop(stuck)))
    }

    /// Returns the evidence with which the run ends. Every decision to end a run has some.
    fn stuck(&mut self, decision: &Decision) -> Option<Box<LoopDetected>> {
        let evidence = Evidence { action: Action::Stop, ..decision.evidence()?.clone() };
        let message = Message::of(&evidence, End::Possible, self.chat.guard.setup.wording);
        let transcript = take(&mut self.transcript);
        Some(Box::new(LoopDetected { evidence, message, transcript }))
    }

    /// Takes the conversation back to the instruction, and adds the message to the model.
    fn start_over(&mut self, undone: &Message) {
        self.start_overs += 1;
        self.waiting.clear();
        self.question = None;
        self.transcript.truncate(1);
        self.transcript.push(Entry::User(undone.note()));
        self.chat.guard.clear();
    }
}
