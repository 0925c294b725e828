//! A whole agent: asks the model, runs its calls, and keeps it from going round in circles.

mod error;
mod run;
mod transcript;

use std::fmt;

use crate::guard::Guard;
use crate::recovery::Recovery;

pub use error::{ChatError, LoopDetected};
pub use transcript::{Entry, Reply, ToolCall, ToolOutput};

/// How often the model is asked in one run, unless [`Chat::turns_max`] says otherwise: more than a
/// long task takes, and an end to one that does not end.
pub const TURNS_MAX: u32 = 500;

/// How many calls of one answer are run; what is beyond is answered without. Providers let a model ask
/// for no more at once.
pub const CALLS_MAX: usize = 128;

/// How often a run starts over; the next time it is stopped.
pub const START_OVERS_MAX: u32 = 3;

/// What a call is answered with that was one too many.
const TOO_MANY: &str = "This call was not run: there were too many at once. Ask for fewer.";

/// What an agent is told that neither calls a tool nor is done.
const GO_ON: &str = "You called no tool. Make the next call, or say that you are done.";

type Done<'c> = dyn Fn(&Reply) -> bool + Send + 'c;

/// Runs an agent, with its calls guarded.
///
/// The host supplies what asks the model and what runs a tool; how either is done is its own
/// business, and so is whether they wait ([`Chat::run`]) or are awaited ([`Chat::run_async`]).
///
/// A nudge or a warning is appended to the result of the call that it is about; a blocked call is
/// answered by the reason; on [`Action::StartOver`] the host's [`Recovery`] takes back what was done
/// and the model begins anew, told what was undone; and on [`Action::Stop`] the run ends with
/// [`LoopDetected`].
///
/// ```
/// use unstuck::{Chat, ChatError, Guard, Reply, ToolOutput};
///
/// // A model that knows only one way, and a tool that is not there.
/// let mut guard = Guard::new();
/// let outcome = Chat::new(&mut guard).run(
///     "Deploy it.",
///     |_transcript| Ok::<_, std::io::Error>(Reply::call("1", "deploy", r#"{"to":"prod"}"#)),
///     |_call| Ok(ToolOutput::failed("deploy: command not found")),
/// );
/// let Err(ChatError::Loop(stuck)) = outcome else { panic!("it does not get out by itself") };
/// assert_eq!(stuck.found.finding.laps, 8);
/// assert_eq!(stuck.to_string(), "stuck: You have made the same `deploy` call 8 times in a row, and \
///     it fails in the same way each time. The run ends here.");
/// ```
///
/// [`Action::StartOver`]: crate::Action::StartOver
/// [`Action::Stop`]: crate::Action::Stop
#[must_use = "a chat does nothing before it is run"]
pub struct Chat<'c> {
    guard: &'c mut Guard,
    recovery: Option<&'c mut (dyn Recovery + Send)>,
    done: Box<Done<'c>>,
    turns_max: u32,
}

impl fmt::Debug for Chat<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat")
            .field("guard", &self.guard)
            .field("turns_max", &self.turns_max)
            .finish_non_exhaustive()
    }
}

impl<'c> Chat<'c> {
    /// An agent that `guard` watches. It is done when the model answers without a call.
    pub fn new(guard: &'c mut Guard) -> Self {
        let done = Box::new(|reply: &Reply| reply.calls.is_empty());
        Self { guard, recovery: None, done, turns_max: TURNS_MAX }
    }

    /// What takes back what was done, when the guard says to start over. Without it, such a run is
    /// stopped.
    pub fn recovery(mut self, recovery: &'c mut (dyn Recovery + Send)) -> Self {
        self.recovery = Some(recovery);
        self
    }

    /// The run is over at the first answer for which `done` holds; its calls are not run. Until then
    /// an answer without a call is a turn of mere talk, which the guard watches too.
    pub fn until(mut self, done: impl Fn(&Reply) -> bool + Send + 'c) -> Self {
        self.done = Box::new(done);
        self
    }

    /// How often the model is asked at most.
    pub fn turns_max(mut self, turns: u32) -> Self {
        self.turns_max = turns;
        self
    }

    /// Works on `instruction` until the model is done; gives the whole conversation, of which the
    /// last entry is its last answer.
    ///
    /// # Errors
    ///
    /// [`ChatError::Loop`] where the guard stops it, [`ChatError::Recovery`] where it cannot start over,
    /// [`ChatError::Turns`] where it does not end, and [`ChatError::Host`] with the first error of
    /// `model` or `tool`: a call that merely failed is no error but a [`ToolOutput`].
    pub fn run<E>(
        self,
        instruction: &str,
        mut model: impl FnMut(&[Entry]) -> Result<Reply, E>,
        mut tool: impl FnMut(&ToolCall) -> Result<ToolOutput, E>,
    ) -> Result<Vec<Entry>, ChatError<E>> {
        let mut run = run::Run::new(self, instruction);
        loop {
            match run.next()? {
                run::Next::Ask => {
                    let reply = model(run.transcript()).map_err(ChatError::Host)?;
                    run.replied(reply)?;
                }
                run::Next::Call(call) => {
                    let output = tool(&call).map_err(ChatError::Host)?;
                    run.returned(&output)?;
                }
                run::Next::Done => return Ok(run.into_transcript()),
            }
        }
    }

    /// As [`Chat::run`], with a model and tools that are awaited, in any runtime.
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn run_async<E>(
        self,
        instruction: &str,
        mut model: impl AsyncFnMut(&[Entry]) -> Result<Reply, E>,
        mut tool: impl AsyncFnMut(&ToolCall) -> Result<ToolOutput, E>,
    ) -> Result<Vec<Entry>, ChatError<E>> {
        let mut run = run::Run::new(self, instruction);
        loop {
            match run.next()? {
                run::Next::Ask => {
                    let reply = model(run.transcript()).await.map_err(ChatError::Host)?;
                    run.replied(reply)?;
                }
                run::Next::Call(call) => {
                    let output = tool(&call).await.map_err(ChatError::Host)?;
                    run.returned(&output)?;
                }
                run::Next::Done => return Ok(run.into_transcript()),
            }
        }
    }
}
