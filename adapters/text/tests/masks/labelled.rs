//! An oracle for the masks that know a number by the words beside it.

use unstuck_text::{Mask, Masks};

use crate::support::cases;

#[test]
fn each_label_leaves_its_number_to_its_own_mask() {
    let labels = [
        ("elapsed_ms=5", Mask::Durations),
        ("cost: $5", Mask::Costs),
        ("tokens left: 5", Mask::Tokens),
        ("request_id=5", Mask::Ids),
        ("turn 5/9", Mask::Steps),
        ("pgid=5", Mask::Pids),
    ];
    for (text, own) in labels {
        for mask in Mask::ALL {
            let masks = Masks::NONE.with(mask);
            assert_eq!(masks.show(text).to_string() != text, mask == own, "{text} by {mask:?}");
        }
        let shown = Masks::ALL.show(text).to_string();
        assert!(shown.contains(own.name()), "{shown}");
    }
}

/// The ways to write a label before its value, and how sure they are.
const LINKS: [(&str, &str); 7] = [
    (" ", "space"),
    (": ", "colon"),
    (":", "colon"),
    ("=", "member"),
    (" = ", "member"),
    ("\": ", "member"),
    (", ", "nothing"),
];

/// Texts behind a value, and whether they let a duration be one that no unit makes certain.
const ENDS: [(&str, bool); 7] = [
    ("", true),
    ("\nnext", true),
    (".", true),
    (", n: 3", true),
    (")", true),
    (" (all)", true),
    (" files", false),
];

/// The definition: the mask of a label with this `heading`.
fn expected<'h>(heading: &'h str, link: &str, lets: bool) -> Option<&'h str> {
    let (mask, links) = heading.split_once(" by ")?;
    let is_doubtful = mask == "durations" && !links.ends_with("with a unit") && link != "member";
    (links.contains(link) && (lets || !is_doubtful)).then_some(mask)
}

#[test]
fn every_label_link_and_end_is_judged_by_the_definition() {
    let labels = cases(include_str!("labels.txt"));
    let labels = labels.iter().flat_map(|case| case.text.lines().map(|line| (line, case.heading)));
    for (label, heading) in labels {
        for (sign, link) in LINKS {
            for (end, lets) in ENDS {
                // A key in quotes has two of them.
                let quote = if sign.starts_with('"') { "\"" } else { "" };
                for before in ["", "x: ", "a\n", "(", "7, ", "at 12:03:59 "] {
                    let text = format!("{before}{quote}{label}{sign}5{end}");
                    let shown = Masks::ALL.show(&text).to_string();
                    let before =
                        Masks::ALL.show(before).to_string() + &before[before.trim_end().len()..];
                    let value = expected(heading, link, lets)
                        .map_or("5".to_owned(), |mask| format!("<{mask}>"));
                    let wanted = format!("{before}{quote}{label}{sign}{value}{end}");
                    assert_eq!(shown, wanted, "{text:?}");
                    assert_eq!(Masks::ALL.show(&shown).to_string(), shown, "{text:?}");
                }
            }
        }
    }
}
