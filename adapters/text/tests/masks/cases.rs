//! A table of texts for each mask, which is tried alone.

use unstuck_text::{Counter, Mask, Masks};

use crate::support::{Case, cases, spelled};

/// Shows each line of `file` by the mask that is the heading alone, or by all masks. What goes stands between `«` and `»`,
/// or else what is shown stands behind an arrow.
fn check(file: &str) {
    for Case { group, heading, text } in cases(file) {
        let mut alone = Mask::ALL.into_iter().filter(|mask| mask.name() == heading);
        let masks = alone.next().map(|mask| Masks::NONE.with(mask));
        let masks = masks.or((heading == "all masks").then_some(Masks::ALL)).expect(heading);
        for line in text.lines().map(spelled) {
            let parts = line.split('«').map(|part| part.split_once('»').unwrap_or(("", part)).1);
            let marked = parts.collect::<Vec<_>>().join(&format!("<{heading}>"));
            let arrow = line.split_once(" →");
            let arrow = arrow.map(|(line, shown)| (line, shown.strip_prefix(' ').unwrap_or(shown)));
            let (line, expected) = arrow.unwrap_or((&line, &marked));
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
fn what_is_masked_before_a_path_changes_nothing_of_it() {
    let once = Masks::ALL.show("7 h/tmp/tmpab12cd_x/a").to_string();
    assert_eq!(once, "<durations>/tmp/tmpab12cd_x/a");
    assert_eq!(Masks::ALL.show(&once).to_string(), once);
}

#[test]
fn digests_are_equal_or_near_as_the_heading_says() {
    for Case { group, heading, text } in cases(include_str!("pairs.txt")) {
        for pair in text.lines().map(spelled) {
            let (one, other) = pair.split_once(" │ ").expect("two texts");
            let [one, other] = [one, other].map(|text| Masks::ALL.digest(text.as_bytes()));
            let told = match (one.result == other.result, one.near == other.near) {
                (true, true) => "equal",
                (false, true) => "near",
                (false, false) => "apart",
                (true, false) => "equal, and not near",
            };
            assert_eq!(told, heading, "{pair:?}: {group}");
        }
    }
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
