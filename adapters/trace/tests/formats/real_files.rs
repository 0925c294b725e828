//! Transcripts of real agents, compared with the expected events. Skipped if they are not at hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use crate::reading::cases;
use serde_json::Value;
use unstuck_trace::{Args, Event, Format, Problem, Tokens, Trace, read};

/// Returns the folder of shared test data, or `None` with a remark if it is absent.
fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: no test data in {}", path.display());
    None
}

/// Returns every file below a folder, with its path within the folder.
fn files(root: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder that can be listed") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).expect("below the root");
                found.push((name.display().to_string().replace(MAIN_SEPARATOR, "/"), path));
            }
        }
    }
    found.sort();
    found
}

fn scan(
    path: &Path,
    from: Option<Format>,
    sink: &mut dyn FnMut(Event<'_>),
) -> Result<Trace, Problem> {
    let file = File::open(path).expect("a file that can be opened");
    read(BufReader::new(file), from, sink)
}

/// Returns the figures of a file that the list of expectations has, as this crate reads them.
fn summary(
    path: &Path,
    from: Option<Format>,
) -> Result<(Trace, BTreeMap<&'static str, Value>), Problem> {
    let mut calls = Vec::new();
    let mut answered = 0_usize;
    let trace = scan(path, from, &mut |event| match event {
        Event::Call(call) => {
            assert_eq!(call.index, calls.len());
            let args = match call.args {
                Args::Json(json) => serde_json::from_str(json).expect("JSON"),
                Args::Text(text) => Value::from(text),
                Args::Absent => Value::Null,
            };
            calls.push(serde_json::json!({"tool": call.tool, "args": args}));
        }
        Event::Outcome(outcome) => {
            assert!(outcome.call < calls.len());
            // The expectations count a result of which nothing is known as absent.
            answered += usize::from(!outcome.text.is_empty() || outcome.cut.is_none());
        }
        Event::Message(_) | Event::Begin(_) | Event::Usage(_) | Event::Time(_) => {}
    })?;
    assert_eq!(trace.calls, calls.len());
    let first = calls.first().cloned().unwrap_or_default();
    let last = calls.last().cloned().unwrap_or_default();
    let summary = BTreeMap::from([
        ("calls", trace.calls.into()),
        ("executed_calls", answered.into()),
        ("without_result", (trace.calls - answered).into()),
        ("errors", trace.errors.into()),
        ("workers", trace.workers.into()),
        ("first_call", first),
        ("last_call", last),
        ("bad_lines", trace.skipped.into()),
    ]);
    Ok((trace, summary))
}

/// The folders of the formats that are read.
const FOLDERS: [(&str, Format); 17] = [
    ("anthropic-messages", Format::ANTHROPIC),
    ("atif", Format::ATIF),
    ("claude-code", Format::CLAUDE_CODE),
    ("codex-exec-json", Format::CODEX_EXEC),
    ("codex-rollout", Format::CODEX),
    ("gemini-cli", Format::GEMINI),
    ("inspect", Format::INSPECT),
    ("langchain", Format::LANGCHAIN),
    ("mini-swe-agent", Format::MINI_SWE_AGENT),
    ("openai-chat", Format::OPENAI),
    ("openai-responses", Format::OPENAI_RESPONSES),
    ("opencode", Format::OPENCODE),
    ("openhands", Format::OPENHANDS),
    ("otel-genai", Format::OTLP),
    ("pi-mono", Format::PI),
    ("pydantic-ai", Format::PYDANTIC_AI),
    ("swe-agent", Format::SWE_AGENT),
];

/// A viewer's copy of a rollout without any key of Codex. It has `role` and `content` on each line,
/// as any log of a chat has, so it is refused unless the caller names the format. It has 0 calls.
const UNMARKED: &str = "codex-rollout/jaz-session_branch.jsonl";

/// Spans in other JSON than OTLP's: bare attributes, and objects of an SDK.
const OTHER_SPANS: [&str; 3] = [
    "otel-genai/otel_genai_client_span_tool_calls.json",
    "otel-genai/otel_genai_tool_execution_span.json",
    "otel-genai/vercel-all-spans.json",
];

fn format_of(name: &str) -> Option<Format> {
    if OTHER_SPANS.contains(&name) {
        return None;
    }
    if name.starts_with("gemini-cli/qwen-") {
        return Some(Format::QWEN);
    }
    // The oldest sessions are a folder of small files.
    if name.starts_with("opencode/jaz-storage_legacy/") {
        return None;
    }
    let folder = name.split_once('/').map(|(folder, _)| folder)?;
    FOLDERS.into_iter().find(|(name, _)| *name == folder).map(|(_, format)| format)
}

#[test]
fn our_formats_are_read_as_expected() {
    let Some(root) = shared("formats") else { return };
    let list = fs::read_to_string(root.join("expected.jsonl")).expect("the list");
    let mut checked = 0;
    let mut wrong = Vec::new();
    for line in list.lines() {
        let expected: Value = serde_json::from_str(line).expect("a line of the list");
        let path = expected["path"].as_str().expect("a path");
        let Some(format) = format_of(path) else { continue };
        let nonzero_exits = expected["nonzero_exit"].as_u64().unwrap_or(0);
        for from in [None, Some(format)].into_iter().skip(usize::from(path == UNMARKED)) {
            let (trace, found) = match summary(&root.join(path), from) {
                Ok(read) => read,
                Err(problem) => {
                    wrong.push(format!("{path} from {from:?}: {problem}"));
                    continue;
                }
            };
            assert_eq!(trace.format, format, "{path}: {}", trace.reason);
            for (key, value) in found {
                let Some(mut expected) = expected.get(key).cloned() else { continue };
                if key == "errors" && format == Format::OPENCODE {
                    // The list counts commands with another exit code than 0 apart.
                    expected = (expected.as_u64().unwrap_or(0) + nonzero_exits).into();
                }
                if expected != value {
                    wrong.push(format!("{path} from {from:?}: {key}: {value}, not {expected}"));
                }
            }
            checked += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 90, "only {checked} readings were checked");
}

#[test]
fn files_of_other_formats_are_refused() {
    let Some(root) = shared("formats") else { return };
    for (name, path) in files(&root) {
        if format_of(&name).is_some() && name != UNMARKED {
            continue;
        }
        let mut events = 0;
        let found = scan(&path, None, &mut |_| events += 1);
        assert_eq!(events, 0, "{name}");
        assert!(found.is_err(), "{name}: {found:?}");
    }
}

#[test]
fn the_error_for_every_foreign_folder_names_its_format() {
    let Some(root) = shared("formats") else { return };
    let names = [
        ("cursor", "a Cursor transcript"),
        ("hooks-claude", "the payload of a hook"),
        ("opencode", "opencode"),
        ("otel-genai", "OpenTelemetry spans"),
    ];
    for (folder, looks_like) in names {
        let is_named = files(&root.join(folder))
            .into_iter()
            .filter_map(|(_, path)| scan(&path, None, &mut |_| {}).err())
            .any(|problem| problem.to_string().contains(looks_like));
        assert!(is_named, "{folder}");
    }
}

#[test]
fn labelled_traces_are_native_and_whole() {
    let Some(root) = shared("traces") else { return };
    let labels = fs::read_to_string(root.join("labels.jsonl")).expect("the labels");
    for line in labels.lines() {
        let label: Value = serde_json::from_str(line).expect("a label");
        let name = label["file"].as_str().expect("a file");
        let trace = scan(&root.join(name), None, &mut |_| {}).expect("a trace");
        assert_eq!(trace.format, Format::NATIVE, "{name}");
        assert_eq!(label["calls"], trace.calls, "{name}");
        assert_eq!(trace.problems, [], "{name}");
    }
    for other in ["labels.jsonl", "SOURCES.md"] {
        assert!(scan(&root.join(other), None, &mut |_| {}).is_err(), "{other}");
    }
}

/// Returns the records of a file: its lines, or the whole document.
fn records(path: &Path) -> Vec<Value> {
    let bytes = fs::read(path).expect("a file that can be read");
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}');
    match serde_json::from_str(text) {
        Ok(document) => vec![document],
        Err(_) => text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
    }
}

/// Calls `each` for every object in a value.
fn walk<'v>(value: &'v Value, each: &mut dyn FnMut(&'v Value)) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| walk(value, each)),
        Value::Object(fields) => {
            each(value);
            fields.values().for_each(|value| walk(value, each));
        }
        _ => {}
    }
}

