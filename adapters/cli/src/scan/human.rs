//! The output of `scan` for people: a line for each run, and the proof of each loop. Many runs begin with a
//! digest.

mod block;
mod calls;
mod digest;

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

pub(super) use block::WORKER_MAX;
use block::block;
use digest::{Measure, Stuck, digest};
use unstuck_report::Report;
use unstuck_report::cost::Spent;
use unstuck_report::groups::groups;
use unstuck_report::shown::{counted, plain};

use crate::exit::Exit;
use crate::output::{Closed, Output};
use crate::scan::judge::{FullReport, Tally};
use crate::scan::options::Sort;
use crate::scan::writer::Writer;

/// The number of runs from which on a digest comes first: more than fit on a screen.
const DIGEST_MIN: usize = 21;

const STUCK: Style = AnsiColor::Red.on_default().bold();
const CLEAN: Style = AnsiColor::Green.on_default();
const FAINT: Style = Style::new().dimmed();

/// The choices of the command line about the output for people.
#[derive(Clone, Copy)]
pub(super) struct View {
    /// The number of inputs.
    pub(super) inputs: usize,
    /// Print only the digest.
    pub(super) summary: bool,
    pub(super) sort: Sort,
}

/// The writer for people.
pub(super) struct Human {
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
    /// The most loops of one run that are shown. More loops usually have one common cause.
    pub(super) const LOOPS_MAX: usize = 10;

    pub(super) fn new(view: View) -> Self {
        Self { view, runs: Vec::new(), stuck: Vec::new() }
    }

    fn has_digest(&self) -> bool {
        self.view.summary || self.view.inputs >= DIGEST_MIN
    }
}

impl Writer for Human {
    fn report(&mut self, report: &mut FullReport, output: &mut Output) -> Result<(), Closed> {
        let columns = output.columns();
        if self.has_digest() {
            self.stuck.extend(Stuck::of(report, columns));
        }
        if self.view.summary {
            return Ok(());
        }
        let text = self::report(report, columns);
        if !self.has_digest() && self.view.sort != Sort::Cost {
            return output.write(&text);
        }
        self.runs.push(Run { text, after: report.cost.after });
        Ok(())
    }

    fn finish(&mut self, tally: &Tally, output: &mut Output) -> Result<Exit, Closed> {
        let summary = summary(tally);
        if self.has_digest() {
            let digest = digest(&self.stuck);
            let end = if self.view.summary || digest.is_empty() { "" } else { "\n" };
            output.write(&format!("{summary}{digest}{end}"))?;
        }
        if self.view.summary {
            return Ok(Exit::Clean);
        }
        if self.view.sort == Sort::Cost {
            let measure = Measure::of(self.runs.iter().filter_map(|run| run.after.as_ref()));
            let spent = |run: &Run| run.after.unwrap_or_default();
            // Runs without a finding keep their order at the end.
            self.runs.sort_by(|a, b| {
                let stuck_first = b.after.is_some().cmp(&a.after.is_some());
                stuck_first.then_with(|| measure.dearest_first(&spent(a), &spent(b)))
            });
        }
        for run in &self.runs {
            output.write(&run.text)?;
        }
        output.write(&summary)?;
        if let Some(difference) = &tally.difference {
            output.write(&difference.text())?;
        }
        Ok(Exit::Clean)
    }
}

/// Returns the report on one run, in at most `columns` except for its path.
fn report(report: &Report, columns: usize) -> String {
    let (loops, count) = (report.judged.loops.shown.as_slice(), report.judged.loops.count);
    let mut text = heading(report);
    for group in groups(loops) {
        text.push('\n');
        text.push_str(&block(&group, columns));
    }
    if let Some(more @ 1..) = count.checked_sub(loops.len()) {
        let more = counted(more, "more loop");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n  {FAINT}and {more}: --format json has all{FAINT:#}");
    }
    if !loops.is_empty() {
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
    let after = match report.cost.after {
        Some(after) if after.calls > 0 => format!("; {after} after the first finding"),
        _ => String::new(),
    };
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
    let Tally { stuck, clean, empty, unread, partly, left_out, older, .. } = *tally;
    let mut parts = vec![format!("{stuck} stuck"), format!("{clean} clean")];
    if empty > 0 {
        parts.push(format!("{empty} empty"));
    }
    if unread > 0 {
        parts.push(format!("{} could not be read", counted(unread, "input")));
    }
    if partly > 0 {
        parts.push(format!("{partly} only in part"));
    }
    let mut text = format!("{}: {}", counted(stuck + clean + empty, "run"), parts.join(", "));
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
