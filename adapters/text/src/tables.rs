//! Tables of what functions return, and documents of JSON, for the tests of several modules.
//!
//! A row of `tables.txt` is `given → returned`: the text that a function is given, and its result as text. Two given texts
//! are separated by ` │ `, and their result is written as `Debug` shows it.

#[path = "../tests/support/cases.rs"]
pub(crate) mod cases;

use std::collections::BTreeSet;
use std::fmt::Debug;

use cases::{Case, cases, spelled};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::Value;
use unstuck_core::Tag;

const FILE: &str = include_str!("tables.txt");

/// Returns the lines of the table with this `heading`.
pub(crate) fn lines(heading: &str) -> Vec<String> {
    let table = cases(FILE).into_iter().find(|case| case.heading == heading);
    table.expect(heading).text.lines().map(spelled).collect()
}

/// Compares each row of the table with this `heading` with what `returned` makes of its text.
pub(crate) fn check(heading: &str, returned: impl Fn(&str) -> String) {
    for row in lines(heading) {
        let (given, expected) = row.rsplit_once(" → ").expect("an arrow");
        assert_eq!(returned(given), expected, "{given:?} of {heading}");
    }
}

/// Like [`check`], for a function of two texts.
pub(crate) fn check_pairs<T: Debug>(heading: &str, returned: impl Fn(&str, &str) -> T) {
    check(heading, |pair| {
        let (one, other) = pair.split_once(" │ ").expect("two texts");
        format!("{:?}", returned(one, other))
    });
}

/// Returns the kind of a call, with a `+` if an equal answer is a proof.
pub(crate) fn kind(tag: Tag, is_idempotent: bool) -> String {
    format!("{}{}", tag.name(), if is_idempotent { "+" } else { "" })
}

/// Returns the rows of a file, each with the kind before its colon.
pub(crate) fn kinds(file: &str) -> impl Iterator<Item = (&str, &str)> {
    file.lines().map(|line| line.split_once(": ").expect("a kind"))
}

/// Documents of JSON with such leaves and members with such names, of this depth, size and number of children.
pub(crate) fn documents(
    leaf: impl Strategy<Value = Value> + 'static,
    names: &'static str,
    [depth, size, children]: [u32; 3],
) -> impl Strategy<Value = Value> {
    leaf.prop_recursive(depth, size, children, move |inner| {
        let count = 0..children.min(4) as usize;
        let members = btree_map(names, inner.clone(), count.clone());
        prop_oneof![
            vec(inner, count).prop_map(Value::from),
            members.prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Every table belongs to a test.
#[test]
fn no_table_is_left_over() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let folders = ["", "/command", "/echo", "/lines", "/mask", "/report"];
    let sources = folders.iter().flat_map(|path| {
        std::fs::read_dir(folder.to_owned() + path)
            .expect("a folder")
            .filter_map(|file| std::fs::read_to_string(file.expect("a file").path()).ok())
    });
    let sources: String = sources.collect();
    let mut headings = BTreeSet::new();
    for Case { group, heading, text, .. } in cases(FILE) {
        assert!(headings.insert(heading), "{group}: {heading} stands twice");
        assert!(!text.is_empty(), "{group}: {heading} is empty");
        let calls = ["check", "check_pairs", "lines"].map(|name| format!("{name}(\"{heading}\""));
        assert!(calls.iter().any(|call| sources.contains(call)), "{group}: {heading}");
    }
}
