//! The objects in a JSON answer, as hashes without the order of their members.
//!
//! An object is compared as a whole. Each of its members may have been seen in another object: for example, a new
//! position on a grid has two known coordinates.

use unstuck_core::Digest;

use super::{hash, holds_data};
use crate::lexer::{Lexer, Token};
use crate::mask::{Masked, Masker, raw};

/// The deepest level of nested objects; deeper objects are ignored.
const DEPTH_MAX: usize = 16;

/// Returns whether `answer` is one or more JSON objects, judged by its first and last characters.
pub(super) fn is_json(answer: &str) -> bool {
    let mut signs = answer.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let opening = (signs.next(), signs.next(), signs.next_back());
    matches!(
        opening,
        (Some(b'{'), Some(b'"' | b'\''), Some(b'}')) | (Some(b'['), Some(b'{'), Some(b']'))
    )
}

/// The digests of a JSON document, or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document {
    /// Those without volatile parts.
    pub(super) masked: Masked,
    /// That with all parts.
    pub(super) raw: Digest,
}

impl Document {
    const EMPTY: Self = Self::of(Digest::new(0));

    /// A part in which nothing is volatile.
    const fn of(raw: Digest) -> Self {
        Self { masked: Masked { result: raw, near: raw }, raw }
    }

    /// Combines each digest with that of `other`.
    fn with(self, other: Self, combine: impl Fn(Digest, Digest) -> Digest) -> Self {
        let masked = Masked {
            result: combine(self.masked.result, other.masked.result),
            near: combine(self.masked.near, other.masked.near),
        };
        Self { masked, raw: combine(self.raw, other.raw) }
    }
}

/// Returns the digests of a whole JSON document, or `None` if `json` is not complete. Calls `each` with a hash of each
/// object in it. The order of members, white space between tokens, and zeros at the end of a fraction do not count.
///
/// The hash of an object covers the names and values of its own members. Nested objects have hashes of their own, and an
/// object without members has no hash. Python's single quotes are accepted. O(n).
pub(super) fn digest(
    json: &str,
    masker: Masker<'_>,
    each: &mut dyn FnMut(u64),
) -> Option<Document> {
    // The first frame is what stands outside of all brackets.
    let mut open = [Frame::default(); DEPTH_MAX];
    let (mut depth, mut start, mut colon) = (0_usize, 0, None);
    let (mut is_whole, mut documents) = (true, 0);
    for (at, token) in Lexer::lenient(json) {
        if token == Token::Colon {
            colon = colon.or(Some(at));
        }
        if matches!(token, Token::Colon | Token::Text(_) | Token::Plain(_)) {
            continue;
        }
        let colon = colon.take();
        let name = colon.and_then(|colon| json.get(start..colon)).map(str::trim_ascii);
        let value = json.get(colon.map_or(start, |colon| colon + 1)..at);
        let value = value.unwrap_or_default().trim_ascii();
        start = at + 1;
        if let Token::Open(bracket) = token {
            is_whole &= value.is_empty();
            let name = Value::name(name, masker);
            depth += 1;
            match open.get_mut(depth) {
                Some(frame) => *frame = Frame { bracket, name, ..Frame::default() },
                None => is_whole = false,
            }
            continue;
        }
        let Some(frame) = open.get_mut(depth) else {
            depth -= usize::from(matches!(token, Token::Close(_)));
            continue;
        };
        if name.is_some() || !value.is_empty() {
            is_whole &= depth > 0;
            frame.add(Value::leaf(name, value, masker));
        }
        if let Token::Close(bracket) = token {
            let closed = core::mem::take(frame);
            // In ASCII, each closing bracket comes two places behind its opening one.
            is_whole &= bracket == closed.bracket + 2;
            if bracket == b'}' && closed.contents.own != 0 {
                each(closed.contents.own);
            }
            depth = depth.saturating_sub(1);
            documents += usize::from(depth == 0);
            if let Some(outer) = open.get_mut(depth) {
                outer.add(closed.whole());
            }
        }
    }
    let rest = json.get(start..).unwrap_or_default();
    is_whole &= documents == 1 && depth == 0 && rest.trim_ascii().is_empty();
    open.first().filter(|_| is_whole).map(|outside| outside.contents.document)
}

/// The digests of a value, maybe with its name.
#[derive(Clone, Copy)]
struct Value {
    document: Document,
    /// A hash of it without the objects in it, or 0 if nothing else is there.
    own: u64,
}

