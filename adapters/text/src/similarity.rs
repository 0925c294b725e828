//! How alike two documents or two texts are, member by member and letter by letter.
//!
//! Digests tell what is equal, and [`Sketch`](crate::Sketch) what is like when the texts are gone;
//! this tells how alike two are while both are at hand: in a report, beside a finding, or to choose
//! what a digest should leave out.
//!
//! ```
//! use unstuck_text::similarity::{ARGS_ALIKE, json, text};
//!
//! for (one, other, percent) in [
//!     (r#"{"path":"a.rs","limit":10}"#, r#"{"limit":1e1, "path":"a.rs"}"#, 100),
//!     (r#"{"path":"src/cart.rs"}"#, r#"{"path":"src/card.rs"}"#, 90),
//!     (r#"{"path":"src/cart.rs"}"#, r#"{"path":"src/cart.rs","all":true}"#, 73),
//!     (r#"{"ids":[1,2,3,4]}"#, r#"{"ids":[1,2,3,5]}"#, 75),
//!     (r#"{"ids":[1,2,3,4]}"#, r#"{"ids":"1,2,3,4"}"#, 0),
//!     (r#"{"command":"cargo test -p cart"}"#, r#"{"command":"cargo test -p card -q"}"#, 80),
//!     (r#"{"path":"a.rs"}"#, r#"{"query":"total"}"#, 0),
//!     ("not JSON", "not json", 50),
//! ] {
//!     assert_eq!((json(one, other) * 100.0) as u8, percent, "{one} and {other}");
//! }
//! assert!(text("1 failed, 7 passed", "1 failed, 8 passed") > ARGS_ALIKE);
//! ```

use std::collections::BTreeSet;
use std::string::String;

use rapidfuzz::distance::levenshtein;
use serde_json::{Map, Value};
use unstuck_json::fingerprint;

use crate::mask::Masks;

/// From here on the arguments of two calls say nearly the same.
pub const ARGS_ALIKE: f64 = 0.8;

/// From here on two results say nearly the same.
pub const RESULTS_ALIKE: f64 = 0.9;

/// The longest document that is compared member by member, in bytes; a longer one would take longer
/// to read than to compare, and is compared as [`text`] unless both mean the same.
pub const LENGTH_MAX: usize = 16 * 1024;

/// How deep a document is compared member by member; what is deeper is equal or is not.
pub const DEPTH_MAX: usize = 64;

/// How many pairs of characters are looked at in one comparison, beside those at either end that
/// are the same: two texts of 2,896, in a third of a millisecond. Of texts that would take more,
/// [sketches](crate::Sketch) are compared.
pub const PAIRS_MAX: u64 = 8 * 1024 * 1024;

/// What a number, a truth value or `null` weighs, in characters: as much as a short word.
const WORD: u64 = 4;

/// How alike two JSON documents are: 1 for equals, 0 where they have nothing in common, and the same
/// in either order.
///
/// The share of all characters that are in the same place of both: objects are compared member by
/// member, arrays element by element, strings by what must be changed in one to get the other
/// (Levenshtein, 1965), numbers by their value. So a long member counts for more than a short one. A
/// name that occurs twice counts once, and names count for nothing else.
///
/// What is not JSON, or nested beyond what `serde_json` reads, is compared as [`text`], and
/// so are different documents beyond [`LENGTH_MAX`]. So two of 100 KB take less than a millisecond
/// (`cargo xtask bench text`).
pub fn json(one: &str, other: &str) -> f64 {
    if one.len().max(other.len()) > LENGTH_MAX {
        return if means_the_same(one, other) { 1.0 } else { text(one, other) };
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

/// How alike two texts are: 1 for equals, 0 where they have nothing in common, and the same in either
/// order.
///
/// The share of characters that need not be changed in the longer one to get the other
/// (Levenshtein, 1965); beyond [`PAIRS_MAX`], what their sketches have in common, which is within some
/// ten percent of the share of neighbouring words.
pub fn text(one: &str, other: &str) -> f64 {
    let mut common = Common::default();
    common.strings(one, other);
    common.share()
}

/// Whether both are JSON that means the same.
fn means_the_same(one: &str, other: &str) -> bool {
    let prints = [one, other].map(|json| fingerprint(json.as_bytes()));
    matches!(prints, [Ok(one), Ok(other)] if one == other)
}

/// What two documents have in common.
#[derive(Default)]
struct Common {
    /// How many characters are, of how many.
    same: u64,
    all: u64,
    /// How many pairs of characters were looked at.
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
        // In an order that is not that of either, for the work that is left must not tell.
        let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
        for name in names {
            self.either(one.get(name), other.get(name), depth);
        }
    }

    /// Two values, or one that the other document lacks.
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
            return self.sketches(one, other);
        }
        self.pairs = pairs;
        self.count(all - distance(first, second), all);
    }

    fn sketches(&mut self, one: &str, other: &str) {
        let all = length(one).max(length(other));
        let [first, second] = [one, other].map(|text| Masks::NONE.sketch(text.as_bytes()));
        let percent = first.likeness(second);
        self.count(all * u64::from(percent) / 100, all);
    }
}

