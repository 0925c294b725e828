//! A row of the list: what is known of one run.

use std::path::PathBuf;
use std::time::SystemTime;

use unstuck_report::Report;
use unstuck_report::cost::Spent;
use unstuck_report::recurring::what_recurs;
use unstuck_report::shown::plain;

/// A row of the list.
pub(in crate::view) struct Row {
    pub(in crate::view) file: PathBuf,
    /// The path, as it may be shown.
    pub(in crate::view) path: String,
    pub(in crate::view) modified: Option<SystemTime>,
    /// `None` as long as the run was not read. An error says why it cannot be.
    pub(in crate::view) result: Option<Result<Summary, String>>,
    /// The text that a filter searches, in lower case.
    searched: String,
}

/// What a row shows of a run.
#[derive(Clone, Debug)]
pub(in crate::view) struct Summary {
    pub(in crate::view) word: &'static str,
    pub(in crate::view) calls: usize,
    /// The first loop in words and its rule, or empty.
    pub(in crate::view) what: String,
    pub(in crate::view) rule: &'static str,
    pub(in crate::view) loops: usize,
    /// The cost after the first finding.
    pub(in crate::view) after: Option<Spent>,
}

impl Summary {
    pub(in crate::view) fn of(report: &Report) -> Self {
        let loops = &report.judged.loops;
        let first = loops.shown.first().map(|one| &one.rungs[0]);
        Self {
            word: report.status(),
            calls: report.trace.calls,
            what: first.map_or_else(String::new, |found| what_recurs(&found.finding, &found.tool)),
            rule: first.map_or("", |found| found.rule),
            loops: loops.count,
            after: report.cost.after,
        }
    }
}

impl Row {
    pub(super) fn new(file: PathBuf, modified: Option<SystemTime>) -> Self {
        let path = plain(&file.display().to_string());
        let searched = path.to_lowercase();
        Self { file, path, modified, result: None, searched }
    }

    pub(super) fn take(&mut self, result: Result<Summary, String>) {
        let text = match &result {
            Ok(Summary { word, what, rule, .. }) => format!("{} {word} {what} {rule}", self.path),
            Err(why) => format!("{} unread {why}", self.path),
        };
        self.searched = text.to_lowercase();
        self.result = Some(result.map_err(|why| plain(&why)));
    }

    pub(in crate::view) fn is_stuck(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.as_ref().is_ok_and(|one| one.loops > 0))
    }

    /// Returns whether the row has the text `wanted`, which is in lower case.
    pub(super) fn is_shown(&self, wanted: &str, only_stuck: bool) -> bool {
        self.searched.contains(wanted) && (!only_stuck || self.is_stuck())
    }

    /// Returns the calls after the first finding and all calls.
    pub(super) fn cost(&self) -> (usize, usize) {
        let Some(Ok(summary)) = &self.result else { return (0, 0) };
        (summary.after.map_or(0, |after| after.calls), summary.calls)
    }
}
