//! The latest calls of an agent, for the clues of a cause.

use alloc::collections::VecDeque;
use alloc::string::String;

use crate::clue::PastCall;
use crate::find;

/// The largest number of calls.
const CALLS_MAX: usize = 12;

/// The most bytes of a text's beginning and of its end.
const BEGINNING: usize = 256;
const END: usize = 128;

/// Remembers the latest calls of one agent and parts of their texts: at most 12 calls, which are mostly 4 KB. When it is full
/// it allocates no more.
///
/// ```
/// use unstuck_text::PastCalls;
///
/// let mut calls = PastCalls::default();
/// calls.announce(0, "Bash", r#"{"command":"ls"}"#);
/// calls.answer(0, "Cargo.toml\nsrc\n", false);
/// let call = calls.back_from(0).next().unwrap();
/// assert_eq!((call.tool, call.answer, call.failed), ("Bash", "Cargo.toml\nsrc\n", false));
/// ```
#[derive(Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PastCalls(VecDeque<Remembered>);

/// A call in the memory.
#[derive(Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Remembered {
    number: u64,
    tool: String,
    args: String,
    answer: String,
    failed: bool,
}

impl PastCalls {
    /// Adds a call of `tool` with `args`. The host gives each call a `number` of its own. O(1).
    pub fn announce(&mut self, number: u64, tool: &str, args: &str) {
        let is_full = self.0.len() >= CALLS_MAX;
        let oldest = if is_full { self.0.pop_front() } else { None };
        let mut call = Remembered { number, failed: false, ..oldest.unwrap_or_default() };
        call.tool.clear();
        call.tool.push_str(find::head(tool, BEGINNING));
        shorten(&mut call.args, args);
        call.answer.clear();
        self.0.push_back(call);
    }

    /// Adds the answer to the call with this number, if it is remembered. O(1).
    pub fn answer(&mut self, number: u64, answer: &str, failed: bool) {
        if let Some(call) = self.0.iter_mut().rev().find(|call| call.number == number) {
            call.failed = failed;
            shorten(&mut call.answer, answer);
        }
    }

    /// Returns the call with this number and those before it, the latest first.
    pub fn back_from(&self, number: u64) -> impl Iterator<Item = PastCall<'_>> + Clone {
        self.0.iter().rev().skip_while(move |call| call.number != number).map(|call| {
            let Remembered { tool, args, answer, failed, .. } = call;
            PastCall { tool, args, answer, failed: *failed }
        })
    }

    /// Forgets all calls.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Makes `short` the whole words at the beginning and at the end of `text`, with a line break between the two.
fn shorten(short: &mut String, text: &str) {
    short.clear();
    if text.len() <= BEGINNING.saturating_add(END) {
        return short.push_str(text);
    }
    let is_space = |c: char| c.is_ascii_whitespace();
    let beginning = find::head(text, BEGINNING);
    short.push_str(beginning.rsplit_once(is_space).map_or("", |(words, _)| words));
    short.push('\n');
    let from = text.len().saturating_sub(END);
    let end = (from..text.len()).find_map(|from| text.get(from..)).unwrap_or_default();
    short.push_str(end.split_once(is_space).map_or("", |(_, words)| words));
}

impl core::fmt::Debug for PastCalls {
    /// Writes the number of calls, and none of their texts.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("PastCalls").field(&self.0.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_calls_are_remembered_with_both_ends_of_their_texts() {
        let mut calls = PastCalls::default();
        for number in 0..100 {
            calls.announce(number, "Bash", &number.to_string());
        }
        let args: Vec<_> = calls.back_from(99).map(|call| call.args.to_string()).collect();
        assert_eq!((args.len(), &*args[0], &*args[CALLS_MAX - 1]), (CALLS_MAX, "99", "88"));
        for (text, expected) in [
            ("é".repeat(10), "é".repeat(10)),
            (format!("first {} last", "é".repeat(900)), "first\nlast".to_owned()),
            ("é".repeat(900), "\n".to_owned()),
        ] {
            calls.answer(98, &text, true);
            calls.answer(7, "forgotten", true);
            let answers: Vec<_> = calls.back_from(99).map(|it| (it.answer, it.failed)).collect();
            assert_eq!((answers[0], answers[1]), (("", false), (&*expected, true)));
        }
        assert_eq!(format!("{calls:?}"), "PastCalls(12)");
        calls.clear();
        assert!(calls.back_from(99).next().is_none());
    }
}
