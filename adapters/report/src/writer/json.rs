//! The reports for programs: one JSON object for each trace, one a line or all in one document.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use crate::baseline::Tally;
use crate::cost::{Cost, Spent};
use crate::json::{Object, json};
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
///
/// The errors are null if the format does not flag them. The numbers of calls without arguments and of workers that were
/// not followed to their end are absent if they are 0, and what is not known of the cost is absent, too.
fn before_findings(report: &Report) -> String {
    let Report { trace, cost: Cost { total, after }, forgotten, .. } = report;
    let seconds = |spent: &Spent| spent.time.map(|time| time.as_secs());
    let head = Object::default()
        .with("schema", SCHEMA)
        .with("path", &report.path)
        .with("format", trace.format.name())
        .with("session", &trace.session)
        .with("calls", trace.calls)
        .with("workers", trace.workers)
        .with("errors", trace.errors)
        .with_known("calls_without_arguments", Some(trace.without_args).filter(|n| *n > 0))
        .with_known("forgotten_workers", Some(forgotten).filter(|n| **n > 0))
        .with_known("tokens", total.tokens)
        .with_known("seconds", seconds(total))
        .with_known("dollars", total.dollars)
        .with_known("calls_after", after.map(|after| after.calls))
        .with_known("tokens_after", after.and_then(|after| after.tokens))
        .with_known("seconds_after", after.as_ref().and_then(seconds))
        .with_known("dollars_after", after.and_then(|after| after.dollars))
        .json();
    head.strip_suffix('}').unwrap_or(&head).to_owned() + ",\"findings\":["
}

/// Returns the report on a trace as JSON, from the end of its findings.
fn after_findings(report: &Report) -> String {
    let effects = report.needs_effects.then(|| format!(",\"effects\":{}", json(&report.effects)));
    format!("]{},\"skipped\":{}}}", effects.unwrap_or_default(), report.trace.skipped)
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
