//! A reader for the members of a JSON object that needs no parser, to find a status or an error.

use core::iter::from_fn;

use crate::find;
use crate::lexer::{Lexer, Token};

/// The longest part of a text that is read, in bytes. Errors and states occur at the start.
const LOOK_MAX: usize = 4096;

/// The deepest member that is returned.
const DEPTH_MAX: usize = 4;

/// A member of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member<'t> {
    /// The number of brackets around it: 1 for a member of the outermost object.
    pub(crate) depth: usize,
    /// The name, without its quotes.
    pub(crate) name: &'t str,
    /// The raw text of the value.
    pub(crate) value: &'t str,
}

/// Returns the members of `json` in order. The members of a nested object follow the member that holds
/// it. Python's single quotes are accepted. Stops at the first text that is not JSON. O(n) of at most
/// 4096 bytes.
pub(crate) fn members(json: &str) -> impl Iterator<Item = Member<'_>> + Clone {
    whole_members(find::head(json, LOOK_MAX))
}

/// Like [`members`], but reads all of `json`. O(n · depth).
pub(crate) fn whole_members(json: &str) -> impl Iterator<Item = Member<'_>> + Clone {
    let is_object = json.starts_with(['{', '[']);
    let mut lexer = Lexer::lenient(if is_object { json } else { "" });
    let mut depth: usize = 0;
    from_fn(move || {
        loop {
            match lexer.next()?.1 {
                Token::Open(_) if depth == DEPTH_MAX => return None,
                Token::Open(_) => depth += 1,
                Token::Close(_) => depth = depth.saturating_sub(1),
                Token::Text(name) if lexer.skip_colon() => {
                    return Some(Member { depth, name, value: lexer.value() });
                }
                _ => {}
            }
        }
    })
}

/// Removes the quotes of a JSON string. Returns any other value unchanged.
pub(crate) fn unquoted(value: &str) -> &str {
    match Lexer::lenient(value).next() {
        Some((0, Token::Text(inner))) => inner,
        _ => value,
    }
}

/// Returns whether `value` is null, false, zero or empty.
pub(crate) fn is_void(value: &str) -> bool {
    const VOID: [&str; 6] = ["", "null", "none", "false", "undefined", "0"];
    let inner = unquoted(value).trim();
    let is_empty = |open, close| {
        let inside = inner.strip_prefix(open).and_then(|rest: &str| rest.strip_suffix(close));
        inside.is_some_and(|inside: &str| inside.trim().is_empty())
    };
    VOID.iter().any(|void| void.eq_ignore_ascii_case(inner))
        || is_empty('[', ']')
        || is_empty('{', '}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::{Member, is_void, members, unquoted};
    use crate::tables::{check, documents};

    #[test]
    fn members_are_read_with_their_depth() {
        check("members", |json| {
            let members = members(json).map(|Member { depth, name, value }| (depth, name, value));
            format!("{:?}", members.collect::<Vec<_>>())
        });
    }

    #[test]
    fn a_void_value_holds_nothing() {
        check("a void value", |value| format!("{}", is_void(value)));
    }

    /// A JSON value of any shape.
    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i32>().prop_map(Value::from),
            any::<String>().prop_map(Value::String),
        ];
        documents(leaf, "[a-z]{1,3}", [2, 16, 4])
    }

    proptest! {
        /// The oracle is a real parser.
        #[test]
        fn the_outermost_members_are_those_of_a_parser(value in values()) {
            let Value::Object(object) = value else { return Ok(()) };
            let json = Value::Object(object.clone()).to_string();
            prop_assume!(json.len() < 4000);
            let found: Vec<_> = members(&json).filter(|member| member.depth == 1).collect();
            prop_assert_eq!(found.len(), object.len());
            for (member, (name, value)) in found.iter().zip(&object) {
                prop_assert_eq!(member.name, name);
                prop_assert_eq!(member.value, value.to_string());
            }
        }

        #[test]
        fn any_text_is_read(text in any::<String>(), json in "[{\\[\"'a:,\\]}\\\\ ü]{0,64}") {
            for text in [text, json.clone(), format!("{{{json}")] {
                for member in members(&text) {
                    prop_assert!(text.contains(member.value) && text.contains(unquoted(member.value)));
                }
            }
        }
    }
}
