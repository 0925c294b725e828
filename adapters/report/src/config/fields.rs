//! Reads the fields of a TOML table, each with its type, and lists the words that a field may have.

use std::ops;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};
use unstuck::AtLimit;
use unstuck_core::{Action, Args, Basis, Force, Outcomes, Progress, Results, Silence, Tag, Texts};
use unstuck_text::{Effect, Failures, Mask, Near};

use super::tables::Variant;
use crate::mistake::Mistake;

/// A value with its span.
pub(crate) type Node<'d> = Spanned<DeValue<'d>>;

/// A field name of the writer's choice, with its span.
pub(crate) type Key<'d> = Spanned<DeString<'d>>;

/// A table whose field names have been checked.
pub(crate) struct Fields<'d> {
    table: &'d DeTable<'d>,
    span: ops::Range<usize>,
    /// A noun for the table with an article, for example "a rule".
    what: &'static str,
}

impl<'d> Fields<'d> {
    /// Checks that the table that describes `what` has only `known` fields.
    pub(crate) fn of(
        table: &'d DeTable<'d>,
        span: ops::Range<usize>,
        what: &'static str,
        known: &[&str],
    ) -> Result<Self, Mistake> {
        let unknown = table.iter().map(|(key, _)| key);
        let unknown = unknown.filter(|key| !known.contains(&key.get_ref().as_ref()));
        // Tables are sorted by name. The error is about the first unknown field in the file.
        if let Some(key) = unknown.min_by_key(|key| key.span().start) {
            let word = key.get_ref();
            let what = format!("{what} has no field `{word}`{}", right(word, known));
            return Err(Mistake::new(key.span(), what));
        }
        Ok(Self { table, span, what })
    }

    /// Returns the table `node`, or the mistake that it is not a table.
    pub(crate) fn at(
        node: &'d Node<'d>,
        what: &'static str,
        known: &[&str],
    ) -> Result<Self, Mistake> {
        match node.get_ref() {
            DeValue::Table(table) => Self::of(table, node.span(), what, known),
            _ => Err(other(node, &format!("a table with {}", listed(known)))),
        }
    }

    pub(crate) fn span(&self) -> ops::Range<usize> {
        self.span.clone()
    }

    pub(crate) fn optional(&self, key: &str) -> Option<&'d Node<'d>> {
        self.table.get(key)
    }

    pub(crate) fn required(&self, key: &str) -> Result<&'d Node<'d>, Mistake> {
        let missing = || Mistake::new(self.span(), format!("{} needs `{key}`", self.what));
        self.optional(key).ok_or_else(missing)
    }

    /// Refuses the field `key`. `why` is the reason.
    pub(crate) fn without(&self, key: &str, why: &str) -> Result<(), Mistake> {
        let key = self.table.get_key_value(key).map(|(key, _)| key);
        key.map_or(Ok(()), |key| {
            Err(Mistake::new(
                key.span(),
                format!("`{}` does not belong here: {why}", key.get_ref()),
            ))
        })
    }

    /// Returns the word in the field `key`, or `default` if there is no such field.
    pub(crate) fn word_or<W: Word>(&self, key: &str, default: W) -> Result<W, Mistake> {
        self.optional(key).map_or(Ok(default), word)
    }
}

/// Reads `node` as one of the words of `W`.
pub(crate) fn word<W: Word>(node: &Node<'_>) -> Result<W, Mistake> {
    let known = list::<W>();
    let DeValue::String(found) = node.get_ref() else {
        return Err(other(node, &format!("one of {}", listed(&known))));
    };
    W::ALL.iter().copied().find(|word| word.name() == found).ok_or_else(|| unknown(node, &known))
}

/// Returns the mistake that the word is not among those `known`.
pub(crate) fn unknown(node: &Node<'_>, known: &[&str]) -> Mistake {
    let found = node.get_ref().as_str().unwrap_or_default();
    Mistake::new(node.span(), format!("{found:?} is unknown here{}", right(found, known)))
}

/// Reads `node` as a string.
pub(crate) fn text<'d>(node: &'d Node<'d>) -> Result<&'d str, Mistake> {
    node.get_ref().as_str().ok_or_else(|| other(node, "a string"))
}

/// Reads `node` as true or false.
pub(crate) fn flag(node: &Node<'_>) -> Result<bool, Mistake> {
    node.get_ref().as_bool().ok_or_else(|| other(node, "true or false"))
}

/// Reads `node` as a whole number in the range of its type.
pub(crate) fn number<N: TryFrom<i64> + Range>(node: &Node<'_>) -> Result<N, Mistake> {
    let expected = || format!("a whole number from {} to {}", N::LEAST, N::MOST);
    let DeValue::Integer(number) = node.get_ref() else { return Err(other(node, &expected())) };
    let value = i64::from_str_radix(number.as_str(), number.radix()).ok();
    let what = || Mistake::new(node.span(), format!("expected {}", expected()));
    value.and_then(|value| N::try_from(value).ok()).ok_or_else(what)
}

/// A number type with its range.
pub(crate) trait Range {
    const LEAST: i64;
    const MOST: i64;
}

/// Takes the range of each type from its limits.
macro_rules! ranged {
    ($($type:ty),+) => {$(
        impl Range for $type {
            const LEAST: i64 = <$type>::MIN as i64;
            const MOST: i64 = <$type>::MAX as i64;
        }
    )+};
}

ranged!(u8, i8, u16, u32, i64);

/// Reads `node` as a table with field names of the writer's choice. Returns its fields in the order
/// of their names.
pub(crate) fn entries<'d>(
    node: &'d Node<'d>,
    what: &str,
) -> Result<impl Iterator<Item = (&'d Key<'d>, &'d Node<'d>)> + use<'d>, Mistake> {
    let table = node.get_ref().as_table();
    table.map(|table| table.iter()).ok_or_else(|| other(node, &format!("a table of {what}")))
}

/// Reads `node` as a list of `what`.
pub(crate) fn elements<'d>(
    node: &'d Node<'d>,
    what: &str,
) -> Result<impl Iterator<Item = &'d Node<'d>> + use<'d>, Mistake> {
    let list = node.get_ref().as_array();
    list.map(|list| list.iter()).ok_or_else(|| other(node, &format!("a list of {what}")))
}

/// Returns the mistake that a value has another type than `expected`.
pub(crate) fn other(node: &Node<'_>, expected: &str) -> Mistake {
    let found = match node.get_ref() {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    Mistake::new(node.span(), format!("expected {expected}, found {found}"))
}

/// Returns the end of a message: what would be right instead of `word`.
fn right(word: &str, known: &[&str]) -> String {
    match meant(word, known) {
        Some(meant) => format!(": did you mean `{meant}`? Expected one of {}", listed(known)),
        None => format!("; expected one of {}", listed(known)),
    }
}

fn listed(known: &[&str]) -> String {
    known.join(", ")
}

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
    use crate::cases::check;

    #[test]
    fn a_typo_is_corrected_and_another_word_is_not() {
        let known = ["same", "similar", "same_tool", "any"];
        check("fields: a word, and the one that was meant", |word| {
            meant(word, &known).unwrap_or("none")
        });
    }
}