/// Returns the sum of the numbers at some pointers.
fn sum(value: &Value, pointers: &[&str]) -> u64 {
    let number = |pointer: &&str| value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    pointers.iter().map(number).sum()
}

/// The places of a format's tokens, a line each: the object with the figures, from the object that holds it; the name
/// of the answer, from the same object, without which each object counts; the figures of the input, those from a cache,
/// and those of the output; and whether the cached tokens are part of the input.
const PLACES: &str = "\
claude-code | /usage | /id | /input_tokens /cache_creation_input_tokens | /cache_read_input_tokens | /output_tokens | apart
codex | /last_token_usage | /total_token_usage | /input_tokens | /cached_input_tokens | /output_tokens | inclusive
gemini | /tokens | /id | /input /tool | /cached | /output /thoughts | inclusive
openai | /usage | /id | /prompt_tokens | /prompt_tokens_details/cached_tokens | /completion_tokens | inclusive
opencode | /part/tokens | /part/id | /input /cache/write | /cache/read | /output /reasoning | apart
pi | /usage | - | /input /cacheWrite | /cacheRead | /output | apart
swe-agent | /model_stats | - | /tokens_sent | - | /tokens_received | apart
atif | /metrics | - | /prompt_tokens | /cached_tokens | /completion_tokens | inclusive
pydantic-ai | /usage | - | /input_tokens | /cache_read_tokens | /output_tokens | inclusive
openhands | /usage | /id | /prompt_tokens | /prompt_tokens_details/cached_tokens | /completion_tokens | inclusive
";

