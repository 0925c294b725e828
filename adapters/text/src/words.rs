//! Searches for words and phrases in short texts, ignoring ASCII case.

use memchr::memchr2;

use crate::find;

/// Returns the rest of `text` behind `phrase`, if `text` starts with it.
pub(crate) fn after<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(phrase.len())?;
    start.eq_ignore_ascii_case(phrase).then_some(rest)
}

/// Returns the part of `text` before `phrase`, if `text` ends with it.
pub(crate) fn before<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    let (rest, end) = text.split_at_checked(text.len().checked_sub(phrase.len())?)?;
    end.eq_ignore_ascii_case(phrase).then_some(rest)
}

/// Splits `text` at the first `phrase`. O(n) for a `phrase` of a few words.
pub(crate) fn around<'t>(text: &'t str, phrase: &str) -> Option<(&'t str, &'t str)> {
    let (bytes, phrase) = (text.as_bytes(), phrase.as_bytes());
    // Most texts have more spaces than any letter.
    let ahead = usize::from(phrase.len() > 1 && phrase.first() == Some(&b' '));
    let letter = phrase.get(ahead)?;
    let (lower, upper) = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
    let mut from = ahead;
    loop {
        let found = from.checked_add(memchr2(lower, upper, bytes.get(from..)?)?)?;
        let at = found.checked_sub(ahead)?;
        let end = at.checked_add(phrase.len())?;
        if bytes.get(at..end)?.eq_ignore_ascii_case(phrase) {
            return Some((text.get(..at)?, text.get(end..)?));
        }
        from = found.checked_add(1)?;
    }
}

/// Returns whether `text` contains `phrase`.
pub(crate) fn has(text: &str, phrase: &str) -> bool {
    around(text, phrase).is_some()
}

/// Returns whether `text` begins with one of `phrases`.
pub(crate) fn starts_with_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| opens_alike(text, phrase) && after(text, phrase).is_some())
}

/// Returns whether both texts start with the same letter, or both are empty. Most phrases fail here.
#[inline]
fn opens_alike(one: &str, two: &str) -> bool {
    match (one.as_bytes().first(), two.as_bytes().first()) {
        (Some(one), Some(two)) => one.eq_ignore_ascii_case(two),
        (one, two) => one.is_none() && two.is_none(),
    }
}

/// Returns whether `text` ends with one of `phrases`.
pub(crate) fn ends_with_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| before(text, phrase).is_some())
}

/// Returns whether `text` contains one of `phrases`.
pub(crate) fn has_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| has(text, phrase))
}

/// Returns whether `word` is one of `words`.
pub(crate) fn is_any(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Returns the part of `text` before the first space.
pub(crate) fn first_word(text: &str) -> &str {
    find::split_once(text, " ").map_or(text, |(word, _)| word)
}

/// Returns the words of `text`: runs of letters, digits, and the apostrophe.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|c: char| !(is_alphanumeric(c) || c == '\'')).filter(|word| !word.is_empty())
}

/// Returns whether `c` is a letter or a digit. Beyond ASCII, every character counts that is not in a
/// block of punctuation, arrows, boxes or pictures: a search in Unicode's own tables brings panics into
/// the program.
pub(crate) fn is_alphanumeric(c: char) -> bool {
    match c {
        '\0'..'\u{80}' => c.is_ascii_alphanumeric(),
        '\u{80}'..'\u{c0}' | '\u{d7}' | '\u{f7}' => matches!(c, 'ª' | 'µ' | 'º'),
        '\u{2000}'..'\u{2c00}'
        | '\u{3000}'..'\u{3005}'
        | '\u{3008}'..'\u{3021}'
        | '\u{e000}'..'\u{f900}'
        | '\u{fe00}'..'\u{fe70}'
        | '\u{ff00}'..'\u{ff10}'
        | '\u{ff1a}'..'\u{ff21}'
        | '\u{1f000}'..'\u{1fb00}' => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::String;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::{after, around, before, has, is_alphanumeric, is_any, words};

    /// The exceptions are few: letters in blocks of signs and in rare scripts, and, the other way round,
    /// combining marks and signs inside the blocks of a script.
    #[test]
    fn letters_and_digits_are_nearly_those_of_unicode() {
        for c in (0..0x80).map(char::from) {
            assert_eq!(is_alphanumeric(c), c.is_ascii_alphanumeric(), "{c:?}");
        }
        let (mut all, mut missed) = (0, 0);
        for c in '\u{80}'..char::MAX {
            all += u32::from(c.is_alphanumeric());
            missed += u32::from(c.is_alphanumeric() && !is_alphanumeric(c));
        }
        assert!(all > 130_000 && missed < 1_500, "{missed} of {all}");
        for c in "ßéñøœΩЖяקعअกあア字한１".chars() {
            assert!(is_alphanumeric(c), "{c:?}");
        }
        for c in "«»·×÷–—‘’“”…•→⇒✓✗█│└─★、。「」！：（🚀❌✅".chars()
        {
            assert!(!is_alphanumeric(c), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn phrases_are_found_as_in_the_text_in_lower_case(
            text in "[aAbBü ]{0,12}",
            phrase in "[abü ]{1,3}",
        ) {
            let lower: String = text.to_ascii_lowercase();
            prop_assert_eq!(has(&text, &phrase), lower.contains(&phrase));
            prop_assert_eq!(after(&text, &phrase).is_some(), lower.starts_with(&phrase));
            prop_assert_eq!(before(&text, &phrase).is_some(), lower.ends_with(&phrase));
            let lengths = |(a, b): (&str, &str)| (a.len(), b.len());
            prop_assert_eq!(
                around(&text, &phrase).map(lengths),
                lower.split_once(&phrase).map(lengths)
            );
        }
    }

    #[test]
    fn words_are_runs_of_letters() {
        assert_eq!(
            words("It's in_progress: 3/4.").collect::<Vec<_>>(),
            ["It's", "in", "progress", "3", "4"]
        );
        assert!(is_any("OK", &["ok"]) && !is_any("okay", &["ok"]));
    }
}
