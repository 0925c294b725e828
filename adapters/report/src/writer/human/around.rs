//! The parts of a line around some places.

use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use crate::shown::columns_on;

/// Returns `text` in at most `columns`: its beginning and the parts around the bytes `places`, which are in
/// order, with an ellipsis for each part that was left out.
pub(super) fn shortened_around(text: &str, places: &[usize], columns: usize) -> String {
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
pub(super) fn parts_around(text: &str, places: &[usize], columns: usize) -> Vec<Range<usize>> {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shown::plain;

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
