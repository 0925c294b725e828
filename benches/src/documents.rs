//! The JSON documents that every contender reads.

use std::fmt::Write as _;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

use crate::real_calls::Recorded;
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
    /// The reply of an API: objects with many short members, numbers among them.
    Reply,
    /// The arguments of a call that writes a file: one long string with escapes.
    File,
    /// The same for deeply indented code with many strings, in which every fifth character is escaped.
    Code,
    /// Long strings of ASCII in which nothing is escaped.
    Prose,
    /// Long strings in other scripts, as UTF-8.
    Scripts,
    /// The same text as Python's `json.dumps` writes it, with a `\\u` escape for each character.
    Escaped,
    /// A megabyte of small objects.
    Records1M,
    /// The arguments of the calls in the labelled runs.
    RealCalls,
    /// The arguments of the calls in sessions of coding agents.
    RealSessions,
}

impl Document {
    /// Returns the name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Args60 => "60 B, arguments of a read",
            Self::Args200 => "200 B, arguments of a search",
            Self::Args500 => "500 B, arguments of an edit",
            Self::Records => "10 KB, records",
            Self::Reply => "14 KB, the reply of an API",
            Self::File => "10 KB, a file in a string, with \\n and \\\"",
            Self::Code => "10 KB, code in a string, with many \\t and \\\"",
            Self::Prose => "10 KB, long strings without escapes",
            Self::Scripts => "10 KB, long strings, not ASCII",
            Self::Escaped => "10 KB, long strings, \\u escapes",
            Self::Records1M => "1 MB, records",
            Self::RealCalls => "arguments of real calls",
            Self::RealSessions => "arguments in real sessions",
        }
    }

    /// Returns the length in bytes, without the last record or sentence. Recorded documents have any
    /// length.
    pub const fn length(self) -> usize {
        match self {
            Self::Args60 => 60,
            Self::Args200 => 200,
            Self::Args500 => 500,
            Self::Records
            | Self::File
            | Self::Code
            | Self::Prose
            | Self::Scripts
            | Self::Escaped => 10_000,
            Self::Reply => 14_000,
            Self::Records1M => 1_000_000,
            Self::RealCalls | Self::RealSessions => 0,
        }
    }

    /// Returns the runs whose arguments these documents are.
    const fn recorded(self) -> Option<Recorded> {
        match self {
            Self::RealCalls => Some(Recorded::Traces),
            Self::RealSessions => Some(Recorded::TracesModern),
            _ => None,
        }
    }

    /// Returns the documents of a round, which are the same every time. They all differ in meaning,
    /// except those of real calls. There are none if their recorded runs are absent.
    pub fn texts(self) -> Vec<String> {
        if let Some(recorded) = self.recorded() {
            return recorded.runs().into_iter().flatten().map(|call| call.args).collect();
        }
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
            Self::Reply => reply(number, length),
            Self::File => file(number, length),
            Self::Code => code(number, length),
            Self::Prose => strings(number, length, &PROSE),
            Self::Scripts => strings(number, length, &SCRIPTS),
            Self::Escaped => strings(number, length, &SCRIPTS.map(escaped)),
            Self::RealCalls | Self::RealSessions => String::new(),
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

/// Returns the issues of a repository, each with its author, labels, links and counts.
fn reply(number: u64, length: usize) -> String {
    let mut random = Random(number);
    let mut text = format!(r#"{{"total_count":{},"incomplete":false,"items":["#, 100 + number);
    for id in 20_000.. {
        let (issue, user, x) = (random.below(9000), random.below(100_000), random.below(90));
        let (opened, second) = (10 + random.below(18), 10 + random.below(50));
        let (score, comments, locked) = (random.below(100_000), random.below(30), x < 9);
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            r#"{{"id":{id},"node_id":"I_kwDO{user:08}","number":{issue},"url":"https://api.example.com/repos/acme/cart/issues/{issue}","state":"open","title":"Cart total is off by {x} for {user} items","user":{{"login":"user{user}","id":{user},"type":"User","site_admin":false}},"labels":[{{"id":{x},"name":"bug","default":true}},{{"id":1{x},"name":"p{comments}","default":false}}],"locked":{locked},"assignee":null,"comments":{comments},"score":0.{score:05},"position":{{"x":{x}.25,"y":-{comments}.5}},"created_at":"2026-05-{opened}T14:03:{second}Z","updated_at":"2026-05-{opened}T18:30:{second}Z","closed_at":null}}"#
        );
        if text.len() >= length {
            break;
        }
        text.push(',');
    }
    text + "]}"
}

/// Returns arguments that write a file of indented code whose strings are quoted twice.
fn code(number: u64, length: usize) -> String {
    let mut random = Random(number);
    let mut text = format!(r#"{{"path":"src/unit_{number}.ts","content":""#);
    while text.len() < length {
        let (line, value) = (random.below(4), random.below(1000));
        // Writing to a `String` cannot fail.
        let _ = match line {
            0 => write!(text, r#"\t\t\t\t\"k{value}\": \"v{value}\",\n"#),
            1 => write!(text, r#"\t\t\tif (k === \"a\\n{value}\") {{\r\n"#),
            2 => write!(text, r#"\t\t\t\tlog(\"\\\"x\\\" {value}\", x);\n"#),
            _ => write!(text, r"\t\t\t}}\n\n"),
        };
    }
    text + r#""}"#
}

/// Returns `text` with a `\\u` escape for every character that is not ASCII.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if character.is_ascii() {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a `String` cannot fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
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
fn strings(number: u64, length: usize, sentences: &[impl AsRef<str>; 4]) -> String {
    let mut random = Random(number);
    let mut text = format!(r#"{{"id":{number},"paragraphs":["#);
    while text.len() < length {
        let end = text.len() + 1000;
        text.push('"');
        while text.len() < end {
            text += sentences[usize::try_from(random.below(4)).unwrap_or(0)].as_ref();
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
            if document.recorded().is_some() {
                continue;
            }
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
            (Document::Reply, false, true),
            (Document::File, true, true),
            (Document::Code, true, true),
            (Document::Prose, false, true),
            (Document::Scripts, false, false),
            (Document::Escaped, true, true),
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
