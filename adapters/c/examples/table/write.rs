//! Writes the table as C source.

use std::fmt::Write as _;

use unstuck_core::{Action, Args, Digest, Finding, Kind, Results, RuleIndex, Tag, Verdict};

use crate::play::{Event, Table};

/// Returns the table as initialisers of the types in `tests/c/play.h`.
pub(crate) fn c_of(table: &Table) -> String {
    let mut c = String::from("/* Made by the example `table`: do not edit. */\n\n");
    c.push_str("static const text_t texts[] = {\n");
    for text in &table.texts {
        let _ = writeln!(c, "    {{{}, {}}},", text.len(), quoted(text));
    }
    c.push_str("};\n\nstatic const expected_t expected[] = {\n");
    for verdict in &table.verdicts {
        let _ = writeln!(c, "    {{{}, {}}},", verdict_of(verdict), nudge_of(verdict));
    }
    c.push_str("};\n\nstatic const event_t events[] = {\n");
    for event in &table.events {
        c.push_str(&event_of(event));
    }
    c.push_str("};\n");
    c
}

/// Returns `text` as a C literal, one for each line. Bytes other than plain characters are octal.
fn quoted(text: &str) -> String {
    let mut c = String::from('"');
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b' ' | b'_' | b'.' | b',' | b'/' => {
                c.push(char::from(byte));
            }
            b'\n' => c.push_str("\\n\"\n        \""),
            other => {
                let _ = write!(c, "\\{other:03o}");
            }
        }
    }
    c.push('"');
    c
}

fn event_of(event: &Event) -> String {
    let Event { kind, tag, flags, which, tool, number, one, two, name, text, verdict, settled } =
        event;
    format!(
        "    {{{one}u, {two}u, {tool}u, {number}u, {name}, {text}, {verdict}, {settled}, \
         DO_{}, {tag}, {flags}, {which}}},\n",
        format!("{kind:?}").to_uppercase()
    )
}

fn place<T: PartialEq>(all: &[T], one: &T) -> usize {
    all.iter().position(|other| other == one).expect("a known value")
}

fn verdict_of(verdict: &Verdict) -> String {
    let action = place(&Action::ALL, &verdict.action);
    let (rung, fresh) = (verdict.rung, u8::from(verdict.fresh));
    let (has, finding) = match &verdict.finding {
        Some(finding) => (1, finding_of(finding)),
        None => (0, "0u, 0u, 0u, 0u, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0".into()),
    };
    format!("{action}, {rung}, {fresh}, {has}, {finding}")
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
        u8::from(finding.failed),
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
