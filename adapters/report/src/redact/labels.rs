//! Finds members whose secret is named by a member beside them.

use std::ops::Range;

use super::names::{Kind, Name, Words, is_strong, kind_of};
use super::pattern::Part::{self, Ahead, Lines, Not, Run, Secret, Spaces, Text, Value};
use super::pattern::{AHEAD, Class, DOTTED, MARKS, Place, SIGN, WORD};
use super::symbol::Symbol;
use super::values::Form;

/// Names of members whose value names the secret that a member beside it holds.
const LABELS: &[&str] = &texts![
    "name" "key" "field" "label" "id" "element" "selector" "placeholder" "target" "locator"
    "variable" "header" "param" "option" "env" "type"
];

/// Names of members that hold the secret.
const CONTENTS: &[&str] = &["value", "text", "content", "val", "input", "keys", "data"];

const QUOTED: Class = |byte| !MARKS(byte) && byte != b'\n';

/// The value of a member, in quotation marks or not.
const LABEL: [&[Part]; 2] = [
    &[
        Spaces(0),
        Run(SIGN, 1, 1),
        Spaces(0),
        Run(MARKS, 1, AHEAD),
        Secret,
        Run(QUOTED, 1, AHEAD),
        Ahead(Symbol::quotes),
    ],
    &[
        Spaces(0),
        Run(SIGN, 1, 1),
        Spaces(0),
        Secret,
        Run(DOTTED, 1, AHEAD),
        Not(MARKS),
        Ahead(Symbol::is_space),
    ],
];

/// The name of the next member, as a secret.
const OTHER: &[Part] = &[
    Spaces(0),
    Run(SIGN, 1, 1),
    Spaces(0),
    Run(MARKS, 1, AHEAD),
    Run(QUOTED, 0, AHEAD),
    Run(MARKS, 1, AHEAD),
    Text(","),
    Lines,
    Run(MARKS, 1, AHEAD),
    Secret,
    Run(WORD, 1, AHEAD),
];

/// The rest of an element behind its attribute: a quotation mark, `>`, and the secret.
const AFTER_TAG: &[Part] = &[Run(MARKS, 1, 1), Text(">"), Value(Form::Content)];

/// Returns whether a member of this name holds the secret.
pub(super) fn is_content(name: &Name) -> bool {
    name.is_any(CONTENTS)
}

/// Returns the place of the value of `name` if it says that a member beside it holds a secret.
pub(super) fn label(text: &str, name: &Name) -> Option<Range<usize>> {
    if !name.is_any(LABELS) {
        return None;
    }
    let place = Place::after(text, name, Kind::Strong);
    let label = place.first(LABEL)?;
    labels_secret(name, &text[label.clone()]).then_some(label)
}

/// Returns whether the member after `name` says that `name` holds a secret.
pub(super) fn is_labelled_later(text: &str, name: &Name) -> bool {
    let other = Place::after(text, name, Kind::Strong).first([OTHER]);
    let other = other.and_then(|other| Name::at(text, other.start, usize::MAX, None));
    other.is_some_and(|other| label(text, &other).is_some())
}

/// Returns the contents of the element whose tag ends after the attribute `label`.
pub(super) fn element(text: &str, label: &Range<usize>) -> Option<Range<usize>> {
    Place::at(text, label.end, None).first([AFTER_TAG])
}

/// Returns whether the value `label` of the member `name` says that a member beside it holds a secret.
fn labels_secret(name: &Name, label: &str) -> bool {
    let words = Words::of(label);
    let words: Vec<&str> = words.trim_end().split(' ').collect();
    if name.is_any(&["element", "selector", "label", "placeholder", "target", "locator", "field"]) {
        return words.iter().any(|word| is_strong(word));
    }
    if name.is("type") {
        return matches!(words[..], ["password"]);
    }
    let is_name = label.chars().all(|c| c.is_alphanumeric() || "_-. ".contains(c));
    let kind = if is_name { kind_of(&words) } else { None };
    // A verb begins the name of a tool, for example `get_token`.
    let is_tool = matches!(
        words[..],
        ["get" | "read" | "create" | "list" | "fetch" | "refresh" | "rotate", ..]
    );
    matches!(kind, Some(Kind::Strong | Kind::Token | Kind::Header)) && !is_tool
}
