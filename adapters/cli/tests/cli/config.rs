//! Policies in files: reading them, and the messages about mistakes.

use std::fmt::Write as _;

use unstuck_core::RULES_MAX;

use crate::harness::{
    CLEAN, Folder, PRESETS, Ran, evaluated, is_exhaustive, labels, run_in, runs, scan, shared,
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
fn a_policy_file_is_evaluated_like_a_named_policy() {
    let folder = Folder::new();
    let config = folder.file("unstuck.toml", "preset = \"graduated\"");
    let eval = |option: &str, policy: &str| evaluated(&labels(), &runs(), &[option, policy]);
    let by_file = eval("--config", config.to_str().expect("UTF-8"));
    let by_name = eval("--preset", "graduated");
    assert_eq!((by_file.exit, by_file.out, by_file.err), (0, by_name.out, by_name.err));
    let wrong = folder.file("wrong.toml", "preset = \"gradual\"");
    let ran = eval("--config", wrong.to_str().expect("UTF-8"));
    assert_eq!((ran.exit, ran.out.as_str()), (4, ""), "{}", ran.err);
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
fn a_custom_policy_finds_by_its_rules() {
    let ran = scan_by(&Folder::new(), SMALL).quiet(1);
    let findings = &ran.only_line()["findings"];
    assert_eq!(findings.as_array().map(Vec::len), Some(1), "{findings}");
    assert_eq!((&findings[0]["rule"], &findings[0]["at_call"]), (&"thrice".into(), &2.into()));
}

#[test]
fn a_preset_with_exemptions_ignores_exempt_calls() {
    let folder = Folder::new();
    assert_eq!(scan_by(&folder, "preset = \"repeat\"").exit, 1);
    assert_eq!(scan_by(&folder, "preset = \"repeat\"\nexempt = [\"shell\"]").exit, 0);
    assert_eq!(scan_by(&folder, format!("exempt = [\"shell\"]\n{SMALL}")).exit, 0);
}

#[test]
fn tables_for_tools_calls_and_phases_take_effect() {
    let folder = Folder::new();
    for (more, places) in [
        ("", vec![2]),
        ("[tools.bash]\nexempt = true", vec![]),
        ("[tools.Bash]\nexempt = true", vec![2]),
        ("[tools.bash]\npatience = 2", vec![4]),
        ("[tools.bash]\npatience = -9", vec![1]),
        ("[tools.bash]\nkey = [\"command\"]", vec![2]),
        ("[[allow]]\ntool = \"bash\"\nargs = { command = \"make\" }", vec![]),
        ("[[allow]]\ntool = \"bash\"\nargs = { command = \"ls\" }", vec![2]),
        ("adaptive.early = { calls = 4, patience = 9 }", vec![4]),
        ("adaptive.late = { calls = 1, patience = -1 }", vec![1]),
    ] {
        let ran = scan_by(&folder, format!("preset = \"repeat\"\n{more}"));
        assert_eq!(ran.err, "", "{more}");
        let findings = ran.only_line()["findings"].clone();
        let findings = findings.as_array().expect("findings").iter();
        let found: Vec<_> = findings.filter_map(|one| one["at_call"].as_u64()).take(1).collect();
        assert_eq!(found, places, "{more}");
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_4() {
    let folder = Folder::new();
    let clean = folder.file("clean.jsonl", CLEAN);
    for (path, says) in [
        (folder.path().join("missing.toml"), "cannot be read"),
        (folder.path().to_owned(), "cannot be read"),
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
fn a_mistake_is_4_and_shown_in_its_line() {
    let folder = Folder::new();
    let mut printed = String::new();
    for (right, wrong) in [
        ("window = 10", "windw = 10"),
        ("window = 10", "colour = \"red\""),
        ("window = 10", ""),
        ("window = 10", "window = 100"),
        ("window = 10", "window = 1000"),
        ("window = 10", "window = \"ten\""),
        ("window = 10", "window = 10\nwindow = 11"),
        ("window = 10", "window = 10\nexempt = [\"shel\"]"),
        ("window = 10", "window = 10\nrecipe.result = { head = 0 }"),
        ("window = 10", "window = 10\nrecipe.result = \"half\""),
        ("window = 10", "preset = \"balanced\""),
        ("name = \"small\"\nwindow = 10", "preset = \"balansed\""),
        ("\"small\"", "\"sm\\u001ball\""),
        ("[[rule]]", "[rule]"),
        ("[[rule]]", "[[rules]]"),
        ("\"same\"", "\"sam\""),
        ("\"same\"", "true"),
        ("\"same\"", "\"same"),
        ("\"ignored\"", "\"ignored\"\nselect = { tag = \"tset\" }"),
        ("\"ignored\"", "\"ignored\"\nselect = { tag = \"test\", except = \"poll\" }"),
        ("times = 3", "times = 3, laps = 2"),
        ("times = 3", "times = 3, novel = 2"),
        ("times = 3", "period = [2], laps = 2"),
        ("times = 3", "period = [2, 11], laps = 2"),
        ("times = 3", "times = 1"),
        ("times = 3", "times = 3, within = 12"),
        ("count = 3", "cuont = 3"),
        ("count = 3", "count = 0"),
        ("\"warn\" }]", "\"warn\" }, { count = 4, action = \"nudge\" }]"),
        ("[{ count = 3, action = \"warn\" }]", "[]"),
        ("ladder.rungs", "[[text]]\nladder.rungs"),
        (
            "[[rule]]",
            "[[text]]\nname = \"a\"\ntexts = \"any\"\ntimes = 1\nladder.rungs = [{ count = 3, action = \"warn\" }]\n[[rule]]",
        ),
    ] {
        assert!(SMALL.contains(right), "{right}");
        let ran = scan_by(&folder, SMALL.replacen(right, wrong, 1));
        assert_eq!((ran.exit, ran.out.as_str()), (4, ""), "{wrong}: {}", ran.err);
        writeln!(printed, "{}", ran.err).expect("room");
    }
    for more in [
        "[tools.bash]\npatiense = 1",
        "[tools.bash]\npatience = 200",
        "[tools.bash]\nexempt = \"yes\"",
        "[tools]\nbash = \"exempt\"",
        "[[tools]]\nbash = 1",
        "[tools.bash]\neffect = \"read\"",
        "[tools.bash]\neffect = [\"reads\", \"acts\"]",
        "[tools.bash]\neffect = \"reads\"\ntag = \"write\"",
        "[tools.bash]\neffect = \"finishes\"\npoll = true",
        "[tools.bash]\npoll = true\ntag = \"shell\"",
        "[tools.bash]\nkey = []",
        "[tools.bash]\nkey = \"command\"",
        "[tools.bash]\nkey = [1]",
        "[tools.bash]\nkey = true",
        "[[allow]]\ntool = \"bash\"",
        "[[allow]]\ntool = \"bash\"\nargs = 5",
        "[[allow]]\ntool = \"bash\"\nargs = { since = 1979-05-27, n = 1 }",
        "[[allow]]\ntool = \"bash\"\nargs = { n = [nan] }",
        "[adaptive]\nearly = { calls = 10 }",
        "[adaptive]\nearly = { calls = 10, patience = 1 }\nlate = { calls = 5, patience = -1 }",
    ] {
        let ran = scan_by(&folder, format!("preset = \"balanced\"\n{more}\n"));
        assert_eq!((ran.exit, ran.out.as_str()), (4, ""), "{more}: {}", ran.err);
        writeln!(printed, "{}", ran.err).expect("room");
    }
    let many = SMALL.replace("[[rule]]", &format!("{}[[rule]]", rules(RULES_MAX)));
    for config in [many.as_str(), "name = \"none\"\nwindow = 9", ""] {
        let ran = scan_by(&folder, config);
        assert_eq!(ran.exit, 4, "{config}");
        writeln!(printed, "{}", ran.err).expect("room");
    }
    insta::assert_snapshot!(printed);
}

/// Returns a configuration with `count` rules.
fn rules(count: usize) -> String {
    let (_, rule) = SMALL.split_once("[[rule]]").expect("a rule");
    format!("[[rule]]{rule}").repeat(count)
}
