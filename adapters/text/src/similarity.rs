//! The similarity of two results, member by member and character by character.

use std::collections::{BTreeSet, HashMap};

use rapidfuzz::distance::levenshtein;
use serde_json::{Map, Value};
use unstuck_json::fingerprint;

/// The longest document that is compared member by member, in bytes. A longer one is compared as text.
const LENGTH_MAX: usize = 16 * 1024;

/// The deepest level that is compared member by member. Deeper values are equal or differ as a whole.
const DEPTH_MAX: usize = 64;

/// The number of pairs of characters that one comparison may take, for example two texts of 2,896
/// characters. Common starts and ends are free. Longer texts are compared word by word.
const PAIRS_MAX: u64 = 8 * 1024 * 1024;

/// The weight of a number, a boolean or `null`, in characters.
const WORD: u64 = 4;

/// Returns the similarity of two texts: 1 if they are equal, 0 if they have no character in common.
/// The order of the two does not matter.
///
/// It is the share of characters in the longer text that need not change to get the other one
/// (Levenshtein, 1965). Long texts are compared by the words that both have.
///
/// In JSON, objects are compared member by member, lists element by element and numbers by value. Names
/// of members have no weight of their own. Of members with the same name only the last counts.
///
/// Two texts of 100 KB take less than a millisecond (`cargo xtask bench text`).
///
/// ```
/// use unstuck_text::similarity;
///
/// for (one, other, percent) in [
///     (r#"{"path":"a.rs","limit":10}"#, r#"{"limit":1e1, "path":"a.rs"}"#, 100),
///     (r#"{"path":"src/cart.rs"}"#, r#"{"path":"src/card.rs"}"#, 90),
///     (r#"{"ids":[1,2,3,4]}"#, r#"{"ids":[1,2,3,5]}"#, 75),
///     (r#"{"ids":[1,2,3,4]}"#, r#"{"ids":"1,2,3,4"}"#, 0),
///     (r#"{"path":"a.rs"}"#, r#"{"query":"total"}"#, 0),
///     ("1 failed, 7 passed", "1 failed, 8 passed", 94),
/// ] {
///     assert_eq!((similarity(one, other) * 100.0) as u8, percent, "{one} and {other}");
/// }
/// ```
pub fn similarity(one: &str, other: &str) -> f64 {
    if one.len().max(other.len()) > LENGTH_MAX {
        return if is_same_json(one, other) { 1.0 } else { text(one, other) };
    }
    match (serde_json::from_str(one), serde_json::from_str(other)) {
        (Ok(one), Ok(other)) => {
            let mut common = Common::default();
            common.values(&one, &other, DEPTH_MAX);
            common.share()
        }
        _ => text(one, other),
    }
}

/// Returns the similarity of two texts that are not JSON.
fn text(one: &str, other: &str) -> f64 {
    let mut common = Common::default();
    common.strings(one, other);
    common.share()
}

/// Returns whether both are JSON with the same meaning.
fn is_same_json(one: &str, other: &str) -> bool {
    let prints = [one, other].map(|json| fingerprint(json.as_bytes()));
    matches!(prints, [Ok(one), Ok(other)] if one == other)
}

/// The part of two documents that is equal, in characters.
#[derive(Default)]
struct Common {
    same: u64,
    all: u64,
    /// The number of pairs of characters that were compared.
    pairs: u64,
}

impl Common {
    #[expect(clippy::cast_precision_loss, reason = "no text has 2⁵³ characters")]
    fn share(&self) -> f64 {
        // Empty containers are equal.
        if self.all == 0 { 1.0 } else { self.same as f64 / self.all as f64 }
    }

    fn count(&mut self, same: u64, all: u64) {
        self.same += same;
        self.all += all;
    }

    fn values(&mut self, one: &Value, other: &Value, depth: usize) {
        match (one, other, depth.checked_sub(1)) {
            (Value::String(one), Value::String(other), _) => self.strings(one, other),
            (Value::Array(one), Value::Array(other), Some(depth)) => {
                for n in 0..one.len().max(other.len()) {
                    self.either(one.get(n), other.get(n), depth);
                }
            }
            (Value::Object(one), Value::Object(other), Some(depth)) => {
                self.members(one, other, depth);
            }
            _ => {
                let all = size(one).max(size(other));
                self.count(if is_equal(one, other) { all } else { 0 }, all);
            }
        }
    }

    fn members(&mut self, one: &Map<String, Value>, other: &Map<String, Value>, depth: usize) {
        // In the same order for both, because the pairs that are left depend on it.
        let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
        for name in names {
            self.either(one.get(name), other.get(name), depth);
        }
    }

