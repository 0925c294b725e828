//! The words for the parts of a policy, for reading and for writing.

use unstuck::AtLimit;
use unstuck_core::{Action, Args, Basis, Force, Outcomes, Progress, Results, Silence, Tag, Texts};
use unstuck_text::{Effect, Failures, Mask, Near};

use super::messages::Variant;

/// A type whose values are written by their names.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// All values.
    const ALL: &'static [Self];

    /// Returns the name of this value.
    fn name(self) -> &'static str;
}

/// Returns `text` as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Takes the words of each type from its names.
macro_rules! named {
    ($($type:ty),+) => {$(
        impl Word for $type {
            const ALL: &'static [Self] = &<$type>::ALL;

            fn name(self) -> &'static str {
                self.name()
            }
        }
    )+};
}

named!(
    Args, Results, Outcomes, Progress, Silence, Force, Basis, Action, Tag, Texts, Failures, Near,
    Effect, Mask, Variant, AtLimit
);

/// Returns every word for a `W`.
pub(crate) fn list<W: Word>() -> Vec<&'static str> {
    W::ALL.iter().map(|word| word.name()).collect()
}

/// Returns the word among `known` that the writer of `word` probably meant.
pub(crate) fn meant<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let distance = |known: &&str| strsim::damerau_levenshtein(&word.to_lowercase(), known);
    // At most a third of the letters may be wrong.
    let near = known.iter().filter(|known| distance(known) <= known.len().div_ceil(3));
    near.min_by_key(|known| distance(known)).copied()
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn a_typo_is_corrected_and_another_word_is_not() {
        let known = ["same", "similar", "same_tool", "any"];
        for (word, expected) in [
            ("sam", Some("same")),
            ("Same", Some("same")),
            ("smilar", Some("similar")),
            ("same-tool", Some("same_tool")),
            ("anny", Some("any")),
            ("different", None),
            ("", None),
        ] {
            assert_eq!(meant(word, &known), expected, "{word}");
        }
    }
}
