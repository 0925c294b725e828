//! Anthropic messages: the body of a request to `/v1/messages`, or the bare array of its messages.
//!
//! - Calls are `tool_use` blocks of the assistant's messages, results `tool_result` blocks of the
//!   user's, flagged by `is_error`.
//! - Messages of the assistant without a user's message between them are one answer, as the service
//!   reads them. Their calls share a step.
//! - A message that is a whole response has the tokens of its answer, in `usage`. So may the document.
//! - Tools that the provider runs (`server_tool_use`, `mcp_tool_use` and their results), `thinking`,
//!   and all fields beside `messages`, the `system` prompt included, are skipped.

use super::prelude::*;

impl Format {
    /// Anthropic messages: the body of a request, or the array of its messages.
    pub const ANTHROPIC: Self = Self::new(&Definition {
        name: "anthropic",
        no_record: "no message: expected a JSON array of objects with a `role`, \
                    or an object with `messages`",
        failures: Failures::Flagged,
        layouts: Layouts::Document(|fields| is_list(fields, "messages")),
        recognise,
        read: |input, layout, recorder| {
            let usage = |json: &str| Tokens::of_anthropic(serde_json::from_str(json).ok());
            let lists = Lists::First(&["messages"]);
            document::replay_with_usage(
                input,
                layout,
                lists,
                usage,
                recorder,
                &mut |json, recorder| checked_object::<Message<'_>>(json)?.replay(recorder),
            );
        },
    });
}

fn recognise(place: Place, fields: &Fields) -> Option<Clue> {
    let is_own = |kind: &str| matches!(kind, "tool_use" | "tool_result" | "server_tool_use");
    match place {
        Place::Element if blocks(fields).any(is_own) => {
            Some(Clue::mark("`tool_use` or `tool_result` blocks"))
        }
        Place::Document if is_request(fields) => {
            Some(Clue::hint("`system` or `input_schema` beside `messages`"))
        }
        _ => None,
    }
}

/// Returns whether an object has fields that only Anthropic's requests have beside their messages,
/// and no message that only OpenAI's chats have.
fn is_request(fields: &Fields) -> bool {
    let is_of_chat = |message: &Fields| {
        matches!(text(message, "role"), "system" | "developer" | "tool")
            || message.contains_key("tool_calls")
    };
    let has_schema = || objects(fields, "tools").any(|tool| tool.contains_key("input_schema"));
    objects(fields, "messages").any(is_chat_message)
        && !objects(fields, "messages").any(is_of_chat)
        && (fields.contains_key("system") || has_schema())
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Message<'a> {
    role: Raw<'a>,
    content: Raw<'a>,
    usage: Raw<'a>,
}

/// A block of a message's content, in Anthropic's messages and in the sessions that hold them.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(crate) struct Block<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: Raw<'a>,
    pub(crate) text: Raw<'a>,
    pub(crate) id: Raw<'a>,
    pub(crate) name: Raw<'a>,
    pub(crate) input: Raw<'a>,
    pub(crate) tool_use_id: Raw<'a>,
    pub(crate) content: Raw<'a>,
    pub(crate) is_error: Raw<'a>,
}

impl Message<'_> {
    fn replay(&self, recorder: &mut Recorder<'_>) -> Done {
        let role = required(self.role, "a message", "role")?;
        recorder.recognise();
        match Role::from_name(&role) {
            Role::Assistant => self.answer(recorder),
            role => {
                self.input(role, recorder);
                Ok(())
            }
        }
    }

    /// Replays the model's answer. A block that cannot be read is reported after the others are
    /// delivered.
    fn answer(&self, recorder: &mut Recorder<'_>) -> Done {
        let turn = recorder.turn(MAIN);
        if !turn.called || turn.answered {
            *turn = Turn::default();
            recorder.settle(MAIN);
        }
        recorder.usage(MAIN, Tokens::of_anthropic(self.usage));
        recorder.speak(MAIN, &string(self.content).unwrap_or_default());
        let mut outcome = Ok(());
        for block in records::<Block<'_>>(self.content) {
            match string(block.kind).as_deref() {
                Some("text") => recorder.speak(MAIN, &string(block.text).unwrap_or_default()),
                Some("tool_use") => outcome = outcome.and(block.call(recorder)),
                _ => {}
            }
        }
        outcome
    }

    /// Replays the input of the model: results, and messages of a person or the host.
    fn input(&self, role: Role, recorder: &mut Recorder<'_>) {
        recorder.turn(MAIN).answered = true;
        let mut texts: Vec<Cow<'_, str>> = string(self.content).into_iter().collect();
        for block in records::<Block<'_>>(self.content) {
            match string(block.kind).as_deref() {
                Some("text") => texts.extend(string(block.text)),
                Some("tool_result") => block.result(recorder),
                _ => {}
            }
        }
        if !texts.is_empty() {
            recorder.settle(MAIN);
            recorder.message(MAIN, role, &texts.join("\n"));
        }
    }
}

impl Block<'_> {
    fn call(&self, recorder: &mut Recorder<'_>) -> Done {
        let tool = required(self.name, "a tool_use block", "name")?;
        let index = recorder.call_in_turn(MAIN, &tool, json_args(self.input));
        if let Some(id) = string(self.id) {
            recorder.pairing.issue(MAIN, &id, 0, index);
        }
        Ok(())
    }

    fn result(&self, recorder: &mut Recorder<'_>) {
        let (text, failed) = (flat_text(self.content), is_true(self.is_error));
        recorder.answer(MAIN, string(self.tool_use_id).as_deref(), &text, failed);
    }
}