    /// Compares two values. A value that only one document has counts as different.
    fn either(&mut self, one: Option<&Value>, other: Option<&Value>, depth: usize) {
        match (one, other) {
            (Some(one), Some(other)) => self.values(one, other, depth),
            (Some(only), None) | (None, Some(only)) => self.count(0, size(only)),
            (None, None) => {}
        }
    }

    fn strings(&mut self, one: &str, other: &str) {
        let all = length(one).max(length(other));
        let (first, second) = without_ends(one, other);
        let pairs = length(first).saturating_mul(length(second)).saturating_add(self.pairs);
        if pairs > PAIRS_MAX {
            return self.words(one, other);
        }
        self.pairs = pairs;
        self.count(all - distance(first, second), all);
    }

    /// Counts the words that both texts have, each as often as both have it.
    fn words(&mut self, one: &str, other: &str) {
        let mut left: HashMap<&str, u64> = HashMap::new();
        let (mut both, mut ones, mut others) = (0, 0, 0);
        for word in one.split_whitespace() {
            *left.entry(word).or_default() += 1;
            ones += length(word);
        }
        for word in other.split_whitespace() {
            others += length(word);
            if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
                *count -= 1;
                both += length(word);
            }
        }
        let all = length(one).max(length(other));
        self.count((all * both).checked_div(ones.max(others)).unwrap_or(all), all);
    }
}

/// Returns the number of characters in `text`, at least 1.
fn length(text: &str) -> u64 {
    text.chars().count().max(1) as u64
}

/// Removes the common start and the common end of both texts.
fn without_ends<'t>(one: &'t str, other: &'t str) -> (&'t str, &'t str) {
    let alike = |(a, b): &(u8, u8)| a == b;
    let mut start = one.bytes().zip(other.bytes()).take_while(alike).count();
    while !one.is_char_boundary(start) {
        start -= 1;
    }
    let (one, other) = (&one[start..], &other[start..]);
    let mut end = one.bytes().rev().zip(other.bytes().rev()).take_while(alike).count();
    // If a cut is inside a character of one text, it is so in both.
    while !one.is_char_boundary(one.len() - end) {
        end -= 1;
    }
    (&one[..one.len() - end], &other[..other.len() - end])
}

/// Returns the smallest number of characters to insert, delete or replace to turn one text into the other.
fn distance(one: &str, other: &str) -> u64 {
    let distance = if one.is_ascii() && other.is_ascii() {
        levenshtein::distance(one.bytes(), other.bytes())
    } else {
        levenshtein::distance(one.chars(), other.chars())
    };
    distance as u64
}

/// Returns the weight of a value that differs, in characters.
fn size(value: &Value) -> u64 {
    let sum = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => WORD,
        Value::String(text) => length(text),
        Value::Array(elements) => elements.iter().map(size).sum(),
        Value::Object(members) => members.values().map(size).sum(),
    };
    sum.max(1)
}

