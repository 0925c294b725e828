//! The difference between two texts, like the output of `diff -u`.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};
use unstuck_report::shown::plain;

const GONE: Style = AnsiColor::Red.on_default();
const NEW: Style = AnsiColor::Green.on_default();
const PLACE: Style = AnsiColor::Cyan.on_default();

/// The number of unchanged lines around each change.
const AROUND: usize = 3;

/// Returns the lines in which `new` differs from `old`, with some lines around them.
pub(super) fn shown(old: &str, new: &str) -> String {
    let difference = TextDiff::from_lines(old, new);
    let mut text = String::new();
    for hunk in difference.unified_diff().context_radius(AROUND).iter_hunks() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{PLACE}{}{PLACE:#}", hunk.header().to_string().trim_end());
        for change in hunk.iter_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ('-', GONE),
                ChangeTag::Insert => ('+', NEW),
                ChangeTag::Equal => (' ', Style::new()),
            };
            let line = plain(change.value().trim_end_matches(['\n', '\r']));
            let _ = writeln!(text, "{style}{sign}{line}{style:#}");
        }
    }
    text
}
