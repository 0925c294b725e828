//! What `scan` prints for people: a line for each run, and the proof of each loop.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use textwrap::Options;
use unicode_width::UnicodeWidthStr as _;
use unstuck_core::{Args, Kind, Results};

use crate::replay::{Found, Place, Shown};
use crate::scan::{Report, Tally};
use crate::shown::{masked, plain, shortened};

/// Readable in a terminal of the usual width.
const COLUMNS: usize = 80;

/// How many calls are shown as the proof of one loop; the middle of more is left out.
const PROOF_MAX: usize = 8;

/// The most columns that a tool's name takes there.
const TOOL_MAX: usize = 24;

const STUCK: Style = AnsiColor::Red.on_default().bold();
const CLEAN: Style = AnsiColor::Green.on_default();
const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// The report on one run.
pub(crate) fn report(report: &Report) -> String {
    let loops = loops_of(report);
    let mut text = String::new();
    let (style, word) = if loops.is_empty() { (CLEAN, "clean") } else { (STUCK, "stuck") };
    let calls = counted(report.trace.calls, "call");
    let workers = match report.trace.workers {
        0 | 1 => String::new(),
        n => format!(", {n} workers"),
    };
    let path = plain(&report.path);
    line(&mut text, &format!("{style}{word}{style:#}  {path}  {FAINT}({calls}{workers}){FAINT:#}"));
    for one in &loops {
        line(&mut text, "");
        text.push_str(&one.describe(report));
    }
    if !loops.is_empty() {
        line(&mut text, "");
    }
    text
}

/// The last line: how many runs there were.
pub(crate) fn summary(tally: &Tally) -> String {
    let Tally { stuck, clean, unread, partly, left_out } = *tally;
    let mut parts = vec![format!("{stuck} stuck"), format!("{clean} clean")];
    if unread > 0 {
        parts.push(format!("{unread} could not be read"));
    }
    if partly > 0 {
        parts.push(format!("{partly} only in part"));
    }
    let mut text = format!("{}: {}", counted(stuck + clean + unread, "run"), parts.join(", "));
    if left_out > 0 {
        let other = counted(left_out, "other file");
        let _ = write!(text, " {FAINT}({other} left out){FAINT:#}");
    }
    text.push('\n');
    text
}

/// All that was found of one loop: the rungs that it climbed.
struct Loop<'r> {
    rungs: Vec<&'r Found>,
}

fn loops_of(report: &Report) -> Vec<Loop<'_>> {
    let mut loops: Vec<Loop<'_>> = Vec::new();
    for found in &report.replay.found {
        let same = |one: &&mut Loop<'_>| {
            one.rungs.first().is_some_and(|first| {
                first.loop_id() == found.loop_id() && first.worker == found.worker
            })
        };
        match loops.iter_mut().find(same) {
            Some(known) => known.rungs.push(found),
            None => loops.push(Loop { rungs: vec![found] }),
        }
    }
    loops
}