/// A line of [`PLACES`].
struct Places {
    usage: &'static str,
    id: &'static str,
    figures: [Vec<&'static str>; 3],
    is_inclusive: bool,
}

impl Places {
    /// Returns the places of each format.
    fn all() -> Vec<(Format, Self)> {
        let places = |(format, line): (Format, &'static str)| {
            let fields: Vec<&str> = line.split(" | ").collect();
            let [usage, id, figures @ .., sum] = &fields[..] else { panic!("{line}") };
            let figures = <[&str; 3]>::try_from(figures).expect("three lists");
            let figures = figures.map(|list| list.split(' ').filter(|it| *it != "-").collect());
            (format, Self { usage, id, figures, is_inclusive: *sum == "inclusive" })
        };
        cases(PLACES).into_iter().map(places).collect()
    }

    /// Returns the tokens of a file: an answer counts once, with its largest figures.
    fn count(&self, path: &Path) -> Tokens {
        let mut answers: BTreeMap<String, [u64; 3]> = BTreeMap::new();
        let records = records(path);
        let mut each = |object: &Value| {
            let Some(usage) = object.pointer(self.usage) else { return };
            let unnamed = || format!("without name {}", answers.len());
            let id = object.pointer(self.id).map_or_else(unnamed, Value::to_string);
            let answer = answers.entry(id).or_default();
            for (known, pointers) in answer.iter_mut().zip(&self.figures) {
                *known = (*known).max(sum(usage, pointers));
            }
        };
        for record in &records {
            walk(record, &mut each);
        }
        let column = |at: usize| answers.values().map(|answer| answer[at]).sum::<u64>();
        let [input, cached, output] = [column(0), column(1), column(2)];
        Tokens { input: if self.is_inclusive { input - cached } else { input }, cached, output }
    }
}

/// Files with a total that the program kept, a line each: the file, the place of its record from the end, the total in
/// it, and the figures of the input, those from a cache, and those of the output.
const TOTALS: &str = "\
opencode/gen-1.18.33-export-loop.json | 0 | /info/tokens | /input /cache/write | /cache/read | /output /reasoning
openhands/sdk-goal-events.jsonl | 2 | /value/usage_to_metrics/default/accumulated_token_usage | /prompt_tokens | /cache_read_tokens | /completion_tokens
codex-rollout/rollout-gen-0.169.0-loop.jsonl | 1 | /payload/info/total_token_usage | /input_tokens | /cached_input_tokens | /output_tokens
";

#[test]
fn tokens_are_those_of_a_total_that_the_program_kept() {
    let Some(root) = shared("formats") else { return };
    for line in TOTALS.lines() {
        let fields: Vec<&str> = line.split(" | ").collect();
        let [name, from_end, pointer, figures @ ..] = &fields[..] else { panic!("{line}") };
        let records = records(&root.join(name));
        let from_end = from_end.parse().expect("a number");
        let record = records.iter().rev().nth(from_end).expect("a record");
        let total = record.pointer(pointer).expect("a total");
        let figures = <[&str; 3]>::try_from(figures).expect("three lists");
        let pointers = |list: &'static str| list.split(' ').collect::<Vec<_>>();
        let [input, cached, output] = figures.map(|list| sum(total, &pointers(list)));
        let expected = Tokens { input: input - cached, cached, output };
        let trace = scan(&root.join(name), None, &mut |_| {}).expect("a trace");
        assert_eq!(trace.tokens, Some(expected), "{name}");
    }
}

#[test]
fn tokens_are_those_of_another_count() {
    let Some(root) = shared("formats") else { return };
    let (all, mut with_tokens) = (Places::all(), BTreeMap::new());
    for (name, path) in files(&root) {
        let Some(format) = format_of(&name) else { continue };
        let Some((_, places)) = all.iter().find(|(of, _)| *of == format) else { continue };
        if TOTALS.lines().any(|line| line.starts_with(&name)) {
            continue;
        }
        let Ok(trace) = scan(&path, Some(format), &mut |_| {}) else { continue };
        let expected = places.count(&path);
        assert_eq!(trace.tokens.unwrap_or_default(), expected, "{name}");
        *with_tokens.entry(format.name()).or_insert(0) += usize::from(trace.tokens.is_some());
    }
    assert!(with_tokens.len() == all.len() && with_tokens.values().all(|files| *files > 0));
}

/// Returns a time as a native trace has it.
fn time_of(text: &str) -> Option<u64> {
    let line = serde_json::json!({"type": "call", "tool": "x", "time": text}).to_string();
    read(line.as_bytes(), Some(Format::NATIVE), &mut |_| {}).expect("a call").begin
}

#[test]
fn times_are_the_first_and_the_last_of_the_lines() {
    let Some(root) = shared("formats") else { return };
    let folders = ["claude-code/", "codex-rollout/rollout-", "gemini-cli/qwen-"];
    let mut checked = 0;
    for (name, path) in files(&root) {
        let has_lines = path.extension().is_some_and(|extension| extension == "jsonl");
        if !has_lines || !folders.iter().any(|folder| name.starts_with(folder)) {
            continue;
        }
        let Ok(trace) = scan(&path, None, &mut |_| {}) else { continue };
        let records = records(&path);
        let times = records.iter().filter_map(|record| record["timestamp"].as_str());
        let times = times.filter_map(time_of).collect::<BTreeSet<_>>();
        assert_eq!(
            (trace.begin, trace.end),
            (times.first().copied(), times.last().copied()),
            "{name}"
        );
        checked += usize::from(trace.begin < trace.end);
    }
    assert!(checked > 10, "{checked}");
}
