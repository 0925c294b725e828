//! The output of a call, as the model reads it.

/// The output of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// The result, or the error message.
    pub text: String,
    /// Whether the call failed.
    pub failed: bool,
}

impl ToolOutput {
    /// Creates the output of a call that worked.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: false }
    }

    /// Creates the output of a call that failed.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: true }
    }
}