impl Loop<'_> {
    fn describe(&self, report: &Report) -> String {
        let mut text = String::new();
        let (Some(first), Some(last)) = (self.rungs.first(), self.rungs.last()) else {
            return text;
        };
        let what = format!("  {STRONG}{}{STRONG:#}", what(last, self.laps(last, report)));
        line(&mut text, &what);
        let options = Options::new(COLUMNS).initial_indent("  ").subsequent_indent("  ");
        let course = textwrap::fill(&self.course(report), options);
        line(&mut text, &format!("{FAINT}{course}{FAINT:#}"));
        for row in proof(&first.proof) {
            line(&mut text, &format!("    {row}"));
        }
        line(&mut text, "  The agent should have been told:");
        let options = Options::new(COLUMNS).initial_indent("    ").subsequent_indent("    ");
        line(&mut text, &textwrap::fill(&plain(&first.message), options));
        text
    }

    /// How often it went round by the end of the run.
    fn laps(&self, last: &Found, report: &Report) -> u16 {
        let key = (last.worker.clone(), last.loop_id());
        let end = report.replay.extent.get(&key).map_or(0, |&(laps, _)| laps);
        let rungs = self.rungs.iter().map(|found| found.finding.laps);
        rungs.chain([end]).max().unwrap_or(0)
    }

    /// Where it was, and what should have been done when.
    fn course(&self, report: &Report) -> String {
        let mut steps: Vec<String> = Vec::new();
        let mut worst = None;
        for found in &self.rungs {
            if worst < Some(found.action) {
                worst = Some(found.action);
                let (Place::Calls { at, .. } | Place::Messages { at, .. }) = found.place;
                steps.push(format!("{} at #{at}", found.action));
            }
        }
        let first = self.rungs.first().map(|found| (found.place, found.rule, &found.worker));
        let last = self
            .rungs
            .last()
            .and_then(|found| report.replay.extent.get(&(found.worker.clone(), found.loop_id())));
        let end = last.map(|&(_, place)| place);
        let stretch = match (first.map(|(place, ..)| place), end) {
            (Some(Place::Calls { first, .. }), Some(Place::Calls { last, .. })) => {
                format!("calls #{first} to #{last}")
            }
            (Some(Place::Messages { first, .. }), Some(Place::Messages { at, .. })) => {
                format!("messages #{first} to #{at}")
            }
            _ => String::new(),
        };
        let worker = match first {
            Some((_, _, worker)) if worker != "main" => format!(", worker {}", plain(worker)),
            _ => String::new(),
        };
        let rule = first.map_or("", |(_, rule, _)| rule);
        format!("{stretch}{worker}; {} (rule {rule})", steps.join(", "))
    }
}

/// What goes round, in one line.
fn what(found: &Found, laps: u16) -> String {
    let finding = &found.finding;
    let tool = shortened(&plain(&found.tool), 30);
    let result = match (finding.results, finding.failed) {
        (Results::Same, true) => ", failing alike",
        (Results::Same, false) => ", same result",
        (Results::Near, true) => ", failing nearly alike",
        (Results::Near, false) => ", nearly the same result",
        (Results::Ignored, true) => ", failing",
        (Results::Ignored, false) => "",
    };
    match (finding.kind, finding.args) {
        (Kind::Text, Args::Same) => format!("the same text {laps} times, and no call"),
        (Kind::Text, _) => format!("{laps} turns of text, and no call"),
        (Kind::Cycle, _) => {
            let results = if finding.results == Results::Same { ", same results" } else { "" };
            format!("a lap of {} calls, {laps} times{results}", finding.period)
        }
        (Kind::Streak, Args::Same) => format!("`{tool}` {laps} times in a row{result}"),
        (Kind::Streak, Args::Similar) => format!("`{tool}` {laps} times nearly alike{result}"),
        (Kind::Recurrence, Args::Same | Args::Similar) => {
            format!("`{tool}` {laps} times, others between{result}")
        }
        (_, Args::SameTool) => format!("`{tool}` {laps} times, each with other arguments{result}"),
        (_, Args::Any) => format!("{laps} different calls{result}"),
    }
}

/// The calls that prove it, a line each.
fn proof(calls: &[Shown]) -> Vec<String> {
    let width = calls.last().map_or(0, |call| call.index.to_string().len());
    let tools = calls.iter().map(|call| plain(&call.tool).width());
    let tool_width = tools.max().unwrap_or(0).min(TOOL_MAX);
    let row = |call: &Shown| {
        let tool = shortened(&plain(&call.tool), TOOL_MAX);
        let tool = format!("{tool}{}", " ".repeat(tool_width.saturating_sub(tool.width())));
        let head = format!("#{:<width$}  {tool}  ", call.index);
        let room = COLUMNS.saturating_sub(4 + head.width());
        let args = shortened(&plain(&masked(&call.args)), room);
        format!("{FAINT}#{:<width$}{FAINT:#}  {tool}  {args}", call.index)
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

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