impl Value {
    const EMPTY: Self = Self { document: Document::EMPTY, own: 0 };

    /// Hashes the name of an object or an array, if it has one.
    fn name(name: Option<&str>, masker: Masker<'_>) -> Self {
        let document = part(name.unwrap_or_default(), masker);
        Self { document, own: if name.is_some() { document.masked.result.bits() } else { 0 } }
    }

    /// Hashes a value that is no object and no array, with its name if it is a member.
    fn leaf(name: Option<&str>, value: &str, masker: Masker<'_>) -> Self {
        let document = leaf(name, value, masker);
        let own = document.masked.result.bits();
        if !holds_data(value.as_bytes()) {
            return Self { document, own };
        }
        let name = Self::name(name, masker).own;
        Self { document, own: name.wrapping_add(hash(value.as_bytes(), masker)) }
    }
}

/// An open object or array.
#[derive(Clone, Copy)]
struct Frame {
    bracket: u8,
    /// The sum of the members of an object, or the elements of an array in their order.
    contents: Value,
    /// The name of the member that holds it.
    name: Value,
}

impl Default for Frame {
    fn default() -> Self {
        Self { bracket: 0, contents: Value::EMPTY, name: Value::EMPTY }
    }
}

impl Frame {
    fn add(&mut self, value: Value) {
        let is_array = self.bracket == b'[';
        let combine = |all: Digest, one: Digest| {
            if is_array { all.mix(one) } else { Digest::new(all.bits().wrapping_add(one.bits())) }
        };
        self.contents.document = self.contents.document.with(value.document, combine);
        if value.own != 0 {
            let [all, one] = [self.contents.own, value.own].map(Digest::new);
            self.contents.own = combine(all, one).bits();
        }
    }

    /// Returns the digests of the closed object or array, with its name.
    fn whole(&self) -> Value {
        let Self { bracket, contents, name } = self;
        let tag = Digest::new(u64::from(*bracket));
        let whole = |name: Digest, contents: Digest| name.mix(contents.mix(tag));
        let own = match bracket {
            b'[' => whole(Digest::new(name.own), Digest::new(contents.own)).bits(),
            _ => name.own,
        };
        Value { document: name.document.with(contents.document, whole), own }
    }
}

/// The longest name with its value that is read as one text, in bytes: a name may be the label of a volatile value.
const LABELLED_MAX: usize = 120;

/// Returns the digests of a value that is no object and no array, with its name if it is a member.
fn leaf(name: Option<&str>, value: &str, masker: Masker<'_>) -> Document {
    let value = number(value);
    let Some(name) = name else { return part(value, masker) };
    let mut text = [0; LABELLED_MAX];
    let length = name.len() + 1 + value.len();
    if may_be_masked(value)
        && let Some(text) = text.get_mut(..length)
    {
        // Without a copy of slices, which can panic for all that a compiler sees.
        let mut places = text.iter_mut();
        for part in [name, ":", value] {
            part.bytes().zip(&mut places).for_each(|(byte, place)| *place = byte);
        }
        return Document { masked: masker.digest(text), raw: raw(text) };
    }
    part(name, masker).with(part(value, masker), Digest::mix)
}

/// Returns the digests of a name or a value.
fn part(text: &str, masker: Masker<'_>) -> Document {
    let raw = raw(text.as_bytes());
    if may_be_masked(text) {
        Document { masked: masker.digest(text.as_bytes()), raw }
    } else {
        Document::of(raw)
    }
}

/// Returns whether a mask may recognise something in `text`. Without a digit, a path or a control there is hardly
/// anything.
fn may_be_masked(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'/' | b'\\' | 0x1B))
}

