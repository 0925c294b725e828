//! The costs of a run, with their currency: `Total cost: $0.0123`, `"cost_usd": 0.012`.
//!
//! A cost without a currency may be a model's loss or a path's length, and the cost of a named thing
//! is what somebody asked for. Both stay.

use super::digits::Digits;
use super::kind::COSTS;
use super::label::Word;
use super::labelled::{Labelled, amount, word_behind};

/// The most words behind `cost` in a label: `cost so far in USD`.
const BEHIND_MAX: usize = 4;

/// The end of the cost that has this label.
pub(super) fn end(labelled: &Labelled<'_>) -> Option<usize> {
    let &Labelled { text, row, ref label, ref last, .. } = labelled;
    let mut word = *last;
    let mut has_currency = row.before == b'$';
    for n in 1..=BEHIND_MAX {
        match word.letters() {
            b"cost" | b"costs" | b"spent" => {
                let prior = label.word(n);
                has_currency |= is_currency(&prior);
                let end = amount(text, row)?;
                let is_cost = is_currency(&prior) || COSTS.contains_bytes(prior.letters());
                let is_money = has_currency
                    || word_behind(text, end).is_some_and(|(word, _)| is_currency(&word));
                return (is_cost && is_money).then_some(end);
            }
            b"budget" if label.word(n).letters() == b"remaining" && has_currency => {
                return amount(text, row);
            }
            b"usd" | b"eur" | b"dollars" => has_currency = true,
            b"so" | b"far" | b"in" | b"total" | b"est" | b"estimate" => {}
            _ => return None,
        }
        word = label.word(n);
    }
    None
}

/// The end of the money at `row` that is said to be spent: `$0.0123 spent`.
pub(super) fn before_its_name(text: &[u8], row: &Digits) -> Option<usize> {
    if row.before != b'$' {
        return None;
    }
    let end = amount(text, row)?;
    word_behind(text, end).is_some_and(|(word, _)| word.letters() == b"spent").then_some(end)
}

fn is_currency(word: &Word) -> bool {
    matches!(word.letters(), b"usd" | b"eur" | b"dollars")
}
