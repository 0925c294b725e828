//! The effect of a tool by the words in its name.

use unstuck_core::Tag;

use crate::find;
use crate::list::{List, Word};
use crate::words::lists;

/// The most words of a name that are looked at.
const WORDS_MAX: usize = 8;

/// The effect of a tool by its name, and whether an equal answer proves that repeating a call does
/// not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) tag: Tag,
    pub(crate) idempotent: bool,
}

/// Returns the last segment of a name with a path, for example without the server:
/// `mcp__ci__get_status` is `get_status`, and `functions.exec` is `exec`.
pub(crate) fn last_segment(name: &str) -> &str {
    let name = find::rsplit_once(name, "__").map_or(name, |(_, last)| last);
    let cut = name.bytes().rposition(|byte| matches!(byte, b'.' | b'/' | b':'));
    cut.and_then(|at| name.get(at + 1..)).filter(|last| !last.is_empty()).unwrap_or(name)
}

/// Returns the effect of the tool called `name`. O(length of `name`).
pub(crate) fn named(name: &str) -> Named {
    let mut words = [""; WORDS_MAX];
    let count = split(last_segment(name), &mut words);
    let words = words.map(Word::new);
    let words = words.get(..count).unwrap_or(&words);
    let has = |list: &List| words.iter().any(|word| word.is_in_any_case(list));
    let has_word = |one: &str| words.iter().any(|word| word.text.eq_ignore_ascii_case(one));
    let verb = words.iter().find_map(verb);
    let changes = matches!(verb, Some(Verb::Writes | Verb::Sets | Verb::Acts));
    let ends_with = |list: &List| words.last().is_some_and(|word| word.is_in_any_case(list));
    let (tag, idempotent) = match verb {
        _ if has(&PLANS) => (Tag::Think, false),
        _ if has(&NEXT) || ends_with(&CLOCKS) => (Tag::Act, false),
        _ if has(&WAITS) && !changes => (Tag::Poll, false),
        _ if has(&STATES) && !changes && !has_word("git") => (Tag::Poll, false),
        _ if has(&TASKS) && has(&OUTPUTS) && !changes => (Tag::Poll, false),
        _ if has(&TESTS) && has(&RUNS) => (Tag::Test, false),
        _ if has(&PICTURES) && (!changes || has_word("take")) => (Tag::Read, false),
        None if has(&RECEIVES) => (Tag::Read, false),
        Some(Verb::Reads) if has_word("and") => (Tag::Act, false),
        Some(Verb::Reads) => (Tag::Read, true),
        Some(Verb::Searches) => (Tag::Search, true),
        Some(Verb::Asks) => (Tag::Search, false),
        Some(Verb::Sets) if has(&CELLS) => (Tag::Write, false),
        Some(Verb::Sets) => (Tag::Write, true),
        Some(Verb::Writes) if has_word("create") && has(&FOLDERS) => (Tag::Write, true),
        Some(Verb::Writes) => (Tag::Write, false),
        Some(Verb::Acts) => (Tag::Act, false),
        None => (Tag::Other, false),
    };
    Named { tag, idempotent }
}

/// The effects of verbs.
#[derive(Clone, Copy)]
enum Verb {
    Reads,
    Searches,
    /// Asks something that need not only read, such as a database.
    Asks,
    /// Writes, and doing it again changes nothing more.
    Sets,
    Writes,
    Acts,
}

fn verb(word: &Word<'_>) -> Option<Verb> {
    [
        (Verb::Reads, &READS),
        (Verb::Searches, &SEARCHES),
        (Verb::Asks, &ASKS),
        (Verb::Sets, &SETS),
        (Verb::Writes, &WRITES),
        (Verb::Acts, &ACTS),
    ]
    .into_iter()
    .find_map(|(verb, list)| word.is_in_any_case(list).then_some(verb))
}

lists! { "words/names.toml":
    List [READS SEARCHES RECEIVES ASKS SETS WRITES FOLDERS CELLS ACTS NEXT CLOCKS WAITS STATES
        TASKS OUTPUTS PICTURES PLANS TESTS RUNS]
}

/// Splits `name` into words, at signs, digits and changes of case; returns how many there are.
fn split<'n>(name: &'n str, words: &mut [&'n str; WORDS_MAX]) -> usize {
    let (mut count, mut start) = (0, 0);
    let mut ahead = name.bytes();
    let (mut before, mut here) = (0_u8, ahead.next().unwrap_or(0));
    for at in 0..=name.len() {
        let next = ahead.next().unwrap_or(0);
        let is_letter = here.is_ascii_alphabetic() || here >= 0x80;
        let is_hump = here.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_uppercase() && next.is_ascii_lowercase());
        (before, here) = (here, next);
        if is_letter && !is_hump {
            continue;
        }
        if let Some(word) = name.get(start..at).filter(|word| !word.is_empty())
            && let Some(place) = words.get_mut(count)
        {
            (*place, count) = (word, count + 1);
        }
        start = if is_letter { at } else { at + 1 };
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Named, WORDS_MAX, named, split};
    use crate::tables::{check, kind, kinds};

    fn words(name: &str) -> Vec<&str> {
        let mut words = [""; WORDS_MAX];
        let count = split(name, &mut words);
        words[..count].to_vec()
    }

    #[test]
    fn a_name_is_split_at_signs_and_humps() {
        check("the words of a name", |name| format!("{:?}", words(name)));
    }

    #[test]
    fn a_tool_is_known_by_the_words_of_its_name() {
        for (expected, tools) in kinds(include_str!("names.txt")) {
            for tool in tools.split(' ') {
                let Named { tag, idempotent } = named(tool);
                assert_eq!(kind(tag, idempotent), expected, "{tool}");
            }
        }
        assert_eq!(named(""), named("deploy"));
    }

    proptest! {
        #[test]
        fn a_servers_name_changes_nothing(name in "[a-z]{1,6}(_[a-z]{1,6}){0,3}", server in "[a-z]{1,8}") {
            prop_assert_eq!(named(&format!("mcp__{server}__{name}")), named(&name));
            prop_assert_eq!(named(&format!("{server}.{name}")), named(&name));
        }

        #[test]
        fn any_name_has_words(name in "\\PC{0,30}") {
            prop_assert!(words(&name).iter().all(|word| !word.is_empty() && name.contains(word)));
            let _ = named(&name);
        }
    }
}
