//! Writes the table as C source.

use std::collections::BTreeSet;

use unstuck_core::{Action, Args, Digest, Finding, Kind, Results, RuleIndex, Tag, Verdict};

use crate::play::Event;

/// The number of latest calls that C remembers.
const NAMED_MAX: usize = 64;

/// Returns the table as initialisers of the types in `tests/c/play.h`. Each text and each verdict is there once.
pub(crate) fn c_of(events: &[Event]) -> String {
    let texts = events.iter().flat_map(|event| [event.name, event.text]).collect();
    let verdicts = events.iter().flat_map(|event| [&event.verdict, &event.settled]);
    let expected = verdicts.map(verdict_of).collect();
    let events = events.iter().map(|event| event_of(event, &texts, &expected));
    let texts =
        texts.iter().map(|text| format!("{}, \"{}\"", text.len(), text.as_bytes().escape_ascii()));
    [
        "/* Made by the example `table`: do not edit. */\n".to_owned(),
        array("text_t texts", texts),
        array("event_t events", events),
        array("expected_t expected", expected.iter().cloned()),
    ]
    .concat()
}

fn array(name: &str, items: impl Iterator<Item = String>) -> String {
    let items = items.collect::<Vec<_>>().join("},\n    {");
    format!("\nstatic const {name}[] = {{\n    {{{items}}}\n}};\n")
}

fn event_of(event: &Event, texts: &BTreeSet<&str>, expected: &BTreeSet<String>) -> String {
    let Event { kind, tag, flags, which, tool, number, one, two, .. } = event;
    let [name, text] = [event.name, event.text].map(|text| place(texts, &text));
    let [verdict, settled] =
        [event.verdict, event.settled].map(|verdict| place(expected, &verdict_of(&verdict)));
    format!(
        "{one}u, {two}u, {tool}u, {number}u, {name}, {text}, {verdict}, {settled}, DO_{}, {tag}, {flags}, {}",
        format!("{kind:?}").to_uppercase(),
        which % NAMED_MAX
    )
}

/// Returns the position of `one`.
fn place<'a, T: PartialEq + 'a>(all: impl IntoIterator<Item = &'a T>, one: &T) -> usize {
    all.into_iter().position(|other| other == one).expect("a known value")
}

fn verdict_of(verdict: &Verdict) -> String {
    let action = place(&Action::ALL, &verdict.action);
    let (rung, fresh) = (verdict.rung, u8::from(verdict.fresh));
    let (has, finding) = match &verdict.finding {
        Some(finding) => (1, finding_of(finding)),
        None => (0, "0u, 0u, 0u, 0u, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0".into()),
    };
    format!("{action}, {rung}, {fresh}, {has}, {finding}, {}", nudge_of(verdict))
}

fn finding_of(finding: &Finding) -> String {
    let (rule, text) = match finding.rule {
        RuleIndex::Call(place) => (place, 0),
        RuleIndex::Text(place) => (place, 1),
    };
    let evidence = finding.calls().fold(0_u64, |all, call| all | 1 << (finding.last - call));
    let args = [Args::Same, Args::Similar, Args::SameTool, Args::Any];
    let results = [Results::Ignored, Results::Same, Results::Near];
    format!(
        "{}u, {}u, {}u, {evidence}u, {}u, {}, {}, {}, {rule}, {text}, {}, {}, {}, {}, {}, {}",
        finding.first,
        finding.last,
        finding.loop_id.bits(),
        finding.tool.id(),
        finding.laps,
        finding.period,
        finding.confidence,
        u8::from(finding.has_failed()),
        place(&Kind::ALL, &finding.kind),
        place(&args, &finding.args),
        place(&results, &finding.results),
        place(&Tag::ALL, &finding.tag),
        place(&Action::ALL, &finding.most),
    )
}

/// Returns the digest of the nudge, or 0 if there is no finding.
fn nudge_of(verdict: &Verdict) -> String {
    let nudge = |finding: &Finding| finding.nudge(verdict.action, "grip").to_string();
    let digest = verdict.finding.as_ref().map(|finding| Digest::of(nudge(finding).as_bytes()));
    format!("{}u", digest.map_or(0, Digest::bits))
}
