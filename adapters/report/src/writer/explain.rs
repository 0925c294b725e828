//! `scan --explain`: shows every call of one loop, and how near each rule was at each call.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::Style;
use unstuck_core::{LoopId, Policy};

use crate::baseline::Tally;
use crate::failure::Failure;
use crate::parts::{Explainable, FullReport, NAMED_MAX, Needs};
use crate::replay::{Explained, LoopPrefix};
use crate::shown::{COLUMNS, counted, plain, shortened};
use crate::table;
use crate::writer::Writer;
use crate::writer::human::WORKER_MAX;

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// The legend below the tables.
const LEGEND: &str = "Verdict: the action and the rung of its ladder, for another loop if there \
                      is none for this one. Rules: the calls or turns of the pattern so far, of \
                      the number that the rule needs. * marks the rule that made the finding. - \
                      is unknown: the history was cleared, or several calls were judged at once. \
                      Result: the first digits of its digest, and its similarity to the result of \
                      the lap before.";

const SEVERAL: &str = "several loops begin with these digits; give more digits of one of them:";

/// The explanation of one loop.
pub struct Explanation {
    policy: &'static Policy<'static>,
    /// The loops that can be listed in an error.
    names: Explainable,
    /// The steps in each run, with the path of the run.
    runs: Vec<(String, Explained)>,
    /// The loops whose ids begin with the digits. If they are several, no steps are kept.
    meant: BTreeSet<LoopId>,
}

impl Explanation {
    /// Explains the loop whose id begins with `wanted`, in runs that are judged by `policy`.
    pub fn new(wanted: LoopPrefix, policy: &'static Policy<'static>) -> Self {
        let names = Explainable::new(wanted);
        Self { policy, names, runs: Vec::new(), meant: BTreeSet::new() }
    }

    /// Returns the loop that the digits identify, or a failure if there is not exactly one.
    pub(super) fn meant(&self) -> io::Result<LoopId> {
        let mut meant = self.meant.iter().copied();
        match (meant.next(), meant.next()) {
            (Some(id), None) => Ok(id),
            (Some(_), Some(_)) => Err(self.refuse(SEVERAL, |id| self.names.wanted.is(id))),
            (None, _) if self.names.found.is_empty() => {
                Err(self.refuse("there is no such loop, and no other was found", |_| true))
            }
            (None, _) => {
                Err(self.refuse("there is no such loop; the loops that were found:", |_| true))
            }
        }
    }

    /// Returns the steps in each run, with the path of the run.
    pub(super) fn runs(&self) -> impl Iterator<Item = &(String, Explained)> {
        self.runs.iter()
    }

    /// Describes the loop `id`.
    pub(super) fn what(&self, id: LoopId) -> Option<&str> {
        self.names.named.iter().find(|(named, _)| *named == id).map(|(_, what)| what.as_str())
    }

    /// Returns the failure that nothing is explained, with the loops that could be meant.
    fn refuse(&self, why: &str, could_be: impl Fn(LoopId) -> bool) -> io::Error {
        let named = self.names.named.iter().filter(|(id, _)| could_be(*id)).take(NAMED_MAX);
        let line = |(id, what): &(LoopId, String)| {
            let room = COLUMNS - "  0123456789abcdef  ".len();
            format!("  {STRONG}{id}{STRONG:#}  {}\n", shortened(what, room))
        };
        let mut lines: Vec<String> = named.map(line).collect();
        let more = self.names.found.iter().filter(|id| could_be(**id)).count() - lines.len();
        if more > 0 {
            lines.push(format!("  and {more} more: scan without --explain shows all\n"));
        }
        Failure::refusal("--explain", why, lines.concat())
    }

    fn text(&self, id: LoopId) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        if let Some(what) = self.what(id) {
            let _ = writeln!(text, "{STRONG}{what}{STRONG:#}");
        }
        let _ = writeln!(text, "{FAINT}loop {id}{FAINT:#}");
        for (path, explained) in &self.runs {
            let worker = match explained.worker.as_str() {
                "main" => String::new(),
                worker => format!(", worker {}", shortened(&plain(worker), WORKER_MAX)),
            };
            let times = counted(explained.steps.len(), explained.unit());
            let _ = writeln!(text, "\n{}{worker}  {FAINT}({times}){FAINT:#}", plain(path));
            text.push_str(&table::table(&explained.steps, self.policy));
        }
        let _ = writeln!(text, "\n{FAINT}{}{FAINT:#}", textwrap::fill(LEGEND, COLUMNS));
        text
    }
}

impl Writer for Explanation {
    fn needs(&self) -> Needs {
        Needs { explain: Some(self.names.wanted), ..Needs::default() }
    }

    fn report(&mut self, report: &mut FullReport, _output: &mut dyn Write) -> io::Result<()> {
        if let Some(Explainable { named, found, .. }) = &report.parts.names {
            for (id, what) in named {
                self.names.take(*id, || what.clone());
            }
            self.names.found.extend(found);
        }
        // Another output may explain the same loop.
        let explained = report.explained.iter();
        self.meant.extend(explained.clone().flat_map(|explained| &explained.loops));
        if self.meant.len() > 1 {
            self.runs.clear();
            return Ok(());
        }
        let explained = explained.cloned();
        self.runs.extend(explained.map(|explained| (report.path.clone(), explained)));
        Ok(())
    }

    fn finish(&mut self, _tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(self.text(self.meant()?).as_bytes())
    }
}
