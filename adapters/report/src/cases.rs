//! Tables of what functions return, for the tests of several modules.
//!
//! A row of `cases.txt` is `given => returned`: the text that a function is given, and its result as text. `␤` stands for
//! a line break, and `\u{85}` for the character of this number. A line that begins with `#` is a comment.

use std::fmt::Display;

const FILE: &str = include_str!("cases.txt");

/// Returns the rows of the table with this `heading`.
pub(crate) fn rows(heading: &str) -> Vec<(String, String)> {
    let mut tables = FILE.split("\n## ").skip(1);
    let rows = tables.find_map(|table| table.strip_prefix(heading)?.strip_prefix('\n'));
    let rows = rows.expect(heading).lines().filter(|row| !row.is_empty() && !row.starts_with('#'));
    let rows = rows.map(|row| {
        let (given, returned) = row.split_once(" =>").expect("what is returned");
        // Nothing is returned if nothing follows.
        let returned = returned.strip_prefix(' ').or(returned.is_empty().then_some(""));
        (spelled(given), spelled(returned.expect("a blank behind the arrow")))
    });
    rows.collect()
}

/// Compares each row of the table with this `heading` with what `returned` makes of its text.
pub(crate) fn check<T: Display>(heading: &str, returned: impl Fn(&str) -> T) {
    for (given, expected) in rows(heading) {
        assert_eq!(returned(&given).to_string(), expected, "{given:?} of {heading}");
    }
}

/// Returns the text for which a part of a row stands.
fn spelled(text: &str) -> String {
    let mut parts = text.split("\\u{");
    let mut spelled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_once('}').expect("the end of a number");
        let number = u32::from_str_radix(digits, 16).expect("a number");
        spelled.push(char::from_u32(number).expect("a character"));
        spelled += rest;
    }
    spelled.replace('␤', "\n")
}

/// Each table has rows, and belongs to a test.
#[test]
fn no_table_is_left_over() {
    let sources = walkdir::WalkDir::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).into_iter();
    let sources = sources.filter_map(|file| std::fs::read_to_string(file.ok()?.path()).ok());
    let sources: String = sources.collect();
    for table in FILE.split("\n## ").skip(1) {
        let heading = table.lines().next().unwrap_or_default();
        assert!(!rows(heading).is_empty(), "{heading}");
        assert_eq!(FILE.matches(&format!("\n## {heading}\n")).count(), 1, "{heading}");
        let calls = ["check", "rows"].map(|name| format!("{name}(\"{heading}\""));
        assert!(calls.iter().any(|call| sources.contains(call)), "{heading}");
    }
}
