//! The words for the parts of a policy, for reading and for writing.

use unstuck_core::{Action, Args, Basis, Force, Outcomes, Progress, Results, Silence, Tag, Texts};
use unstuck_text::{Effect, Failures, Mask, Near};

use super::messages::Variant;

/// A type whose values are written as words.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// All values.
    const ALL: &'static [Self];

    /// Returns the word for this value.
    fn word(self) -> &'static str;
}

/// Returns `text` as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Writes the values of each type by their names.
macro_rules! named {
    ($($type:ty: $all:expr,)+) => {$(
        impl Word for $type {
            const ALL: &'static [Self] = $all;

            fn word(self) -> &'static str {
                self.name()
            }
        }
    )+};
}

named! {
    Args: &[Args::Same, Args::Similar, Args::SameTool, Args::Any],
    Results: &[Results::Ignored, Results::Same, Results::Near],
    Action: &Action::ALL,
    Tag: &Tag::ALL,
    Texts: &[Texts::Any, Texts::Same, Texts::Prompt, Texts::Inside],
    Force: &[Force::Always, Force::Proven],
    Effect: &Effect::ALL,
    Mask: &Mask::ALL,
    Variant: &Variant::ALL,
}

impl Word for Outcomes {
    const ALL: &'static [Self] = &[Self::Any, Self::Failed, Self::Failures];

    fn word(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Failed => "failed",
            Self::Failures => "failures",
        }
    }
}

impl Word for Progress {
    const ALL: &'static [Self] = &[Self::Respect, Self::Ignore, Self::Anywhere];

    fn word(self) -> &'static str {
        match self {
            Self::Respect => "respect",
            Self::Ignore => "ignore",
            Self::Anywhere => "anywhere",
        }
    }
}

impl Word for Basis {
    const ALL: &'static [Self] = &[Self::Repetitions, Self::LoopFindings, Self::AllFindings];

    fn word(self) -> &'static str {
        match self {
            Self::Repetitions => "repetitions",
            Self::LoopFindings => "loop_findings",
            Self::AllFindings => "all_findings",
        }
    }
}

impl Word for Silence {
    const ALL: &'static [Self] = &[Self::Ignored, Self::Evidence, Self::Telling];

    fn word(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Evidence => "evidence",
            Self::Telling => "telling",
        }
    }
}

impl Word for Failures {
    const ALL: &'static [Self] = &[Self::Told, Self::Read];

    fn word(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::Read => "read",
        }
    }
}

impl Word for Near {
    const ALL: &'static [Self] = &[Self::Numbers, Self::Class];

    fn word(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Class => "class",
        }
    }
}

/// Returns every word for a `W`.
pub(crate) fn list<W: Word>() -> Vec<&'static str> {
    W::ALL.iter().map(|word| word.word()).collect()
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
