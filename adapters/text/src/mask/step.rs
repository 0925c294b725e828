//! The steps of a scaffold, by their label and with their total: `[step 17/200]`, `turn 4 of 30`.

use super::digits::{Digits, byte, digits_end};
use super::labelled::{Labelled, goes_on, is_inner, word_behind};
use super::scan::{gap, is_blank};

/// The end of the number of the step that has this label.
///
/// The total stays. A step of a job is progress, as in `step 3/10: linking`; one that stands in
/// brackets or alone on its line is the scaffold's. An attempt and a turn are never progress.
pub(super) fn end(labelled: &Labelled<'_>) -> Option<usize> {
    let &Labelled { text, row, ref label, ref last, floor } = labelled;
    let prior = label.word(1);
    match (prior.letters(), last.letters()) {
        (b"thought", b"number") | (b"history", b"length") => return Some(row.end),
        (name, b"left" | b"remaining") if is_step(name) => return Some(row.end),
        _ => {}
    }
    let is_free = match last.letters() {
        b"attempt" | b"try" | b"retry" | b"turn" => true,
        b"step" | b"iteration" | b"round" => false,
        _ => return None,
    };
    let start = floor + label.start();
    let Some(total) = total_end(text, row.end) else {
        let is_counted = is_free || last.letters() == b"iteration";
        return (is_counted && is_bracketed(text, start, row.end)).then_some(row.end);
    };
    (is_free || is_apart(text, start, total)).then_some(row.end)
}

/// The end of the number of steps that are left, as in `6 steps left` and `2 more attempts remaining`.
pub(super) fn before_its_name(text: &[u8], row: &Digits) -> Option<usize> {
    if !is_blank(byte(text, row.end)) {
        return None;
    }
    let first = byte(text, gap(text, row.end)) | 0x20;
    if !matches!(first, b'a' | b'c' | b'i' | b'm' | b'r' | b's' | b't') {
        return None;
    }
    let (mut name, mut at) = word_behind(text, row.end)?;
    if name.letters() == b"more" {
        (name, at) = word_behind(text, at)?;
    }
    let (left, _) = word_behind(text, at).filter(|_| is_step(name.letters()))?;
    matches!(left.letters(), b"left" | b"remaining").then_some(row.end)
}

/// Returns whether `name` is what a scaffold calls its steps.
fn is_step(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 8] =
        [b"attempts", b"calls", b"chances", b"iterations", b"rounds", b"steps", b"tries", b"turns"];
    let is_one = |many: &&[u8]| many.strip_suffix(b"s") == Some(name);
    NAMES.contains(&name) || NAMES.iter().any(is_one)
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
    is_bracketed(text, start, end) || is_bare(before.iter().rev()) && is_bare(after.iter())
}

/// Returns whether the step stands alone in brackets.
fn is_bracketed(text: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map_or(0, |at| byte(text, at));
    matches!((before, byte(text, end)), (b'[', b']') | (b'(', b')'))
}

/// Returns whether the bytes up to the next line break hold no letter and no digit.
fn is_bare<'t>(mut bytes: impl Iterator<Item = &'t u8>) -> bool {
    bytes.find(|&&byte| byte == b'\n' || is_inner(byte)).is_none_or(|&byte| byte == b'\n')
}
