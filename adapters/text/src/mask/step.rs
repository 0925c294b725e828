//! The steps of a scaffold, by their label and with their total: `[step 17/200]`, `turn 4 of 30`.

use super::labelled::{Labelled, goes_on, is_inner, word_behind};
use super::number::{byte, digits_end};
use super::scan::gap;

/// The end of the number of the step that has this label.
///
/// The total stays. A step of a job is progress, as in `step 3/10: linking`; one that stands in
/// brackets or alone on its line is the scaffold's. An attempt and a turn are never progress.
pub(super) fn end(labelled: &Labelled<'_>) -> Option<usize> {
    let &Labelled { text, row, ref label, ref last, floor } = labelled;
    let is_free = match last.letters() {
        b"attempt" | b"try" | b"retry" | b"turn" => true,
        b"step" | b"iteration" | b"round" => false,
        _ => return None,
    };
    let total = total_end(text, row.end)?;
    (is_free || is_apart(text, floor + label.start(), total)).then_some(row.end)
}

/// The end of the total behind the number that ends at `end`: `/200`, ` of 200`.
fn total_end(text: &[u8], end: usize) -> Option<usize> {
    let start = match word_behind(text, end) {
        Some((word, at)) if word.letters() == b"of" => gap(text, at),
        _ if byte(text, gap(text, end)) == b'/' => gap(text, gap(text, end) + 1),
        _ => return None,
    };
    let total = digits_end(text, start);
    (total > start && !goes_on(text, total)).then_some(total)
}

/// Returns whether only the step stands between its brackets, or on its line.
fn is_apart(text: &[u8], start: usize, end: usize) -> bool {
    let (before, after) =
        (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
    let bracketed = [(b'[', b']'), (b'(', b')')];
    bracketed
        .iter()
        .any(|(open, close)| before.last() == Some(open) && after.first() == Some(close))
        || is_bare(before.iter().rev()) && is_bare(after.iter())
}

/// Returns whether the bytes up to the next line break hold no letter and no digit.
fn is_bare<'t>(mut bytes: impl Iterator<Item = &'t u8>) -> bool {
    bytes.find(|&&byte| byte == b'\n' || is_inner(byte)).is_none_or(|&byte| byte == b'\n')
}
