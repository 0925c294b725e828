//! The output of `scan` for people: a line for each run, and the proof of each loop. Many runs begin with a
//! digest.

mod calls;
mod digest;

use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use textwrap::Options;
use unicode_width::UnicodeWidthStr as _;
use unstuck_core::Args;

use crate::baseline::Tally;
use crate::cost::Spent;
use crate::groups::{Group, groups};
use crate::parts::{FullReport, Needs};
use crate::recurring::{SharedResult, shared_result, what_recurs};
use crate::replay::{Location, ReplayFinding};
use crate::report::{Loop, Report};
use crate::shown::{counted, plain, shortened};
use crate::writer::Writer;
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
        // Without a run between them, one summary is enough.
        if !self.has_digest() || !self.runs.is_empty() {
            output.write_all(summary.as_bytes())?;
        }
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

/// The most columns of a worker's name.
pub(crate) const WORKER_MAX: usize = 40;

/// The most columns of a sentence. Longer lines are hard to read.
const PROSE_MAX: usize = 100;

/// The most other loops of a group that are described.
const OTHERS_MAX: usize = 3;

const STRONG: Style = Style::new().bold();

/// Returns the text about a group of loops, in at most `columns`: the evidence first, then what the agent should
/// have been told, and the terms of the engine last.
fn block(Group { strongest, others }: &Group<'_>, columns: usize) -> String {
    let found = strongest.first();
    let headline = Headline::of(found);
    let mut lines = headline.lines(columns);
    if &*found.worker != "main" {
        let worker = shortened(&plain(&found.worker), WORKER_MAX);
        lines.push(format!("  {FAINT}by the worker {worker}{FAINT:#}"));
    }
    lines.extend(calls::lines(&found.proof, columns, headline.recorded));
    lines.extend(also(others, columns));
    lines.push("  The agent should have been told:".to_owned());
    lines.push(wrapped(&plain(&found.message), 4, columns));
    // An id stays with the word before it.
    let terms = terms(strongest, others).replace("loop ", "loop\u{A0}");
    let terms = wrapped(&terms, 2, columns).replace('\u{A0}', " ");
    lines.extend(terms.lines().map(|line| format!("{FAINT}{line}{FAINT:#}")));
    lines.join("\n") + "\n"
}

/// What recurs, and the result of it.
struct Headline<'a> {
    what: String,
    /// The words before the result.
    before: &'static str,
    /// The line of the last result, as it may be shown.
    result: Option<String>,
    /// The same line as it is in the recording.
    recorded: Option<&'a str>,
}

impl<'a> Headline<'a> {
    fn of(found: &'a ReplayFinding) -> Self {
        let what = what_recurs(&found.finding, &found.tool);
        let results = found.proof.iter().filter_map(|call| call.result.as_ref());
        let ran = results.filter(|result| !result.refused && !result.text.trim().is_empty());
        let lines: Vec<&str> = ran.map(|result| result.text.as_str()).collect();
        let shared = shared_result(&found.finding, &lines);
        let before = match shared {
            Some(SharedResult { differs: true, .. }) => ", the last time",
            _ => "",
        };
        let recorded = shared.map(|shared| shared.line);
        Self { what, before, result: recorded.map(plain), recorded }
    }

    /// Returns one line, or two if the result does not fit beside the rest.
    fn lines(&self, columns: usize) -> Vec<String> {
        let Self { what, before, result, .. } = self;
        let Some(result) = result else { return vec![format!("  {STRONG}{what}{STRONG:#}")] };
        let first = format!("  {STRONG}{what}{STRONG:#}{before}:");
        if what.width() + before.width() + result.width() + "  : ``".len() <= columns {
            return vec![format!("{first} `{result}`")];
        }
        let result = shortened(result, columns.saturating_sub("    ``".len()));
        vec![first, format!("    `{result}`")]
    }

    /// Returns one line of at most `columns`, without styles.
    fn line(&self, columns: usize) -> String {
        let Self { what, before, result, .. } = self;
        let result =
            result.as_ref().map_or_else(String::new, |result| format!("{before}: `{result}`"));
        let line = format!("{what}{result}");
        // The cut would leave the quotation open.
        if line.width() <= columns { line } else { shortened(&line, columns - 1) + "`" }
    }
}

/// Returns a line for each of the other loops of a group.
fn also(others: &[&Loop], columns: usize) -> Vec<String> {
    let Some(first) = others.first() else { return Vec::new() };
    let unit = match first.first().location {
        Location::Calls { .. } => "calls",
        Location::Messages { .. } => "turns",
    };
    let shown = others.iter().take(OTHERS_MAX).map(|one| other(one.first(), columns));
    let more = match others.len().saturating_sub(OTHERS_MAX) {
        0 => None,
        more => Some(format!("    {FAINT}… {more} more …{FAINT:#}")),
    };
    [format!("  Also over the same {unit}:")].into_iter().chain(shown).chain(more).collect()
}

/// Returns a line about another loop, with its call or its text if it is always the same.
fn other(found: &ReplayFinding, columns: usize) -> String {
    let what = what_recurs(&found.finding, &found.tool);
    let finding = &found.finding;
    let is_alike = finding.period == 1 && finding.args == Args::Same || finding.is_about_prompts();
    let room = columns.saturating_sub(4 + what.width() + 2);
    match found.proof.last().filter(|_| is_alike && room > 8) {
        Some(call) => format!("    {what}  {FAINT}{}{FAINT:#}", calls::arguments(call, room)),
        None => format!("    {what}"),
    }
}

/// Returns the actions with their calls, the rule, and the ids of the loops.
fn terms(strongest: &Loop, others: &[&Loop]) -> String {
    let ReplayFinding { finding, rule, .. } = strongest.first();
    let mut parts: Vec<String> =
        strongest.milestones().into_iter().map(|(_, milestone)| milestone).collect();
    parts.extend([format!("rule {rule}"), format!("loop {}", finding.loop_id)]);
    parts.extend(strongest.novelty.map(|novelty| novelty.name().to_owned()));
    let ids: Vec<String> =
        others.iter().map(|one| one.first().finding.loop_id.to_string()).collect();
    match ids.as_slice() {
        [] => {}
        [id] => parts.push(format!("also loop {id}")),
        ids => parts.push(format!("also loops {}", ids.join(", "))),
    }
    parts.join("; ")
}

/// Returns `text` in lines of at most `columns`, each with this indentation.
fn wrapped(text: &str, indent: usize, columns: usize) -> String {
    let indent = " ".repeat(indent);
    let options = Options::new(columns.min(PROSE_MAX));
    textwrap::fill(text, options.initial_indent(&indent).subsequent_indent(&indent))
}
