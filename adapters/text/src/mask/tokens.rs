//! Tokens and the room in a context: `tokens left: 81022`, `prompt_tokens=12`, `81022 tokens`.

use super::digits::{Digits, byte};
use super::label::Link;
use super::labelled::{Labelled, amount, is_inner, word_behind};
use super::scan::{gap, is_blank};

/// The fewest digits of a number of tokens that no other word makes certain: a parser and a wallet
/// count tokens, too.
const BARE_MIN: usize = 3;

/// The end of the number of tokens that has this label.
pub(super) fn end(labelled: &Labelled<'_>) -> Option<usize> {
    let &Labelled { text, row, ref label, ref last, .. } = labelled;
    let prior = || label.word(1);
    let is_of = |words: &[&[u8]]| words.contains(&prior().letters());
    let is_named = match last.letters() {
        b"tokens" => label.link != Link::Space && !is_of(&[b"max", b"min", b"limit", b"maximum"]),
        b"left" | b"remaining" | b"used" => is_of(&[b"tokens", b"token", b"context"]),
        b"count" | b"budget" | b"usage" | b"total" => {
            label.link != Link::Space && is_of(&[b"tokens", b"token"])
        }
        _ => false,
    };
    let end = if is_named { thousands(text, row)? } else { return None };
    (byte(text, end) != b'%' || is_of(&[b"context", b"tokens", b"token"])).then_some(end)
}

/// The end of the number that the words behind it call tokens, or a share of the context.
pub(super) fn before_their_name(text: &[u8], row: &Digits) -> Option<usize> {
    if !may_be_named(text, row.decimal) {
        return None;
    }
    let end = thousands(text, row)?;
    let is_share = byte(text, end) == b'%';
    let behind = end + usize::from(is_share);
    let (first, at) = word_behind(text, behind)?;
    match first.letters() {
        b"context" if is_share => is_left(text, at).then_some(end),
        _ if is_share => None,
        b"tokens" => (is_left(text, at) || end >= row.start + BARE_MIN).then_some(end),
        b"input" | b"output" | b"prompt" | b"completion" | b"total" | b"cached" | b"reasoning" => {
            let (second, _) = word_behind(text, at)?;
            (second.letters() == b"tokens").then_some(end)
        }
        _ => None,
    }
}

/// Returns whether tokens may be named behind the digits that end at `end`. Most numbers have
/// another sign or another word behind them, and one letter tells so.
fn may_be_named(text: &[u8], end: usize) -> bool {
    match byte(text, end) {
        b'%' | b'k' | b'K' | b'M' | b'e' | b'E' => true,
        b',' => byte(text, end + 1).is_ascii_digit(),
        next if is_blank(next) => {
            let first = byte(text, gap(text, end)) | 0x20;
            matches!(first, b'c' | b'i' | b'o' | b'p' | b'r' | b't')
        }
        _ => false,
    }
}

fn is_left(text: &[u8], at: usize) -> bool {
    let word = word_behind(text, at);
    word.is_some_and(|(word, _)| matches!(word.letters(), b"left" | b"remaining" | b"used"))
}

/// The end of the amount at `row`, with the `k` or `M` that may stand behind it.
fn thousands(text: &[u8], row: &Digits) -> Option<usize> {
    let at = row.decimal;
    let is_scaled = matches!(byte(text, at), b'k' | b'K' | b'M') && !is_inner(byte(text, at + 1));
    if is_scaled { Some(at + 1) } else { amount(text, row) }
}
