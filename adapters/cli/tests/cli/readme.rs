//! The READMEs show the real output of the program.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::{run_in, shared, unstuck};

/// The presets whose scores the root README shows as well.
const PRESETS_SHOWN: [&str; 4] = ["balanced", "graduated", "cline", "openhands"];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).expect("a README")
}

#[test]
fn the_first_command_prints_what_the_readme_shows() {
    let readme = read("README.md");
    let (_, shown) = readme.split_once("-- scan adapters/trace/runs\n").expect("the command");
    let (shown, _) = shown.split_once("```").expect("the end of what it prints");
    let printed = run_in(root(), &["scan", "adapters/trace/runs"]).out;
    let parts: Vec<&str> = shown.split("…\n").filter(|part| !part.is_empty()).collect();
    assert_eq!(parts.len(), 2, "a finding, and the last line");
    for part in parts {
        assert!(printed.contains(part), "not printed: {part}");
    }
}

#[test]
fn the_readmes_show_the_scores_that_eval_prints() {
    let Some(traces) = shared("traces") else { return };
    let labels = root().join("benches/labels/labels.jsonl");
    let ran = unstuck([
        "eval".as_ref(),
        "--preset".as_ref(),
        "all".as_ref(),
        "--format".as_ref(),
        "jsonl".as_ref(),
        "--labels".as_ref(),
        labels.as_os_str(),
        traces.as_os_str(),
    ]);
    let (readme, manual) = (read("README.md"), read("adapters/cli/REFERENCE.md"));
    for score in ran.lines() {
        let preset = score["preset"].as_str().unwrap_or_default();
        let ratio = |field: &str| score[field].as_f64().expect("a ratio");
        let row = format!(
            "| `{}` | {:.2} | {:.2} | {:.2} | {:.1} % |",
            preset,
            ratio("recall"),
            ratio("precision"),
            ratio("f1"),
            ratio("false_alarm_rate") * 100.0,
        );
        assert!(manual.contains(&row), "the reference lacks {row}");
        if PRESETS_SHOWN.contains(&preset) {
            assert!(readme.contains(&row), "the README lacks {row}");
        }
        assert_eq!(score["runs"], Value::from(161));
    }
}
