//! Properties that hold for every text.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use unstuck_text::{Mask, Masks};

use crate::texts::texts;

/// Words that no mask takes for its own: no month, no unit, no budget, no hexadecimal digits alone.
const WORDS: &[&str] = &texts![
    "error" "cannot" "open" "file" "warning" "unused" "variable" "connection" "refused" "grün" "日本"
    "retry"
];

/// A separator between words, volatile or not.
const FILL: &[&str] = &texts![
    " " "  " "\n" " 12:03:59 " " 2026-05-28T14:38:00Z " " 0.02s " " 3f2a1bc " " 0x7ffd5e8a "
    " /tmp/tmpab12cd_x/" " pid 4711 " " 40 % " ": " " localhost:54321 " " In [3]: " " 3 steps left "
    " 123e4567-e89b-12d3-a456-426614174000 " " May 28 14:38 " ", " " 1m 30s " "/" " [4711] " "-"
    " elapsed_ms=412 " " took 14\n" " Process Group PGID: 4711 " " Chunk ID: 3fa9c1 "
    " Chunk ID: abcd1f " r#" "req_id": "a1/b=", "# " cost: $0.0123 " " Total cost: 0.02 USD "
    " tokens left: 81022 " " 81,022 tokens " " [step 17/200] " "\nturn 4 of 30\n" " request_id="
    " context left: 83% "
];

/// Parts of labels and of their values, to be put together in any order.
const LABELS: [&str; 48] = [
    "elapsed", "took", "duration", "wall", "time", "ms", "us", "seconds", "cost", "total", "usd",
    "spent", "so far", "tokens", "token", "left", "used", "context", "max", "input", "request",
    "trace", "Id", "id", "ID", "pid", "pgid", "process", "step", "turn", "of", "attempt", "_", "-",
    ": ", ":", "=", " ", "  ", "\"", "'", "$", "~", "#", "/", "%", ",", "(",
];

fn masks() -> impl Strategy<Value = Masks> {
    vec(select(&Mask::ALL[..]), 0..16)
        .prop_map(|masks| masks.into_iter().fold(Masks::NONE, Masks::with))
}

/// Texts of what the masks look for, in any order.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        select(WORDS).prop_map(str::to_owned),
        select(FILL).prop_map(str::to_owned),
        "[0-9a-fT:./ \\[\\]-]{1,12}",
        "[0-9]{1,2}[ \\t\\n]{0,3}(s|ms|pm|May|UTC)?",
        "\\PC{1,4}",
        vec(select(&LABELS[..]), 1..5).prop_map(|parts| parts.concat()),
        "[0-9]{1,3}([,.][0-9]{1,3})?[a-z]?",
    ];
    vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16 * ProptestConfig::default().cases))]

    /// Controls aside: without them, what was apart may stand together.
    #[test]
    fn masks_are_idempotent(text in texts(), masks in masks()) {
        let once = masks.show(&text).to_string();
        prop_assert_eq!(masks.show(&once).to_string(), once, "of {:?}", text);
    }

    #[test]
    fn texts_that_are_shown_alike_have_equal_digests(text in texts(), masks in masks()) {
        // The mask's name stands where the digest has its number.
        let shown = masks.show(&text).to_string();
        let words = shown.replace(['<', '>'], "");
        if !words.is_empty() && !shown.contains('<') {
            prop_assert_eq!(masks.digest(text.as_bytes()), masks.digest(shown.as_bytes()));
        }
    }

    #[test]
    fn texts_that_differ_in_a_word_never_become_equal(
        words in vec(select(WORDS), 1..12),
        fill in vec(select(FILL), 12),
        at in any::<prop::sample::Index>(),
        other in select(WORDS),
    ) {
        let at = at.index(words.len());
        prop_assume!(words[at] != other);
        let text = |words: &[&str]| -> String {
            words.iter().zip(&fill).flat_map(|(word, fill)| [*word, *fill]).collect()
        };
        let mut changed = words.clone();
        changed[at] = other;
        let [one, two] = [text(&words), text(&changed)].map(|t| Masks::ALL.digest(t.as_bytes()));
        prop_assert_ne!(one.result, two.result);
        prop_assert_ne!(one.near, two.near);
    }

    /// A line number is recognised by the sign behind it, and another sign makes no difference.
    #[test]
    fn no_mask_knows_the_number_of_a_line(
        lines in vec((texts(), " {0,8}", 0_u32..2_000_000, texts()), 1..6),
        masks in masks(),
    ) {
        let text = |sign: &str| -> String {
            let line = |(before, blanks, number, line): &(String, String, u32, String)| {
                format!("{before}\n{blanks}{number}{sign}{line}\n")
            };
            lines.iter().map(line).collect()
        };
        let [shown, other] = ["→", "»"].map(|sign| masks.show(&text(sign)).to_string());
        prop_assert_eq!(shown.replace('→', "»"), other.replace('→', "»"));
    }

    #[test]
    fn any_bytes_have_a_digest(bytes in vec(any::<u8>(), 0..400), masks in masks()) {
        let _ = masks.digest(&bytes);
    }

    #[test]
    fn any_text_is_shown(text in any::<String>(), masks in masks()) {
        let shown = masks.show(&text).to_string();
        let escaped = shown.contains('\x1B');
        prop_assert!(!masks.contains(Mask::Ansi) || !escaped);
    }

    /// Equal results have equal numbers left out, too.
    #[test]
    fn equal_results_are_nearly_equal(one in texts(), two in texts()) {
        let [one, two] = [one, two].map(|text| Masks::ALL.digest(text.as_bytes()));
        prop_assert!(one.result != two.result || one.near == two.near);
    }
}
