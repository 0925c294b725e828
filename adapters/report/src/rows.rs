//! The table of findings: the rows of a run, for Parquet files and data frames.
//!
//! Each run has a row for each of its findings, or one row if it has none. So a table shows that it has every
//! run exactly once, and rates can be computed from it.

use std::io::BufRead;

use serde::{Deserialize, Serialize};
use unstuck_text::Preset;
use unstuck_trace::Format;

use crate::parts::Needs;
use crate::replay::{Location, ReplayFinding};
use crate::report::{Observer, Report, Settings};
use crate::shown::plain;

/// The columns about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunRow {
    /// `stuck`, `clean`, `empty`, `partly` or `unread`.
    pub status: &'static str,
    /// The format of the transcript, or `None` if the run could not be read.
    pub format: Option<&'static str>,
    /// The number of calls of the run, or `None` if it could not be read.
    pub run_calls: Option<u64>,
    /// The tokens that the run spent after its first finding, or `None` if it has no finding or no tokens.
    pub tokens_after: Option<u64>,
    /// The reason why nothing, or not everything, could be read.
    pub error: Option<String>,
}

/// The columns about a finding. It serializes for a temporary file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingRow {
    /// The name of the rule.
    pub rule: String,
    /// The kind of the finding.
    pub kind: String,
    /// The action that the rule asks for.
    pub action: String,
    /// The tool of the last call, or `None` if the finding is about text.
    pub tool: Option<String>,
    /// The worker that is stuck.
    pub worker: String,
    /// The first call of the loop, or the first message if the finding is about text.
    pub first: u64,
    /// The last call or message.
    pub last: u64,
    /// The calls or messages that prove it.
    pub calls: Vec<u64>,
    /// The id of the loop.
    pub finding_id: String,
}

/// The rows of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The run. Its tokens and its error belong to the first row only, so that sums and counts are right.
    pub run: RunRow,
    /// The findings in their order. A run without any has one row.
    pub findings: Vec<FindingRow>,
}

impl RunRow {
    /// Returns the columns about a run that was read.
    pub fn of(report: &Report) -> Self {
        let tokens = report.cost.after.and_then(|after| after.tokens);
        Self {
            status: report.status(),
            format: Some(report.trace.format.name()),
            run_calls: Some(report.trace.calls as u64),
            tokens_after: tokens.map(unstuck_trace::Tokens::total),
            error: report.incomplete(),
        }
    }

    /// Returns the columns about a run that could not be read.
    pub fn unread(why: &str) -> Self {
        Self { status: "unread", error: Some(plain(why)), ..Self::default() }
    }

    /// Returns the columns in a row after the first one.
    #[must_use]
    pub fn again(&self) -> Self {
        Self { tokens_after: None, error: None, ..self.clone() }
    }
}

impl FindingRow {
    /// Describes a finding.
    pub fn of(found: &ReplayFinding) -> Self {
        let (first, _, last) = found.location.numbers();
        let is_call = matches!(found.location, Location::Calls { .. });
        Self {
            rule: plain(found.rule),
            kind: found.finding.kind.name().to_owned(),
            action: found.action.name().to_owned(),
            tool: is_call.then(|| plain(&found.tool)),
            worker: plain(&found.worker),
            first: first as u64,
            last: last as u64,
            calls: found.proof.iter().map(|call| call.index as u64).collect(),
            finding_id: found.finding.loop_id.to_string(),
        }
    }
}

impl Rows {
    /// Reads a recorded run and returns its rows.
    pub fn read(input: impl BufRead, from: Option<Format>, preset: &'static Preset) -> Self {
        let settings = Settings { from, ..Settings::new(preset, Needs::default()) };
        let mut findings = Findings::default();
        match Report::read(String::new(), input, &settings, &mut findings) {
            Ok(report) => Self { run: RunRow::of(&report), findings: findings.finish() },
            Err(problem) => Self::unread(&problem.to_string()),
        }
    }

    /// Returns the row of a run that could not be read.
    pub fn unread(why: &str) -> Self {
        Self { run: RunRow::unread(why), findings: Vec::new() }
    }
}

/// The findings of a run, each with the number of calls before it.
#[derive(Default)]
struct Findings(Vec<(usize, FindingRow)>);

impl Observer for Findings {
    fn found(&mut self, found: &ReplayFinding) -> Option<bool> {
        self.0.push((found.calls_before, FindingRow::of(found)));
        None
    }
}

impl Findings {
    fn finish(mut self) -> Vec<FindingRow> {
        self.0.sort_by_key(|(before, _)| *before);
        self.0.into_iter().map(|(_, row)| row).collect()
    }
}

#[cfg(test)]
mod tests {
    use unstuck_text::PRESETS;

    use super::Rows;

    const STUCK: &str = "{\"type\":\"call\",\"tool\":\"a\\u001bb\",\"args\":{},\"result\":\"no\",\"is_error\":true}\n";
    const CLEAN: &str = "{\"type\":\"call\",\"tool\":\"ls\",\"args\":{}}\n";
    const COSTLY: &str =
        "{\"type\":\"call\",\"tool\":\"ls\",\"args\":{},\"tokens\":{\"input\":5}}\n";

    fn rows(text: &str) -> Rows {
        Rows::read(text.as_bytes(), None, &PRESETS[0])
    }

    #[test]
    fn a_run_has_a_status_and_a_reason() {
        let broken = format!("{CLEAN}not json\n");
        for (text, status, calls, has_error) in [
            (STUCK.repeat(3), "stuck", Some(3), false),
            (CLEAN.to_owned(), "clean", Some(1), false),
            (broken, "partly", Some(1), true),
            ("not a run".to_owned(), "unread", None, true),
            (String::new(), "unread", None, true),
        ] {
            let Rows { run, findings } = rows(&text);
            assert_eq!((run.status, run.run_calls), (status, calls), "{text}");
            assert_eq!(run.error.is_some(), has_error, "{text}: {:?}", run.error);
            assert_eq!(findings.is_empty(), status != "stuck", "{text}");
        }
    }

    #[test]
    fn a_finding_has_its_calls_and_a_tool_that_may_be_shown() {
        let Rows { findings, .. } = rows(&STUCK.repeat(6));
        let first = findings.first().expect("a finding");
        assert_eq!((first.first, first.last, &*first.calls), (0, 2, &[0, 1, 2][..]));
        assert_eq!(first.tool.as_deref(), Some("a\u{FFFD}b"));
        assert!(findings.len() > 1 && findings.iter().all(|one| one.finding_id.len() == 16));
    }

    #[test]
    fn only_the_first_row_has_the_tokens_and_the_error() {
        let text = format!("{}{COSTLY}{COSTLY}not json\n", STUCK.repeat(3));
        let run = rows(&text).run;
        assert_eq!((run.tokens_after, run.error.is_some()), (Some(10), true));
        let again = run.again();
        assert_eq!((again.tokens_after, again.error, again.status), (None, None, run.status));
    }
}
