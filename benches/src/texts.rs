//! The arguments and results that contenders read as texts.

use std::fmt::Write as _;

use clap::ValueEnum;
use serde::Serialize;

use crate::documents::{Document, PROSE, file};
use crate::stream::{ARGS_LENGTH, RESULT_LENGTH, Random, Texts};

/// The number of bytes in a round, if that makes 2 to 256 texts.
const ROUND: usize = 64 * 1024;

/// A kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Lines of a log: times, process ids, durations, ids.
    Log,
    /// The log of a package manager: names with versions, hashes, sizes and speeds.
    Packages,
    /// Compiler output: paths, line numbers, columns of spaces.
    Compiler,
    /// Sentences.
    Prose,
    /// The arguments of a call, as JSON.
    Args,
    /// The arguments of a call, and behind them its result.
    Call,
}

impl Kind {
    /// Returns the name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Log => "log lines",
            Self::Packages => "package manager",
            Self::Compiler => "compiler output",
            Self::Prose => "prose",
            Self::Args => "arguments",
            Self::Call => "arguments and result",
        }
    }

    /// Returns the lengths of the texts that are measured, in bytes.
    pub const fn lengths(self) -> &'static [usize] {
        match self {
            Self::Log | Self::Packages | Self::Compiler | Self::Prose => &[200, 500, 8000, 100_000],
            Self::Args => &[60, 200, 500, 2500, 8000, 100_000],
            Self::Call => &[ARGS_LENGTH + RESULT_LENGTH, ARGS_LENGTH + 50_000],
        }
    }

    /// Returns the texts of a round, which all differ. They are the same every time.
    pub fn texts(self, length: usize) -> Vec<String> {
        let count = (ROUND / length).clamp(2, 256);
        (0..).take(count).map(|number| self.text(number, length)).collect()
    }

    fn text(self, number: u64, length: usize) -> String {
        match self {
            Self::Log => lines(number, length, log_line),
            Self::Packages => lines(number, length, package),
            Self::Compiler => lines(number, length, warning),
            Self::Prose => lines(number, length, sentence),
            Self::Args => args(number, length),
            Self::Call => {
                let Texts { args, result } = Texts::long(number, length - ARGS_LENGTH);
                args + &result
            }
        }
    }
}

/// Returns a text of `length` bytes that begins with its number. `line` appends one line.
fn lines(number: u64, length: usize, line: fn(&mut String, &mut Random)) -> String {
    let mut text = format!("Part {number}\n");
    let mut random = Random(number);
    while text.len() < length {
        line(&mut text, &mut random);
    }
    text.truncate(length);
    text
}

fn log_line(text: &mut String, random: &mut Random) {
    let (minute, second, thousandth) = (random.below(60), random.below(60), random.below(1000));
    let (order, status) = (random.below(5000), [200, 201, 404, 500][index(random, 4)]);
    let (duration, id) = (random.below(900), random.below(1 << 32));
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "2026-05-28T14:{minute:02}:{second:02}.{thousandth:03}Z INFO [4711] http: GET /orders/{order} \
         {status} in {duration} ms, request {id:08x}"
    );
}

fn package(text: &mut String, random: &mut Random) {
    let name = ["serde", "tokio", "requests", "lodash", "numpy", "react"][index(random, 6)];
    let (major, minor, patch) = (random.below(9), random.below(40), random.below(20));
    let (size, rate, hash) = (random.below(9000), random.below(90), random.below(1 << 48));
    let (percent, python) = (random.below(100), 8 + random.below(6));
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "Collecting {name}=={major}.{minor}.{patch}\n  Downloading {name}-{major}.{minor}.{patch}-cp3{python}-cp3{python}-\
         manylinux_2_17_x86_64.whl.metadata ({size} kB)\n     {percent:>3}% |{:#<20}| {size} kB {rate}.{minor} MB/s eta \
         0:00:{patch:02}\n  Stored in directory: /root/.cache/pip/wheels/{hash:012x}\n\
         Requirement already satisfied: {name}>={major}.{minor} in ./lib/python3.{python} (from app) ({major}.{minor}.{patch})",
        ""
    );
}

fn warning(text: &mut String, random: &mut Random) {
    let name = ["total", "weight", "parts", "price", "items", "count"][index(random, 6)];
    let (part, line, column) = (random.below(40), random.below(900), random.below(80));
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "warning: unused variable: `{name}`\n   --> src/part_{part:02}/unit.rs:{line}:{column}\n    |\n\
         {line:<3} |     let {name} = items.iter().map(Item::{name}).sum::<u64>();\n    |         \
         ^^^^^ help: if this is intentional, prefix it with an underscore: `_{name}`\n    |"
    );
}

fn sentence(text: &mut String, random: &mut Random) {
    *text += PROSE[index(random, PROSE.len())];
}

/// Returns a random index into a list of `length` items.
fn index(random: &mut Random, length: usize) -> usize {
    usize::try_from(random.below(length as u64)).unwrap_or(0)
}

fn args(number: u64, length: usize) -> String {
    let short = [Document::Args60, Document::Args200, Document::Args500];
    match short.into_iter().find(|document| document.length() == length) {
        Some(document) => document.text(number),
        None => file(number, length),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn texts_are_as_long_as_they_say_and_differ() {
        for kind in Kind::value_variants() {
            for &length in kind.lengths() {
                let texts = kind.texts(length);
                let most = length + length / 8;
                for text in &texts {
                    assert!((length..=most).contains(&text.len()), "{kind:?}: {}", text.len());
                }
                assert_eq!(texts.iter().collect::<HashSet<_>>().len(), texts.len(), "{kind:?}");
            }
        }
    }
}
