//! An agent loop: asks the model, runs its calls, and breaks loops.

mod error;
mod run;

use std::fmt;

use crate::guard::Guard;
use crate::payload::ToolOutput;
use crate::recovery::Recovery;

pub use error::{ChatError, LoopDetected};
pub use run::{Next, Run};

/// The number of times that a run asks the model at most, unless [`Chat::turns_max`] sets another. A long
/// task takes fewer.
pub const TURNS_MAX: u32 = 500;

/// The largest number of calls of one answer that run. The others are answered without being run.
/// Providers do not let a model ask for more at once.
pub const CALLS_MAX: usize = 128;

/// The number of times that a run may start over. The next time it is stopped.
pub const START_OVERS_MAX: u32 = 3;

/// The answer to a call beyond [`CALLS_MAX`].
const TOO_MANY: &str = "This call was not run: there were too many at once. Ask for fewer.";

/// The answer to an agent that neither calls a tool nor is done.
const GO_ON: &str = "You called no tool. Make the next call, or say that you are done.";

type Done<'c> = dyn Fn(&Reply) -> bool + Send + 'c;

/// Runs an agent whose calls are guarded.
///
/// The host supplies a function that asks the model and one that runs a tool. [`Chat::run`] takes plain
/// functions and [`Chat::run_async`] takes async closures. [`Chat::begin`] returns a [`Run`] that the host
/// drives itself, for example in a task of tokio.
///
/// A nudge or a warning is appended to the result of its call, and a blocked call is answered with the
/// reason. On [`Action::StartOver`] the host's [`Recovery`] undoes the work, and the model begins anew with
/// a message that says what was undone and why. On [`Action::Stop`] the run ends with [`LoopDetected`].
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
/// assert_eq!(stuck.evidence.finding.laps, 8);
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
    /// Creates an agent that `guard` watches. It is done when the model answers without a call.
    pub fn new(guard: &'c mut Guard) -> Self {
        let done = Box::new(|reply: &Reply| reply.calls.is_empty());
        Self { guard, recovery: None, done, turns_max: TURNS_MAX }
    }

    /// Sets the recovery that undoes the work when the guard asks to start over. Without one, such a run
    /// is stopped.
    pub fn recovery(mut self, recovery: &'c mut (dyn Recovery + Send)) -> Self {
        self.recovery = Some(recovery);
        self
    }

    /// Ends the run at the first answer for which `done` holds. The calls of that answer do not run. Until
    /// then an answer without a call is a turn of mere text, which the guard watches, too.
    pub fn until(mut self, done: impl Fn(&Reply) -> bool + Send + 'c) -> Self {
        self.done = Box::new(done);
        self
    }

    /// Sets how often the model is asked at most.
    pub fn turns_max(mut self, turns: u32) -> Self {
        self.turns_max = turns;
        self
    }

    /// Begins to work on `instruction`. The host drives the run.
    pub fn begin(self, instruction: &str) -> Run<'c> {
        Run::new(self, instruction)
    }

    /// Works on `instruction` until the model is done. Returns the whole conversation; its last entry is
    /// the last answer.
    ///
    /// # Errors
    ///
    /// [`ChatError::Loop`] if the guard stops the run, [`ChatError::Recovery`] if the run cannot start
    /// over, [`ChatError::Turns`] if it does not end, and [`ChatError::Host`] with the first error of
    /// `model` or `tool`. A call that merely failed is a [`ToolOutput`] and no error.
    pub fn run<E>(
        self,
        instruction: &str,
        mut model: impl FnMut(&[Entry]) -> Result<Reply, E>,
        mut tool: impl FnMut(&ToolCall) -> Result<ToolOutput, E>,
    ) -> Result<Vec<Entry>, ChatError<E>> {
        let mut run = self.begin(instruction);
        loop {
            match run.advance().map_err(ChatError::widen)? {
                Next::Ask => {
                    let reply = model(run.transcript()).map_err(ChatError::Host)?;
                    run.replied(reply).map_err(ChatError::widen)?;
                }
                Next::Call(call) => {
                    let output = tool(&call).map_err(ChatError::Host)?;
                    run.returned(&output).map_err(ChatError::widen)?;
                }
                Next::Done => return Ok(run.into_transcript()),
            }
        }
    }

    /// Like [`Chat::run`], with a model and tools that are awaited, in any runtime.
    ///
    /// The compiler cannot prove that the future is `Send`, because the closures borrow. Await it in place,
    /// or in a `LocalSet`. For a task that may change threads, such as one of `tokio::spawn`, drive a
    /// [`Run`].
    ///
    /// # Errors
    ///
    /// The errors of [`Chat::run`].
    pub async fn run_async<E>(
        self,
        instruction: &str,
        mut model: impl AsyncFnMut(&[Entry]) -> Result<Reply, E>,
        mut tool: impl AsyncFnMut(&ToolCall) -> Result<ToolOutput, E>,
    ) -> Result<Vec<Entry>, ChatError<E>> {
        let mut run = self.begin(instruction);
        loop {
            match run.advance().map_err(ChatError::widen)? {
                Next::Ask => {
                    let reply = model(run.transcript()).await.map_err(ChatError::Host)?;
                    run.replied(reply).map_err(ChatError::widen)?;
                }
                Next::Call(call) => {
                    let output = tool(&call).await.map_err(ChatError::Host)?;
                    run.returned(&output).map_err(ChatError::widen)?;
                }
                Next::Done => return Ok(run.into_transcript()),
            }
        }
    }
}

/// One entry of a conversation. The entries stand in the order in which they were made.
///
/// ```
/// use unstuck::{Entry, Reply, ToolOutput};
///
/// let transcript = [
///     Entry::User("Which files are there?".into()),
///     Entry::Assistant(Reply::call("call_1", "list_files", "{}")),
///     Entry::Tool { id: "call_1".into(), output: ToolOutput::ok("main.rs") },
///     Entry::Assistant(Reply::text("There is main.rs.")),
/// ];
/// # let _ = transcript;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A message of the user, or of the guard in a user's place.
    User(String),
    /// An answer of the model.
    Assistant(Reply),
    /// The output of a call of the latest answer.
    Tool {
        /// The id of the call.
        id: String,
        /// The output as the model reads it.
        output: ToolOutput,
    },
}

/// An answer of the model: text, calls, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The text.
    pub text: String,
    /// The calls, all of which are asked for at once.
    pub calls: Vec<ToolCall>,
}

impl Reply {
    /// Creates an answer that is only text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), calls: Vec::new() }
    }

    /// Creates an answer that is only one call.
    pub fn call(id: impl Into<String>, tool: impl Into<String>, args: impl Into<String>) -> Self {
        let call = ToolCall { id: id.into(), tool: tool.into(), args: args.into() };
        Self { text: String::new(), calls: vec![call] }
    }
}

/// A call in the model's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The provider's id of the call.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments: a JSON text.
    pub args: String,
}
