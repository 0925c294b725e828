//! Changes to the text of a JSON document that leave every other byte as it is.

use std::ops::Range;

use super::written::{Layout, Written, member};

/// What an object or a list holds: where it is in the text, brackets included, and where each of
/// its members is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Container {
    pub(super) range: Range<usize>,
    pub(super) members: Vec<Range<usize>>,
}

impl Container {
    /// Where the closing bracket is.
    fn close(&self) -> usize {
        self.range.end - 1
    }
}

/// `text` with the member `name`, or the item if there is no name, after all others of `container`.
pub(super) fn appended(
    text: &str,
    container: &Container,
    name: Option<&str>,
    value: &Written,
) -> String {
    let spell = |layout: &Layout<'_>| match name {
        Some(name) => member(name, value, layout),
        None => value.json(layout),
    };
    match container.members.last() {
        Some(last) => after(text, container, last, spell),
        None => into_empty(text, container, spell),
    }
}

/// `text` with a member after `last`.
fn after(
    text: &str,
    container: &Container,
    last: &Range<usize>,
    spell: impl FnOnce(&Layout<'_>) -> String,
) -> String {
    let inner = layout(text, container, last);
    let comma = comma(text, last.end..container.close());
    // What is said of the last member, behind it or below it, stays with it.
    let place = end_of_remarks(text, comma.map_or(last.end, |at| at + 1)..container.close());
    let begins_line = blank_before(text, last.start).contains('\n');
    let needs_line = begins_line || ends_in_line_comment(&text[last.end..place]);
    let start = if needs_line { inner.start() } else { " ".to_owned() };
    let new = spell(&inner);
    if comma.is_some() {
        return spliced(text, place..place, &format!("{start}{new},"));
    }
    let text = spliced(text, place..place, &format!("{start}{new}"));
    spliced(&text, last.end..last.end, ",")
}

/// `text` with a first member.
fn into_empty(
    text: &str,
    container: &Container,
    spell: impl FnOnce(&Layout<'_>) -> String,
) -> String {
    let open = container.range.start + 1;
    let is_line = !text.trim().contains('\n') && text.trim() != &text[container.range.clone()];
    if is_line {
        let place = end_of_remarks(text, open..container.close());
        return spliced(text, place..place, &spell(&Layout::Line));
    }
    let outer = Layout::Block {
        indent: indent(text, container.range.start).to_owned(),
        unit: unit(text),
        newline: newline(text),
    };
    let inner = outer.deeper();
    let place = end_of_remarks(text, open..container.close());
    let new = format!("{}{}", inner.start(), spell(&inner));
    spliced(text, place..container.close(), &format!("{new}{}", outer.start()))
}

/// `text` without the member at `index` of `container`, and without the comma that it needed.
pub(super) fn removed(text: &str, container: &Container, index: usize) -> String {
    let this = &container.members[index];
    let next = container.members.get(index + 1).map_or(container.close(), |next| next.start);
    let previous = index.checked_sub(1).map(|index| container.members[index].end);
    let before = previous.unwrap_or(container.range.start + 1)..this.start;
    let start = this.start - blank_to_drop(&text[before], &text[this.end..next]);
    if let Some(comma) = comma(text, this.end..next) {
        // What is said between a member and its comma is said of the member.
        return emptied(spliced(text, start..comma + 1, ""), container.range.start);
    }
    let text_without = spliced(text, start..this.end, "");
    match previous.and_then(|previous| comma(text, previous..this.start)) {
        Some(comma) => spliced(&text_without, comma..comma + 1, ""),
        None => emptied(text_without, container.range.start),
    }
}

/// How much of the space at the end of what stands `before` a member goes with it: all, unless it
/// ends a comment that what stands `behind` the member would become part of.
fn blank_to_drop(before: &str, behind: &str) -> usize {
    let blank = blank_before(before, before.len()).len();
    let ends_comment = ends_in_line_comment(&before[..before.len() - blank]);
    if ends_comment && !behind.contains('\n') { 0 } else { blank }
}

/// `text` with nothing between the brackets at `open`, if there is nothing but space.
fn emptied(text: String, open: usize) -> String {
    let inside = &text[open + 1..];
    let blank = inside.len() - inside.trim_start().len();
    if inside[blank..].starts_with(['}', ']']) {
        spliced(&text, open + 1..open + 1 + blank, "")
    } else {
        text
    }
}

/// `text` with `new` in the place of `range`.
pub(super) fn spliced(text: &str, range: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

/// How the value of `range`, or a further member of `container` after it, is laid out.
pub(super) fn layout<'t>(text: &'t str, container: &Container, range: &Range<usize>) -> Layout<'t> {
    if text[container.range.clone()].contains('\n') {
        let indent = indent(text, range.start).to_owned();
        Layout::Block { indent, unit: unit(text), newline: newline(text) }
    } else {
        Layout::Line
    }
}

/// Where the comma of what ends at the start of `range` is.
fn comma(text: &str, range: Range<usize>) -> Option<usize> {
    let mut at = range.start;
    while at < range.end {
        let rest = &text[at..range.end];
        if let Some(remark) = remark(rest) {
            at += remark;
        } else if rest.starts_with(',') {
            return Some(at);
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    None
}

/// Where the last comment of `range` ends, which holds nothing else but space; its start if there
/// is none.
fn end_of_remarks(text: &str, range: Range<usize>) -> usize {
    let (mut at, mut end) = (range.start, range.start);
    while at < range.end {
        let rest = &text[at..range.end];
        if let Some(remark) = remark(rest) {
            at += remark;
            end = at;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    end
}

/// How long the comment is that `text` begins with, without the end of its line.
fn remark(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find(['\n', '\r']).unwrap_or(text.len()));
    }
    let inside = text.strip_prefix("/*")?;
    Some(inside.find("*/").map_or(text.len(), |end| end + "/**/".len()))
}

/// Whether the last line of `text`, which is space and comments, has a comment to its end.
fn ends_in_line_comment(text: &str) -> bool {
    text.rsplit('\n').next().is_some_and(|line| line.contains("//"))
}

/// The space right before `at`.
fn blank_before(text: &str, at: usize) -> &str {
    let before = &text[..at];
    &before[before.trim_end_matches([' ', '\t', '\r', '\n']).len()..]
}

/// What the line of `at` is indented by.
fn indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// What one level is indented by, going by the first line that is indented at all.
fn unit(text: &str) -> &str {
    let indents = text.lines().filter(|line| !line.trim().is_empty());
    indents.map(|line| indent(line, 0)).find(|indent| !indent.is_empty()).unwrap_or("  ")
}

/// How lines end, going by the first.
fn newline(text: &str) -> &'static str {
    let first = text.find('\n').unwrap_or(0);
    if text[..first].ends_with('\r') { "\r\n" } else { "\n" }
}