/// How many characters `text` has; one that is empty counts for one, too.
fn length(text: &str) -> u64 {
    text.chars().count().max(1) as u64
}

/// What is left of both without what they begin and end with alike.
fn without_ends<'t>(one: &'t str, other: &'t str) -> (&'t str, &'t str) {
    let alike = |(a, b): &(u8, u8)| a == b;
    let mut start = one.bytes().zip(other.bytes()).take_while(alike).count();
    while !one.is_char_boundary(start) {
        start -= 1;
    }
    let (one, other) = (&one[start..], &other[start..]);
    let mut end = one.bytes().rev().zip(other.bytes().rev()).take_while(alike).count();
    // What begins inside of a character does so in both.
    while !one.is_char_boundary(one.len() - end) {
        end -= 1;
    }
    (&one[..one.len() - end], &other[..other.len() - end])
}

/// The fewest characters to be put in, taken out or replaced in one text to get the other.
fn distance(one: &str, other: &str) -> u64 {
    let distance = if one.is_ascii() && other.is_ascii() {
        levenshtein::distance(one.bytes(), other.bytes())
    } else {
        levenshtein::distance(one.chars(), other.chars())
    };
    distance as u64
}

/// What a value weighs that the other document lacks, or has another one for.
fn size(value: &Value) -> u64 {
    let sum = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => WORD,
        Value::String(text) => length(text),
        Value::Array(elements) => elements.iter().map(size).sum(),
        Value::Object(members) => members.values().map(size).sum(),
    };
    sum.max(1)
}