/// Returns whether the values are equal. Numbers are compared by value, not by spelling.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() || other.is_f64() => {
            one.as_f64() == other.as_f64()
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::{Value, json as value};

    use super::{DEPTH_MAX, LENGTH_MAX, is_equal, similarity, text, without_ends};
    use crate::tables::{self, check_pairs};

    /// Returns the similarity in percent, and asserts that the order does not matter.
    fn percent(of: fn(&str, &str) -> f64, one: &str, other: &str) -> String {
        let (there, back) = (of(one, other), of(other, one));
        assert_eq!(there.to_bits(), back.to_bits(), "{one} and {other}");
        format!("{:.0}", there * 100.0)
    }

    #[test]
    fn documents_are_compared_member_by_member() {
        check_pairs("documents", |one, other| percent(similarity, one, other));
    }

    #[test]
    fn long_texts_are_compared_word_by_word() {
        let words = |words: std::ops::Range<u32>| {
            words.map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ")
        };
        let document = |text: &str| value!({"text": text}).to_string();
        let (one, other) = (words(0..4000), words(1000..5000));
        assert!(one.len() > LENGTH_MAX);
        for (of, one, other) in [
            (text as fn(&str, &str) -> f64, one.clone(), other.clone()),
            (similarity, document(&one), document(&other)),
        ] {
            // 3000 of 4000 words.
            assert!((of(&one, &other) - 0.75).abs() < 0.02, "{}", of(&one, &other));
            assert_eq!(of(&one, &other).to_bits(), of(&other, &one).to_bits());
        }
        assert!(text(&one, &format!("{one}.")) > 0.9999);
        assert_eq!(percent(similarity, &document(&one), &document(&one).replace(':', ": ")), "100");
    }

    #[test]
    fn values_below_the_depth_limit_are_equal_or_differ_as_a_whole() {
        for (depth, expected) in [(DEPTH_MAX, "75"), (DEPTH_MAX + 1, "0"), (2000, "100")] {
            let nested = |inner| ["[".repeat(depth), inner, "]".repeat(depth)].concat();
            let [one, other] = ["\"abcd\"", "\"abcx\""].map(|inner| nested(inner.to_string()));
            assert_eq!(percent(similarity, &one, &other), expected, "{depth}");
        }
    }

    #[test]
    fn a_long_member_has_more_weight() {
        let long = "let total = items.iter().sum();\n".repeat(20);
        let document =
            |path: &str, content: &str| value!({"path": path, "content": content}).to_string();
        let path = similarity(&document("a.rs", &long), &document("b.rs", &long));
        let content = similarity(&document("a.rs", &long), &document("a.rs", "todo"));
        assert!(path > 0.99 && content < 0.1, "{path} and {content}");
    }

    #[test]
    fn texts_are_compared_character_by_character() {
        check_pairs("texts", |one, other| {
            assert_eq!(percent(text, one, other), percent(similarity, one, other), "no JSON");
            percent(text, one, other)
        });
    }

    /// Documents with common names and texts.
    fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3_i64..3).prop_map(Value::from),
            select(&[-1.5, 0.25, 1e300][..]).prop_map(Value::from),
            "[abü]{0,8}".prop_map(Value::from),
        ];
        tables::documents(leaf, "[ab]", [4, 32, 5])
    }

    /// Levenshtein's distance by its definition.
    fn slow(one: &[char], other: &[char]) -> u8 {
        match (one, other) {
            ([], rest) | (rest, []) => u8::try_from(rest.len()).unwrap(),
            ([a, one @ ..], [b, other @ ..]) if a == b => slow(one, other),
            ([_, ones @ ..], [_, others @ ..]) => {
                1 + slow(ones, other).min(slow(one, others)).min(slow(ones, others))
            }
        }
    }

    proptest! {
        #[test]
        fn documents_are_similar_in_either_order(one in documents(), other in documents()) {
            let [first, second] = [&one, &other].map(Value::to_string);
            let likeness = similarity(&first, &second);
            prop_assert!((0.0..=1.0).contains(&likeness));
            prop_assert_eq!(likeness.to_bits(), similarity(&second, &first).to_bits());
            let pretty = format!("{one:#}");
            prop_assert_eq!(similarity(&first, &pretty).to_bits(), 1_f64.to_bits());
            prop_assert!(likeness < 1.0 || is_equal(&one, &other));
        }

        #[test]
        fn any_texts_are_similar_in_either_order(one in any::<String>(), other in any::<String>()) {
            for of in [similarity, text] {
                let likeness = of(&one, &other);
                prop_assert!((0.0..=1.0).contains(&likeness));
                prop_assert_eq!(likeness.to_bits(), of(&other, &one).to_bits());
                prop_assert_eq!(of(&one, &one).to_bits(), 1_f64.to_bits());
            }
        }

        #[test]
        fn edits_are_counted(one in "[abü]{0,7}", other in "[abü]{0,7}") {
            let characters = [&one, &other].map(|text| text.chars().collect::<Vec<_>>());
            let all = slow(&characters[0], &[]).max(slow(&characters[1], &[])).max(1);
            let same = all - slow(&characters[0], &characters[1]);
            let exact = f64::from(same) / f64::from(all);
            prop_assert_eq!(text(&one, &other).to_bits(), exact.to_bits());
        }

        #[test]
        fn only_equal_ends_are_removed(
            start in "[aä日]{0,3}", end in "[aä日]{0,3}", one in "[aå本]{0,3}", other in "[aå本]{0,3}",
        ) {
            let texts = [one, other].map(|inner| [&*start, &*inner, &*end].concat());
            let (first, second) = without_ends(&texts[0], &texts[1]);
            if !first.is_empty() && !second.is_empty() {
                prop_assert_ne!(first.chars().next(), second.chars().next());
                prop_assert_ne!(first.chars().last(), second.chars().last());
            }
            let cut = [texts[0].len() - first.len(), texts[1].len() - second.len()];
            prop_assert_eq!(cut[0], cut[1]);
        }
    }
}
