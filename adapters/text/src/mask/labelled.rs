//! Numbers that the words beside them make volatile: `elapsed_ms=412`, `tokens left: 81022`.

use super::digits::{Digits, byte, digits_end};
use super::kind::{Mask, Masks, Part, Span};
use super::label::{Label, Word};
use super::scan::gap;
use super::word_end::{AHEAD, Letters};
use super::{cost, elapsed, step, tokens};

/// A number and the label in front of it.
pub(super) struct Labelled<'t> {
    pub(super) text: &'t [u8],
    pub(super) row: &'t Digits,
    pub(super) label: Label<'t>,
    /// The last word of the label.
    pub(super) last: Word,
    /// The place in the text that the label does not begin before.
    pub(super) floor: usize,
}

/// The end of a value, if the words beside it make it volatile.
type Judge = fn(&Labelled<'_>) -> Option<usize>;

/// The masks that know a number by its label.
const JUDGES: [(Mask, Judge); 4] = [
    (Mask::Durations, elapsed::end),
    (Mask::Costs, cost::end),
    (Mask::Tokens, tokens::end),
    (Mask::Steps, step::end),
];

/// The mask that knows `row` by its label, or by the words behind it. No label begins before `floor`,
/// and `tail` is the end of one.
pub(super) fn masked(
    masks: Masks,
    text: &[u8],
    row: &Digits,
    floor: usize,
    tail: Letters,
) -> Option<Span> {
    let found = |mask, end| Span { start: row.start, end, part: Part::of(mask) };
    if masks.contains(Mask::Tokens)
        && let Some(end) = tokens::before_their_name(text, row)
    {
        return Some(found(Mask::Tokens, end));
    }
    if masks.contains(Mask::Costs)
        && let Some(end) = cost::before_its_name(text, row)
    {
        return Some(found(Mask::Costs, end));
    }
    if masks.contains(Mask::Steps)
        && let Some(end) = step::before_its_name(text, row)
    {
        return Some(found(Mask::Steps, end));
    }
    if AHEAD.may_hold(tail) { by_label(masks, text, row, floor) } else { None }
}

/// The mask that knows `row` by the label in front of it.
fn by_label(masks: Masks, text: &[u8], row: &Digits, floor: usize) -> Option<Span> {
    let label = Label::before(text, row.start, floor)?;
    let labelled = Labelled { text, row, label, last: label.word(0), floor };
    JUDGES.into_iter().filter(|(mask, _)| masks.contains(*mask)).find_map(|(mask, judge)| {
        judge(&labelled).map(|end| Span { start: row.start, end, part: Part::of(mask) })
    })
}

/// The end of the amount that begins with `row`: thousands, a fraction and an exponent. `None` if it
/// goes on as something else, such as a version or a word.
pub(super) fn amount(text: &[u8], row: &Digits) -> Option<usize> {
    let mut end = row.end;
    while row.length() <= 3 && byte(text, end) == b',' && digits_end(text, end + 1) == end + 4 {
        end += 4;
    }
    if byte(text, end) == b'.' && byte(text, end + 1).is_ascii_digit() {
        end = digits_end(text, end + 1);
    }
    let sign = usize::from(matches!(byte(text, end + 1), b'+' | b'-'));
    if matches!(byte(text, end), b'e' | b'E') && byte(text, end + 1 + sign).is_ascii_digit() {
        end = digits_end(text, end + 1 + sign);
    }
    let goes_on = byte(text, end) == b'.' && byte(text, end + 1).is_ascii_digit();
    (!goes_on && !is_inner(byte(text, end))).then_some(end)
}

/// Returns whether `byte` continues a word or a number.
pub(super) const fn is_inner(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns whether the value that ends at `end` is a part of a ratio, a range, a share or a time.
pub(super) fn goes_on(text: &[u8], end: usize) -> bool {
    let (next, second) = (byte(text, end), byte(text, end + 1));
    let is_sign = matches!(next, b'/' | b'-' | b':' | b'.');
    // Text that was masked there stands in brackets.
    next == b'%' || is_inner(next) || is_sign && (is_inner(second) || second == b'<')
}

/// The word behind the gap at `at`, in lower case, and its end.
pub(super) fn word_behind(text: &[u8], at: usize) -> Option<(Word, usize)> {
    let start = gap(text, at);
    let letters = text.get(start..)?.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let end = start + letters;
    let is_word = start > at && letters > 0 && !is_inner(byte(text, end));
    is_word.then(|| Word::of(text.get(start..end).unwrap_or_default())).map(|word| (word, end))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::kind::{COSTS, SPANS};
    use super::super::label;
    use super::{AHEAD, Digits, Masks, by_label};

    /// The words that the judges look for, as their sources spell them.
    fn vocabulary() -> BTreeSet<&'static str> {
        let sources = [
            include_str!("cost.rs"),
            include_str!("elapsed.rs"),
            include_str!("step.rs"),
            include_str!("tokens.rs"),
        ];
        // Code between two literals has signs or blanks in it, so only words are left.
        let words = sources.iter().flat_map(|source| source.split('"'));
        let words = words.filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
        let listed = COSTS.words().chain(SPANS.words());
        let listed = listed.map(|word| core::str::from_utf8(word).expect("a word in UTF-8"));
        words.chain(listed).collect()
    }

    #[test]
    fn no_label_that_a_judge_knows_is_passed_over() {
        let words = vocabulary();
        let mut judged = BTreeSet::new();
        for (first, last) in
            words.iter().flat_map(|first| words.iter().map(move |last| (first, last)))
        {
            for name in
                [format!("{first}_{last}"), format!("{first} {last}"), format!("{first} ({last})")]
            {
                for (link, value) in
                    [("=", "412"), (": ", "412"), (" ", "412"), (" ", "4/17"), (": $", "4.12")]
                {
                    let text = format!("{name}{link}{value}").into_bytes();
                    let start = text.iter().position(u8::is_ascii_digit).expect("a value");
                    let row = Digits::at(&text, start);
                    if by_label(Masks::ALL, &text, &row, 0).is_some() {
                        let tail = label::tail(&text, start, 0);
                        let text = String::from_utf8_lossy(&text);
                        assert!(
                            AHEAD.may_hold(tail),
                            "{text}: no word ends with {:?}",
                            tail.map(char::from)
                        );
                        judged.insert(last);
                    }
                }
            }
        }
        assert!(words.len() > 60 && judged.len() > 40, "{} of {}", judged.len(), words.len());
    }
}
