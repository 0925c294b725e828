//! Edits to the text of a JSON document that leave all other bytes unchanged, and values that adopt its layout.

use std::ops::Range;

/// An object or a list in the text: its range, including brackets, and the ranges of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Container {
    pub(super) range: Range<usize>,
    pub(super) members: Vec<Range<usize>>,
}

impl Container {
    /// Returns the position of the closing bracket.
    fn close(&self) -> usize {
        self.range.end - 1
    }
}

/// Returns `text` with a new last member of `container`, or a new last item if there is no `name`.
pub(super) fn appended(
    text: &str,
    container: &Container,
    name: Option<&str>,
    value: &Json,
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

/// Returns `text` with a member after `last`.
fn after(
    text: &str,
    container: &Container,
    last: &Range<usize>,
    spell: impl FnOnce(&Layout<'_>) -> String,
) -> String {
    let inner = layout(text, container, last);
    let comma = comma(text, last.end..container.close());
    // Comments behind the last member or below it stay with it.
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

/// Returns `text` with a member in an empty container.
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

/// Returns `text` without the member at `index` of `container`, and without its comma.
pub(super) fn removed(text: &str, container: &Container, index: usize) -> String {
    let this = &container.members[index];
    let next = container.members.get(index + 1).map_or(container.close(), |next| next.start);
    let previous = index.checked_sub(1).map(|index| container.members[index].end);
    let before = &text[previous.unwrap_or(container.range.start + 1)..this.start];
    let comma_behind = comma(text, this.end..next);
    let behind = &text[comma_behind.map_or(this.end, |comma| comma + 1)..next];
    let start = this.start - blank_to_drop(before, behind);
    if let Some(comma) = comma_behind {
        // Comments between a member and its comma belong to the member.
        return emptied(spliced(text, start..comma + 1, ""), container.range.start);
    }
    let text_without = spliced(text, start..this.end, "");
    match previous.and_then(|previous| comma(text, previous..this.start)) {
        Some(comma) => spliced(&text_without, comma..comma + 1, ""),
        None => emptied(text_without, container.range.start),
    }
}

/// Returns the length of the space before a removed member that goes with it: all of it, unless it ends
/// a line comment that would then swallow the text `behind` the member.
fn blank_to_drop(before: &str, behind: &str) -> usize {
    let blank = blank_before(before, before.len()).len();
    let ends_comment = ends_in_line_comment(&before[..before.len() - blank]);
    if ends_comment && !behind.contains('\n') { 0 } else { blank }
}

/// Removes the space between the brackets at `open` if there is only space.
fn emptied(text: String, open: usize) -> String {
    let inside = &text[open + 1..];
    let blank = inside.len() - inside.trim_start().len();
    if inside[blank..].starts_with(['}', ']']) {
        spliced(&text, open + 1..open + 1 + blank, "")
    } else {
        text
    }
}

/// Returns `text` with `range` replaced by `new`.
pub(super) fn spliced(text: &str, range: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

/// Returns the layout of the member at `range` of `container`, which a new member next to it takes over.
pub(super) fn layout<'t>(text: &'t str, container: &Container, range: &Range<usize>) -> Layout<'t> {
    if text[container.range.clone()].contains('\n') {
        let indent = indent(text, range.start).to_owned();
        Layout::Block { indent, unit: unit(text), newline: newline(text) }
    } else {
        Layout::Line
    }
}

/// Returns the position of the first comma in `range` outside of comments.
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

/// Returns the end of the last comment in `range`, or its start if it has no comment. The range holds
/// only space and comments.
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

/// Returns the length of the comment at the start of `text`, without the end of its line.
fn remark(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find(['\n', '\r']).unwrap_or(text.len()));
    }
    let inside = text.strip_prefix("/*")?;
    Some(inside.find("*/").map_or(text.len(), |end| end + "/**/".len()))
}

/// Returns whether the last line of `text` ends in a line comment. The text is space and comments.
fn ends_in_line_comment(text: &str) -> bool {
    text.rsplit('\n').next().is_some_and(|line| line.contains("//"))
}

