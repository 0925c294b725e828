//! The writer of each output format of `scan`.

use std::env;

use unstuck_core::Policy;
use unstuck_report::folder::Folder;
use unstuck_report::writer::Writer;
use unstuck_report::writer::csv::Csv;
use unstuck_report::writer::explain::Explanation;
use unstuck_report::writer::html::WholePage;
use unstuck_report::writer::human::{Human, View};
use unstuck_report::writer::json::{Document, Lines};
use unstuck_report::writer::junit::Junit;
use unstuck_report::writer::markdown::Markdown;
#[cfg(feature = "fleet")]
use unstuck_report::writer::parquet::Parquet;
use unstuck_report::writer::sarif::Sarif;
use unstuck_report::writer::svg::Svg;

use crate::output::Reader;
use crate::scan::effect::WithEffects;
use crate::scan::job::{self, Job};
use crate::scan::judge::temporary;
use crate::scan::options::Scan;
use crate::scan::targets::OutputFormat;

impl OutputFormat {
    /// Returns the reader that the format is made for.
    pub(super) fn reader(self) -> Reader {
        match self {
            Self::Human => Reader::Person,
            _ => Reader::Program,
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
        let here = Folder::new(env::current_dir().unwrap_or_default());
        let disk = Some(temporary as _);
        match (self, scan.explain) {
            (Self::Svg, Some(wanted)) => Box::new(Svg::new(wanted, policy)),
            (_, Some(wanted)) => Box::new(Explanation::new(wanted, policy)),
            (Self::Json, _) => Box::new(Document::default()),
            (Self::Jsonl, _) => Box::new(Lines),
            (Self::Html, _) => Box::new(WholePage::new(scan.include_args, policy, disk)),
            (Self::Csv, _) => Box::new(Csv::default()),
            #[cfg(feature = "fleet")]
            (Self::Parquet, _) => Box::new(Parquet::default()),
            #[cfg(not(feature = "fleet"))]
            (Self::Parquet, _) => unreachable!("the command line refuses the format"),
            (Self::Markdown, _) => Box::new(Markdown::new(here)),
            (Self::Junit, _) => Box::new(Junit::new(scan.fails_on_new(), disk)),
            (Self::Sarif, _) => Box::new(Sarif::new(policy, here, job::name())),
            (Self::Github, _) => Box::new(Job::new(here)),
            (Self::Human, _) if scan.effect => Box::new(WithEffects::new(Human::new(view))),
            (Self::Human | Self::Svg, _) => Box::new(Human::new(view)),
        }
    }
}
