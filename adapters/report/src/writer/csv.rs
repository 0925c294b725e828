//! The output of `scan` as CSV: one row for each loop, for spreadsheets and data frames.
//!
//! A run without a loop has a row as well, so that shares and rates can be computed from the file alone. The
//! columns after `loop` that count calls, tokens, time and money belong to the run. They stand in its first row
//! only, so that their sums are right.

use std::borrow::Cow;
use std::io::{self, Write};

use unstuck_core::LoopId;

use crate::baseline::{Known, Tally};
use crate::cost::Spent;
use crate::parts::{FullReport, Needs};
use crate::report::{Loop, Novelty, Report};
use crate::rows::FindingRow;
use crate::shown::plain;
use crate::writer::Writer;

/// The columns.
const COLUMNS: [&str; 19] = [
    "status",
    "path",
    "format",
    "session",
    "run_calls",
    "rule",
    "kind",
    "action",
    "tool",
    "worker",
    "first",
    "at",
    "last",
    "loop",
    "calls_after",
    "tokens_after",
    "seconds_after",
    "dollars_after",
    "baseline",
];

/// The characters that make a spreadsheet read a text as a formula.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// The cells of a row, each with its column. What is not known is left out.
type Cells = Vec<(&'static str, String)>;

/// The writer of rows.
#[derive(Default)]
pub struct Csv {
    /// Rows that wait for the next report.
    waiting: String,
    begun: bool,
}

impl Csv {
    fn write(&mut self, rows: &str, output: &mut dyn Write) -> io::Result<()> {
        let head = if self.begun { String::new() } else { COLUMNS.join(",") + "\r\n" };
        self.begun = true;
        output.write_all((head + &std::mem::take(&mut self.waiting) + rows).as_bytes())
    }
}

impl Writer for Csv {
    fn needs(&self) -> Needs {
        Needs::loops(300)
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        let loops = report.loops().map(|(one, after)| {
            let cells = [of_run(report), of_loop(one), after.map_or_else(Vec::new, of_cost)];
            row(&cells.concat())
        });
        let mut rows: String = loops.collect();
        if rows.is_empty() {
            rows = row(&of_run(report));
        }
        self.write(&rows, output)
    }

    fn unread(&mut self, path: &str, _why: &str) {
        self.waiting += &row(&[("status", "unread".to_owned()), ("path", text(path))]);
    }

    fn left_out(&self, report: &Report) -> Option<String> {
        let loops = &report.judged.loops;
        let shown = loops.shown.len();
        loops.others().map(|others| format!("csv has {shown} loops of this run, {others}"))
    }

    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        let gone = tally.difference.iter().flat_map(|difference| &difference.gone);
        let rows: String = gone.map(|(id, known)| row(&of_gone(*id, known))).collect();
        self.write(&rows, output)
    }
}

fn of_run(report: &Report) -> Cells {
    let trace = &report.trace;
    vec![
        ("status", report.status().to_owned()),
        ("path", text(&report.path)),
        ("format", trace.format.name().to_owned()),
        ("session", trace.session.as_deref().map_or_else(String::new, text)),
        ("run_calls", trace.calls.to_string()),
    ]
}

fn of_loop(one: &Loop) -> Cells {
    let found = FindingRow::of(one.first());
    let (first, at, last) = one.numbers();
    vec![
        ("rule", harmless(found.rule)),
        ("kind", found.kind),
        ("action", one.worst().name().to_owned()),
        ("tool", found.tool.map_or_else(String::new, harmless)),
        ("worker", harmless(found.worker)),
        ("first", first.to_string()),
        ("at", at.to_string()),
        ("last", last.to_string()),
        ("loop", found.finding_id),
        ("baseline", one.novelty.map_or("", Novelty::name).to_owned()),
    ]
}

/// Returns the cost of a run after its first finding.
fn of_cost(after: Spent) -> Cells {
    let Spent { calls, tokens, time, dollars } = after;
    let mut cells = vec![("calls_after", calls.to_string())];
    cells.extend(tokens.map(|tokens| ("tokens_after", tokens.total().to_string())));
    cells.extend(time.map(|time| ("seconds_after", format!("{:.3}", time.as_secs_f64()))));
    cells.extend(dollars.map(|dollars| ("dollars_after", format!("{dollars:.6}"))));
    cells
}

/// Returns a loop of the baseline that no run has any more.
fn of_gone(id: LoopId, known: &Known) -> Cells {
    vec![
        ("path", text(&known.path)),
        ("rule", text(&known.rule)),
        ("tool", known.tool.as_deref().map_or_else(String::new, text)),
        ("loop", id.to_string()),
        ("baseline", "gone".to_owned()),
    ]
}

/// Returns text from a recording as a field.
fn text(text: &str) -> String {
    harmless(plain(text))
}

/// Returns a field that no spreadsheet reads as a formula.
fn harmless(text: String) -> String {
    if text.starts_with(FORMULA) { format!("'{text}") } else { text }
}

/// Returns the cells as a row by RFC 4180.
fn row(cells: &[(&str, String)]) -> String {
    let cell = |column| cells.iter().find(|(of, _)| *of == column).map_or("", |(_, cell)| cell);
    COLUMNS.map(|column| quoted(cell(column))).join(",") + "\r\n"
}

fn quoted(field: &str) -> Cow<'_, str> {
    if field.contains([',', '"']) {
        format!("\"{}\"", field.replace('"', "\"\"")).into()
    } else {
        field.into()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cases::check;
    use unstuck_trace::Tokens;

    #[test]
    fn a_field_is_text_and_never_a_formula() {
        check("csv: text as a field, which is never a formula", |field| {
            quoted(&text(field)).into_owned()
        });
    }

    #[test]
    fn what_is_not_known_is_empty() {
        let tokens = Some(Tokens { input: 1_000_000, cached: 200_000, output: 10 });
        let time = Some(Duration::from_millis(90_500));
        let whole = Spent { calls: 7, tokens, time, dollars: Some(0.25) };
        for (after, expected) in [
            (None, ",,,"),
            (Some(Spent { calls: 7, ..Spent::default() }), "7,,,"),
            (Some(whole), "7,1200010,90.500,0.250000"),
        ] {
            let line = row(&after.map_or_else(Vec::new, of_cost));
            assert_eq!(line, format!("{}{expected},\r\n", ",".repeat(14)));
        }
    }
}
