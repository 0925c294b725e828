//! The output of `scan` as CSV: one row for each loop, for spreadsheets and data frames.
//!
//! A run without a loop has a row as well, so that shares and rates can be computed from the file alone. The
//! columns after `loop` that count calls, tokens, time and money belong to the run. They stand in its first row
//! only, so that their sums are right.

use std::io::{self, Write};

use unstuck_core::LoopId;

use crate::baseline::Known;
use crate::cost::Spent;
use crate::loops::{Loop, Novelty};
use crate::parts::{FullReport, Needs};
use crate::replay::Location;
use crate::report::Report;
use crate::shown::plain;
use crate::tally::Tally;
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

/// The writer of rows.
#[derive(Default)]
pub struct Csv {
    /// Rows that wait for the next report.
    waiting: String,
    begun: bool,
}

impl Csv {
    /// The parts of a report that have rows: some loops.
    pub const NEEDS: Needs = Needs::loops(300);

    fn write(&mut self, rows: &str, output: &mut dyn Write) -> io::Result<()> {
        let head = if self.begun { String::new() } else { row(COLUMNS.map(str::to_owned)) };
        self.begun = true;
        output.write_all((head + &std::mem::take(&mut self.waiting) + rows).as_bytes())
    }
}

impl Writer for Csv {
    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        let loops = &report.judged.loops;
        let run = Row::of(report);
        let mut rows = String::new();
        for (number, one) in loops.shown.iter().enumerate() {
            let after = report.cost.after.filter(|_| number == 0);
            rows += &run.clone().about(one).costing(after).line();
        }
        if loops.shown.is_empty() {
            rows = run.line();
        }
        self.write(&rows, output)
    }

    fn unread(&mut self, path: &str, _why: &str) {
        self.waiting += &Row { status: "unread", path: text(path), ..Row::default() }.line();
    }

    fn left_out(&self, report: &Report) -> Option<String> {
        let loops = &report.judged.loops;
        let shown = loops.shown.len();
        loops.others().map(|others| format!("csv has {shown} loops of this run, {others}"))
    }

    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        let gone = tally.difference.iter().flat_map(|difference| &difference.gone);
        let row = |(id, known): &(LoopId, &Known)| Row {
            path: text(&known.path),
            rule: text(&known.rule),
            tool: known.tool.as_deref().map_or_else(String::new, text),
            r#loop: id.to_string(),
            baseline: "gone",
            ..Row::default()
        };
        let rows: String = gone.map(|one| row(one).line()).collect();
        self.write(&rows, output)
    }
}

/// A row. A field that is not known is empty.
#[derive(Clone, Default)]
struct Row {
    status: &'static str,
    path: String,
    format: &'static str,
    session: String,
    run_calls: String,
    rule: String,
    kind: &'static str,
    action: &'static str,
    tool: String,
    worker: String,
    numbers: [String; 3],
    r#loop: String,
    after: [String; 4],
    baseline: &'static str,
}

impl Row {
    /// Returns the row of a run without loops.
    fn of(report: &Report) -> Self {
        let trace = &report.trace;
        Self {
            status: report.status(),
            path: text(&report.path),
            format: trace.format.name(),
            session: trace.session.as_deref().map_or_else(String::new, text),
            run_calls: trace.calls.to_string(),
            ..Self::default()
        }
    }

    /// Returns the row with a loop.
    fn about(self, one: &Loop) -> Self {
        let found = one.first();
        let is_call = matches!(found.location, Location::Calls { .. });
        let (first, at, last) = one.numbers();
        Self {
            rule: text(found.rule),
            kind: found.finding.kind.name(),
            action: one.worst().name(),
            tool: if is_call { text(&found.tool) } else { String::new() },
            worker: text(&found.worker),
            numbers: [first, at, last].map(|number| number.to_string()),
            r#loop: found.finding.loop_id.to_string(),
            baseline: one.novelty.map_or("", Novelty::name),
            ..self
        }
    }

    /// Returns the row with the cost after the first finding.
    fn costing(self, after: Option<Spent>) -> Self {
        let Some(Spent { calls, tokens, time, dollars }) = after else { return self };
        let tokens = tokens.map_or_else(String::new, |tokens| tokens.total().to_string());
        let time = time.map_or_else(String::new, |time| format!("{:.3}", time.as_secs_f64()));
        let dollars = dollars.map_or_else(String::new, |dollars| format!("{dollars:.6}"));
        Self { after: [calls.to_string(), tokens, time, dollars], ..self }
    }

    fn line(self) -> String {
        let [first, at, last] = self.numbers;
        let [calls, tokens, seconds, dollars] = self.after;
        row([
            self.status.to_owned(),
            self.path,
            self.format.to_owned(),
            self.session,
            self.run_calls,
            self.rule,
            self.kind.to_owned(),
            self.action.to_owned(),
            self.tool,
            self.worker,
            first,
            at,
            last,
            self.r#loop,
            calls,
            tokens,
            seconds,
            dollars,
            self.baseline.to_owned(),
        ])
    }
}

/// Returns text from a recording as a field that no spreadsheet reads as a formula.
fn text(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(FORMULA) { format!("'{text}") } else { text }
}

/// Returns the fields as a row by RFC 4180.
fn row(fields: [String; COLUMNS.len()]) -> String {
    fields.map(quoted).join(",") + "\r\n"
}

fn quoted(field: String) -> String {
    if field.contains([',', '"']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use unstuck_trace::Tokens;

    #[test]
    fn a_field_is_text_and_never_a_formula() {
        for (field, expected) in [
            ("read", "read"),
            ("", ""),
            ("=1+1", "'=1+1"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-", "'-"),
            ("@SUM(A1,B1)", "\"'@SUM(A1,B1)\""),
            ("\t=1", " =1"),
            ("\u{200B}=1", "\u{FFFD}=1"),
            ("a\"b", "\"a\"\"b\""),
            ("a\r\nb,c", "\"a b,c\""),
            ("日本", "日本"),
        ] {
            assert_eq!(quoted(text(field)), expected, "{field:?}");
        }
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
            let line = Row::default().costing(after).line();
            assert_eq!(line, format!("{}{expected},\r\n", ",".repeat(14)));
        }
    }
}
