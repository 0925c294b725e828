//! The writer of each output format of `scan`.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use unstuck_core::Policy;
use unstuck_report::baseline::Tally;
use unstuck_report::parts::{FullReport, Needs};
use unstuck_report::writer::Folder;
use unstuck_report::writer::csv::Csv;
use unstuck_report::writer::explain::Explanation;
use unstuck_report::writer::github::GitHub;
use unstuck_report::writer::html::WholePage;
use unstuck_report::writer::human::{Human, View};
use unstuck_report::writer::json::{Document, Lines};
use unstuck_report::writer::junit::Junit;
use unstuck_report::writer::markdown::Markdown;
#[cfg(feature = "fleet")]
use unstuck_report::writer::parquet::Parquet;
use unstuck_report::writer::sarif::Sarif;
use unstuck_report::writer::svg::Svg;
use unstuck_report::writer::{Failure, Writer};

use crate::output::Reader;
use crate::scan::effect::WithEffects;
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
            (Self::Sarif, _) => Box::new(Sarif::new(policy, here, job_name())),
            (Self::Github, _) => Box::new(Job::new(here)),
            (Self::Human, _) if scan.effect => Box::new(WithEffects::new(Human::new(view))),
            (Self::Human | Self::Svg, _) => Box::new(Human::new(view)),
        }
    }
}

/// The variable with the name of the job in GitHub Actions.
const JOB: &str = "GITHUB_JOB";

/// The variable with the file that GitHub shows as the summary of a step.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// The longest summary of a step in bytes.
const SUMMARY_MAX: usize = 1 << 20;

/// Returns the name of the job.
fn job_name() -> Option<String> {
    env::var(JOB).ok()
}

/// The writer of annotations and of a summary.
struct Job {
    annotations: GitHub,
    summary: Markdown,
}

impl Job {
    fn new(here: Folder) -> Self {
        Self { annotations: GitHub::new(here.clone()), summary: Markdown::new(here) }
    }

    /// Appends the summary to the file, whose other content counts for the limit.
    fn append(&mut self, tally: &Tally, path: &Path) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        let before = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        let text = self.summary.document(tally, SUMMARY_MAX.saturating_sub(before));
        file.write_all(text.as_bytes())
    }
}

impl Writer for Job {
    fn needs(&self) -> Needs {
        self.annotations.needs().and(self.summary.needs())
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        self.summary.report(report, output)?;
        self.annotations.report(report, output)
    }

    fn unread(&mut self, path: &str, why: &str) {
        self.summary.unread(path, why);
        self.annotations.unread(path, why);
    }

    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        self.annotations.finish(tally, output)?;
        output.flush()?;
        let Some(path) = env::var_os(SUMMARY).filter(|path| !path.is_empty()) else {
            return Ok(());
        };
        let path = Path::new(&path);
        self.append(tally, path).map_err(|error| {
            Failure::error(&path.to_string_lossy(), format!("cannot be written: {error}"))
        })
    }
}
