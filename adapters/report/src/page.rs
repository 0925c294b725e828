//! The report on recorded runs in parts, for a page that judges them itself.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;

use maud::Markup;
use serde::Serialize;
use unstuck_core::{Action, LoopId};
use unstuck_text::Preset;
use unstuck_trace::Problem;

use crate::html::{Html, IncludeArgs};
use crate::json::json;
use crate::line;
use crate::recurring::what_recurs;
use crate::replay::ReplayFinding;
use crate::report::{Observer, Report, Settings};
use crate::shown::plain;

/// The most findings of one run in its JSON.
const FINDINGS_MAX: usize = 10_000;

/// The report on some runs: an overview of all, and a part for each.
pub struct Page {
    settings: Settings,
    html: Html,
}

/// The report on one run.
#[derive(Debug)]
pub struct Part {
    /// The part of the page in HTML, or `None` beyond the limits of the report; the run is then only a row of
    /// the overview.
    pub html: Option<String>,
    /// The line that `unstuck scan --format jsonl` prints, with at most 10,000 findings.
    pub json: String,
    /// The name and the loops as JSON, to compare with the same run by another policy. Its texts are masked and
    /// safe to show.
    pub loops: String,
}

impl Page {
    /// Returns an empty report that judges runs by `preset`.
    pub fn new(preset: &'static Preset, args: IncludeArgs) -> Self {
        let settings = Settings::new(preset, Html::NEEDS);
        Self { settings, html: Html::new(args, preset.policy) }
    }

    /// Reads and judges the run called `name`, and adds it to the report.
    ///
    /// # Errors
    ///
    /// Returns an error if the input is empty, of no known format, or fails before its first record. It is then
    /// listed in the overview.
    pub fn take(&mut self, name: &str, input: impl BufRead) -> Result<Part, Problem> {
        let mut findings = Findings::default();
        let report = Report::read(name.to_owned(), input, &self.settings, &mut findings);
        let report = report.inspect_err(|problem| self.html.unread(name, &problem.to_string()))?;
        let (findings, loops) = findings.finish();
        Ok(Part {
            html: self.html.take(&report).map(Markup::into_string),
            json: line::line(&report, findings),
            loops: json(&RunLine { name: plain(name), loops }),
        })
    }

    /// Adds an input that cannot be read to the overview.
    pub fn unread(&mut self, name: &str, why: &str) {
        self.html.unread(name, why);
    }

    /// Returns the title of the report.
    pub fn title(&self) -> String {
        self.html.title()
    }

    /// Returns the overview of all runs so far in HTML.
    pub fn overview(&self) -> String {
        self.html.overview().into_string()
    }
}

/// The findings of a run.
#[derive(Default)]
struct Findings {
    /// Each finding as JSON, with the number of calls before it.
    json: Vec<(usize, String)>,
    loops: BTreeMap<(LoopId, Arc<str>), LoopLine>,
}

/// A loop of a run, to compare with the same run by another policy.
#[derive(Serialize)]
struct LoopLine {
    r#loop: String,
    worker: String,
    rule: &'static str,
    /// The strongest action.
    action: &'static str,
    #[serde(skip)]
    strongest: Action,
    /// The noun for one step of the loop.
    of: &'static str,
    first: usize,
    /// The step at which it was found first, and the last one of its findings.
    at: usize,
    last: usize,
    what: String,
}

/// A run and its loops.
#[derive(Serialize)]
struct RunLine {
    name: String,
    loops: Vec<LoopLine>,
}

impl Findings {
    /// Returns the findings as JSON in the order of their calls, and the loops in the order of their first
    /// findings.
    fn finish(mut self) -> (impl Iterator<Item = String>, Vec<LoopLine>) {
        self.json.sort_by_key(|(calls_before, _)| *calls_before);
        let mut loops: Vec<_> = self.loops.into_values().collect();
        loops.sort_by_key(|one| one.at);
        (self.json.into_iter().map(|(_, json)| json), loops)
    }
}

