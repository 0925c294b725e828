//! The calls that prove a loop: a line for each, and its result where that says something new.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::replay::{Excerpt, ResultLine};
use crate::shown::{columns_on, plain, shortened, tool_name};

/// The most calls that are shown. The middle of a longer proof is left out.
const CALLS_MAX: usize = 8;

/// The most columns of a tool's name.
const TOOL_MAX: usize = 24;

/// The bytes behind a difference that are seen, so that it is understood.
const MARGIN: usize = 4;

/// The most differences that the arguments are cut around.
const PLACES_MAX: usize = 3;

/// The indentation of a call, and of its result below it.
const INDENT: usize = 4;

const FAINT: Style = Style::new().dimmed();

/// Returns the lines of `calls`, in at most `columns`. The result `known` was shown before.
pub(super) fn lines(calls: &[Excerpt], columns: usize, known: Option<&str>) -> Vec<String> {
    let hidden = calls.len().saturating_sub(CALLS_MAX);
    let head = if hidden > 0 { CALLS_MAX / 2 } else { calls.len() };
    let (first, rest) = calls.split_at(head);
    let last = rest.get(hidden..).unwrap_or_default();
    let shown = first.iter().chain(last).map(|call| (call, plain(&call.text))).collect::<Vec<_>>();
    let mut rows = Rows::new(&shown, columns, known);
    let mut lines: Vec<Vec<String>> =
        shown.iter().map(|(call, text)| rows.call(call, text)).collect();
    if hidden > 0 {
        lines.insert(head, vec![format!("    {FAINT}… {hidden} more …{FAINT:#}")]);
    }
    lines.concat()
}

/// Returns the arguments of a call, or the text of a turn, in at most `columns`.
pub(super) fn arguments(call: &Excerpt, columns: usize) -> String {
    shortened(&plain(&call.text), columns)
}

/// The layout of some calls, and the results that were shown.
struct Rows<'a> {
    number_width: usize,
    tool_width: usize,
    /// The columns for the arguments.
    room: usize,
    /// The places of the differences that the columns would hide, by tool.
    hidden: HashMap<Option<&'a str>, Vec<usize>>,
    /// The results that were shown, and the latest one of each call, by its tool and its arguments. They are
    /// compared as they are in the recording.
    shown: HashSet<&'a str>,
    latest: HashMap<(Option<&'a str>, &'a str), &'a str>,
    columns: usize,
}

impl<'a> Rows<'a> {
    fn new(calls: &'a [(&'a Excerpt, String)], columns: usize, known: Option<&'a str>) -> Self {
        let numbers = calls.iter().map(|(call, _)| call.index.to_string().len() + "#".len());
        let number_width = numbers.max().unwrap_or(0);
        let tool_width = calls.iter().map(|(call, _)| tool(call).width()).max().unwrap_or(0);
        let before_text =
            INDENT + number_width + if tool_width > 0 { 2 + tool_width } else { 0 } + 2;
        let room = columns.saturating_sub(before_text);
        let mut texts: HashMap<Option<&str>, Vec<&str>> = HashMap::new();
        for (call, text) in calls {
            texts.entry(call.tool.as_deref()).or_default().push(text);
        }
        let hidden = texts
            .into_iter()
            .map(|(tool, texts)| (tool, hidden_differences(texts, room)))
            .collect();
        let (shown, latest) = (known.into_iter().collect(), HashMap::new());
        Self { number_width, tool_width, room, hidden, shown, latest, columns }
    }

    /// Returns the line of a call with this text, and another one if its result says something new.
    fn call(&mut self, call: &'a Excerpt, text: &str) -> Vec<String> {
        let number_width = self.number_width;
        let number = format!("#{:<width$}", call.index, width = number_width - "#".len());
        let name = tool(call);
        let gap = " ".repeat(self.tool_width - name.width());
        let name = if self.tool_width == 0 { String::new() } else { format!("  {name}{gap}") };
        let text = match self.hidden.get(&call.tool.as_deref()).map_or(&[][..], Vec::as_slice) {
            [] => shortened(text, self.room),
            places => shortened_around(text, places, self.room),
        };
        let mut lines = vec![format!("    {FAINT}{number}{FAINT:#}{name}  {text}")];
        if let Some(result) = self.result(call) {
            let indent = " ".repeat(INDENT + number_width);
            let room = self.columns.saturating_sub(indent.len() + "  → ".len());
            lines.push(format!("{indent}  {FAINT}→ {}{FAINT:#}", shortened(&result, room)));
        }
        lines
    }

    /// Returns the result of a call, if it is a failure or a refusal that was not shown, or differs from the
    /// result of the same call before.
    fn result(&mut self, call: &'a Excerpt) -> Option<String> {
        let ResultLine { text, failed, refused } = call.result.as_ref()?;
        let key = (call.tool.as_deref(), call.text.as_str());
        let before = self.latest.insert(key, text);
        let differs = before.is_some_and(|before| before != text);
        let says_more = *refused || (*failed || differs) && !text.trim().is_empty();
        if !says_more || !self.shown.insert(text) {
            return None;
        }
        Some(match (refused, plain(text)) {
            (true, text) if text.trim().is_empty() => "refused".to_owned(),
            (true, text) => format!("refused: {text}"),
            (false, text) => text,
        })
    }
}