/// Whether the values are equal, numbers however they are spelled.
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
    use std::format;
    use std::string::{String, ToString as _};
    use std::vec::Vec;

    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::{Value, json as value};

    use super::{DEPTH_MAX, LENGTH_MAX, is_equal, json, text, without_ends};

    /// In percent, and the same in either order.
    fn percent(of: fn(&str, &str) -> f64, one: &str, other: &str) -> String {
        let (there, back) = (of(one, other), of(other, one));
        assert_eq!(there.to_bits(), back.to_bits(), "{one} and {other}");
        format!("{:.0}", there * 100.0)
    }

    #[test]
    fn documents_are_compared_member_by_member() {
        for (one, other, expected) in [
            ("{}", "{ }", "100"),
            ("{}", "[]", "0"),
            ("{}", r#"{"a":""}"#, "0"),
            ("[1,2]", "[1,2,3]", "67"),
            ("[1,2]", "[2,1]", "0"),
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1.0}"#, "100"),
            (r#"{"a":1}"#, r#"{"b":1}"#, "0"),
            (r#"{"a":"1"}"#, r#"{"a":1}"#, "0"),
            (r#"{"a":null}"#, "{}", "0"),
            (r#"{"a":{"b":["x",true]}}"#, r#"{"a":{"b":["x",false]}}"#, "20"),
            (r#"{"n":9007199254740993}"#, r#"{"n":9007199254740992}"#, "0"),
            (r#"{"a":"grün"}"#, r#"{"a":"gr\u00fcn"}"#, "100"),
            (r#"{"a":"","b":"four"}"#, r#"{"a":"","b":"five"}"#, "40"),
        ] {
            assert_eq!(percent(json, one, other), expected, "{one} and {other}");
        }
    }

    #[test]
    fn of_what_is_too_long_sketches_are_compared() {
        let words = |words: std::ops::Range<u32>| {
            words.map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ")
        };
        let document = |text: &str| value!({"text": text}).to_string();
        let (one, other) = (words(0..4000), words(1000..5000));
        assert!(one.len() > LENGTH_MAX);
        for (of, one, other) in [
            (text as fn(&str, &str) -> f64, one.clone(), other.clone()),
            (json, document(&one), document(&other)),
        ] {
            // 3000 of 5000, as far as a sample tells.
            assert!((of(&one, &other) - 0.6).abs() < 0.15, "{}", of(&one, &other));
        }
        // What differs is short, or how it is spelled.
        assert!(text(&one, &format!("{one}.")) > 0.9999);
        assert_eq!(percent(json, &document(&one), &document(&one).replace(':', ": ")), "100");
    }

    #[test]
    fn what_is_too_deep_is_equal_or_is_not() {
        for (depth, expected) in [(DEPTH_MAX, "75"), (DEPTH_MAX + 1, "0"), (2000, "100")] {
            let nested = |inner| ["[".repeat(depth), inner, "]".repeat(depth)].concat();
            let [one, other] = ["\"abcd\"", "\"abcx\""].map(|inner| nested(inner.to_string()));
            assert_eq!(percent(json, &one, &other), expected, "{depth}");
        }
    }

    #[test]
    fn a_long_member_counts_for_more() {
        let long = "let total = items.iter().sum();\n".repeat(20);
        let document =
            |path: &str, content: &str| value!({"path": path, "content": content}).to_string();
        let path = json(&document("a.rs", &long), &document("b.rs", &long));
        let content = json(&document("a.rs", &long), &document("a.rs", "todo"));
        assert!(path > 0.99 && content < 0.1, "{path} and {content}");
    }

    #[test]
    fn texts_are_compared_letter_by_letter() {
        for (one, other, expected) in [
            ("", "", "100"),
            ("", "a", "0"),
            ("kitten", "sitting", "57"),
            ("grün", "grau", "50"),
            ("日本語", "日本", "67"),
            ("ä", "å", "0"),
            ("aaa", "aa", "67"),
        ] {
            assert_eq!(percent(text, one, other), expected, "{one} and {other}");
            assert_eq!(percent(json, one, other), expected, "{one} and {other}, no JSON");
        }
    }

    /// Documents with names and texts in common.
    fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3_i64..3).prop_map(Value::from),
            select(&[-1.5, 0.25, 1e300][..]).prop_map(Value::from),
            "[abü]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            let members = btree_map("[ab]", inner.clone(), 0..4);
            prop_oneof![
                vec(inner, 0..4).prop_map(Value::from),
                members.prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
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
        fn documents_are_alike_in_either_order(one in documents(), other in documents()) {
            let [first, second] = [&one, &other].map(Value::to_string);
            let likeness = json(&first, &second);
            prop_assert!((0.0..=1.0).contains(&likeness));
            prop_assert_eq!(likeness.to_bits(), json(&second, &first).to_bits());
            let pretty = format!("{one:#}");
            prop_assert_eq!(json(&first, &pretty).to_bits(), 1_f64.to_bits());
            prop_assert!(likeness < 1.0 || is_equal(&one, &other));
        }

        #[test]
        fn any_texts_are_alike_in_either_order(one in any::<String>(), other in any::<String>()) {
            for of in [json, text] {
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
        fn only_what_is_alike_is_left_out(
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
