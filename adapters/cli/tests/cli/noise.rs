//! Changes of a run that have no meaning must not change a verdict.
//!
//! Each labelled run is scanned again with one such change, for example an extra line in every
//! result, another order of keys, another root folder, colours, or line ends. The findings must be
//! the same, and the first one at the same call.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use unstuck_text::{is_silent, report};

use crate::harness::{Folder, effort, listed, scanned, shared};

/// A change of a run without a meaning.
struct Change {
    name: &'static str,
    of: Of,
}

/// The part of a run that changes.
enum Of {
    /// The text of each record.
    Record(fn(&str) -> String),
    /// Each result, with the number of its call.
    Result(fn(&str, usize) -> String),
    /// An extra line at this place of each result that accepts it.
    Line(Place, Suits, Line),
}

/// The place of an added line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    End,
    Start,
}

/// Returns whether a line may be added to a result. The host may have reported that the call failed.
type Suits = fn(&str, bool) -> bool;

/// Returns the line for the call with this number.
type Line = fn(usize) -> String;

/// A labelled line is noise in any result.
fn any(_: &str, _: bool) -> bool {
    true
}

/// A bare time or hash is noise beside words. If there are no words, it may be the answer.
fn in_words(result: &str, _: bool) -> bool {
    let is_word = |c: char| c.is_alphabetic() && !c.is_ascii_hexdigit();
    result.contains(is_word) && !is_silent(result)
}

/// With fewer steps left, another failure is not the same one: it may be the last.
fn in_success(result: &str, failed: bool) -> bool {
    !failed && report(result).failed != Some(true)
}

/// A path or an address consists of words: beside a single line it would be half of the result.
fn in_lines(result: &str, failed: bool) -> bool {
    in_words(result, failed) && result.trim().lines().count() > 1
}

/// The changes of a whole record or result, and what hosts wrap around a result.
const CHANGES: [Change; 18] = [
    Change { name: "keys in another order", of: Of::Record(with_keys_reversed) },
    Change { name: "another root of paths", of: Of::Record(moved) },
    Change { name: "a reworded description", of: Of::Record(described) },
    Change { name: "a colour", of: Of::Result(coloured) },
    Change {
        name: "a clock before each line",
        of: Of::Result(|text, n| before_lines(text, |line| format!("[{}] ", clock(n + line)))),
    },
    Change {
        name: "an ISO time before each line",
        of: Of::Result(|text, n| {
            before_lines(text, |line| format!("2026-05-28T{}.123Z ", clock(n + line)))
        }),
    },
    Change {
        name: "a colour before each line",
        of: Of::Result(|text, _| before_lines(text, |_| "\x1b[32m".into())),
    },
    Change { name: "carriage returns", of: Of::Result(|text, _| text.replace('\n', "\r\n")) },
    Change { name: "spaces at the ends of lines", of: Of::Result(spaced) },
    Change { name: "JSON in another order", of: Of::Result(reordered) },
    Change { name: "Codex", of: Of::Result(in_header) },
    Change { name: "Gemini CLI", of: Of::Result(in_context) },
    Change { name: "Qwen Code", of: Of::Result(in_table) },
    Change { name: "OpenHands", of: Of::Result(with_trailers) },
    Change { name: "Claude Code", of: Of::Result(with_reminder) },
    Change { name: "Cursor", of: Of::Result(in_object) },
    Change { name: "mini-SWE-agent", of: Of::Result(in_elements) },
    Change { name: "Copilot CLI", of: Of::Result(with_status) },
];

/// The lines that may be added at either end of a result.
const LINES: [(&str, Suits, Line); 18] = [
    ("the time", any, |n| format!("finished at {}", clock(n))),
    ("a bare time", in_words, |n| format!("[{}]", clock(n))),
    ("a duration", any, |n| format!("real {}.{:02}s", n % 7, n % 90)),
    ("a duration in brackets", any, |n| format!("(took 0.{}s)", n % 9 + 1)),
    ("elapsed milliseconds", any, |n| format!("elapsed_ms={}", 400 + 13 * n)),
    ("a uuid", in_words, uuid),
    ("a hash", in_words, |n| format!("{}a1b2c", hex(n, 12))),
    ("a process group", any, |n| format!("Process Group PGID: {}", 4711 + 3 * n)),
    ("a process", any, |n| format!("pid {}", 4711 + n)),
    ("a chunk", any, |n| format!("Chunk ID: {}7", hex(n, 5))),
    ("a request", any, |n| format!("request_id=req_{}7", hex(n, 12))),
    ("a cost", any, |n| format!("cost: $0.{:04}", 123 + 7 * n)),
    ("tokens", any, |n| format!("tokens left: {}", 810_022_usize.saturating_sub(317 * n))),
    ("a step", any, |n| format!("[step {}/2000]", n + 1)),
    ("a budget", in_success, |n| format!("You have {} steps left.", 2000 - n)),
    ("a runner's time", any, |n| format!("Done in 0.{}s", n % 90 + 10)),
    ("a turn", any, |n| format!("turn {} of 2000", n + 1)),
    ("a date", any, |n| format!("date: 2026-05-{:02}", n % 28 + 1)),
];

