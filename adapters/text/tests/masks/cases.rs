//! A table of texts for each mask, which is tried alone.

use unstuck_text::{Counter, Mask, Masks};

use crate::support::{Case, cases, spelled};

/// Shows each line of `file` by the mask that is the heading alone, or by all masks. What goes stands between `«` and `»`.
fn check(file: &str) {
    for Case { group, heading, text } in cases(file) {
        let mut alone = Mask::ALL.into_iter().filter(|mask| mask.name() == heading);
        let masks = alone.next().map(|mask| Masks::NONE.with(mask));
        let masks = masks.or((heading == "all masks").then_some(Masks::ALL)).expect(heading);
        for line in text.lines().map(spelled) {
            let parts = line.split('«').map(|part| part.split_once('»').unwrap_or(("", part)).1);
            let expected = parts.collect::<Vec<_>>().join(&format!("<{heading}>"));
            let shown = masks.show(&line.replace(['«', '»'], "")).to_string();
            assert_eq!(shown, expected, "{line:?} by {heading}, {group}");
        }
    }
}

#[test]
fn each_mask_covers_what_is_volatile_and_no_more() {
    check(include_str!("cases.txt"));
    check(include_str!("labelled.txt"));
}

#[test]
fn terminal_controls_go() {
    for (text, expected) in [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[1;38;5;196mx\x1b[m", "x"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;http://a/\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x1b(Bb\x1b7c\x1b=d", "abcd"),
        ("\x1b[2K\x1b[1G> ", "> "),
        // Controls without an end: the escape alone goes.
        ("\x1b]0;no end", "]0;no end"),
        ("a\x1b", "a"),
        ("\x1b[12", "[12"),
        ("[31m", "[31m"),
        ("a  b", "a  b"),
        ("\n\n", "\n\n"),
    ] {
        let shown = Masks::NONE.with(Mask::Ansi).show(text).to_string();
        assert_eq!(shown, expected, "{text:?}");
    }
}

#[test]
fn a_colour_is_no_part_of_the_word_behind_it() {
    for (text, expected) in [
        ("\x1b[31m3f2a1bc9\x1b[0m", "<hashes>"),
        ("at \x1b[2m12:03:59\x1b[0m it", "at <times> it"),
        ("(\x1b[1m0.02s\x1b[0m)", "(<durations>)"),
        ("\x1b[32m7\x1b[0m passed", "7 passed"),
        ("v\x1b[K\x1b[1m7 passed", "v7 passed"),
    ] {
        assert_eq!(Masks::ALL.show(text).to_string(), expected, "{text:?}");
    }
}

#[test]
fn spaces_fold() {
    for (text, expected) in [
        ("a  b", "a b"),
        ("a \t b", "a b"),
        ("a\r\nb\n\n\nc", "a\nb\nc"),
        ("a  \nb", "a\nb"),
        ("  a  ", "a"),
        (" a\n", "a"),
        ("\n", ""),
        (" ", ""),
        ("   ", ""),
        ("", ""),
        ("a b", "a b"),
        ("a\tb", "a\tb"),
        ("a\nb", "a\nb"),
        ("a\rb", "a\rb"),
        ("a\u{a0}\u{a0}b", "a\u{a0}\u{a0}b"),
    ] {
        let shown = Masks::NONE.with(Mask::Spaces).show(text).to_string();
        assert_eq!(shown, expected, "{text:?}");
    }
}

#[test]
fn what_is_masked_before_a_path_changes_nothing_of_it() {
    let once = Masks::ALL.show("7 h/tmp/tmpab12cd_x/a").to_string();
    assert_eq!(once, "<durations>/tmp/tmpab12cd_x/a");
    assert_eq!(Masks::ALL.show(&once).to_string(), once);
}

#[test]
fn numbers_count_for_one_digest_and_not_for_the_other() {
    let [ten, eleven] = ["10 of 12", "11 of 12"].map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_ne!(ten.result, eleven.result);
    assert_eq!(ten.near, eleven.near);
    // Not the digits in a row, but the numbers.
    let [a, b] = ["1 23", "12 3"].map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_ne!(a.result, b.result);
    assert_eq!(a.near, b.near);
    let [a, b] = ["1 x", "1 y"].map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_ne!(a.near, b.near);
}

#[test]
fn what_is_nothing_but_volatile_is_the_answer_itself() {
    let [a, b] = ["12:03:59\n", "12:04:00\n"].map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_ne!(a.result, b.result);
    let [a, b] =
        ["d41d8cd98f00  -", "0cc175b9c0f1  -"].map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_ne!(a.result, b.result);
    let [a, b] = ["3f2a1bc9\r\n12:03:59", "\x1b[31m3f2a1bc9\x1b[0m\n12:03:59 "]
        .map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_eq!(a.result, b.result);
    let [a, b] = ["at 12:03:59", "at 12:04:00"].map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_eq!(a.result, b.result);
}

#[test]
fn a_counter_of_the_hosts_is_masked_and_its_number_alone() {
    let counters = [Counter::new("round # of").expect("a counter")];
    let masker = Masks::NONE.and(&counters);
    assert_eq!(masker.show("round 7 of 9").to_string(), "round <counter> of 9");
    assert_eq!(masker.show("round 7.5 of 9").to_string(), "round <counter> of 9");
    assert_eq!(masker.show("round 7 or 9").to_string(), "round 7 or 9");
}

#[test]
fn masks_are_listed() {
    for mask in Mask::ALL {
        assert!(Masks::ALL.contains(mask) && !Masks::ALL.without(mask).contains(mask));
        assert!(Masks::NONE.with(mask).iter().eq([mask]));
    }
    assert!(Masks::ALL.iter().eq(Mask::ALL));
}
