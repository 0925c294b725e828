//! Signatures of failures: a complaint without the things that it names.
//!
//! The names of missing programs and packages stay, because the next missing one is another problem. A
//! failure without content ("exit code 1") has no signature.

use unstuck_core::Digest;

use crate::find;
use crate::phrases::{Phrases, is_alphanumeric};
use crate::words::complaint::{CONTENTLESS, MISSING, REPEATED, REPEATING, REPEATS};

/// The number of words of a complaint that are read. Later words name more things.
const WORDS_MAX: usize = 24;

/// The longest word of which every letter counts, in bytes.
const WORD_MAX: usize = 24;

/// The smallest number of words with content that make a signature.
const CONTENT_MIN: usize = 2;

/// Returns the digests of `complaint`. Case does not matter. O(length of `complaint`).
pub(crate) fn signature(complaint: &str) -> Signature {
    let keeps = MISSING.iter().any(|words| find::contains(complaint, words));
    let (mut class, mut cause) = (Digest::new(0), Digest::new(0));
    let (mut content, mut in_class, mut in_cause) = (0_usize, Run::default(), Run::default());
    let [before, own, behind] = if keeps { [complaint, "", ""] } else { repeated(complaint) };
    let is_repeated = !own.is_empty();
    let parts = [(before, !is_repeated), (own, true), (behind, false)];
    let tokens =
        parts.into_iter().flat_map(|(part, is_own)| Tokens(part).map(move |it| (it, is_own)));
    for (place, ((part, is_thing), is_own)) in tokens.take(WORDS_MAX).enumerate() {
        let is_word = !is_thing && is_own && (place == 0 || !is_named(part));
        let text = if is_thing { part } else { trimmed(part) };
        if is_word {
            // The name of an exception says more than other words.
            content += usize::from(has_content(text)) + usize::from(is_exception(text));
        }
        let word = lower_case(text);
        let counts = is_word || !is_numbered(text);
        in_cause.add(&mut cause, counts, word);
        in_class.add(&mut class, is_word || keeps && counts, word);
    }
    let has_class = keeps || is_repeated || content >= CONTENT_MIN;
    Signature { class: has_class.then_some(class), cause }
}

/// Splits `complaint` around the words of the tool, if it repeats before or behind them what the call gave it. Otherwise
/// all stands in the first part.
fn repeated(complaint: &str) -> [&str; 3] {
    let first =
        |phrases: &Phrases| phrases.splits(complaint).min_by_key(|(before, _)| before.len());
    if !REPEATS.may_be_in(complaint.as_bytes()) {
        return [complaint, "", ""];
    }
    match (first(&REPEATING), first(&REPEATED)) {
        (Some((_, behind)), _) => ["", complaint.strip_suffix(behind).unwrap_or(complaint), behind],
        (None, Some((before, _))) => {
            [before, complaint.strip_prefix(before).unwrap_or(complaint), ""]
        }
        (None, None) => [complaint, "", ""],
    }
}

/// The digests of a complaint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// The class of the error: its words, with one mark for each row of numbers, quoted texts, paths and identifiers.
    /// `None` if hardly a word is left, for example of "Error: exit code 1".
    pub(crate) class: Option<Digest>,
    /// The complaint with the things that it names, but without numbers.
    pub(crate) cause: Digest,
}

/// A row of words that do not count, of which one mark is left.
#[derive(Default)]
struct Run {
    is_marked: bool,
}

impl Run {
    /// Adds a word to `digest`, or a mark if it does not count and none was added for the word before it.
    fn add(&mut self, digest: &mut Digest, counts: bool, word: Digest) {
        if counts {
            *digest = digest.mix(word);
        } else if !self.is_marked {
            *digest = digest.mix(Digest::new(1));
        }
        self.is_marked = !counts;
    }
}

/// The remaining parts of a complaint, each with whether it is a number, a quoted text, a path or an identifier.
struct Tokens<'t>(&'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = (&'t str, bool);

    fn next(&mut self) -> Option<(&'t str, bool)> {
        loop {
            let text = self.0.trim_start();
            let first = text.chars().next()?;
            if let Some((inner, behind)) = quoted(text, first) {
                self.0 = behind;
                return Some((inner, true));
            }
            let end = text.find(char::is_whitespace).unwrap_or(text.len());
            let (word, rest) = text.split_at_checked(end)?;
            self.0 = rest;
            let inner = trimmed(word);
            if inner.is_empty() {
                // Punctuation by itself.
                continue;
            }
            return Some(if is_thing(inner) { (inner, true) } else { (word, false) });
        }
    }
}

/// Splits the quoted text at the start of `text`, which begins with `first`, from the rest.
fn quoted(text: &str, first: char) -> Option<(&str, &str)> {
    let close = match first {
        '"' | '\'' | '`' => first,
        '[' => ']',
        '‘' => '’',
        '“' => '”',
        _ => return None,
    };
    let inner = text.get(first.len_utf8()..)?;
    let (end, _) = inner.char_indices().find(|(_, c)| *c == close)?;
    let (inner, behind) = inner.split_at_checked(end)?;
    Some((inner, behind.strip_prefix(close)?))
}

/// Returns whether `text` contains a digit.
fn is_numbered(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Removes the punctuation around `word`.
fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| c.is_ascii_punctuation() && !matches!(c, '/' | '\\' | '$' | '~'))
}

