//! Messages as the providers' chat formats have them.

use serde_json::{Value, json};

use crate::decision::Message;

impl Message {
    /// The message of a user: the same for `OpenAI`'s chat completions, for Anthropic's messages, and
    /// for what follows either.
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

    /// The answer to the blocked call `id`, for `OpenAI`'s chat completions.
    pub fn openai_tool_result(&self, id: &str) -> Value {
        json!({ "role": "tool", "tool_call_id": id, "content": self.tool_result() })
    }

    /// The answer to the blocked call `id`, for Anthropic's messages: a block of the user's content.
    pub fn anthropic_tool_result(&self, id: &str) -> Value {
        json!({
            "type": "tool_result",
            "tool_use_id": id,
            "is_error": true,
            "content": self.tool_result(),
        })
    }
}
