//! The output of `scan` for people: a line for each run, and the proof of each loop. Many runs begin with a
//! digest.

mod around;
mod block;
mod calls;
mod digest;

use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::cost::Spent;
use crate::groups::groups;
use crate::parts::{FullReport, Needs};
use crate::report::Report;
use crate::shown::{counted, plain};
use crate::tally::Tally;
use crate::writer::Writer;
pub(super) use block::WORKER_MAX;
use block::block;
use digest::{Measure, Stuck, digest};

/// The number of runs from which on a digest comes first: more than fit on a screen.
const DIGEST_MIN: usize = 21;

const STUCK: Style = AnsiColor::Red.on_default().bold();
const CLEAN: Style = AnsiColor::Green.on_default();
const FAINT: Style = Style::new().dimmed();

/// The way in which people see the reports.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The number of inputs.
    pub inputs: usize,
    /// Only the digest is shown.
    pub summary: bool,
    /// The runs that spent most after the first finding come first.
    pub dearest_first: bool,
    /// The columns of a line.
    pub columns: usize,
}

/// The writer for people.
pub struct Human {
    view: View,
    /// The runs that wait for the digest, in the order of the inputs.
    runs: Vec<Run>,
    stuck: Vec<Stuck>,
}

/// A run that waits for the digest.
struct Run {
    text: String,
    after: Option<Spent>,
}

impl Human {
    /// Begins a report for this view.
    pub fn new(view: View) -> Self {
        Self { view, runs: Vec::new(), stuck: Vec::new() }
    }

    fn has_digest(&self) -> bool {
        self.view.summary || self.view.inputs >= DIGEST_MIN
    }
}

impl Writer for Human {
    fn needs(&self) -> Needs {
        // More loops of one run usually have one common cause.
        Needs::loops(10)
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        let columns = self.view.columns;
        if self.has_digest() {
            self.stuck.extend(Stuck::of(report, columns));
        }
        if self.view.summary {
            return Ok(());
        }
        let text = self::report(report, columns);
        if !self.has_digest() && !self.view.dearest_first {
            return output.write_all(text.as_bytes());
        }
        self.runs.push(Run { text, after: report.cost.after });
        Ok(())
    }

    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        let summary = summary(tally);
        if self.has_digest() {
            let digest = digest(&self.stuck);
            let end = if self.view.summary || digest.is_empty() { "" } else { "\n" };
            write!(output, "{summary}{digest}{end}")?;
        }
        if self.view.summary {
            return Ok(());
        }
        if self.view.dearest_first {
            let measure = Measure::of(self.runs.iter().filter_map(|run| run.after.as_ref()));
            let spent = |run: &Run| run.after.unwrap_or_default();
            // Runs without a finding keep their order at the end.
            self.runs.sort_by(|a, b| {
                let stuck_first = b.after.is_some().cmp(&a.after.is_some());
                stuck_first.then_with(|| measure.dearest_first(&spent(a), &spent(b)))
            });
        }
        for run in &self.runs {
            output.write_all(run.text.as_bytes())?;
        }
        output.write_all(summary.as_bytes())?;
        if let Some(difference) = &tally.difference {
            output.write_all(difference.text().as_bytes())?;
        }
        Ok(())
    }
}

/// Returns the report on one run, in at most `columns` except for its path.
fn report(report: &Report, columns: usize) -> String {
    let loops = &report.judged.loops;
    let mut text = heading(report);
    for group in groups(&loops.shown) {
        text.push('\n');
        text.push_str(&block(&group, columns));
    }
    if loops.hidden() > 0 {
        let more = counted(loops.hidden(), "more loop");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n  {FAINT}and {more}: --format json has all{FAINT:#}");
    }
    if !loops.shown.is_empty() {
        text.push('\n');
    }
    text
}

/// Returns the line about a run.
fn heading(report: &Report) -> String {
    let (style, word) = match (report.judged.loops.count, report.forgotten) {
        (0, 0) if report.is_empty() => (FAINT, "empty"),
        (0, 0) => (CLEAN, "clean"),
        (0, _) => (STUCK, "partly"),
        _ => (STUCK, "stuck"),
    };
    let calls = counted(report.trace.calls, "call");
    let runs = match report.trace.runs {
        0 | 1 => String::new(),
        n => format!(", {n} sessions"),
    };
    let workers = match report.trace.workers {
        n if n <= report.trace.runs => String::new(),
        n => format!(", {n} workers"),
    };
    let after = report.after();
    let after = after.map_or_else(String::new, |it| format!("; {it} after the first finding"));
    let forgotten = match report.forgotten {
        0 => String::new(),
        n => format!(", {n} of them not followed to the end"),
    };
    let bare = report.without_content().map_or_else(String::new, |bare| format!("; {bare}"));
    let path = plain(&report.path);
    format!(
        "{style}{word}{style:#}  {path}  {FAINT}({calls}{runs}{workers}{forgotten}{after}{bare}){FAINT:#}\n"
    )
}

/// Returns the line with the number of runs.
fn summary(tally: &Tally) -> String {
    let Tally { stuck, clean, empty, left_out, older, .. } = *tally;
    let mut text = format!("{}: {}", counted(stuck + clean + empty, "run"), tally.results());
    let left_out = [(older, "older file"), (left_out, "other file")];
    let left_out: Vec<String> = left_out
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    if !left_out.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, " {FAINT}({} left out){FAINT:#}", left_out.join(", "));
    }
    text.push('\n');
    text
}
