//! Text from a recording appears on one line, in 80 columns, without escape sequences and secrets.

use std::path::Path;

use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::harness::{
    CLEAN, Folder, Ran, effort, is_exhaustive, repeated, runs, scan, scanned, unstuck,
};

/// The columns of a terminal of the usual width.
const COLUMNS: usize = 80;

/// Sequences that must not reach a terminal: a colour, a title and a cleared screen, each with a
/// one-byte and a two-byte introducer; line breaks, a tab, a deletion, and a mark that reverses the
/// writing direction.
const EVIL: &str =
    "a\u{1b}[31mb\u{1b}]0;t\u{7}c\u{1b}[2Jd\u{9b}31me\u{9d}0;t\u{9c}f\rg\nh\ti\u{7f}j\u{8}k\u{0}l";

fn human(path: &Path) -> Ran {
    scan(path, &[])
}

/// Checks that all lines without a path fit.
fn fits(ran: &Ran) {
    for line in ran.out.lines() {
        let names_path =
            ["stuck  ", "clean  ", "empty  "].iter().any(|word| line.starts_with(word));
        assert!(names_path || line.width() <= COLUMNS, "{} columns: {line}", line.width());
    }
}

/// Returns a trace of a repeated call with these words in every field.
pub(crate) fn words_everywhere(words: &str) -> String {
    let header = json!({"session": words, "agent": words});
    format!("{header}\n{}", records(words))
}

/// Returns a repeated call and a repeated text with these words in every field.
fn records(words: &str) -> String {
    let record = json!({
        "type": "call", "tool": words, "args": {words: words, "n": [words]}, "result": words,
        "is_error": true, "worker": words,
    });
    let said = json!({"type": "message", "role": "assistant", "text": words, "worker": words});
    format!("{}{}", repeated(&record.to_string()), repeated(&said.to_string()))
}

#[test]
fn control_characters_of_a_trace_are_not_printed() {
    let folder = Folder::new();
    let path = folder.file("run.jsonl", words_everywhere(EVIL));
    // The harness finds each control character.
    for ran in [human(&path), scanned(&path)] {
        assert_eq!((ran.exit, ran.err.as_str()), (1, ""));
    }
    let report = scanned(&path).only_line();
    assert_eq!(report["session"], EVIL);
    assert_eq!(report["findings"][0]["tool"], EVIL);
    assert_eq!(report["findings"][0]["worker"], EVIL);
}