/// Returns the tool's name as it is shown, or nothing for a turn of text.
fn tool(call: &Excerpt) -> String {
    call.tool.as_deref().map_or_else(String::new, |tool| tool_name(tool, TOOL_MAX))
}

/// Returns the bytes of the first differences between `texts` that would not be seen in `columns`.
fn hidden_differences(mut texts: Vec<&str>, columns: usize) -> Vec<usize> {
    texts.sort_unstable();
    texts.dedup();
    let pairs = texts.iter().zip(texts.get(1..).unwrap_or_default());
    let mut differences: Vec<(usize, &str)> = pairs
        .map(|(a, b)| {
            let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
            // The second text goes on here, because it comes after the first one.
            (same.map(|(c, _)| c.len_utf8()).sum(), *b)
        })
        .collect();
    differences.sort_unstable();
    let mut places: Vec<usize> = Vec::new();
    // Each place takes room from the parts before it, so all differences are looked at again.
    while places.len() < PLACES_MAX {
        let is_hidden = |(at, text): &&(usize, &str)| !is_seen(text, *at, &places, columns);
        let Some((at, _)) = differences.iter().find(is_hidden) else { break };
        places.push(*at);
        places.sort_unstable();
    }
    places
}

/// Returns whether the byte `at` is seen in at most `columns` of `text`, cut around `places`.
fn is_seen(text: &str, at: usize, places: &[usize], columns: usize) -> bool {
    let is_in = |part: Range<usize>| {
        part.contains(&at) && (at + MARGIN <= part.end || part.end == text.len())
    };
    places.contains(&at) || parts_around(text, places, columns).into_iter().any(is_in)
}

/// Returns `text` in at most `columns`: its beginning and the parts around the bytes `places`, which are in
/// order, with an ellipsis for each part that was left out.
pub(super) fn shortened_around(text: &str, places: &[usize], columns: usize) -> String {
    let parts = parts_around(text, places, columns);
    let mut shown = String::new();
    let mut end = 0;
    for part in parts {
        if part.start > end {
            shown.push('…');
        }
        end = part.end;
        shown.push_str(text.get(part).unwrap_or_default());
    }
    if end < text.len() && columns > 0 {
        shown.push('…');
    }
    shown
}

/// Returns the parts of `text` that [`shortened_around`] shows.
pub(super) fn parts_around(text: &str, places: &[usize], columns: usize) -> Vec<Range<usize>> {
    let whole = 0..text.len();
    if text.width() <= columns {
        return vec![whole];
    }
    let count = places.len() + 1;
    // A column for the ellipsis after each part.
    let share = (columns / count).saturating_sub(1);
    // In a very narrow space there is only the beginning.
    let places = if share == 0 { &[][..] } else { places };
    let head = 0..columns_on(text, share);
    let mut parts = vec![head];
    for &place in places {
        let before = text.get(..place).unwrap_or(text);
        let start = match (share / 4).checked_sub(1) {
            Some(context) => before.char_indices().rev().nth(context).map_or(0, |(start, _)| start),
            None => before.len(),
        };
        let rest = text.get(start..).unwrap_or_default();
        let part = start..start + columns_on(rest, share);
        match parts.last_mut() {
            Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
            _ => parts.push(part),
        }
    }
    let used: usize =
        parts.iter().map(|part| text.get(part.clone()).map_or(0, str::width) + 1).sum();
    if let Some(last) = parts.last_mut() {
        // The room of parts that became one, or that the end of the text left.
        last.end +=
            columns_on(text.get(last.end..).unwrap_or_default(), columns.saturating_sub(used));
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cases::check;
    use crate::shown::plain;

    proptest! {
        #[test]
        fn a_text_with_a_hole_fits_and_shows_the_place(
            text in "[a-z日é\u{301} ]{0,120}", place in 0..120_usize, columns in 1..80_usize,
        ) {
            let text = plain(&text);
            let at = text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
            let shown = shortened_around(&text, &[at], columns);
            prop_assert!(shown.width() <= columns, "{shown}");
            prop_assert!(text.width() > columns || shown == text);
            let parts = parts_around(&text, &[at], columns);
            prop_assert!(columns < 24 || at == text.len() || parts.iter().any(|part| part.contains(&at)));
        }
    }

    #[test]
    fn the_part_around_a_place_is_shown() {
        let text = "0123456789abcdefghijklmnopqrstuvwxyz";
        check("human: places and columns, and what is shown of a text", |row| {
            let (places, columns) = row.split_once("in ").expect("columns");
            let number = |text: &str| text.parse().expect("a number");
            let places: Vec<usize> = places.split_whitespace().map(number).collect();
            shortened_around(text, &places, number(columns))
        });
    }
}
