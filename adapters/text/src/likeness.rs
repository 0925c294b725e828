//! The members of arguments that say what a call is about, and those that only describe it.

use unstuck_core::{Digest, Tag};

use crate::command::{file_read, pattern, with_command};
use crate::list::List;
use crate::members::{members, unquoted};
use crate::phrases::texts;
use crate::tokens::Tokens;
use crate::words::lists;

lists! { "words/members.toml":
    Texts [CONTENTS DESCRIPTIONS LIMITS WAYS NOTES_OF_EDITS PATHS SEARCHED COMMANDS JOBS]
    List [PATTERNS]
}

/// The members that say what a call is about; the others only say how.
pub const PRIMARY_KEYS: [&str; 10] = texts![
    "path" "file_path" "command" "pattern" "query" "url" "content" "filename" "offset" "limit"
];

/// The members by which no two calls differ, in this order: two calls that differ only in these are similar.
const NOTES: [&str; CONTENTS.len() + DESCRIPTIONS.len() + LIMITS.len() + WAYS.len()] =
    joined(&[CONTENTS, DESCRIPTIONS, LIMITS, WAYS]);

/// Joins lists of `N` names in all.
const fn joined<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let (mut all, mut count, mut list) = ([""; N], 0, 0);
    while list < lists.len() {
        let mut n = 0;
        while n < lists[list].len() {
            all[count] = lists[list][n];
            (count, n) = (count + 1, n + 1);
        }
        list += 1;
    }
    all
}

/// Returns the names of members that describe or limit a call of the kind `tag`, and of those with whose change it is the
/// same call. A call that writes, and does not edit, is a command.
pub(crate) fn notes(tag: Tag, edits: bool) -> [&'static [&'static str]; 2] {
    let descriptions = CONTENTS.len() + DESCRIPTIONS.len();
    let (begin, end) = match tag {
        Tag::Write if edits => return [NOTES_OF_EDITS; 2],
        // An agent may look again and wait longer; a command that does not end in time is the same command.
        Tag::Read | Tag::Search => (0, descriptions),
        Tag::Shell | Tag::Test | Tag::Poll | Tag::Write => (0, descriptions + LIMITS.len()),
        _ => (CONTENTS.len(), descriptions),
    };
    [begin..NOTES.len(), begin..end].map(|range| NOTES.get(range).unwrap_or_default())
}

/// The share of its words, or of the letter pairs in its pattern, that makes a search like another, in percent. Those who
/// reword a question keep a part of it, and `foo` and `fo0` have a third of their pairs in common.
const SEARCH_PERCENT: u8 = 33;

/// Returns by what a call of the kind `tag` is compared with others, and which share in percent has to be equal: `percent`
/// of the words of its arguments, or of a search the letter pairs in its pattern. Searches of one folder have most of their
/// words in common, whatever they look for.
pub(crate) fn compared(tag: Tag, args: &str, percent: u8) -> (Tokens, u8) {
    // Two edits are never compared by their words.
    let [notes, _] = notes(tag, false);
    if tag != Tag::Search {
        return (Tokens::of(args, notes), percent);
    }
    let tokens = tokens_of_pattern(args).unwrap_or_else(|| Tokens::of(args, notes));
    (tokens, percent.min(SEARCH_PERCENT))
}

fn tokens_of_pattern(args: &str) -> Option<Tokens> {
    let member = members(args).find(|it| it.depth == 1 && PATTERNS.contains_in_any_case(it.name));
    match member {
        Some(member) => Some(Tokens::of_pattern(unquoted(member.value))),
        None => with_command(args, |command| pattern(command).map(Tokens::of_pattern)),
    }
}

/// Returns a digest of the file that a shell command reads, if the command does nothing else. All
/// such calls for one file are alike.
pub(crate) fn file(tag: Tag, args: &str) -> Option<Digest> {
    match tag {
        Tag::Shell => with_command(args, |command| {
            file_read(command).map(|file| Digest::of(file.as_bytes()).mix(Digest::of(b"file read")))
        }),
        _ => None,
    }
}
