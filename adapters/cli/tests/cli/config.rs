//! Policies in files: reading them, and the messages about mistakes.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::harness::{
    Folder, PRESETS, RULE_SETS, is_exhaustive, record, runs, scan, shared, unstuck,
};

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
