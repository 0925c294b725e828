//! The output of `scan` for programs: one JSON object for each trace.

use serde::Serialize;

use crate::output::json::{json, json_line};
use crate::replay::{Location, ReplayFinding, Warning};
use crate::scan::report::Report;

/// The version of the output's format. A new field does not change it.
const SCHEMA: u32 = 1;

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
    findings: Vec<FindingLine<'a>>,
    /// The number of lines or elements that could not be read.
    skipped: usize,
}

#[derive(Serialize)]
struct FindingLine<'a> {
    rule: &'static str,
    kind: &'static str,
    args: &'static str,
    result: &'static str,
    action: &'static str,
    tool: Option<&'a str>,
    worker: &'a str,
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
    /// Null for text, for a later finding of the same loop, and if no rule came near since the
    /// finding before.
    warning: Option<WarningLine>,
    message: &'a str,
}

/// The rule that came nearest before the finding, and the number of calls in between.
#[derive(Serialize)]
struct WarningLine {
    rule: &'static str,
    held: u16,
    needed: u16,
    lead: u64,
}

impl WarningLine {
    fn of(Warning { rule, held, needed, lead }: Warning) -> Self {
        Self { rule, held, needed, lead }
    }
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
            findings: report.findings.list.iter().map(FindingLine::of).collect(),
            skipped: trace.skipped,
        }
    }
}

impl<'a> FindingLine<'a> {
    fn of(found: &'a ReplayFinding) -> Self {
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
            tool: calls.map(|_| found.tool.as_str()),
            worker: &found.worker,
            period: finding.period,
            laps: finding.laps,
            first_call: calls.map(|(first, _, _)| first),
            at_call: calls.map(|(_, at, _)| at),
            last_call: calls.map(|(_, _, last)| last),
            first_message: messages.map(|(first, _)| first),
            at_message: messages.map(|(_, at)| at),
            r#loop: finding.loop_id.to_string(),
            confidence: finding.confidence,
            warning: found.warning.map(WarningLine::of),
            message: &found.message,
        }
    }
}

/// Returns the report as one line.
pub(crate) fn line(report: &Report) -> String {
    json_line(&TraceLine::of(report))
}

/// All reports as one JSON document.
#[derive(Default)]
pub(crate) struct Document {
    traces: Vec<String>,
}

impl Document {
    pub(crate) fn push(&mut self, report: &Report) {
        self.traces.push(json(&TraceLine::of(report)));
    }

    pub(crate) fn finish(self) -> String {
        let traces = self.traces.join(",\n ");
        format!("{{\"schema\":{SCHEMA},\"traces\":[\n {traces}\n]}}\n")
    }
}
