//! Texts for the columns of a terminal: the parts of a line around some places, and ages.

use std::ops::Range;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};
use unstuck_report::shown::counted;

/// Describes the time from `then` to `now`, both in milliseconds since 1970.
pub(crate) fn ago(now: u64, then: u64) -> String {
    match now.saturating_sub(then) / 1000 {
        0..10 => "just now".to_owned(),
        s @ 10..60 => format!("{s} s ago"),
        s @ 60..3600 => format!("{} min ago", s / 60),
        s @ 3600..86_400 => format!("{} h ago", s / 3600),
        s => format!("{} ago", counted(usize::try_from(s / 86_400).unwrap_or(usize::MAX), "day")),
    }
}

/// Returns `text` in at most `columns`: its beginning and the parts around the bytes `places`, which are in
/// order, with an ellipsis for each part that was left out.
pub(crate) fn shortened_around(text: &str, places: &[usize], columns: usize) -> String {
    let parts = parts_around(text, places, columns);
    let mut shown = String::new();
    let mut end = 0;
    for part in parts {
        if part.start > end {
            shown.push('…');
        }
        end = part.end;
        shown.push_str(text.get(part).unwrap_or_default());
    }
    if end < text.len() && columns > 0 {
        shown.push('…');
    }
    shown
}

/// Returns the parts of `text` that [`shortened_around`] shows.
pub(crate) fn parts_around(text: &str, places: &[usize], columns: usize) -> Vec<Range<usize>> {
    let whole = 0..text.len();
    if text.width() <= columns {
        return vec![whole];
    }
    let count = places.len() + 1;
    // A column for the ellipsis after each part.
    let share = (columns / count).saturating_sub(1);
    // In a very narrow space there is only the beginning.
    let places = if share == 0 { &[][..] } else { places };
    let head = 0..columns_on(text, share);
    let mut parts = vec![head];
    for &place in places {
        let before = text.get(..place).unwrap_or(text);
        let start = match (share / 4).checked_sub(1) {
            Some(context) => before.char_indices().rev().nth(context).map_or(0, |(start, _)| start),
            None => before.len(),
        };
        let rest = text.get(start..).unwrap_or_default();
        let part = start..start + columns_on(rest, share);
        match parts.last_mut() {
            Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
            _ => parts.push(part),
        }
    }
    let used: usize =
        parts.iter().map(|part| text.get(part.clone()).map_or(0, str::width) + 1).sum();
    if let Some(last) = parts.last_mut() {
        // The room of parts that became one, or that the end of the text left.
        last.end +=
            columns_on(text.get(last.end..).unwrap_or_default(), columns.saturating_sub(used));
    }
    parts
}

/// Returns the number of bytes of `text` in its first `columns`.
fn columns_on(text: &str, columns: usize) -> usize {
    let mut used = 0;
    let beyond = text.char_indices().find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > columns
    });
    beyond.map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unstuck_report::shown::plain;

    use super::*;

    #[test]
    fn ages_have_the_largest_unit_that_fits() {
        const NOW: u64 = 1_000_000_000_000;
        for (seconds, expected) in [
            (0, "just now"),
            (9, "just now"),
            (10, "10 s ago"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (3599, "59 min ago"),
            (3600, "1 h ago"),
            (86_399, "23 h ago"),
            (86_400, "1 day ago"),
            (200_000, "2 days ago"),
        ] {
            assert_eq!(ago(NOW, NOW - seconds * 1000), expected);
        }
        // A clock that was set back gives the present.
        assert_eq!(ago(NOW, NOW + 1), "just now");
    }

    proptest! {
        #[test]
        fn a_text_with_a_hole_fits_and_shows_the_place(
            text in "[a-z日é\u{301} ]{0,120}", place in 0..120_usize, columns in 1..80_usize,
        ) {
            let text = plain(&text);
            let at = text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
            let shown = shortened_around(&text, &[at], columns);
            prop_assert!(shown.width() <= columns, "{shown}");
            prop_assert!(text.width() > columns || shown == text);
            let parts = parts_around(&text, &[at], columns);
            prop_assert!(columns < 24 || at == text.len() || parts.iter().any(|part| part.contains(&at)));
        }
    }

    #[test]
    fn the_part_around_a_place_is_shown() {
        let text = "0123456789abcdefghijklmnopqrstuvwxyz";
        for (places, columns, shown) in [
            (&[30][..], 36, text),
            (&[30], 20, "012345678…stuvwxyz"),
            (&[18], 20, "012345678…ghijklmno…"),
            (&[3], 20, "0123456789abcdefghi…"),
            (&[], 20, "0123456789abcdefghi…"),
            (&[36], 20, "012345678…yz"),
            (&[14, 26], 20, "01234…defgh…pqrstuv…"),
            (&[5, 9], 20, "0123456789abcdefghi…"),
            (&[5], 0, ""),
        ] {
            assert_eq!(shortened_around(text, places, columns), shown, "{places:?} in {columns}");
        }
    }
}
