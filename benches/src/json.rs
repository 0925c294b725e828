//! The benchmark `json`: the fingerprint beside a parser and beside canonical text with a hash.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io;
use std::rc::Rc;

use fastrand::Rng;
use rapidhash::v3::rapidhash_v3;
use serde_json::Value;
use unstuck_core::Digest;

use crate::calls::{RECORDED, filled, recorded, search};
use crate::harness::{self, Contest, Function};

/// The number of bytes in a round, if that makes at most 256 documents.
const ROUND: usize = 32 * 1024;

/// The function that makes the document of a number, of a length.
type Make = fn(u64, usize) -> String;

/// The made documents: a name, a length in bytes without the last record or sentence, and their function.
const MADE: [(&str, usize, Make); 9] = [
    ("60 B, arguments of a read", 60, |number, _| {
        format!(r#"{{"path":"src/cart/unit_{number:08}.rs","offset":120,"limit":40}}"#)
    }),
    ("200 B, arguments of a search", 200, search),
    ("500 B, arguments of an edit", 500, edit),
    ("14 KB, the reply of an API", 14_000, reply),
    ("10 KB, code in a string, with many \\t and \\\"", 10_000, code),
    ("10 KB, long strings without escapes", 10_000, |number, length| {
        strings(number, length, &PROSE)
    }),
    ("10 KB, long strings, not ASCII", 10_000, |number, length| strings(number, length, &SCRIPTS)),
    ("10 KB, long strings, \\u escapes", 10_000, |number, length| {
        strings(number, length, &SCRIPTS.map(escaped))
    }),
    ("1 MB, records", 1_000_000, records),
];

/// Measures every reader on every document.
pub(crate) fn measure() -> io::Result<()> {
    harness::measure("json", contest)?;
    println!(
        "A time is for one document, from raw bytes to 64 bits. A line that says `text` stops at canonical text, \
         and\n`parsed only` at a value. The hash is rapidhash v3. `serde_json` has its feature `float_roundtrip`, \
         which correct\ncanonical text needs.",
    );
    Ok(())
}

/// Returns the readers on a kind of documents: those that aim at a digest, then those that aim at text.
pub(crate) fn contest(number: usize) -> Option<Contest> {
    let (kind, to_text) = (number / 2, number % 2 == 1);
    let (name, texts) = documents(kind)?;
    let (items, bytes) = (texts.len(), texts.iter().map(String::len).sum());
    let texts = Rc::new(texts);
    let peers = if to_text {
        vec![
            reader("unstuck, text", &texts, |json| length(&canonicalize(json))),
            reader("serde_jcs, text", &texts, |json| length(&serde_jcs(json))),
        ]
    } else {
        vec![
            reader("unstuck", &texts, fingerprint),
            reader("sonic-rs, parsed only", &texts, sonic_rs),
            reader("serde_jcs + hash", &texts, |json| rapidhash_v3(&serde_jcs(json))),
        ]
    };
    // The heap takes a few rounds to settle, but valgrind is slow on large documents.
    let counted = if bytes > 500_000 { 1 } else { 8 };
    Some(Contest { input: name.to_owned(), items, bytes, rounds: 51, counted, peers })
}

/// Returns the documents of a round, which are the same every time. There are none if their recorded runs are
/// absent.
fn documents(kind: usize) -> Option<(&'static str, Vec<String>)> {
    if let Some(folder) = RECORDED.get(kind) {
        let texts = recorded(folder).into_iter().flatten().map(|call| call.args).collect();
        return Some((["arguments of real calls", "arguments in real sessions"][kind], texts));
    }
    let &(name, length, make) = MADE.get(kind - RECORDED.len())?;
    let count = (ROUND / length).clamp(1, 256);
    Some((name, (0..).take(count).map(|number| make(number, length)).collect()))
}

/// Returns a peer that reads each document, and answers with the sum of the lower halves of the results.
fn reader(
    name: &'static str,
    texts: &Rc<Vec<String>>,
    read: impl Fn(&[u8]) -> u64 + 'static,
) -> Function {
    let texts = Rc::clone(texts);
    Function::new(name, move || {
        texts.iter().fold(0, |sum, text| {
            let [a, b, c, d, ..] = read(black_box(text.as_bytes())).to_le_bytes();
            u32::from_le_bytes([a, b, c, d]).wrapping_add(sum)
        })
    })
}

fn fingerprint(json: &[u8]) -> u64 {
    unstuck_json::fingerprint(json).map_or(0, Digest::bits)
}

fn sonic_rs(json: &[u8]) -> u64 {
    black_box(&sonic_rs::from_slice::<sonic_rs::Value>(json)).is_ok().into()
}

fn canonicalize(json: &[u8]) -> Vec<u8> {
    let mut text = String::new();
    unstuck_json::canonicalize(json, &mut text).map_or_else(|_| Vec::new(), |()| text.into_bytes())
}

fn serde_jcs(json: &[u8]) -> Vec<u8> {
    let value: Value = serde_json::from_slice(json).unwrap_or_default();
    serde_jcs::to_vec(&value).unwrap_or_default()
}

fn length(text: &[u8]) -> u64 {
    black_box(text).len() as u64
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

fn edit(number: u64, length: usize) -> String {
    let opening = format!(
        r#"{{"path":"src/part_{:02}/unit_{number:07}.rs","offset":{},"timeout":1.5,"all":false,"command":"cargo test -p cart","old":"    let total = items.iter().map(Item::price).sum();\n    total","new":""#,
        number % 40,
        number * 8
    );
    let line = r"    let total = items.iter().map(Item::price).sum::<u64>();\n";
    filled(opening, line, length - 2) + r#""}"#
}

/// Returns an array of objects with ids, names, floats and booleans.
fn records(number: u64, length: usize) -> String {
    let mut random = Rng::with_seed(number);
    let mut text = String::from("[");
    for id in 1000.. {
        let (name, city) = (random.u32(..100_000), random.u32(..300));
        let (whole, part, score) = (random.u32(..1000), random.u32(..100), random.u32(..1_000_000));
        let active = random.bool();
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
    let mut random = Rng::with_seed(number);
    let mut text = format!(r#"{{"total_count":{},"incomplete":false,"items":["#, 100 + number);
    for id in 20_000.. {
        let (issue, user, x) = (random.u32(..9000), random.u32(..100_000), random.u32(..90));
        let (opened, second) = (random.u32(10..28), random.u32(10..60));
        let (score, comments, locked) = (random.u32(..100_000), random.u32(..30), x < 9);
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
    let mut random = Rng::with_seed(number);
    let mut text = format!(r#"{{"path":"src/unit_{number}.ts","content":""#);
    while text.len() < length {
        let (line, value) = (random.u8(..4), random.u32(..1000));
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

/// Returns paragraphs of about a thousand bytes, made of `sentences`.
fn strings(number: u64, length: usize, sentences: &[impl AsRef<str>; 4]) -> String {
    let mut random = Rng::with_seed(number);
    let mut text = format!(r#"{{"id":{number},"paragraphs":["#);
    while text.len() < length {
        let end = text.len() + 1000;
        text.push('"');
        while text.len() < end {
            text += sentences[random.usize(..4)].as_ref();
        }
        text += r#"","#;
    }
    text + r#""the end"]}"#
}

/// Returns `text` with a `\\u` escape for every character that is not ASCII, as Python's `json.dumps` writes it.
fn escaped(text: &str) -> String {
    let escape = |unit| match char::from_u32(u32::from(unit)).filter(char::is_ascii) {
        Some(character) => character.to_string(),
        None => format!("\\u{unit:04x}"),
    };
    text.encode_utf16().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the same document in another spelling, with sorted members and white space.
    fn respelled(text: &str) -> String {
        let value: Value = serde_json::from_str(text).unwrap();
        serde_json::to_string_pretty(&value).unwrap()
    }

    #[test]
    fn digests_are_those_of_the_meaning() {
        for (name, texts) in (0..).map_while(documents) {
            let mut before = 0;
            for text in texts {
                let json = text.as_bytes();
                let digest = fingerprint(json);
                assert_eq!(fingerprint(respelled(&text).as_bytes()), digest, "{name}");
                assert!(digest != before || name.contains("real"), "{name}");
                before = digest;
                assert_eq!(canonicalize(json), serde_jcs(json), "{name}");
                assert_eq!(sonic_rs(json), 1, "{name}");
            }
        }
    }
}
