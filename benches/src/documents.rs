//! The JSON documents that every contender reads.

use std::fmt::Write as _;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

use crate::stream::{Random, filled};

/// The number of bytes in a round, if that makes at most 256 documents.
const ROUND: usize = 32 * 1024;

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Document {
    /// The arguments of a call that reads a part of a file.
    Args60,
    /// The arguments of a call that searches.
    Args200,
    /// The arguments of a call that edits a file.
    Args500,
    /// An array of small objects.
    Records,
    /// The arguments of a call that writes a file: one long string with escapes.
    File,
    /// Long strings of ASCII in which nothing is escaped.
    Prose,
    /// Long strings in other scripts, as UTF-8.
    Scripts,
    /// A megabyte of small objects.
    Records1M,
}

impl Document {
    /// Returns the name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Args60 => "60 B, arguments of a read",
            Self::Args200 => "200 B, arguments of a search",
            Self::Args500 => "500 B, arguments of an edit",
            Self::Records => "10 KB, records",
            Self::File => "10 KB, a file in a string, with \\n and \\\"",
            Self::Prose => "10 KB, long strings without escapes",
            Self::Scripts => "10 KB, long strings, not ASCII",
            Self::Records1M => "1 MB, records",
        }
    }

    /// Returns the length in bytes, without the last record or sentence.
    pub const fn length(self) -> usize {
        match self {
            Self::Args60 => 60,
            Self::Args200 => 200,
            Self::Args500 => 500,
            Self::Records | Self::File | Self::Prose | Self::Scripts => 10_000,
            Self::Records1M => 1_000_000,
        }
    }

    /// Returns the documents of a round, which all differ in meaning. They are the same every time.
    pub fn texts(self) -> Vec<String> {
        let count = (ROUND / self.length()).clamp(1, 256);
        (0..).take(count).map(|number| self.text(number)).collect()
    }

    /// Returns the document number `number`.
    pub(crate) fn text(self, number: u64) -> String {
        let length = self.length();
        match self {
            Self::Args60 => args_60(number),
            Self::Args200 => args_200(number),
            Self::Args500 => args_500(number),
            Self::Records | Self::Records1M => records(number, length),
            Self::File => file(number, length),
            Self::Prose => strings(number, length, &PROSE),
            Self::Scripts => strings(number, length, &SCRIPTS),
        }
    }
}

/// Returns the same document in another spelling, with sorted members and white space.
///
/// # Panics
///
/// If `text` is not JSON.
pub fn respelled(text: &str) -> String {
    let value = serde_json::from_str::<Value>(text);
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value));
    pretty.unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the length of all `texts` together, in bytes.
pub fn bytes(texts: &[String]) -> f64 {
    let bytes = texts.iter().map(String::len).sum::<usize>();
    u32::try_from(bytes).map_or(f64::INFINITY, f64::from)
}

pub(crate) const PROSE: [&str; 4] = [
    "The quick brown fox jumps over the lazy dog, and the dog does not mind at all. ",
    "What was asked for first is what is done first; all else waits until somebody asks again. ",
    "A report says what was found, where it was found, and what would be right instead. ",
    "Nobody reads a long text to its end (unless it is short). ",
];

const SCRIPTS: [&str; 4] = [
    "Größe, Übermaß und Ärger: «naïve façade», œuvre, žluťoučký kůň. ",
    "Съешь же ещё этих мягких французских булок, да выпей чаю. ",
    "いろはにほへと ちりぬるを わかよたれそ つねならむ。",
    "天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。🚀 ",
];

fn args_60(number: u64) -> String {
    format!(r#"{{"path":"src/cart/unit_{number:08}.rs","offset":120,"limit":40}}"#)
}

fn args_200(number: u64) -> String {
    let opening = format!(
        r#"{{"pattern":"fn \\w+\\(\"","path":"src/part_{:02}/unit_{number:07}.rs","context":3,"all":false,"reason":""#,
        number % 40
    );
    filled(opening, "to see who else calls this before it is changed ", 198) + r#""}"#
}

fn args_500(number: u64) -> String {
    let opening = format!(
        r#"{{"path":"src/part_{:02}/unit_{number:07}.rs","offset":{},"timeout":1.5,"all":false,"command":"cargo test -p cart","old":"    let total = items.iter().map(Item::price).sum();\n    total","new":""#,
        number % 40,
        number * 8
    );
    filled(opening, r"    let total = items.iter().map(Item::price).sum::<u64>();\n", 498) + r#""}"#
}

/// Returns an array of objects with ids, names, floats and booleans.
fn records(number: u64, length: usize) -> String {
    let mut random = Random(number);
    let mut text = String::from("[");
    for id in 1000.. {
        let (name, city) = (random.below(100_000), random.below(300));
        let (whole, part, score) = (random.below(1000), random.below(100), random.below(1_000_000));
        let active = random.below(2) == 0;
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            r#"{{"id":{id},"name":"user {name}","city":"City {city}","price":{whole}.{part:02},"score":0.{score:06},"active":{active},"parent":null}}"#
        );
        if text.len() >= length {
            break;
        }
        text.push(',');
    }
    text + "]"
}

/// Returns arguments that write a file of code, whose lines end with an escaped `\n`.
pub(crate) fn file(number: u64, length: usize) -> String {
    let mut random = Random(number);
    let mut text = format!(r#"{{"path":"src/unit_{number}.rs","content":""#);
    while text.len() < length {
        let (line, value) = (random.below(4), random.below(100_000));
        // Writing to a `String` cannot fail.
        let _ = match line {
            0 => {
                write!(text, r"    let sum_{value} = items.iter().map(Item::price).sum::<u64>();\n")
            }
            1 => write!(text, r#"    println!(\"{{}} of {value} items were found\", found);\n"#),
            2 => write!(text, r"        // Whoever asks for {value} gets what there is.\n"),
            _ => write!(text, r"    }}\n\n"),
        };
    }
    text + r#""}"#
}

/// Returns paragraphs of about a thousand bytes, made of `sentences`.
fn strings(number: u64, length: usize, sentences: &[&str; 4]) -> String {
    let mut random = Random(number);
    let mut text = format!(r#"{{"id":{number},"paragraphs":["#);
    while text.len() < length {
        let end = text.len() + 1000;
        text.push('"');
        while text.len() < end {
            text += sentences[usize::try_from(random.below(4)).unwrap_or(0)];
        }
        text += r#"","#;
    }
    text + r#""the end"]}"#
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn documents_have_their_length() {
        for document in Document::value_variants() {
            let (length, texts) = (document.length(), document.texts());
            for text in &texts {
                let most = length + length / 8;
                assert!((length..=most).contains(&text.len()), "{document:?}: {}", text.len());
            }
            let different: HashSet<_> = texts.iter().collect();
            assert_eq!(different.len(), texts.len(), "{document:?}");
        }
    }

    #[test]
    fn documents_are_json_with_the_escapes_and_scripts_of_their_kind() {
        for (document, escapes, ascii) in [
            (Document::Args60, false, true),
            (Document::Args200, true, true),
            (Document::Args500, true, true),
            (Document::Records, false, true),
            (Document::File, true, true),
            (Document::Prose, false, true),
            (Document::Scripts, false, false),
            (Document::Records1M, false, true),
        ] {
            for text in document.texts() {
                assert_ne!(respelled(&text), text);
                assert_eq!(
                    (text.contains('\\'), text.is_ascii()),
                    (escapes, ascii),
                    "{document:?}"
                );
            }
        }
    }
}
