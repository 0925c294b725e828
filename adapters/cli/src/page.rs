//! The report on recorded runs in parts, for a page that judges them itself.

use std::io::BufRead;

use maud::Markup;
use unstuck_text::Preset;
use unstuck_trace::Problem;

use crate::replay::{ReplayFinding, Wanted};
use crate::scan::html::{Html, IncludeArgs};
use crate::scan::kept::Watch;
use crate::scan::machine;
use crate::scan::report::{Report, Settings};

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
    /// The part of the page in HTML. Absent if the page has enough of them, and the run is only a row of the
    /// overview.
    pub html: Option<String>,
    /// The line that `unstuck scan --format jsonl` prints, with at most 10,000 findings.
    pub json: String,
}

impl Page {
    /// Returns an empty report that judges runs by `preset`.
    pub fn new(preset: &'static Preset, args: IncludeArgs) -> Self {
        let settings = Settings {
            from: None,
            preset,
            price: None,
            loops: Html::LOOPS_MAX,
            wanted: Some(Wanted::all()),
            picture: true,
        };
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
        Ok(Part {
            html: self.html.take(&report).map(Markup::into_string),
            json: machine::line(&report, findings.in_order()),
        })
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

/// The findings of a run as JSON, each with the number of calls before it.
#[derive(Default)]
struct Findings(Vec<(usize, String)>);

impl Findings {
    /// Returns the findings in the order of their calls.
    fn in_order(mut self) -> impl Iterator<Item = String> {
        self.0.sort_by_key(|(calls_before, _)| *calls_before);
        self.0.into_iter().map(|(_, json)| json)
    }
}

impl Watch for Findings {
    fn found(&mut self, found: &ReplayFinding) -> Option<bool> {
        if self.0.len() < FINDINGS_MAX {
            self.0.push((found.calls_before, machine::finding(found, None)));
        }
        None
    }
}
