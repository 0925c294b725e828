//! What a trace is made of: calls, their outcomes, and messages, borrowed from the input.

/// One thing that happened in a run, in the order of the file.
///
/// An event borrows from the line it was read from and lives only for the call that delivers it:
/// a consumer keeps digests of it, or copies what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The agent asked for a tool.
    Call(Call<'a>),
    /// A call was answered.
    Outcome(Outcome<'a>),
    /// Somebody said something.
    Message(Message<'a>),
    /// Another run begins in the same input, as where files were put together: its workers have
    /// nothing to do with those before, whatever their names. Calls and messages count on.
    Begin(Begin<'a>),
}

/// The beginning of another run. The first one of an input begins without saying so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begin<'a> {
    /// The run's name, if it has one.
    pub session: Option<&'a str>,
}

/// A tool's name with its arguments, as the agent asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// Which call of the file this is, from 0, over all workers.
    pub index: usize,
    /// Which agent asked; `"main"` if the file names none.
    pub worker: &'a str,
    /// Calls that the agent issued together share a step. Steps are numbered anew, so that they
    /// rise within a worker whatever numbers the file holds.
    pub step: u64,
    /// The tool's name.
    pub tool: &'a str,
    /// What the tool was called with.
    pub args: Args<'a>,
}

/// The arguments of a call, neither parsed nor reordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Args<'a> {
    /// JSON text as it stands in the file; `null` where the file holds no arguments. Where a format
    /// keeps arguments in a JSON string (OpenAI, Codex), this is the unescaped content of that string.
    Json(&'a str),
    /// Text that should have been JSON and is not: the model's mistake, kept as it is.
    Text(&'a str),
}

/// What came back from a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome<'a> {
    /// The [`Call::index`] of the call it answers.
    pub call: usize,
    /// The worker of that call.
    pub worker: &'a str,
    /// The result as text; a result that is not text is its JSON. Lines that some agents add and
    /// that differ for equal results are left out (see the [crate's documentation](crate)).
    pub text: &'a str,
    /// Whether the file flags the result as failed. Always `false` where the format has no flag.
    pub failed: bool,
    /// What stands for the part of the result that the recording left out (`result_sha` of a
    /// native trace): equal texts with different `cut` are different results.
    pub cut: Option<&'a str>,
}

/// Something said in words, by the agent or to it.
///
/// An agent's message is delivered once it is known whether a call follows, so it may come after
/// later events of other workers; its index tells where it stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Which message of the file this is, from 0, over all workers.
    pub index: usize,
    /// Whose conversation it belongs to.
    pub worker: &'a str,
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub text: &'a str,
    /// Whether this is an agent's turn in which it called no tool.
    pub text_only: bool,
}

/// Who said a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The instructions of the host (`system`, `developer`).
    System,
    /// The person, or the program in its place.
    User,
    /// The agent.
    Assistant,
    /// Anyone else.
    Other,
}

impl Role {
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "system" | "developer" => Self::System,
            "user" | "human" => Self::User,
            "assistant" => Self::Assistant,
            _ => Self::Other,
        }
    }
}