impl Observer for Findings {
    fn found(&mut self, found: &ReplayFinding) -> Option<bool> {
        if self.json.len() == FINDINGS_MAX {
            return None;
        }
        self.json.push((found.calls_before, line::finding(found, None)));
        let one = LoopLine::of(found);
        self.loops
            .entry((found.finding.loop_id, Arc::clone(&found.worker)))
            .and_modify(|known| known.take(&one))
            .or_insert(one);
        None
    }
}

impl LoopLine {
    fn of(found: &ReplayFinding) -> Self {
        let (first, at, last) = found.location.numbers();
        Self {
            r#loop: found.finding.loop_id.to_string(),
            worker: plain(&found.worker),
            rule: found.rule,
            action: found.action.name(),
            strongest: found.action,
            of: found.location.noun(),
            first,
            at,
            last: at.max(last),
            what: what_recurs(&found.finding, &found.tool),
        }
    }

    /// Takes in another finding of the same loop.
    fn take(&mut self, other: &Self) {
        (self.first, self.last) = (self.first.min(other.first), self.last.max(other.last));
        if other.strongest > self.strongest {
            (self.strongest, self.action) = (other.strongest, other.action);
        }
    }
}

#[cfg(test)]
mod tests {
    use unstuck_text::PRESETS;

    use super::*;

    /// Returns a native trace of `calls` equal calls that fail.
    fn failing(tool: &str, calls: usize) -> String {
        let call = serde_json::json!({"type": "call", "tool": tool, "args": "<b>", "result": "no", "is_error": true});
        format!("{call}\n").repeat(calls)
    }

    fn page() -> Page {
        Page::new(&PRESETS[0], IncludeArgs::Short)
    }

    #[test]
    fn a_run_has_a_part_a_line_and_its_loops() {
        let mut page = page();
        let text = failing("<i>\u{202E}", 9);
        let Part { html, json, loops } = page.take("a/<u>.jsonl", text.as_bytes()).expect("a run");
        let html = html.expect("a part");
        assert!(html.starts_with("<section class=\"run\" id=\"run-1\""), "{html}");
        for text in [&html, &page.overview()] {
            assert!(
                !text.contains("<u>") && !text.contains("<i>") && !text.contains("<b>no"),
                "{text}"
            );
            assert!(!text.contains('\u{202E}'));
        }
        let run: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let line: serde_json::Value = serde_json::from_str(&loops).expect("JSON");
        assert_eq!((&run["path"], &run["calls"]), (&"a/<u>.jsonl".into(), &9.into()));
        let (findings, all) = (run["findings"].as_array().expect("findings"), &line["loops"]);
        assert!(findings.len() > 1, "a loop climbs its ladder");
        assert_eq!(all.as_array().map(Vec::len), Some(1), "{loops}");
        assert_eq!(all[0]["at"], findings[0]["at_call"]);
        assert_eq!(all[0]["action"], findings[findings.len() - 1]["action"]);
        assert_eq!(all[0]["what"], "`<i>\u{FFFD}` 3 times in a row, failing alike");
        assert_eq!(page.title(), "Loops in 1 of 1 run");
    }

    #[test]
    fn an_input_that_is_no_run_is_listed() {
        let mut page = page();
        for text in ["", "no run", "\u{0}\u{1}", "{\"a\": "] {
            let why = page.take("x", text.as_bytes()).expect_err(text).to_string();
            assert!(page.overview().contains(&why[..10]), "{why}");
        }
        page.unread("y", "a reason");
        assert!(page.overview().contains("5 inputs could not be read"));
        assert_eq!(page.title(), "No loop in 0 runs");
    }

    mod needs_minutes {
        use super::*;

        #[test]
        fn the_findings_of_a_run_are_bounded() {
            let call = |n: usize| failing(&format!("t{}", n / 3), 1);
            let text: String = (0..3 * FINDINGS_MAX + 90).map(call).collect();
            let part = page().take("x", text.as_bytes()).expect("a run");
            let run: serde_json::Value = serde_json::from_str(&part.json).expect("JSON");
            assert_eq!(run["findings"].as_array().map(Vec::len), Some(FINDINGS_MAX));
        }
    }
}
