//! An oracle for the masks that know a number by the words beside it.

use unstuck_text::{Mask, Masks};

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
const LINKS: [(&str, Link); 7] = [
    (" ", Link::Loose),
    (": ", Link::Colon),
    (":", Link::Colon),
    ("=", Link::Member),
    (" = ", Link::Member),
    ("\": ", Link::Member),
    (", ", Link::Broken),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Loose,
    Colon,
    Member,
    Broken,
}

/// Labels, each with its mask, and the links by which it takes a bare `5`.
const LABELS: [(&str, Option<Mask>, &[Link]); 34] = [
    ("elapsed_ms", Some(Mask::Durations), &[Link::Colon, Link::Member]),
    ("durationMs", Some(Mask::Durations), &[Link::Colon, Link::Member]),
    ("latency seconds", Some(Mask::Durations), &[Link::Colon, Link::Member]),
    ("took", Some(Mask::Durations), &[Link::Loose, Link::Colon, Link::Member]),
    ("Elapsed", Some(Mask::Durations), &[Link::Loose, Link::Colon, Link::Member]),
    ("wall-time", Some(Mask::Durations), &[Link::Loose, Link::Colon, Link::Member]),
    ("cost_usd", Some(Mask::Costs), &[Link::Loose, Link::Colon, Link::Member]),
    ("totalCostEur", Some(Mask::Costs), &[Link::Loose, Link::Colon, Link::Member]),
    ("tokens", Some(Mask::Tokens), &[Link::Colon, Link::Member]),
    ("prompt_tokens", Some(Mask::Tokens), &[Link::Colon, Link::Member]),
    ("tokens left", Some(Mask::Tokens), &[Link::Loose, Link::Colon, Link::Member]),
    ("contextUsed", Some(Mask::Tokens), &[Link::Loose, Link::Colon, Link::Member]),
    ("token count", Some(Mask::Tokens), &[Link::Colon, Link::Member]),
    ("request_id", Some(Mask::Ids), &[Link::Loose, Link::Colon, Link::Member]),
    ("X-Trace-Id", Some(Mask::Ids), &[Link::Loose, Link::Colon, Link::Member]),
    ("chunk ID", Some(Mask::Ids), &[Link::Loose, Link::Colon, Link::Member]),
    ("requestid", Some(Mask::Ids), &[Link::Loose, Link::Colon, Link::Member]),
    ("pgid", Some(Mask::Pids), &[Link::Loose, Link::Colon, Link::Member]),
    ("process group", Some(Mask::Pids), &[Link::Loose, Link::Colon, Link::Member]),
    ("steps", None, &[]),
    ("step", None, &[]),
    ("time", None, &[]),
    ("us", None, &[]),
    ("cost", None, &[]),
    ("shipping_cost_usd", None, &[]),
    ("usd", None, &[]),
    ("token", None, &[]),
    ("max_tokens", None, &[]),
    ("id", None, &[]),
    ("user_id", None, &[]),
    ("context", None, &[]),
    ("left", None, &[]),
    ("failed", None, &[]),
    ("exit code", None, &[]),
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

/// The definition, by the parts of which a text is made.
fn expected(label: usize, link: Link, lets: bool) -> Option<Mask> {
    let (_, mask, links) = LABELS.get(label)?;
    let is_unit = matches!(label, 0..3);
    let is_doubtful = *mask == Some(Mask::Durations) && !is_unit && link != Link::Member;
    mask.filter(|_| links.contains(&link) && (lets || !is_doubtful))
}

#[test]
fn every_label_link_and_end_is_judged_by_the_definition() {
    for (n, (label, ..)) in LABELS.iter().enumerate() {
        for (sign, link) in LINKS {
            for (end, lets) in ENDS {
                // A key in quotes has two of them.
                let quote = if sign.starts_with('"') { "\"" } else { "" };
                for before in ["", "x: ", "a\n", "(", "7, ", "at 12:03:59 "] {
                    let text = format!("{before}{quote}{label}{sign}5{end}");
                    let shown = Masks::ALL.show(&text).to_string();
                    let before =
                        Masks::ALL.show(before).to_string() + &before[before.trim_end().len()..];
                    let value = expected(n, link, lets)
                        .map_or("5".to_owned(), |mask| format!("<{}>", mask.name()));
                    let wanted = format!("{before}{quote}{label}{sign}{value}{end}");
                    assert_eq!(shown, wanted, "{text:?}");
                    assert_eq!(Masks::ALL.show(&shown).to_string(), shown, "{text:?}");
                }
            }
        }
    }
}