/// Returns the space right before `at`.
fn blank_before(text: &str, at: usize) -> &str {
    let before = &text[..at];
    &before[before.trim_end_matches([' ', '\t', '\r', '\n']).len()..]
}

/// Returns the indentation of the line that contains `at`.
fn indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns the indentation of one level, taken from the first indented line.
fn unit(text: &str) -> &str {
    let indents = text.lines().filter(|line| !line.trim().is_empty());
    indents.map(|line| indent(line, 0)).find(|indent| !indent.is_empty()).unwrap_or("  ")
}

/// Returns the line ending of the first line.
fn newline(text: &str) -> &'static str {
    let first = text.find('\n').unwrap_or(0);
    if text[..first].ends_with('\r') { "\r\n" } else { "\n" }
}

/// The kinds of JSON values in an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Text(String),
    Number(u32),
    Texts(Vec<String>),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

/// The layout of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout<'t> {
    /// Everything on one line.
    Line,
    /// One line for each member, indented by `indent` and one more `unit`.
    Block { indent: String, unit: &'t str, newline: &'static str },
}

impl Layout<'_> {
    /// Returns the layout one level deeper.
    fn deeper(&self) -> Self {
        match self {
            Self::Line => Self::Line,
            Self::Block { indent, unit, newline } => {
                Self::Block { indent: format!("{indent}{unit}"), unit, newline }
            }
        }
    }

    /// Returns the text before a member: a line break and the indentation, or no text.
    fn start(&self) -> String {
        match self {
            Self::Line => String::new(),
            Self::Block { indent, newline, .. } => format!("{newline}{indent}"),
        }
    }
}

impl Json {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Returns the value as JSON.
    pub(super) fn json(&self, layout: &Layout<'_>) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Number(number) => number.to_string(),
            Self::Texts(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
                format!("[{}]", texts.join(", "))
            }
            Self::List(items) => {
                enclosed(["[", "]"], layout, items.iter().map(|item| item.json(&layout.deeper())))
            }
            Self::Object(members) => {
                let inner = layout.deeper();
                let members = members.iter().map(|(name, value)| member(name, value, &inner));
                enclosed(["{", "}"], layout, members)
            }
        }
    }
}

/// Returns `"name": value` in this layout.
fn member(name: &str, value: &Json, layout: &Layout<'_>) -> String {
    format!("{}: {}", quoted(name), value.json(layout))
}

fn enclosed(
    brackets: [&str; 2],
    layout: &Layout<'_>,
    parts: impl Iterator<Item = String>,
) -> String {
    let [open, close] = brackets;
    let inner = layout.deeper().start();
    let separator = if *layout == Layout::Line { ", " } else { "," };
    let parts: Vec<_> = parts.map(|part| format!("{inner}{part}")).collect();
    format!("{open}{}{}{close}", parts.join(separator), layout.start())
}

fn quoted(text: &str) -> String {
    // A string always has a JSON form.
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_adopts_a_layout() {
        let hook = Json::Object(vec![
            ("type", Json::text("command")),
            ("args", Json::Texts(vec!["a \"b\"".to_owned(), "c".to_owned()])),
            ("timeout", Json::Number(5)),
        ]);
        let list = Json::List(vec![hook]);
        let line = r#"[{"type": "command", "args": ["a \"b\"", "c"], "timeout": 5}]"#;
        assert_eq!(list.json(&Layout::Line), line);
        let block = Layout::Block { indent: "\t".to_owned(), unit: "\t", newline: "\r\n" };
        let lines = "[\r\n\t\t{\r\n\t\t\t\"type\": \"command\",\r\n\t\t\t\"args\": [\"a \\\"b\\\"\", \
                     \"c\"],\r\n\t\t\t\"timeout\": 5\r\n\t\t}\r\n\t]";
        assert_eq!(list.json(&block), lines);
    }
}
