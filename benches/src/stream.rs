//! The streams of calls that every contender is shown.

use clap::ValueEnum;
use serde::Serialize;
use unstuck_core::{Call, Digest, Outcome, Tool};

/// The tool of every call. `loop-guardrail` looks at the results of tools that it knows by name;
/// this is one of them.
pub const TOOL: &str = "read_file";

/// The length of every call's arguments, in bytes.
pub const ARGS_LENGTH: usize = 200;

/// The length of every call's result, in bytes.
pub const RESULT_LENGTH: usize = 500;

/// How often one call in a stream with [`Stream::Repeats`] repeats another: every so many calls.
const REPEAT_EVERY: u64 = 20;

/// How many calls back a repeated one lies at most.
const REPEAT_WITHIN: usize = 10;

/// What a stream is like. Equal calls have equal results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// No call is like another.
    AllNew,
    /// One call in twenty is the same as one of the ten before it.
    Repeats,
    /// Three calls in turns.
    Cycle,
    /// All calls are the same.
    AllEqual,
}

impl Stream {
    /// What the tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllNew => "all new",
            Self::Repeats => "5 % repeats",
            Self::Cycle => "cycle of 3",
            Self::AllEqual => "all equal",
        }
    }

    /// The first `calls` calls, each as a number: equal numbers are equal calls. The same every
    /// time.
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

    /// The first `calls` calls as the engine takes them.
    pub fn digests(self, calls: usize) -> Vec<(Call, Outcome)> {
        let digest = |number: u64| Digest::of(&number.to_le_bytes());
        let call = |number| Call::new(Tool::named(TOOL), digest(number));
        let numbers = self.numbers(calls).into_iter();
        numbers.map(|number| (call(number), Outcome::ok(digest(!number)))).collect()
    }

    /// The first `calls` calls as an agent's host has them.
    pub fn texts(self, calls: usize) -> Vec<Texts> {
        self.numbers(calls).into_iter().map(Texts::of).collect()
    }
}

/// One of the latest of `numbers`, where it is the turn of a repetition.
fn repeat(numbers: &[u64], random: &mut Random) -> Option<u64> {
    let (turn, back) = (random.below(REPEAT_EVERY), random.below(REPEAT_WITHIN as u64));
    let back = usize::try_from(back).ok()?;
    let place = numbers.len().checked_sub(back + 1)?;
    (turn == 0).then(|| numbers[place])
}

/// A call and its result as an agent's host has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// JSON of [`ARGS_LENGTH`] bytes.
    pub args: String,
    /// Text of [`RESULT_LENGTH`] bytes.
    pub result: String,
}

impl Texts {
    /// The call with the number `number`.
    pub fn of(number: u64) -> Self {
        let opening = format!(
            r#"{{"path":"src/part_{:02}/unit_{number:07}.rs","offset":{},"limit":120,"all":false,"pattern":"fn \\w+\\(\"","reason":""#,
            number % 40,
            number * 8,
        );
        let reason = "to see who else calls this before it is changed ";
        let args = filled(opening, reason, ARGS_LENGTH - 2) + r#""}"#;
        let opening = format!("//! Unit {number}.\n\nuse crate::part::{{Part, Weight}};\n\n");
        // Of one file's lines, the next holds none: what is read is news.
        let line =
            format!("    let {} = parts.iter().map(Part::weight).sum::<u64>();\n", name(number));
        Self { args, result: filled(opening, &line, RESULT_LENGTH) }
    }
}

/// A name that no other number has, of syllables: a number in it would be masked.
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

/// `opening`, and `filling` as often as it takes to reach `length` bytes of ASCII.
pub(crate) fn filled(opening: String, filling: &str, length: usize) -> String {
    let mut text = opening;
    while text.len() < length {
        text.push_str(filling);
    }
    text.truncate(length);
    text
}

/// `SplitMix64` (Steele, Lea and Flood, 2014): the same numbers every time.
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
    fn a_stream_holds_as_many_different_calls_as_it_says() {
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
