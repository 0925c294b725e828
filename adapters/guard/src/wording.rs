//! The wordings of messages about a call, and texts that explain them to a model in advance.

use serde::{Deserialize, Serialize};

/// The words for the repeated call in a message.
///
/// Some hold that a message that names the repeated call keeps it in the model's mind
/// ([kimi-code#1518](https://github.com/MoonshotAI/kimi-code/pull/1518)). Messages of this project never repeat
/// arguments, and with [`Wording::Unnamed`] they do not name the tool either. A cause still names what is missing.
///
/// ```
/// use unstuck::{Guard, Wording};
///
/// let mut guard = Guard::builder().wording(Wording::Unnamed).build()?;
/// # let mut decision = guard.text_turn("hm");
/// # for _ in 0..3 {
/// let before = guard.before("bash", r#"{"command":"make"}"#);
/// decision = guard.after(before.ticket(), "no rule to make target", true);
/// # }
/// // The third time:
/// let note = decision.message().expect("three equal failures").note();
/// assert!(note.starts_with("[unstuck] You have made the same call 3 times in a row"));
/// # Ok::<(), unstuck::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wording {
    /// The message names the tool: "the same `bash` call".
    #[default]
    Named,
    /// The message does not name the tool: "the same call".
    Unnamed,
}

impl Wording {
    /// Returns the name: `named` or `unnamed`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Unnamed => "unnamed",
        }
    }

    /// Returns whether messages name the tool.
    pub(crate) const fn names_tool(self) -> bool {
        !cfg!(feature = "wordings") || matches!(self, Self::Named)
    }

    /// Returns `text`, which names `tool` by [`Finding::nudge`](crate::Finding::nudge), in this wording.
    pub fn of(self, text: String, tool: &str) -> String {
        if self.names_tool() { text } else { without_name(&text, tool) }
    }
}

/// A paragraph for the description of a tool whose calls are guarded.
pub const TOOL_NOTE: &str = "Repeating a call that returned the same result, or failed the same \
                             way, is noticed and finally blocked. Before you call this tool again, \
                             check whether the last answer changed anything, whether another tool \
                             fits better, and whether you are done. If nothing changed, change the \
                             arguments or the approach, ask the user, or say what you tried.";

/// A paragraph for a system prompt: which loops are noticed, what the model will read, and what it should
/// do then.
pub const SYSTEM_NOTE: &str = "Your tool calls are watched for loops: the same call again with the same result, a few calls \
     in turns, near-variants that meet one error, tests that keep failing alike, talk without \
     action. When you seem stuck you will read a note that begins with [unstuck] and says what \
     repeats. Take it seriously: do not make that call again; read the last error anew, question \
     what you assumed, and try another way, ask the user, or say plainly what you tried and what \
     blocks you. If it goes on, the call \
     is blocked; then your work may be undone so that you start over, or the run is stopped. After \
     starting over, take another approach than before. Polling whose answer moves, paging through \
     different items, and running tests again after a change are fine.";

/// Returns `text` without the name `tool`, which stands between backquotes, and the space behind it. It splits at single
/// characters, because a search for texts would be a kilobyte of the engine for browsers.
fn without_name(text: &str, tool: &str) -> String {
    let mut parts = text.split('`');
    let mut short = parts.next().unwrap_or_default().to_owned();
    while let Some(name) = parts.next() {
        match parts.next().map(|behind| (behind, behind.strip_prefix(' '))) {
            Some((_, Some(behind))) if name == tool => short.push_str(behind),
            Some((behind, _)) => short.extend(["`", name, "`", behind]),
            None => short.extend(["`", name]),
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::without_name;

    #[test]
    fn only_the_name_of_the_tool_is_left_out() {
        for (text, expected) in [
            (
                "the same `bash` call 3 times, `bash` and `sh` in turns",
                "the same call 3 times, and `sh` in turns",
            ),
            ("What fails is `bash`.", "What fails is `bash`."),
            ("`bash` `bash` x", "x"),
            ("no name", "no name"),
            ("one ` alone", "one ` alone"),
            ("", ""),
        ] {
            assert_eq!(without_name(text, "bash"), expected);
            assert_eq!(text.replace("`bash` ", ""), expected);
        }
    }
}
