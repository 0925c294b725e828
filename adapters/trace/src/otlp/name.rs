//! Names of sessions, agents and tools, in bounded memory.

use core::fmt::Write as _;

use serde_json::{Map, Value};

use super::dialect::Meaning;
use crate::pairing::digest;

/// The longest name of a session, an agent or a tool, in bytes. A longer one is cut and ends with a digest of
/// the whole, so that two long names stay different.
const NAME_MAX: usize = 256;

/// The length of a digest in hexadecimal digits, and of the mark before it.
const DIGEST: usize = 17;

/// Cuts the names in the meaning of a span.
pub(super) fn cut(meaning: &mut Meaning) {
    let Meaning { session, agent, call, asked, .. } = meaning;
    let of_tools = call.iter_mut().map(|call| &mut call.tool);
    let of_tools = of_tools.chain(asked.iter_mut().map(|asked| &mut asked.name));
    for name in session.iter_mut().chain(agent).chain(of_tools) {
        cut_name(name);
    }
}

/// Makes names of the attributes of a resource, and cuts them. All spans of the resource share them, so each span
/// would copy a long one.
pub fn cut_names(resource: &mut Map<String, Value>) {
    for value in resource.values_mut().filter(|value| !value.is_null()) {
        let mut name = match core::mem::take(value) {
            Value::String(name) => name,
            other => other.to_string(),
        };
        cut_name(&mut name);
        *value = Value::String(name);
    }
}

fn cut_name(name: &mut String) {
    if name.len() <= NAME_MAX {
        return;
    }
    let digest = digest(&*name);
    let end = (0..=NAME_MAX - DIGEST).rev().find(|end| name.is_char_boundary(*end));
    name.truncate(end.unwrap_or_default());
    // Writing to a string cannot fail.
    let _ = write!(name, "~{digest:016x}");
    name.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn attributes_of_a_resource_become_short_names() {
        let json = json!({"a": "b", "n": 5, "none": null, "list": [1], "long": "x".repeat(300)});
        let Value::Object(mut resource) = json else { return };
        cut_names(&mut resource);
        let long = resource.remove("long");
        assert!(long.as_ref().and_then(Value::as_str).is_some_and(|name| name.len() == NAME_MAX));
        assert_eq!(
            Value::Object(resource),
            json!({"a": "b", "n": "5", "none": null, "list": "[1]"})
        );
    }

    #[test]
    fn only_long_names_are_cut_and_they_stay_different() {
        let of = |letter: &str, count: usize, end: &str| letter.repeat(count) + end;
        let short = [of("a", NAME_MAX, ""), of("é", NAME_MAX / 2, ""), String::new()];
        for name in short {
            let mut cut = name.clone();
            cut_name(&mut cut);
            assert_eq!(cut, name);
        }
        let long = [
            of("a", NAME_MAX, "1"),
            of("a", NAME_MAX, "2"),
            of("a", 1 << 20, ""),
            of("é", NAME_MAX, "1"),
            of("é", NAME_MAX, "2"),
            of("😀", NAME_MAX, ""),
        ];
        let cut: BTreeSet<String> = long
            .iter()
            .map(|name| {
                let mut cut = name.clone();
                cut_name(&mut cut);
                assert!(cut.len() <= NAME_MAX && cut.len() > NAME_MAX - 4, "{cut}");
                assert!(name.starts_with(&cut[..200]), "{cut}");
                cut
            })
            .collect();
        assert_eq!(cut.len(), long.len());
    }
}
