//! Text searches without panics. The compiler cannot prove that the searches in `core` never panic, and
//! their search for long needles adds a kilobyte of code that nothing here needs.

use core::iter::from_fn;

use memchr::{memchr, memrchr};

/// Returns `text` without white space at its ends, like [`str::trim`]. It puts no characters together, unless one beyond
/// ASCII or a control stands at an end.
pub(crate) fn trim(text: &str) -> &str {
    let trimmed = text.trim_ascii();
    match trimmed.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => trimmed,
        _ => trimmed.trim(),
    }
}

/// Returns whether `text` contains `needle`.
pub(crate) fn contains(text: &str, needle: &str) -> bool {
    position(text, needle).is_some()
}

/// Splits `text` at the first `needle`.
pub(crate) fn split_once<'t>(text: &'t str, needle: &str) -> Option<(&'t str, &'t str)> {
    around(text, position(text, needle)?, needle)
}

/// Splits `text` at the last `needle`.
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

/// Splits `text` at every `needle`.
pub(crate) fn split<'t>(text: &'t str, needle: &'t str) -> impl Iterator<Item = &'t str> + Clone {
    let mut left = Some(text);
    from_fn(move || {
        let text = left?;
        let (part, rest) = split_once(text, needle).map_or((text, None), |(a, b)| (a, Some(b)));
        left = rest;
        Some(part)
    })
}

/// Splits `text` behind every `needle`. The last part is left out if it is empty.
pub(crate) fn split_terminator<'t>(
    text: &'t str,
    needle: &'t str,
) -> impl Iterator<Item = &'t str> + Clone {
    ended(text, needle).map(|(part, _)| part)
}

/// Returns the lines of `text`, like [`str::lines`].
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> + Clone {
    ended(text, "\n").map(|(line, is_ended)| {
        let end = if is_ended { line.strip_suffix('\r') } else { None };
        end.unwrap_or(line)
    })
}

/// Returns the parts of `text`, and whether a `needle` follows each.
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

/// Returns the lines of `text` in reverse order.
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

/// Returns the characters in the first `length` bytes of `text`.
pub(crate) fn head(text: &str, length: usize) -> &str {
    (0..4).find_map(|less| text.get(..length.checked_sub(less)?)).unwrap_or(text)
}

/// Returns less than eight bytes as a number, the first one lowest. Each byte may be read twice.
#[inline]
pub(crate) fn few(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let [first, last] = [first, last].map(|four| u64::from(u32::from_le_bytes(*four)));
        return first | last << (8 * (bytes.len() - 4));
    }
    bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
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

/// Splits `text` at the `needle` that starts at `at`.
fn around<'t>(text: &'t str, at: usize, needle: &str) -> Option<(&'t str, &'t str)> {
    Some((text.get(..at)?, text.get(at + needle.len()..)?))
}

#[cfg(test)]
mod tests {
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
