//! Tokens and times: what each format has, and the largest sums.

use crate::reading::{cases, reading};
use unstuck_trace::{Format, Tokens};

/// The table of formats in the crate's documentation, with what their files have.
const TABLE: &str = include_str!("../../src/formats/README.md");

/// A file of each format with all that the format has. `⏎` is a line break.
const RICH: &str = include_str!("costs.txt");

#[test]
fn the_documentation_says_what_each_format_has() {
    let rich = cases(RICH);
    assert!(rich.iter().map(|(format, _)| format).eq(Format::ALL));
    for (format, input) in rich {
        let trace = reading(input.replace('⏎', "\n").as_bytes(), Some(format)).end;
        let trace = trace.expect("a trace");
        assert_eq!(trace.problems, [], "{format}");
        let costs = match (trace.tokens.map(Tokens::total), trace.begin.is_some()) {
            (Some(1), true) => "tokens, times",
            (Some(1), false) => "tokens",
            other => panic!("{format}: {other:?}"),
        };
        let mut rows = TABLE.lines().filter(|row| row.starts_with(&format!("| `{format}` |")));
        assert!(rows.next().is_some_and(|row| row.ends_with(&format!("| {costs} |"))), "{format}");
    }
}

#[test]
fn sums_stop_at_the_largest_number() {
    let line = r#"{"type":"call","tool":"ls","tokens":{"input":18446744073709551615,"output":1}}"#;
    let trace = reading([line, line].join("\n").as_bytes(), None).end.expect("a trace");
    assert_eq!(trace.problems, []);
    let tokens = trace.tokens.expect("tokens");
    assert_eq!(tokens, Tokens { input: u64::MAX, cached: 0, output: 2 });
    assert_eq!(tokens.total(), u64::MAX);
}