/// Returns whether `word` is a name: it has a digit, a sign that words lack, or an inner capital.
fn is_thing(word: &str) -> bool {
    if is_exception(word) {
        return false;
    }
    let has_sign = word.bytes().any(|byte| {
        byte.is_ascii_digit() || matches!(byte, b'/' | b'\\' | b'_' | b'=' | b'@' | b'$' | b'*')
    });
    has_sign
        || word.contains(['.', ':', '(', '[', '{', '<', '"', '\'']) && !is_contraction(word)
        || {
            // ASCII only: for the linker, a search in the tables of Unicode can panic.
            let mut letters = word.bytes().zip(word.bytes().skip(1));
            letters.any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase())
        }
}

/// Returns whether `word` has an apostrophe between letters, such as "don't".
fn is_contraction(word: &str) -> bool {
    word.chars().all(|c| is_alphanumeric(c) && !c.is_ascii_digit() || c == '\'')
}

/// Returns whether `word` is the name of an exception, such as `ValueError`.
fn is_exception(word: &str) -> bool {
    let is_type = |ending: &str| word.len() > ending.len() && word.ends_with(ending);
    (is_type("Error") || is_type("Exception")) && word.chars().all(is_alphanumeric)
}

/// Returns whether `word`, which is not the first, precedes a colon and is described behind it.
fn is_named(word: &str) -> bool {
    word.ends_with(':') && !is_exception(trimmed(word)) && has_content(trimmed(word))
}

/// Returns whether `word` has content.
fn has_content(word: &str) -> bool {
    word.len() > 2 && !CONTENTLESS.contains_in_any_case(word)
}

/// Returns whether `text` only says that something failed, without a word with content.
pub(crate) fn is_generic(text: &str) -> bool {
    let is_generic = |word: &str| {
        let word = word.trim_matches(|c: char| !is_alphanumeric(c));
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        is_number || CONTENTLESS.contains_in_any_case(word)
    };
    text.split_whitespace().all(is_generic)
}

/// Returns the hash of `word`, ignoring ASCII case.
fn lower_case(word: &str) -> Digest {
    let mut letters = [0; WORD_MAX];
    let length = word.len().min(WORD_MAX);
    for (letter, byte) in letters.iter_mut().zip(word.bytes()) {
        *letter = byte.to_ascii_lowercase();
    }
    Digest::of(letters.get(..length).unwrap_or(&letters))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::is_numbered;
    use crate::tables::check;

    fn signature(complaint: &str) -> Option<super::Digest> {
        super::signature(complaint).class
    }

    fn cause(complaint: &str) -> super::Digest {
        super::signature(complaint).cause
    }

    proptest! {
        #[test]
        fn what_a_complaint_names_is_no_part_of_its_signature(
            (number, other) in ("[0-9]{1,9}", "[0-9]{1,9}"),
            (quoted, requoted) in ("'[a-z ]{0,20}'", "('[a-z/ .]{0,20}'|\"[A-Z' ]{0,20}\"|`[a-z]{1,9}`)"),
            (path, another) in ("(/[a-z]{1,8}){1,4}", "[a-z]{1,8}(/[a-z]{1,8}){1,4}\\.[a-z]{1,3}"),
        ) {
            let complaint = |number: &str, quoted: &str, path: &str| {
                [
                    format!("ValueError: could not parse line {number} of {path}: no column {quoted}"),
                    format!("cp: cannot stat {quoted}: No such file or directory"),
                    format!("cat: {path}: Permission denied"),
                    format!("Error: timed out waiting for {quoted} after {number} seconds"),
                    format!("{path}:{number}: undefined reference to {quoted}"),
                    format!("error: order {number} was rejected by the broker"),
                ]
            };
            let first = complaint(&number, &quoted, &path);
            let second = complaint(&other, &requoted, &another);
            for (a, b) in first.iter().zip(&second) {
                prop_assert!(signature(a).is_some(), "{}", a);
                prop_assert_eq!(signature(a), signature(b), "{} and {}", a, b);
            }
        }

        #[test]
        fn a_cause_keeps_what_is_named_and_no_numbers(
            (number, other) in ("[0-9]{1,9}", "[0-9]{1,9}"),
            (name, another) in ("[a-z]{1,9}", "[a-z]{1,9}"),
        ) {
            let complaint = |number: &str, name: &str| {
                cause(&format!("open: /srv/{name}: No such file or directory after {number} tries"))
            };
            prop_assert_eq!(complaint(&number, &name), complaint(&other, &name));
            let is_same = complaint(&number, &name) == complaint(&number, &another);
            prop_assert_eq!(is_same, name == another);
        }

        #[test]
        fn any_text_has_a_signature_or_none(text in ".{0,200}") {
            prop_assert_eq!(signature(&text), signature(&text.clone()));
            prop_assert_eq!(signature(&format!("  {text}  ")), signature(&text));
        }
    }

    /// In the file, an empty line stands between classes.
    #[test]
    fn each_class_of_errors_has_a_signature_of_its_own() {
        let mut seen = Vec::new();
        for group in include_str!("signature.txt").split("\n\n") {
            let lines: Vec<_> = group.lines().collect();
            let first = signature(lines[0]);
            assert!(first.is_some() && !seen.contains(&first), "{group}");
            seen.push(first);
            for line in lines.iter().copied() {
                assert_eq!(signature(line), first, "{line}");
                let named = |line: &'static str| line.split(' ').filter(|it| !is_numbered(it));
                let is_same = named(line).eq(named(lines[0]));
                assert_eq!(cause(line) == cause(lines[0]), is_same, "{line}");
            }
        }
    }

    #[test]
    fn a_complaint_without_content_has_none() {
        check("a complaint without content", |line| format!("{:?}", signature(line)));
    }
}
