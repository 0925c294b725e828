//! `--format github`: annotations on standard output, and a summary of the job in a file.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use unstuck_report::folder::Folder;
use unstuck_report::parts::{FullReport, Needs};
use unstuck_report::tally::Tally;
use unstuck_report::writer::github::GitHub;
use unstuck_report::writer::markdown::Markdown;
use unstuck_report::writer::{Failure, Writer};

/// The variable with the name of the job in GitHub Actions.
const NAME: &str = "GITHUB_JOB";

/// The variable with the file that GitHub shows as the summary of a step.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// The longest summary of a step in bytes.
const SUMMARY_MAX: usize = 1 << 20;

/// Returns the name of the job.
pub(super) fn name() -> Option<String> {
    env::var(NAME).ok()
}

/// The writer of annotations and of a summary.
pub(super) struct Job {
    annotations: GitHub,
    summary: Markdown,
}

impl Job {
    pub(super) fn new(here: Folder) -> Self {
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
