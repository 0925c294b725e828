//! What is said between a user, a model and its tools, in the form that every provider has.

/// One entry of a conversation, in the order in which they were made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// What a user says, or the guard in a user's place.
    User(String),
    /// What the model answered.
    Assistant(Reply),
    /// What a call of the last answer came back with.
    Tool {
        /// The id of the call.
        id: String,
        /// What the model is shown.
        output: ToolOutput,
    },
}

/// What a model answers: text, calls, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// What it says.
    pub text: String,
    /// The calls that it asks for, all at once.
    pub calls: Vec<ToolCall>,
}

impl Reply {
    /// An answer that is only text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), calls: Vec::new() }
    }

    /// An answer that is only one call.
    pub fn call(id: impl Into<String>, tool: impl Into<String>, args: impl Into<String>) -> Self {
        let call = ToolCall { id: id.into(), tool: tool.into(), args: args.into() };
        Self { text: String::new(), calls: vec![call] }
    }
}

/// A call that a model asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The provider's id of the call.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments: a JSON text.
    pub args: String,
}

/// What a call came back with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// The result, or what went wrong.
    pub text: String,
    /// Whether the call failed.
    pub failed: bool,
}

impl ToolOutput {
    /// The result of a call that did what it should.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: false }
    }

    /// What went wrong with a call.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: true }
    }
}
