//! Messages and tool results in the formats of the providers.

use serde_json::{Value, json};

use crate::decision::Message;
use crate::payload::ToolOutput;

impl Message {
    /// Returns a message of the user, for `OpenAI` chat completions, `OpenAI` responses, Anthropic
    /// messages, and the formats that follow one of them.
    ///
    /// ```
    /// # let mut guard = unstuck::Guard::new();
    /// # let decision = [(); 3].map(|()| guard.text_turn("Let me see."))[2].clone();
    /// let message = decision.message().expect("three times the same");
    /// let user = message.user();
    /// assert_eq!(user["role"], "user");
    /// assert!(user["content"].as_str().unwrap().starts_with("[unstuck] Your last 3 turns"));
    /// ```
    pub fn user(&self) -> Value {
        json!({ "role": "user", "content": self.note() })
    }

    /// Returns a message of the user, for Gemini: one of the `contents`.
    pub fn gemini_user(&self) -> Value {
        json!({ "role": "user", "parts": [{ "text": self.note() }] })
    }
}

/// The shapes of a tool result. Make the output by [`Decision::annotated`] or [`Decision::refused`].
///
/// [`Decision::annotated`]: crate::Decision::annotated
/// [`Decision::refused`]: crate::Decision::refused
impl ToolOutput {
    /// Returns the message that answers the call `id`, for `OpenAI` chat completions.
    ///
    /// ```
    /// let output = unstuck::ToolOutput::ok("main.rs");
    /// let expected = serde_json::json!(
    ///     { "role": "tool", "tool_call_id": "call_1", "content": "main.rs" }
    /// );
    /// assert_eq!(output.openai_tool_result("call_1"), expected);
    /// ```
    pub fn openai_tool_result(&self, id: &str) -> Value {
        json!({ "role": "tool", "tool_call_id": id, "content": self.text })
    }

    /// Returns the item that answers the call `id`, for `OpenAI` responses.
    ///
    /// ```
    /// let output = unstuck::ToolOutput::ok("main.rs");
    /// let expected = serde_json::json!(
    ///     { "type": "function_call_output", "call_id": "call_1", "output": "main.rs" }
    /// );
    /// assert_eq!(output.openai_function_call_output("call_1"), expected);
    /// ```
    pub fn openai_function_call_output(&self, id: &str) -> Value {
        json!({ "type": "function_call_output", "call_id": id, "output": self.text })
    }

    /// Returns the block of user content that answers the call `id`, for Anthropic messages.
    ///
    /// ```
    /// let output = unstuck::ToolOutput::failed("no such file");
    /// let expected = serde_json::json!({
    ///     "type": "tool_result",
    ///     "tool_use_id": "toolu_1",
    ///     "is_error": true,
    ///     "content": "no such file",
    /// });
    /// assert_eq!(output.anthropic_tool_result("toolu_1"), expected);
    /// ```
    pub fn anthropic_tool_result(&self, id: &str) -> Value {
        let (text, failed) = (&self.text, self.failed);
        json!({ "type": "tool_result", "tool_use_id": id, "is_error": failed, "content": text })
    }

    /// Returns the part of user content that answers a call of `tool`, for Gemini. Pass the `id` if the
    /// provider gave one.
    ///
    /// ```
    /// let output = unstuck::ToolOutput::failed("no such file");
    /// let expected = serde_json::json!({
    ///     "functionResponse": { "name": "read_file", "response": { "error": "no such file" } }
    /// });
    /// assert_eq!(output.gemini_function_response("read_file", None), expected);
    /// ```
    pub fn gemini_function_response(&self, tool: &str, id: Option<&str>) -> Value {
        let key = if self.failed { "error" } else { "output" };
        let mut answer = json!({ "name": tool, "response": { key: self.text } });
        if let Some(id) = id {
            answer["id"] = id.into();
        }
        json!({ "functionResponse": answer })
    }
}
