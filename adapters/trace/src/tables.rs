//! Tables of test cases, with a case a line.

use crate::field::Raw;

/// Returns the columns of each case, which stand between ` | `. In a text `⏎` is a line break, and `∅` is an empty text.
pub(crate) fn rows<const N: usize>(table: &str) -> impl Iterator<Item = [String; N]> {
    table.lines().map(|line| {
        let text = |column: &str| column.replace('⏎', "\n").replace('∅', "");
        let columns: Vec<String> = line.split(" | ").map(text).collect();
        columns.try_into().expect("as many columns as the test reads")
    })
}

/// Returns JSON as a field has it.
pub(crate) fn raw(json: &str) -> Raw<'_> {
    serde_json::from_str(json).ok()
}
