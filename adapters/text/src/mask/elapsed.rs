//! Durations without a unit, by their label: `elapsed_ms=412`, `took 14`, `Wall time: 0.4`.

use super::digits::{byte, digits_end};
use super::kind::SPANS;
use super::label::Link;
use super::labelled::{Labelled, amount, goes_on};
use super::scan::gap;

/// The end of the duration that has this label.
pub(super) fn end(labelled: &Labelled<'_>) -> Option<usize> {
    let &Labelled { text, row, .. } = labelled;
    let is_certain = is_certain(labelled)?;
    let end = minutes(text, row.start, row.end).or_else(|| amount(text, row))?;
    (is_certain || !names_a_thing(text, end)).then_some(end).filter(|&end| !goes_on(text, end))
}

/// Returns `Some(true)` if the label leaves no doubt, and `None` if it names no duration. Returns
/// `Some(false)` if the words behind the value may name another thing, as in `took 14 steps`.
fn is_certain(labelled: &Labelled<'_>) -> Option<bool> {
    let Labelled { label, last, .. } = labelled;
    let is_member = label.link == Link::Member;
    let is_after = |is: fn(&[u8]) -> bool| is(label.word(1).letters());
    match last.letters() {
        b"ms" | b"msec" | b"msecs" | b"millis" | b"milliseconds" | b"sec" | b"secs"
        | b"seconds" => (label.link != Link::Space).then_some(true),
        // Alone, these are a plural, a country, a direction and a minimum.
        b"s" | b"us" | b"ns" | b"min" | b"minutes" => (label.link != Link::Space
            && is_after(|word| is_span(word) || word == b"time"))
        .then_some(true),
        b"taken" | b"spent" => is_after(|word| word == b"time").then_some(is_member),
        b"time" => is_after(|word| SPANS.contains_bytes(word)).then_some(is_member),
        last => is_span(last).then_some(is_member),
    }
}

/// Returns whether `word` names the length of a time.
fn is_span(word: &[u8]) -> bool {
    matches!(
        word,
        b"elapsed" | b"took" | b"duration" | b"latency" | b"runtime" | b"walltime" | b"uptime"
    )
}

/// The end of the minutes and seconds, or hours, minutes and seconds: `0:12`, `1:02:03.5`.
fn minutes(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let mut at = end;
    while byte(text, at) == b':' && digits_end(text, at + 1) == at + 3 {
        at += 3;
    }
    if byte(text, at) == b'.' && byte(text, at + 1).is_ascii_digit() {
        at = digits_end(text, at + 1);
    }
    ((1..=2).contains(&(end - start)) && byte(text, end) == b':' && at > end).then_some(at)
}

/// Returns whether a word or a percent sign behind the number that ends at `end` says what it
/// counts.
fn names_a_thing(text: &[u8], end: usize) -> bool {
    let next = gap(text, end);
    let first = byte(text, next);
    // A masked text may have started with a letter.
    next > end && (first.is_ascii_alphabetic() || first >= 0x80 || matches!(first, b'<' | b'%'))
}
