//! Transcripts that real agents wrote, where they are at hand, against what must be read from them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde_json::Value;
use unstuck_trace::{Args, Event, Format, Problem, Trace, read};

/// The folder of shared test data; none, with a remark, where it is absent.
fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: no test data in {}", path.display());
    None
}

/// Every file below a folder, with its path within it.
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

fn scan(path: &Path, sink: &mut dyn FnMut(Event<'_>)) -> Result<Trace, Problem> {
    let file = File::open(path).expect("a file that can be opened");
    read(BufReader::new(file), None, sink)
}

/// What the list of expectations also says about a file, read the way this crate reads it.
fn summary(path: &Path) -> Result<BTreeMap<&'static str, Value>, Problem> {
    let mut calls = Vec::new();
    let mut answered = 0_usize;
    let trace = scan(path, &mut |event| match event {
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
        Event::Message(_) => {}
    })?;
    assert_eq!(trace.calls, calls.len());
    let first = calls.first().cloned().unwrap_or_default();
    let last = calls.last().cloned().unwrap_or_default();
    Ok(BTreeMap::from([
        ("calls", trace.calls.into()),
        ("executed_calls", answered.into()),
        ("errors", trace.errors.into()),
        ("workers", trace.workers.into()),
        ("first_call", first),
        ("last_call", last),
        ("bad_lines", trace.skipped.into()),
    ]))
}

#[test]
fn our_formats_are_read_as_expected() {
    let Some(root) = shared("formats") else { return };
    let list = fs::read_to_string(root.join("expected.jsonl")).expect("the list");
    let mut checked = 0;
    for line in list.lines() {
        let expected: Value = serde_json::from_str(line).expect("a line of the list");
        let path = expected["path"].as_str().expect("a path");
        if !path.starts_with("claude-code/") && !path.starts_with("openai-chat/") {
            continue;
        }
        let found = summary(&root.join(path)).unwrap_or_else(|problem| panic!("{path}: {problem}"));
        for (key, value) in found {
            assert_eq!(value, expected[key], "{path}: {key}");
        }
        checked += 1;
    }
    assert!(checked > 15, "only {checked} files were checked");
}

#[test]
fn files_of_other_formats_are_refused() {
    let Some(root) = shared("formats") else { return };
    // A list of plain messages with `role` and `content`: a chat without calls to any reader.
    let chats = ["mini-swe-agent/github_issue.traj.json"];
    for (name, path) in files(&root) {
        if name.starts_with("claude-code/") || name.starts_with("openai-chat/") {
            continue;
        }
        let mut calls = 0;
        let found = scan(&path, &mut |event| calls += usize::from(matches!(event, Event::Call(_))));
        assert_eq!(calls, 0, "{name}");
        assert_eq!(found.is_ok(), chats.contains(&name.as_str()), "{name}: {found:?}");
    }
}

#[test]
fn every_foreign_folder_is_told_by_name() {
    let Some(root) = shared("formats") else { return };
    let names = [
        ("anthropic-messages", "Anthropic messages"),
        ("atif", "an ATIF trajectory"),
        ("codex-exec-json", "the events of `codex exec --json`"),
        ("codex-rollout", "a Codex rollout"),
        ("cursor", "a Cursor transcript"),
        ("gemini-cli", "a Gemini CLI session"),
        ("hooks-claude", "the payload of a hook"),
        ("inspect", "Inspect"),
        ("langchain", "LangChain messages"),
        ("openai-responses", "OpenAI Responses"),
        ("opencode", "opencode"),
        ("openhands", "OpenHands"),
        ("otel-genai", "OpenTelemetry spans"),
        ("pi-mono", "a pi session"),
        ("pydantic-ai", "Pydantic AI messages"),
        ("swe-agent", "a SWE-agent trajectory"),
    ];
    for (folder, looks_like) in names {
        let told = files(&root.join(folder))
            .into_iter()
            .filter_map(|(_, path)| scan(&path, &mut |_| {}).err())
            .any(|problem| problem.to_string().contains(looks_like));
        assert!(told, "{folder}");
    }
}

#[test]
fn labelled_traces_are_native_and_whole() {
    let Some(root) = shared("traces") else { return };
    let labels = fs::read_to_string(root.join("labels.jsonl")).expect("the labels");
    for line in labels.lines() {
        let label: Value = serde_json::from_str(line).expect("a label");
        let name = label["file"].as_str().expect("a file");
        let trace = scan(&root.join(name), &mut |_| {}).expect("a trace");
        assert_eq!(trace.format, Format::Native, "{name}");
        assert_eq!(label["calls"], trace.calls, "{name}");
        assert_eq!(trace.problems, [], "{name}");
    }
    for other in ["labels.jsonl", "SOURCES.md"] {
        assert!(scan(&root.join(other), &mut |_| {}).is_err(), "{other}");
    }
}
