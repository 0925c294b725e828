//! The output formats of `scan`, one writer each.

use unstuck_core::Policy;
use unstuck_report::evidence::LOOPS_MAX;
use unstuck_report::html::Html;
use unstuck_report::replay::LoopPrefix;

use crate::exit::Exit;
use crate::output::{Closed, Output, Reader};
use crate::scan::csv::Csv;
use crate::scan::explain::Explanation;
use crate::scan::github::GitHub;
use crate::scan::human::{Human, View};
use crate::scan::judge::{FullReport, Tally};
use crate::scan::junit::Junit;
use crate::scan::machine::{Document, Lines};
use crate::scan::markdown::Markdown;
use crate::scan::options::Scan;
use crate::scan::page::Page;
#[cfg(feature = "fleet")]
use crate::scan::parquet::Parquet;
use crate::scan::parts::Needs;
use crate::scan::sarif::Sarif;
use crate::scan::svg::Svg;
use crate::scan::targets::OutputFormat;

/// Writes the reports of a scan in one format.
pub(super) trait Writer {
    /// Takes in the report on an input, in the order of the inputs.
    fn report(&mut self, report: &mut FullReport, output: &mut Output) -> Result<(), Closed>;

    /// Takes in an input that could not be read at all.
    fn unread(&mut self, _path: &str, _why: &str) {}

    /// Writes the end, after the last report. Returns the exit code of a failure that it printed.
    fn finish(&mut self, tally: &Tally, output: &mut Output) -> Result<Exit, Closed>;
}

impl OutputFormat {
    /// Returns the reader that the format is made for.
    pub(super) fn reader(self) -> Reader {
        match self {
            Self::Human => Reader::Person,
            _ => Reader::Program,
        }
    }

    /// Returns the parts of the findings that the format shows, or that it shows of the loop to explain.
    pub(super) fn needs(self, explain: Option<LoopPrefix>) -> Needs {
        match (self, explain) {
            (Self::Svg, _) => Needs { explain, picture: true, ..Needs::default() },
            (_, Some(_)) => Needs { explain, ..Needs::default() },
            (Self::Human, None) => Needs { loops: Human::LOOPS_MAX, ..Needs::default() },
            (Self::Json | Self::Jsonl, None) => Needs { lines: true, ..Needs::default() },
            (Self::Csv, None) => Needs { loops: Csv::LOOPS_MAX, ..Needs::default() },
            (Self::Parquet, None) => Needs { rows: true, ..Needs::default() },
            (Self::Sarif, None) => Needs { loops: Sarif::LOOPS_MAX, ..Needs::default() },
            (Self::Markdown | Self::Junit | Self::Github, None) => {
                Needs { loops: LOOPS_MAX, ..Needs::default() }
            }
            (Self::Html, None) => {
                let loops = Html::LOOPS_MAX;
                Needs { loops, picture: true, steps: true, ..Needs::default() }
            }
        }
    }

    /// Returns whether the format is a file of bytes that no terminal can show.
    pub(super) const fn is_binary(self) -> bool {
        matches!(self, Self::Parquet)
    }

    /// Returns whether the format can show the one loop that `--explain` names.
    pub(super) const fn can_explain(self) -> bool {
        matches!(self, Self::Human | Self::Svg)
    }

    /// Returns the writer of a scan by `policy`.
    pub(super) fn writer(
        self,
        scan: &Scan,
        policy: &'static Policy<'static>,
        view: View,
    ) -> Box<dyn Writer> {
        match (self, scan.explain) {
            (Self::Svg, Some(wanted)) => Box::new(Svg::new(wanted, policy)),
            (_, Some(wanted)) => Box::new(Explanation::new(wanted, policy)),
            (Self::Json, _) => Box::new(Document::default()),
            (Self::Jsonl, _) => Box::new(Lines),
            (Self::Html, _) => Box::new(Page::new(scan, policy)),
            (Self::Csv, _) => Box::new(Csv::default()),
            #[cfg(feature = "fleet")]
            (Self::Parquet, _) => Box::new(Parquet::default()),
            #[cfg(not(feature = "fleet"))]
            (Self::Parquet, _) => unreachable!("the command line refuses the format"),
            (Self::Markdown, _) => Box::new(Markdown::default()),
            (Self::Junit, _) => Box::new(Junit::new(scan.fails_on_new())),
            (Self::Sarif, _) => Box::new(Sarif::new(policy)),
            (Self::Github, _) => Box::new(GitHub::default()),
            (Self::Human | Self::Svg, _) => Box::new(Human::new(view)),
        }
    }
}
