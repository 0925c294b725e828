//! The conversation between a user, a model and its tools, in a form that fits every provider.

use crate::payload::ToolOutput;

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
