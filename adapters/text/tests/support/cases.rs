//! Files of cases, as the tests read them.
//!
//! A line `%%% …` begins a group. A line `%% …` begins a text with this heading, and a line `%%` one with the heading of the
//! text before it. What stands before the first of these lines is for the reader.

/// A text of a file.
#[derive(Clone, Copy)]
pub(crate) struct Case<'f> {
    /// The group that the text belongs to.
    pub(crate) group: &'f str,
    /// What the text is.
    pub(crate) heading: &'f str,
    /// The lines of the text, without the empty ones behind it.
    pub(crate) text: &'f str,
}

/// Returns the texts of `file` in their order.
pub(crate) fn cases(file: &str) -> Vec<Case<'_>> {
    let (mut cases, mut group, mut last) = (Vec::new(), "", "");
    for part in file.split("\n%%").skip(1) {
        let (heading, text) = part.split_once('\n').unwrap_or((part, ""));
        if let Some(title) = heading.strip_prefix('%') {
            group = title.trim();
            continue;
        }
        let heading = if heading.is_empty() { last } else { heading.trim() };
        cases.push(Case { group, heading, text: text.trim_end_matches('\n') });
        last = heading;
    }
    assert!(!cases.is_empty(), "no text begins");
    cases
}

/// Returns `text` with the signs that a file spells: `␛` for an escape, `␇` for a bell, `␉` for a tab, and `␊` and `␍` for the ends of lines.
pub(crate) fn spelled(text: &str) -> String {
    text.replace('␛', "\x1b")
        .replace('␇', "\x07")
        .replace('␉', "\t")
        .replace('␊', "\n")
        .replace('␍', "\r")
}
