//! Transcripts of real agents, compared with the expected events. Skipped if they are not at hand.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde_json::Value;
use unstuck_trace::{Args, Event, Format, Problem, Trace, read};

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
                found.push((name.display().to_string(), path));
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
            };
            calls.push(serde_json::json!({"tool": call.tool, "args": args}));
        }
        Event::Outcome(outcome) => {
            assert!(outcome.call < calls.len());
            answered += 1;
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
const FOLDERS: [(&str, Format); 11] = [
    ("anthropic-messages", Format::ANTHROPIC),
    ("claude-code", Format::CLAUDE_CODE),
    ("codex-rollout", Format::CODEX),
    ("gemini-cli", Format::GEMINI),
    ("mini-swe-agent", Format::MINI_SWE_AGENT),
    ("openai-chat", Format::OPENAI),
    ("openai-responses", Format::OPENAI_RESPONSES),
    ("opencode", Format::OPENCODE),
    ("openhands", Format::OPENHANDS),
    ("pi-mono", Format::PI),
    ("swe-agent", Format::SWE_AGENT),
];

/// A viewer's copy of a rollout without any key of Codex. It has `role` and `content` on each line,
/// as any log of a chat has, so it is refused unless the caller names the format. It has 0 calls.
const UNMARKED: &str = "codex-rollout/jaz-session_branch.jsonl";

fn format_of(name: &str) -> Option<Format> {
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
        ("atif", "an ATIF trajectory"),
        ("codex-exec-json", "the events of `codex exec --json`"),
        ("cursor", "a Cursor transcript"),
        ("hooks-claude", "the payload of a hook"),
        ("inspect", "Inspect"),
        ("langchain", "LangChain messages"),
        ("opencode", "opencode"),
        ("otel-genai", "OpenTelemetry spans"),
        ("pydantic-ai", "Pydantic AI messages"),
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
