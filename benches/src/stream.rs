//! The streams of calls that every contender gets.

use clap::ValueEnum;
use serde::Serialize;
use unstuck_core::{Call, Digest, Outcome, Tool};

/// The tool of every call. It is one of the tools whose results `loop-guardrail` reads.
pub const TOOL: &str = "read_file";

/// The length of every call's arguments, in bytes.
pub const ARGS_LENGTH: usize = 200;

/// The length of every call's result, in bytes.
pub const RESULT_LENGTH: usize = 500;

/// In [`Stream::Repeats`], one call in this many repeats another.
const REPEAT_EVERY: u64 = 20;

/// The largest distance of a repeated call from the original.
const REPEAT_WITHIN: usize = 10;

/// A kind of stream. Equal calls have equal results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// All calls differ.
    AllNew,
    /// One call in twenty repeats one of the ten before it.
    Repeats,
    /// Three calls in turns.
    Cycle,
    /// All calls are the same.
    AllEqual,
}

impl Stream {
    /// Returns the name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllNew => "all new",
            Self::Repeats => "5 % repeats",
            Self::Cycle => "cycle of 3",
            Self::AllEqual => "all equal",
        }
    }

    /// Returns the first `calls` calls as numbers. Equal numbers are equal calls. The stream is the same
    /// every time.
    pub fn numbers(self, calls: usize) -> Vec<u64> {
        let mut numbers = Vec::with_capacity(calls);
        let mut random = Random(1);
        for new in (0..).take(calls) {
            let number = match self {
                Self::AllNew => new,
                Self::Repeats => repeat(&numbers, &mut random).unwrap_or(new),
                Self::Cycle => new % 3,
                Self::AllEqual => 0,
            };
            numbers.push(number);
        }
        numbers
    }

    /// Returns the first `calls` calls as digests, which the engine takes.
    pub fn digests(self, calls: usize) -> Vec<(Call, Outcome)> {
        let digest = |number: u64| Digest::of(&number.to_le_bytes());
        let call = |number| Call::new(Tool::named(TOOL), digest(number));
        let numbers = self.numbers(calls).into_iter();
        numbers.map(|number| (call(number), Outcome::ok(digest(!number)))).collect()
    }

    /// Returns the first `calls` calls as raw arguments and results.
    pub fn texts(self, calls: usize) -> Vec<Texts> {
        self.numbers(calls).into_iter().map(Texts::of).collect()
    }
}

/// Returns one of the latest `numbers` if the next call is a repetition.
fn repeat(numbers: &[u64], random: &mut Random) -> Option<u64> {
    let (turn, back) = (random.below(REPEAT_EVERY), random.below(REPEAT_WITHIN as u64));
    let back = usize::try_from(back).ok()?;
    let position = numbers.len().checked_sub(back + 1)?;
    (turn == 0).then(|| numbers[position])
}

/// The raw arguments and the raw result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// JSON of [`ARGS_LENGTH`] bytes.
    pub args: String,
    /// Text of [`RESULT_LENGTH`] bytes.
    pub result: String,
}

impl Texts {
    /// Returns the call number `number`.
    pub fn of(number: u64) -> Self {
        Self::long(number, RESULT_LENGTH)
    }

    /// Returns the call number `number` with a result of this length.
    pub(crate) fn long(number: u64, result_length: usize) -> Self {
        let opening = format!(
            r#"{{"path":"src/part_{:02}/unit_{number:07}.rs","offset":{},"limit":120,"all":false,"pattern":"fn \\w+\\(\"","reason":""#,
            number % 40,
            number * 8,
        );
        let reason = "to see who else calls this before it is changed ";
        let args = filled(opening, reason, ARGS_LENGTH - 2) + r#""}"#;
        let opening = format!("//! Unit {number}.\n\nuse crate::part::{{Part, Weight}};\n\n");
        // No two files share a line, so every result is new.
        let line =
            format!("    let {} = parts.iter().map(Part::weight).sum::<u64>();\n", name(number));
        Self { args, result: filled(opening, &line, result_length) }
    }
}

/// Returns a unique name for `number`. It consists of syllables, because digits would be masked.
fn name(number: u64) -> String {
    const SYLLABLES: [&str; 8] = ["ko", "lu", "mi", "no", "pa", "ri", "so", "tu"];
    let mut rest = number;
    let mut name = String::from("total_");
    while rest > 0 {
        name += SYLLABLES[(rest % 8) as usize];
        rest /= 8;
    }
    name
}

/// Returns `opening`, extended with `filling` to `length` bytes of ASCII.
pub(crate) fn filled(opening: String, filling: &str, length: usize) -> String {
    let mut text = opening;
    while text.len() < length {
        text.push_str(filling);
    }
    text.truncate(length);
    text
}

/// `SplitMix64` (Steele, Lea and Flood, 2014), which returns the same numbers every time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_stream_has_its_number_of_different_calls() {
        for (stream, least, most) in [
            (Stream::AllNew, 1000, 1000),
            (Stream::Repeats, 935, 965),
            (Stream::Cycle, 3, 3),
            (Stream::AllEqual, 1, 1),
        ] {
            let numbers: HashSet<_> = stream.numbers(1000).into_iter().collect();
            assert!((least..=most).contains(&numbers.len()), "{stream:?}: {}", numbers.len());
            let texts: HashSet<_> = stream.texts(1000).into_iter().map(|call| call.args).collect();
            assert_eq!(texts.len(), numbers.len());
        }
    }

    #[test]
    fn texts_are_as_long_as_they_say_and_arguments_are_json() {
        for number in [0, 1, 999_999] {
            let Texts { args, result } = Texts::of(number);
            assert_eq!((args.len(), result.len()), (ARGS_LENGTH, RESULT_LENGTH));
            assert!(serde_json::from_str::<serde_json::Value>(&args).unwrap().is_object());
        }
    }
}
