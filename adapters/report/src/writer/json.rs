//! The reports for programs: one JSON object for each trace, one a line or all in one document.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;
use unstuck_trace::Tokens;

use crate::baseline::Tally;
use crate::cost::{Cost, Spent};
use crate::json::json;
use crate::parts::{FullReport, Needs};
use crate::replay::{Cause, Location, ReplayFinding, Warning};
use crate::report::{Novelty, Report};
use crate::shown::{plain, shortened};
use crate::writer::Writer;

/// The version of the output's format. A new field does not change it.
pub const SCHEMA: u32 = 1;

/// The parts of a report that are written.
const NEEDS: Needs = Needs { lines: true, ..Needs::loops(0) };

/// One line for each report.
pub struct Lines;

impl Writer for Lines {
    fn needs(&self) -> Needs {
        NEEDS
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        write(report, output)?;
        output.write_all(b"\n")
    }

    fn finish(&mut self, _tally: &Tally, _output: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// All reports as one JSON document.
#[derive(Default)]
pub struct Document {
    begun: bool,
}

impl Document {
    /// Writes the beginning, or the text between two reports.
    fn begin(&mut self, output: &mut dyn Write) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return output.write_all(b",\n ");
        }
        write!(output, "{{\"schema\":{SCHEMA},\"traces\":[\n ")
    }
}

impl Writer for Document {
    fn needs(&self) -> Needs {
        NEEDS
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        self.begin(output)?;
        write(report, output)
    }

    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        if !self.begun {
            self.begin(output)?;
        }
        output.write_all(b"\n]")?;
        if let Some(difference) = &tally.difference {
            write!(output, ",\"gone\":{}", json(&difference.lines()))?;
        }
        output.write_all(b"}\n")
    }
}

/// Returns a finding as JSON.
pub fn finding(found: &ReplayFinding, novelty: Option<Novelty>) -> String {
    json(&FindingLine::of(found, novelty))
}

/// Returns the report on a trace as JSON, with these findings.
pub(crate) fn line(report: &Report, findings: impl Iterator<Item = String>) -> String {
    let findings: Vec<String> = findings.collect();
    before_findings(report) + &findings.join(",") + &after_findings(report)
}

/// Writes the report on a trace on one line. Its findings go from memory or from a temporary file to the output.
fn write(report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
    let FullReport { report, parts } = report;
    output.write_all(before_findings(report).as_bytes())?;
    let mut comma = "";
    if let Some(lines) = &mut parts.lines {
        lines.each(&report.path, &mut |finding| {
            write!(output, "{comma}{finding}")?;
            comma = ",";
            Ok(())
        })?;
    }
    output.write_all(after_findings(report).as_bytes())
}

/// Returns the report on a trace as JSON, up to its findings.
fn before_findings(report: &Report) -> String {
    let head = json(&TraceLine::of(report));
    head.strip_suffix('}').unwrap_or(&head).to_owned() + ",\"findings\":["
}

/// Returns the report on a trace as JSON, from the end of its findings.
fn after_findings(report: &Report) -> String {
    let effects = report.needs_effects.then(|| format!(",\"effects\":{}", json(&report.effects)));
    format!("]{},\"skipped\":{}}}", effects.unwrap_or_default(), report.trace.skipped)
}

#[derive(Serialize)]
struct TraceLine<'a> {
    schema: u32,
    path: &'a str,
    format: &'static str,
    session: Option<&'a str>,
    calls: usize,
    workers: usize,
    /// The number of results flagged as failed, or null if the format has no flag.
    errors: Option<usize>,
    /// The number of calls whose arguments the recording left out. Absent if it is 0.
    #[serde(skip_serializing_if = "is_zero")]
    calls_without_arguments: usize,
    /// The number of workers that were not followed to their end. Absent if it is 0.
    #[serde(skip_serializing_if = "is_zero")]
    forgotten_workers: usize,
    #[serde(flatten)]
    cost: CostLine,
}

/// The cost of a run. Absent if it is unknown, and after the first finding if there is none.
#[derive(Serialize)]
struct CostLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dollars: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_after: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_after: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_after: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dollars_after: Option<f64>,
}

impl CostLine {
    fn of(Cost { total, after }: Cost) -> Self {
        let seconds = |spent: Spent| spent.time.map(|time| time.as_secs());
        Self {
            tokens: total.tokens,
            seconds: seconds(total),
            dollars: total.dollars,
            calls_after: after.map(|after| after.calls),
            tokens_after: after.and_then(|after| after.tokens),
            seconds_after: after.and_then(seconds),
            dollars_after: after.and_then(|after| after.dollars),
        }
    }
}

/// A finding, to be serialised beside other members.
#[derive(Serialize)]
pub struct FindingLine<'a> {
    rule: &'static str,
    kind: &'static str,
    args: &'static str,
    result: &'static str,
    action: &'static str,
    tool: Option<Cow<'a, str>>,
    worker: Cow<'a, str>,
    period: u8,
    laps: u16,
    first_call: Option<usize>,
    at_call: Option<usize>,
    last_call: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_message: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_message: Option<usize>,
    r#loop: String,
    confidence: u8,
    /// `new` or `again`. Absent without a baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<&'static str>,
    /// Null for text, for a later finding of the same loop, and if no rule came near since the
    /// finding before.
    warning: Option<Warning>,
    /// Absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a Cause>,
    message: Cow<'a, str>,
}

impl<'a> TraceLine<'a> {
    fn of(report: &'a Report) -> Self {
        let trace = &report.trace;
        Self {
            schema: SCHEMA,
            path: &report.path,
            format: trace.format.name(),
            session: trace.session.as_deref(),
            calls: trace.calls,
            workers: trace.workers,
            errors: trace.errors,
            calls_without_arguments: trace.without_args,
            forgotten_workers: report.forgotten,
            cost: CostLine::of(report.cost),
        }
    }
}

impl<'a> FindingLine<'a> {
    /// Describes a finding, and whether a baseline has it.
    pub fn of(found: &'a ReplayFinding, novelty: Option<Novelty>) -> Self {
        let finding = &found.finding;
        let (calls, messages) = match found.location {
            Location::Calls { first, at, last } => (Some((first, at, last)), None),
            Location::Messages { first, at } => (None, Some((first, at))),
        };
        Self {
            rule: found.rule,
            kind: finding.kind.name(),
            args: finding.args.name(),
            result: finding.results.name(),
            action: found.action.name(),
            tool: calls.map(|_| found.tool.as_str().into()),
            worker: Cow::Borrowed(&found.worker),
            period: finding.period,
            laps: finding.laps,
            first_call: calls.map(|(first, _, _)| first),
            at_call: calls.map(|(_, at, _)| at),
            last_call: calls.map(|(_, _, last)| last),
            first_message: messages.map(|(first, _)| first),
            at_message: messages.map(|(_, at)| at),
            r#loop: finding.loop_id.to_string(),
            confidence: finding.confidence,
            baseline: novelty.map(Novelty::name),
            warning: found.warning,
            cause: found.cause.as_ref(),
            message: found.message.as_str().into(),
        }
    }

    /// Cuts the names and the message to at most so many columns, as they may be shown.
    pub fn shorten(&mut self, columns: usize) {
        for text in self.tool.iter_mut().chain([&mut self.worker, &mut self.message]) {
            *text = shortened(&plain(text), columns).into();
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}