/// The lines that may be added at the end only, because reports are recognised by their first line.
const LAST_LINES: [(&str, Suits, Line); 2] = [
    ("a temporary path", in_lines, |n| format!("/tmp/tmp{}/out.txt", hex(n, 8))),
    ("a local port", in_lines, |n| format!("http://localhost:{}/", 20_000 + n % 40_000)),
];

fn changes() -> impl Iterator<Item = Change> {
    let line = |place| move |(name, suits, line)| Change { name, of: Of::Line(place, suits, line) };
    CHANGES
        .into_iter()
        .chain(LINES.into_iter().map(line(Place::End)))
        .chain(LINES.into_iter().map(line(Place::Start)))
        .chain(LAST_LINES.into_iter().map(line(Place::End)))
}

#[test]
fn noise_changes_no_verdict() {
    let Some(root) = shared("traces") else { return };
    let distance = [40, 8, 1][effort()];
    let runs: Vec<_> = listed(&root.join("labels.jsonl"))
        .iter()
        .step_by(distance)
        .map(|label| label["file"].as_str().expect("a path").to_owned())
        .collect();
    let texts: Vec<_> =
        runs.iter().map(|run| fs::read_to_string(root.join(run)).expect("a run")).collect();
    let verdicts = |change: Option<&Change>| {
        let folder = Folder::new();
        for (run, text) in runs.iter().zip(&texts) {
            folder.file(run, change.map_or_else(|| text.clone(), |change| change.apply(text)));
        }
        firsts(folder.path())
    };
    let expected = verdicts(None);
    assert_eq!(expected.len(), runs.len());
    assert!(expected.values().flatten().count() > runs.len() / 3, "runs that are stuck");
    let mut differences = Vec::new();
    for change in changes() {
        let found = verdicts(Some(&change));
        for (run, first) in expected.iter().filter(|(run, first)| found.get(*run) != Some(first)) {
            let now = found.get(run);
            differences.push(format!("{}: {run}: {first:?} became {now:?}", change.name));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn changes_do_something() {
    let record = r#"{"type":"call","tool":"a","args":{"a":{"c":1,"b":2},"p":"/home/x"},"result":"one\ntwo words"}"#;
    let json = record.replace(r"one\ntwo words", r#"{\"c\": 1, \"b\": \"two words\"}"#);
    let run = format!("{record}\n{record}\n{record}\n{json}\n");
    let mut seen = Vec::new();
    for change in changes() {
        // A change that affects every other result may leave the first one unchanged.
        let changed = change.apply(&run);
        assert_ne!(changed, run, "{}", change.name);
        assert!(changed.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
        assert!(!seen.contains(&changed), "{}", change.name);
        seen.push(changed);
    }
}

/// Returns the call of the first finding in each run below `folder`.
fn firsts(folder: &Path) -> BTreeMap<String, Option<u64>> {
    let first = |report: Value| {
        let path = report["path"].as_str().expect("a path").to_owned();
        let run = Path::new(&path)
            .strip_prefix(folder)
            .map_or(path.clone(), |run| run.display().to_string());
        (run, report["findings"][0]["at_call"].as_u64())
    };
    scanned(folder).lines().into_iter().map(first).collect()
}

impl Change {
    /// Returns the run `text` with this change.
    fn apply(&self, text: &str) -> String {
        let mut calls = 0;
        let mut changed = String::with_capacity(2 * text.len());
        for line in text.lines() {
            changed += &self.record(line, &mut calls);
            changed.push('\n');
        }
        changed
    }

    fn record(&self, line: &str, calls: &mut usize) -> String {
        if let Of::Record(change) = self.of {
            return change(line);
        }
        let mut record: Value = serde_json::from_str(line).expect("a record");
        if record["type"] != "call" {
            return line.to_owned();
        }
        *calls += 1;
        let failed = record["is_error"] == true;
        if let Some(Value::String(result)) = record.get_mut("result") {
            *result = self.result(result, *calls - 1, failed);
        }
        record.to_string()
    }

    fn result(&self, result: &str, call: usize, failed: bool) -> String {
        match self.of {
            Of::Record(_) => result.to_owned(),
            Of::Result(change) => change(result, call),
            Of::Line(_, suits, _) if !suits(result, failed) => result.to_owned(),
            Of::Line(Place::Start, _, line) => format!("{}\n{result}", line(call)),
            Of::Line(Place::End, _, line) => {
                let is_open = !result.is_empty() && !result.ends_with('\n');
                format!("{result}{}{}", if is_open { "\n" } else { "" }, line(call))
            }
        }
    }
}

/// Returns the record with the keys of each object reversed.
fn with_keys_reversed(record: &str) -> String {
    reversed(&serde_json::from_str(record).expect("a record"))
}

/// Returns every other answer in JSON with the keys of each object reversed, and without white space.
fn reordered(text: &str, call: usize) -> String {
    let document = serde_json::from_str(text).ok().filter(|json: &Value| !json.is_number());
    match document {
        Some(json) if !call.is_multiple_of(2) => reversed(&json),
        _ => text.to_owned(),
    }
}

/// Writes `json` with the keys of each object reversed.
fn reversed(json: &Value) -> String {
    fn written(value: &Value) -> String {
        let joined = |parts: Vec<String>| parts.join(",");
        match value {
            Value::Array(items) => format!("[{}]", joined(items.iter().map(written).collect())),
            Value::Object(members) => {
                let member = |(key, value): (&String, &Value)| {
                    format!("{}:{}", Value::from(key.as_str()), written(value))
                };
                format!("{{{}}}", joined(members.iter().rev().map(member).collect()))
            }
            other => other.to_string(),
        }
    }
    written(json)
}

/// Returns the record with a description among the arguments, another one each time.
fn described(record: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let mut record: Value = serde_json::from_str(record).expect("a record");
    if let Some(Value::Object(args)) = record.get_mut("args")
        && !args.is_empty()
    {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        args.insert("explanation".into(), format!("Look at it, reason {number}").into());
    }
    record.to_string()
}

/// Returns the record of an agent that works in other folders.
fn moved(record: &str) -> String {
    record.replace("/home/", "/srv/users/").replace("/testbed", "/worktrees/repository")
}

/// Returns the text with a colour around the first line, for every other call.
fn coloured(text: &str, call: usize) -> String {
    let (first, rest) =
        text.split_once('\n').map_or((text, None), |(first, rest)| (first, Some(rest)));
    if call.is_multiple_of(2) || first.is_empty() {
        return text.to_owned();
    }
    let rest = rest.map_or(String::new(), |rest| format!("\n{rest}"));
    format!("\x1b[3{}m{first}\x1b[0m{rest}", call % 7 + 1)
}

/// Returns the text with what `sign` returns before each line that shows something.
fn before_lines(text: &str, sign: impl Fn(usize) -> String) -> String {
    let before = |(n, line): (usize, &str)| {
        if line.trim().is_empty() { line.to_owned() } else { sign(n) + line }
    };
    text.split_inclusive('\n').enumerate().map(before).collect()
}

/// Returns the text with spaces at the end of each line. Their number varies with the call.
fn spaced(text: &str, call: usize) -> String {
    text.replace('\n', &format!("{}\n", " ".repeat(call % 3))) + &" ".repeat(call % 4)
}

fn in_header(text: &str, call: usize) -> String {
    let (chunk, tokens) = (hex(call, 6), call + 7);
    format!(
        "Chunk ID: {chunk}\nWall time: 0.{call} seconds\nOriginal token count: {tokens}\nOutput:\n{text}"
    )
}

fn in_context(text: &str, call: usize) -> String {
    let text = if text.trim().is_empty() { "(empty)" } else { text };
    let group = 4711 + call;
    format!(
        "<untrusted_context>\nOutput: {text}\nProcess Group PGID: {group}\n</untrusted_context>"
    )
}

fn in_table(text: &str, call: usize) -> String {
    let fields = format!("Error: (none)\nExit Code: (none)\nProcess Group PGID: {}", 4711 + call);
    format!("Command: make\nDirectory: (root)\nOutput: {text}\n{fields}")
}

fn with_trailers(text: &str, _: usize) -> String {
    format!("{text}\n[Current working directory: /w]\n[Python interpreter: /usr/bin/python]")
}

fn with_reminder(text: &str, call: usize) -> String {
    // Without a text, the reminder is the answer.
    let reminder = format!("\n\n<system-reminder>\nTurn {call}.\n</system-reminder>");
    text.to_owned() + if text.trim().is_empty() { "" } else { &reminder }
}

fn in_object(text: &str, call: usize) -> String {
    json!({ "stdout": text, "stderr": "", "duration_ms": 90 + call }).to_string()
}

fn in_elements(text: &str, _: usize) -> String {
    format!("<returncode>{}</returncode>\n<output>\n{text}\n</output>", status(text))
}

fn with_status(text: &str, call: usize) -> String {
    format!("{text}\n<shellId: {call} completed with exit code {}>", status(text))
}

/// Returns the exit status of a command with this output.
fn status(text: &str) -> u8 {
    u8::from(report(text).failed == Some(true))
}

fn clock(n: usize) -> String {
    let seconds = 9 * 3600 + 37 * n;
    format!("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
}

/// Returns an identifier that differs for each call.
pub(crate) fn uuid(n: usize) -> String {
    let digits = hex(n, 32);
    let part = |from: usize, to: usize| &digits[from..to];
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

/// Returns `digits` hexadecimal digits that look random, for the call `n`.
pub(crate) fn hex(n: usize, digits: usize) -> String {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(n as u64 + 1);
    let digit = |_| {
        // Xorshift (Marsaglia, 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from_digit((state >> 32) as u32 % 16, 16).expect("a digit")
    };
    (0..digits).map(digit).collect()
}
