//! A report and a finding as JSON, each on one line.

use std::borrow::Cow;

use serde::Serialize;

use crate::cost::{Cost, Spent};
use crate::json::{Object, json};
use crate::replay::{Cause, Location, ReplayFinding, Warning};
use crate::report::{Novelty, Report};
use crate::shown::{plain, shortened};

/// The version of the output's format. A new field does not change it.
pub const SCHEMA: u32 = 1;

/// Returns a finding as JSON.
pub fn finding(found: &ReplayFinding, novelty: Option<Novelty>) -> String {
    json(&FindingLine::of(found, novelty))
}

/// Returns the report on a trace as JSON, with these findings.
pub(crate) fn line(report: &Report, findings: impl Iterator<Item = String>) -> String {
    let findings: Vec<String> = findings.collect();
    before_findings(report) + &findings.join(",") + &after_findings(report)
}

/// Returns the report on a trace as JSON, up to its findings.
///
/// The errors are null if the format does not flag them. The numbers of calls without arguments and of workers that were
/// not followed to their end are absent if they are 0, and what is not known of the cost is absent, too.
pub(crate) fn before_findings(report: &Report) -> String {
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
pub(crate) fn after_findings(report: &Report) -> String {
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
