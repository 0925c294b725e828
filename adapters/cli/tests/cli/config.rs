//! Policies in files: reading them, and the messages about mistakes.

use std::fs;
use std::path::Path;

use serde_json::json;
use unstuck_core::RULES_MAX;

use crate::harness::{
    CLEAN, Folder, PRESETS, RULE_SETS, Ran, is_exhaustive, record, run_in, runs, scan, shared,
    stuck, unstuck,
};

/// The shortest policy.
const SMALL: &str = r#"
name = "small"
window = 10

[[rule]]
name = "thrice"
args = "same"
results = "ignored"
pattern = { times = 3 }
ladder.rungs = [{ count = 3, action = "warn" }]
"#;

/// Scans a trace in `folder` with the configuration `config`.
fn scan_by(folder: &Folder, config: impl AsRef<[u8]>) -> Ran {
    folder.file("unstuck.toml", config);
    folder.file("run.jsonl", stuck());
    let words = ["scan", "run.jsonl", "--config", "unstuck.toml", "--format", "jsonl"];
    run_in(folder.path(), &words)
}

#[test]
fn a_printed_preset_judges_like_the_preset() {
    let folder = Folder::new();
    for preset in PRESETS {
        let printed = unstuck(["presets", "--format", "toml", preset]).quiet(0);
        let config = folder.file("unstuck.toml", printed.out);
        let config = config.to_str().expect("UTF-8");
        let real = if is_exhaustive() { shared("traces") } else { None };
        for path in [Some(runs()), real].into_iter().flatten() {
            let by_file = scan(&path, &["--format", "jsonl", "--config", config]);
            let by_name = scan(&path, &["--format", "jsonl", "--preset", preset]);
            assert_eq!(by_file.out, by_name.out, "{preset}");
            assert_eq!((by_file.exit, by_file.err), (by_name.exit, by_name.err), "{preset}");
        }
    }
}

#[test]
fn a_rule_set_can_be_given_by_name_as_a_file_or_as_what_presets_prints() {
    let folder = Folder::new();
    let lap = ["a.rs", "b.rs"].map(|path| record("read", &json!(path).to_string(), path, false));
    let run = folder.file("run.jsonl", lap.concat().repeat(9));
    for rules in RULE_SETS {
        let own =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../report/policies/{rules}.toml"));
        let printed = unstuck(["presets", "--format", "toml", rules]).out;
        assert_eq!(printed, fs::read_to_string(&own).expect("the file"), "{rules}");
        let named = folder.file("named.toml", format!("preset = \"{rules}\"\n"));
        let by_name = scan(&run, &["--preset", rules]);
        for config in [own, named] {
            let by_file = scan(&run, &["--config", config.to_str().expect("UTF-8")]);
            assert_eq!((by_file.exit, by_file.out), (by_name.exit, by_name.out.clone()), "{rules}");
        }
    }
}

#[test]
fn without_a_name_the_default_preset_is_printed() {
    let print = |words: &[&str]| unstuck(words).out;
    assert_eq!(
        print(&["presets", "--format=toml"]),
        print(&["presets", "balanced", "--format=toml"])
    );
}

#[test]
fn a_configuration_that_cannot_be_read_is_4() {
    let folder = Folder::new();
    let clean = folder.file("clean.jsonl", CLEAN);
    for (path, says) in [
        (folder.file("latin.toml", b"name = \"\xe9\""), "not UTF-8 at byte 9"),
        (folder.file("long.toml", "#".repeat((1 << 20) + 1)), "longer than 1 MiB"),
    ] {
        let ran = scan(&clean, &["--config", path.to_str().expect("UTF-8")]);
        assert_eq!((ran.exit, ran.out.as_str()), (4, ""), "{}", ran.err);
        let place = format!("error: {}: ", path.display());
        assert!(ran.err.starts_with(&place) && ran.err.contains(says), "{}", ran.err);
    }
}

#[test]
fn more_rules_than_are_allowed_are_4() {
    let many = SMALL.replace("[[rule]]", &format!("{}[[rule]]", rules(RULES_MAX)));
    let ran = scan_by(&Folder::new(), many);
    ran.fails(
        4,
        "unstuck.toml:101:1: policy `small`: there are 17 rules, but at most 16 are allowed",
    );
}

/// Returns a configuration with `count` rules.
fn rules(count: usize) -> String {
    let (_, rule) = SMALL.split_once("[[rule]]").expect("a rule");
    format!("[[rule]]{rule}").repeat(count)
}
