//! The output of `scan` for people: a line for each run, and the proof of each loop.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use textwrap::Options;
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Exit;
use crate::output::recurring::what_recurs;
use crate::output::shown::{COLUMNS, counted, plain, shortened, tool_name};
use crate::output::{Closed, Output};
use crate::replay::{Excerpt, ReplayFinding};
use crate::scan::kept::Loop;
use crate::scan::report::{Report, Tally};
use crate::scan::writer::Writer;

/// The most calls that are shown as the proof of one loop. The middle of a longer proof is left
/// out.
const PROOF_MAX: usize = 8;

/// The most columns of a tool's name.
const TOOL_MAX: usize = 24;

/// The most columns of a worker's name.
pub(super) const WORKER_MAX: usize = 40;

const STUCK: Style = AnsiColor::Red.on_default().bold();
const CLEAN: Style = AnsiColor::Green.on_default();
const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// The writer for people.
pub(super) struct Human;

impl Human {
    /// The most loops of one run that are shown. More loops usually have one common cause.
    pub(super) const LOOPS_MAX: usize = 10;
}

impl Writer for Human {
    fn report(&mut self, report: &mut Report, output: &mut Output) -> Result<(), Closed> {
        output.write(&self::report(report))
    }

    fn finish(&mut self, tally: &Tally, output: &mut Output) -> Result<Exit, Closed> {
        output.write(&summary(tally))?;
        Ok(Exit::Clean)
    }
}

/// Returns the report on one run.
fn report(report: &Report) -> String {
    let (loops, count) = (report.kept.loops.shown.as_slice(), report.kept.loops.count);
    let mut text = String::new();
    let (style, word) = match (count, report.forgotten) {
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
    let path = plain(&report.path);
    line(
        &mut text,
        &format!(
            "{style}{word}{style:#}  {path}  {FAINT}({calls}{runs}{workers}{forgotten}{after}){FAINT:#}"
        ),
    );
    for one in loops {
        line(&mut text, "");
        text.push_str(&one.describe());
    }
    if let Some(more @ 1..) = count.checked_sub(loops.len()) {
        line(&mut text, "");
        let more = counted(more, "more loop");
        line(&mut text, &format!("  {FAINT}and {more}: --format json has all{FAINT:#}"));
    }
    if !loops.is_empty() {
        line(&mut text, "");
    }
    text
}

/// Returns the last line, with the number of runs.
fn summary(tally: &Tally) -> String {
    let Tally { stuck, clean, unread, partly, left_out } = *tally;
    let mut parts = vec![format!("{stuck} stuck"), format!("{clean} clean")];
    if unread > 0 {
        parts.push(format!("{} could not be read", counted(unread, "input")));
    }
    if partly > 0 {
        parts.push(format!("{partly} only in part"));
    }
    let mut text = format!("{}: {}", counted(stuck + clean, "run"), parts.join(", "));
    if left_out > 0 {
        let other = counted(left_out, "other file");
        let _ = write!(text, " {FAINT}({other} left out){FAINT:#}");
    }
    text.push('\n');
    text
}

impl Loop {
    fn first(&self) -> &ReplayFinding {
        &self.rungs[0]
    }

    fn describe(&self) -> String {
        let mut text = String::new();
        line(
            &mut text,
            &format!(
                "  {STRONG}{}{STRONG:#}",
                what_recurs(&self.first().finding, &self.first().tool)
            ),
        );
        let options = Options::new(COLUMNS).initial_indent("  ").subsequent_indent("  ");
        for about in [self.name(), self.course()] {
            let about = textwrap::fill(&about, &options);
            line(&mut text, &format!("{FAINT}{about}{FAINT:#}"));
        }
        for row in proof(&self.first().proof) {
            line(&mut text, &format!("    {row}"));
        }
        line(&mut text, "  The agent should have been told:");
        let options = Options::new(COLUMNS).initial_indent("    ").subsequent_indent("    ");
        line(&mut text, &textwrap::fill(&plain(&self.first().message), options));
        text
    }

    /// Returns the loop's id, the rule that found it and the worker.
    fn name(&self) -> String {
        let ReplayFinding { finding, rule, worker, .. } = self.first();
        let name = format!("loop {}; rule {rule}", finding.loop_id);
        if &**worker == "main" {
            return name;
        }
        format!("{name}; worker {}", shortened(&plain(worker), WORKER_MAX))
    }
}

/// Returns a line for each call of the proof.
fn proof(calls: &[Excerpt]) -> Vec<String> {
    let number_width = calls.last().map_or(0, |call| call.index.to_string().len());
    let tools = calls.iter().map(|call| shown_tool(call, TOOL_MAX).width());
    let tool_width = tools.max().unwrap_or(0);
    let row = |call: &Excerpt| {
        let number = format!("#{:<number_width$}", call.index);
        let tool = shown_tool(call, TOOL_MAX);
        let gap = " ".repeat(tool_width.saturating_sub(tool.width()));
        let tool = if tool_width == 0 { String::new() } else { format!("  {tool}{gap}") };
        let room = COLUMNS.saturating_sub(4 + number.width() + tool.width() + 2);
        let text = shortened(&plain(&call.text), room);
        format!("{FAINT}{number}{FAINT:#}{tool}  {text}")
    };
    if calls.len() <= PROOF_MAX {
        return calls.iter().map(row).collect();
    }
    let (head, tail) = (PROOF_MAX / 2, PROOF_MAX - PROOF_MAX / 2);
    let hidden = calls.len() - head - tail;
    let gap = format!("{FAINT}… {hidden} more …{FAINT:#}");
    let (first, last) = (&calls[..head], &calls[calls.len() - tail..]);
    first.iter().map(row).chain([gap]).chain(last.iter().map(row)).collect()
}

/// Returns the tool's name in at most `columns`, or nothing for a turn of text.
fn shown_tool(shown: &Excerpt, columns: usize) -> String {
    match &shown.tool {
        Some(tool) => tool_name(tool, columns),
        None => String::new(),
    }
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