/// Returns `value` without the zeros at the end of its fraction, if it is a number.
fn number(value: &str) -> &str {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
    if !is_number || !value.bytes().any(|byte| byte == b'.') {
        return value;
    }
    let short = value.trim_end_matches('0');
    short.strip_suffix('.').unwrap_or(short)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::{digest, is_json};
    use crate::mask::Masks;
    use crate::tables::{check, check_pairs, documents};

    /// A small document of objects, lists and few different values.
    fn document() -> impl Strategy<Value = Value> {
        let leaf =
            prop_oneof![(0..3_u8).prop_map(Value::from), "[a{},\\\\\"]{0,2}".prop_map(Value::from)];
        documents(leaf, "[ab][\":{]?", [3, 12, 3])
    }

    /// Collects the members of each object that has some, sorted by name. Of a nested object, only the name is left.
    fn own_members(json: &Value, found: &mut Vec<Vec<String>>) -> String {
        match json {
            Value::Array(elements) => {
                let own = elements.iter().map(|element| own_members(element, found));
                let own = own.filter(|own| !own.is_empty());
                format!("[{}]", own.collect::<Vec<_>>().join(","))
            }
            Value::Object(members) => {
                let mut own = Vec::new();
                for (name, value) in members {
                    let member =
                        format!("{}:{}", Value::from(name.as_str()), own_members(value, found));
                    own.push(member);
                }
                own.sort_unstable();
                if !own.is_empty() {
                    found.push(own);
                }
                String::new()
            }
            leaf => leaf.to_string(),
        }
    }

    /// The objects of `json`, as numbers that are equal where the objects are.
    fn hashes(json: &str) -> Vec<u64> {
        let mut found = Vec::new();
        digest(json, Masks::NONE.and(&[]), &mut |hash| found.push(hash));
        found
    }

    /// Writes `json` with its members in reverse order, and with white space between the tokens.
    fn respelled(json: &Value) -> String {
        let all = |parts: Vec<String>| parts.join(" ,\n");
        match json {
            Value::Array(elements) => {
                format!("[ {} ]", all(elements.iter().map(respelled).collect()))
            }
            Value::Object(members) => {
                let member = |(name, value): (&String, &Value)| {
                    format!("{} : {}", Value::from(name.as_str()), respelled(value))
                };
                format!("{{ {}\t}}", all(members.iter().rev().map(member).collect()))
            }
            Value::Number(number) => format!("{number}.00"),
            leaf => leaf.to_string(),
        }
    }

    proptest! {
        #[test]
        fn documents_have_equal_digests_if_they_mean_the_same(one in document(), other in document()) {
            let masker = Masks::NONE.and(&[]);
            let digest = |json: &str| digest(json, masker, &mut |_| {}).map(|it| (it.masked, it.raw));
            let is_container = |json: &Value| json.is_object() || json.is_array();
            prop_assume!(is_container(&one) && is_container(&other));
            prop_assert!(digest(&one.to_string()).is_some());
            prop_assert_eq!(digest(&respelled(&one)), digest(&one.to_string()), "{}", one);
            let is_equal = digest(&one.to_string()) == digest(&other.to_string());
            prop_assert_eq!(is_equal, one == other, "{} and {}", one, other);
        }

        #[test]
        fn a_document_that_is_cut_short_has_no_digest(json in document(), cut in 1..9_usize) {
            let text = json.to_string();
            let end = text.len().saturating_sub(cut);
            prop_assume!(json.is_object() && text.is_char_boundary(end));
            prop_assert_eq!(digest(&text[..end], Masks::ALL.and(&[]), &mut |_| {}), None);
        }
    }

    #[test]
    fn objects_are_compared_without_those_inside_of_them() {
        check_pairs("equal objects", |one, other| hashes(one) == hashes(other));
        check("a count of objects", |json| format!("{}", hashes(json).len()));
        let deep = |n: usize| r#"{"a":1,"b":"#.repeat(n) + "0" + &"}".repeat(n);
        assert_eq!([1, 15, 16, 200].map(|n| hashes(&deep(n)).len()), [1, 15, 15, 15]);
    }

    #[test]
    fn objects_and_text_differ_at_their_ends() {
        check("a document", |answer| format!("{}", is_json(answer)));
    }

    proptest! {
        #[test]
        fn objects_are_equal_as_a_parser_has_them(one in document(), other in document()) {
            let texts = [one.to_string(), other.to_string(), format!("{one} {other}")];
            let [first, second, both] = texts.map(|text| {
                let mut hashes = hashes(&text);
                hashes.sort_unstable();
                hashes
            });
            let [own, others] = [&one, &other].map(|json| {
                let mut found = Vec::new();
                own_members(json, &mut found);
                found.sort_unstable();
                found
            });
            prop_assert_eq!((first.len(), second.len()), (own.len(), others.len()), "{}", one);
            prop_assert_eq!(first == second, own == others, "{} and {}", one, other);
            prop_assert_eq!(both.len(), own.len() + others.len());
        }

        #[test]
        fn any_text_may_be_looked_at(text in any::<String>(), signs in "[\\[\\]{}\",: a\\\\]{0,90}") {
            for text in [text, signs] {
                let closing = text.matches('}').count();
                prop_assert!(hashes(&text).len() <= closing);
            }
        }
    }
}
