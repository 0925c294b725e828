//! The tables of what agents did after notes, for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use unstuck::Wording;
use unstuck_report::effect::{Counts, Effect, SOON};
use unstuck_report::shown::counted;

use crate::calibrate::figures::{Column, name, percent, percents, table};
use crate::output::filled;

/// A note, or the place of one that nobody read.
#[derive(Clone, Copy)]
pub(crate) struct ShownNote<'n> {
    pub(crate) rule: &'n str,
    /// A nudge, a warning or a refusal.
    pub(crate) rung: &'n str,
    pub(crate) agent: &'n str,
    pub(crate) model: Option<&'n str>,
    pub(crate) wording: Option<&'n str>,
    pub(crate) told: bool,
    /// `None` if the end of the session is not known.
    pub(crate) effect: Option<Effect>,
}

/// Returns the name of a note's group.
type Group = for<'n> fn(&ShownNote<'n>) -> &'n str;

/// The ways to group notes, each with the head of the column of names.
const GROUPS: [(&str, Group); 5] = [
    ("rule", |note| note.rule),
    ("rung", |note| note.rung),
    ("agent", |note| note.agent),
    ("model", |note| note.model.unwrap_or("unknown")),
    ("wording", |note| note.wording.unwrap_or("none")),
];

/// A row of a table.
#[derive(Default)]
struct Row {
    name: String,
    counts: Counts,
}

/// Returns the tables of these notes, below a line that begins with `title`.
pub(crate) fn tables(title: &str, notes: &[ShownNote<'_>]) -> String {
    let mut text =
        filled(&format!("{title}: what agents did after {}", counted(notes.len(), "note")), "");
    for (head, group) in GROUPS.into_iter().filter(|(head, _)| is_shown(head, notes)) {
        let columns: [Column<Row>; 8] = [
            (head, |row| name(&row.name)),
            ("notes", |row| row.counts.notes.to_string()),
            ("within 2", |row| row.counts.effects()[0].to_string()),
            ("later", |row| row.counts.effects()[1].to_string()),
            ("never", |row| row.counts.effects()[2].to_string()),
            ("ended", |row| row.counts.effects()[3].to_string()),
            ("share", |row| percent(row.counts.share())),
            ("95 %", |row| percents(row.counts.interval())),
        ];
        let _ = writeln!(text, "\n{}", table(&columns, &rows(notes, group)));
    }
    if notes.is_empty() { text } else { format!("{text}\n{}", filled(&remark(notes), "")) }
}

/// Returns whether a table is shown. Not every source names models, and most people compare no wordings.
fn is_shown(head: &str, notes: &[ShownNote<'_>]) -> bool {
    let usual = Wording::Named.name();
    match head {
        "model" => notes.iter().any(|note| note.model.is_some()),
        "wording" => notes.iter().any(|note| note.wording.is_some_and(|wording| wording != usual)),
        _ => !notes.is_empty(),
    }
}

/// Returns a row for each group of notes, the largest first. Those that nobody read have a row of their own.
fn rows(notes: &[ShownNote<'_>], group: Group) -> Vec<Row> {
    let mut rows: BTreeMap<(&str, bool), Row> = BTreeMap::new();
    for note in notes {
        let name = group(note);
        let row = rows.entry((name, !note.told)).or_default();
        row.name = if note.told { name.to_owned() } else { format!("not told: {name}") };
        row.counts.add(note.effect);
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.sort_by_key(|row| usize::MAX - row.counts.notes);
    rows
}

/// Returns the words below the tables.
fn remark(notes: &[ShownNote<'_>]) -> String {
    let unknown = notes.iter().filter(|note| note.effect.is_none()).count();
    let of_unknown = match unknown {
        0 => String::new(),
        _ => format!(" Of {} the end of the session is not known.", counted(unknown, "note")),
    };
    format!(
        "Within {SOON}: the loop was left, and at most {SOON} calls went on with it. The share is of the notes whose \
         run went on. See unstuck report --help.{of_unknown}"
    )
}