#[test]
fn an_explanation_fits_and_masks_like_a_report() {
    let folder = Folder::new();
    for words in [EVIL, "日本語", "a_word_that_goes_on_and_on_for_longer_than_a_line_of_80_columns"]
    {
        let path = folder.file("run.jsonl", words_everywhere(words));
        let report = scanned(&path).only_line();
        for finding in report["findings"].as_array().expect("findings") {
            let id = finding["loop"].as_str().expect("an id");
            // The harness finds each control character.
            let ran = scan(&path, &["--explain", id]).quiet(1);
            for line in ran.out.lines().filter(|line| !line.contains("run.jsonl")) {
                assert!(line.width() <= COLUMNS, "{} columns: {line}", line.width());
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn control_characters_of_a_file_name_are_not_printed() {
    let folder = Folder::new();
    let name = EVIL.replace('\0', "");
    let good = folder.file(&format!("{name}/{name}.jsonl"), words_everywhere("word"));
    folder.file(&format!("{name}/bad.jsonl"), "no trace");
    let ran = human(folder.path());
    assert_eq!(ran.exit, 1);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("stuck  ")).count(), 1);
    let path = scanned(&good).only_line()["path"].clone();
    assert_eq!(path, good.to_str().expect("UTF-8"));
}

/// Names that show nothing, or reorder what follows: a soft hyphen, fillers, tags, marks of direction.
const UNSEEN: [&str; 8] = [
    "a\u{AD}b",
    "a\u{3164}b",
    "a\u{E0041}\u{E007F}b",
    "a\u{202E}b",
    "a\u{2066}b",
    "a\u{200B}b",
    "a\u{FEFF}b",
    "a\u{FFA0}b",
];

#[test]
fn invisible_characters_are_never_printed() {
    let folder = Folder::new();
    for words in UNSEEN {
        let path = folder.file("run.jsonl", words_everywhere(words));
        let hidden = words.chars().filter(|c| !c.is_ascii());
        let ran = human(&path);
        assert!(ran.out.contains('\u{FFFD}'), "{}", ran.out);
        let lines = scanned(&path);
        for c in hidden {
            assert!(!ran.out.contains(c) && !lines.out.contains(c), "{words:?}: {}", ran.out);
        }
        assert_eq!(lines.only_line()["session"], words, "programs get the same text, escaped");
    }
}

#[test]
fn a_digest_is_as_safe_as_a_report() {
    let folder = Folder::new();
    let long = "w".repeat([2_000, 20_000, 200_000][effort()]);
    for words in [EVIL, &long, "日本語", "x ghp_Zq7xW2kLm9PvT4bN8sRdZq7x"] {
        for n in 0..25 {
            // A file is recognised by its beginning.
            folder.file(&format!("{n}.jsonl"), format!("{CLEAN}{}", records(words)));
        }
        for options in [&[][..], &["--summary"], &["--sort", "cost"]] {
            // The harness finds each control character.
            let ran = scan(folder.path(), options).quiet(1);
            assert!(ran.out.starts_with("25 runs: 25 stuck"), "{}", ran.out);
            assert!(ran.out.contains("What recurs in 25 stuck runs"), "{}", ran.out);
            assert!(!ran.out.contains("ghp_"), "{}", ran.out);
            let lines = ran.out.lines().filter(|line| !line.contains(".jsonl"));
            let widest = lines.max_by_key(|line| line.width()).expect("lines");
            assert!(widest.width() <= COLUMNS, "{widest}");
        }
    }
}

#[test]
fn the_output_is_bounded() {
    let folder = Folder::new();
    let length = if is_exhaustive() { 200_000 } else { 70_000 };
    let accents = format!("e{}", "\u{301}".repeat(length));
    let long = "w".repeat(length);
    for words in [accents, long] {
        // A file is recognised by its beginning.
        let path = folder.file("run.jsonl", format!("{CLEAN}{}", records(&words)));
        let ran = human(&path).quiet(1);
        assert!(ran.out.len() < 64 * 1024, "{} bytes", ran.out.len());
        fits(&ran);
        let id = scanned(&path).only_line()["findings"][0]["loop"].clone();
        let ran = scan(&path, &["--explain", id.as_str().expect("an id")]);
        assert!(ran.out.len() < 64 * 1024, "{} bytes", ran.out.len());
    }
}

#[test]
fn the_parser_of_the_command_line_quotes_safely() {
    let name = EVIL.replace('\0', "");
    for words in UNSEEN.into_iter().chain([&name[..]]) {
        for line in [
            vec![format!("--{words}")],
            vec![words.to_owned()],
            vec!["scan".to_owned(), format!("--{words}")],
            vec!["scan".to_owned(), "--format".to_owned(), words.to_owned()],
            vec!["scan".to_owned(), "--fail-on".to_owned(), words.to_owned(), "x".to_owned()],
            vec!["man".to_owned(), words.to_owned()],
            vec!["doctor".to_owned(), words.to_owned()],
        ] {
            // The harness finds each control character.
            let ran = unstuck(&line);
            assert_eq!(ran.exit, 64, "{line:?}: {}", ran.err);
            let hidden = words.chars().find(|c| !c.is_ascii() && ran.err.contains(*c));
            assert_eq!(hidden, None, "{}", ran.err);
        }
    }
    let ran = unstuck([format!("--{}", "e\u{301}".repeat(30_000))]);
    assert!(ran.err.len() < 64 * 1024, "{} bytes", ran.err.len());
    let ran = unstuck(["scan", "--password=hunter2"]);
    assert!(ran.exit == 64 && !ran.err.contains("hunter2"), "{}", ran.err);
}

#[test]
fn the_recorded_runs_fit_into_80_columns() {
    for preset in ["balanced", "nudge", "graduated_aggressive"] {
        fits(&scan(&runs(), &["--preset", preset]));
    }
}

#[test]
fn long_and_wide_words_fit_into_80_columns() {
    let folder = Folder::new();
    for words in [
        "word ".repeat(60),
        "w".repeat(300),
        "日本語".repeat(40),
        "é".repeat(120),
        "e\u{301}".repeat(120),
        "👩‍👩‍👧 ".repeat(30),
        "mcp__a-server-with-a-long-name__a_tool_with_a_long_name".to_owned(),
        " ".repeat(90),
    ] {
        let ran = human(&folder.file("run.jsonl", words_everywhere(&words))).quiet(1);
        fits(&ran);
    }
}

#[test]
fn secrets_in_names_are_masked_in_every_output() {
    let folder = Folder::new();
    let secret = "ghp_Zq7xW2kLm9PvT4bN8sRdZq7x";
    let path = folder.file("run.jsonl", words_everywhere(&format!("x {secret}")));
    let lines = scanned(&path);
    let id = lines.only_line()["findings"][0]["loop"].clone();
    let explained = scan(&path, &["--explain", id.as_str().expect("an id")]);
    let document = scan(&path, &["--format", "json"]);
    for ran in [human(&path), lines, explained, document] {
        assert_eq!(ran.exit, 1, "{}", ran.err);
        assert!(ran.out.contains("x •••") && !ran.out.contains(&secret[..12]), "{}", ran.out);
    }
}
