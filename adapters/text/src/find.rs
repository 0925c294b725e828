//! Searches in texts, by code in which nothing can panic: in what `core` has for it the compiler
//! does not see that, and its search for long needles is a kilobyte of code that no line here needs.

use core::iter::from_fn;

use memchr::{memchr, memrchr};

/// Whether `needle` stands in `text`.
pub(crate) fn contains(text: &str, needle: &str) -> bool {
    position(text, needle).is_some()
}

/// What stands before and behind the first `needle` in `text`.
pub(crate) fn split_once<'t>(text: &'t str, needle: &str) -> Option<(&'t str, &'t str)> {
    around(text, position(text, needle)?, needle)
}

/// What stands before and behind the last `needle` in `text`.
pub(crate) fn rsplit_once<'t>(text: &'t str, needle: &str) -> Option<(&'t str, &'t str)> {
    let (first, rest) = needle.as_bytes().split_first()?;
    let bytes = text.as_bytes();
    let mut end = bytes.len();
    loop {
        let at = memrchr(*first, bytes.get(..end)?)?;
        if bytes.get(at + 1..)?.starts_with(rest) {
            return around(text, at, needle);
        }
        end = at;
    }
}

/// The parts of `text` between every `needle` and the next.
pub(crate) fn split<'t>(text: &'t str, needle: &'t str) -> impl Iterator<Item = &'t str> + Clone {
    let mut left = Some(text);
    from_fn(move || {
        let text = left?;
        let (part, rest) = split_once(text, needle).map_or((text, None), |(a, b)| (a, Some(b)));
        left = rest;
        Some(part)
    })
}

/// The parts of `text` before every `needle`, and what is behind the last, if anything is.
pub(crate) fn split_terminator<'t>(
    text: &'t str,
    needle: &'t str,
) -> impl Iterator<Item = &'t str> + Clone {
    ended(text, needle).map(|(part, _)| part)
}

/// The lines of `text`, as [`str::lines`] has them.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> + Clone {
    ended(text, "\n").map(|(line, is_ended)| {
        let end = if is_ended { line.strip_suffix('\r') } else { None };
        end.unwrap_or(line)
    })
}

/// The parts of `text`, and whether `needle` stands behind each.
fn ended<'t>(text: &'t str, needle: &'t str) -> impl Iterator<Item = (&'t str, bool)> + Clone {
    let mut left = text;
    from_fn(move || {
        let cut = split_once(left, needle);
        let (part, rest) = cut.unwrap_or((left, ""));
        let is_some = cut.is_some() || !left.is_empty();
        left = rest;
        is_some.then_some((part, cut.is_some()))
    })
}

/// The same, the last first.
pub(crate) fn lines_back(text: &str) -> impl Iterator<Item = &str> + Clone {
    let mut left = Some(text).filter(|text| !text.is_empty());
    from_fn(move || {
        let text = left?;
        let line = match text.strip_suffix('\n') {
            Some(line) => line.strip_suffix('\r').unwrap_or(line),
            None => text,
        };
        let start = memrchr(b'\n', line.as_bytes()).map_or(0, |at| at + 1);
        left = line.get(..start).filter(|rest| !rest.is_empty());
        line.get(start..)
    })
}

fn position(text: &str, needle: &str) -> Option<usize> {
    let (first, rest) = needle.as_bytes().split_first()?;
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = from + memchr(*first, bytes.get(from..)?)?;
        from = at + 1;
        if bytes.get(from..)?.starts_with(rest) {
            return Some(at);
        }
    }
}

/// What stands before and behind the `needle` at `at`.
fn around<'t>(text: &'t str, at: usize, needle: &str) -> Option<(&'t str, &'t str)> {
    Some((text.get(..at)?, text.get(at + needle.len()..)?))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::String;
    use std::vec::Vec;

    use proptest::prelude::*;
    use proptest::sample::select;

    const NEEDLES: [&str; 7] = ["a", "ab", "aab", "\n", ": ", "ä", "aä"];

    fn texts() -> impl Strategy<Value = String> {
        proptest::collection::vec(select(&["a", "b", "\n", "\r", ":", " ", "ä"][..]), 0..24)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn every_search_finds_what_that_of_core_does(text in texts(), needle in select(&NEEDLES[..])) {
            prop_assert_eq!(super::contains(&text, needle), text.contains(needle));
            prop_assert_eq!(super::split_once(&text, needle), text.split_once(needle));
            prop_assert_eq!(super::rsplit_once(&text, needle), text.rsplit_once(needle));
            let parts: Vec<_> = super::split(&text, needle).collect();
            prop_assert_eq!(parts, text.split(needle).collect::<Vec<_>>());
            let parts: Vec<_> = super::split_terminator(&text, needle).collect();
            prop_assert_eq!(parts, text.split_terminator(needle).collect::<Vec<_>>());
            let lines: Vec<_> = super::lines(&text).collect();
            prop_assert_eq!(lines, text.lines().collect::<Vec<_>>());
            let lines: Vec<_> = super::lines_back(&text).collect();
            prop_assert_eq!(lines, text.lines().rev().collect::<Vec<_>>());
        }
    }
}
