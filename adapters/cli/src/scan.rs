//! `unstuck scan`: reads recorded runs and prints the loops that are in them.

use std::path::Path;
use std::sync::Arc;

use unstuck_core::Action;
use unstuck_text::Preset;
use unstuck_trace::{Format, Trace, read};

use crate::args::{OutputFormat, Scan};
use crate::exit::Exit;
use crate::inputs::{self, Input, Inputs};
use crate::output::{Closed, Output, Reader, complain, remark};
use crate::progress::Progress;
use crate::replay::{Findings, Replay};
use crate::{human, jobs, machine, sessions};

/// One input, read and judged.
pub(crate) struct Report {
    pub(crate) path: String,
    pub(crate) trace: Trace,
    pub(crate) findings: Findings,
}

impl Report {
    /// Reads `input` and judges it; the error says what is wrong with it.
    pub(crate) fn of(
        input: &Input,
        from: Option<Format>,
        preset: &'static Preset,
        progress: &Progress,
    ) -> Result<Self, String> {
        let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
        let mut replay = Replay::new(preset);
        let trace = read(reader, from, &mut |event| replay.take(&event))
            .map_err(|problem| problem.to_string())?;
        Ok(Self { path: input.name(), trace, findings: replay.finish() })
    }

    /// The strongest action that was asked for.
    pub(crate) fn worst(&self) -> Action {
        let actions = self.findings.found.iter().map(|found| found.action);
        actions.max().unwrap_or(Action::Proceed)
    }
}

/// What was read so far, for the last line.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) stuck: usize,
    pub(crate) clean: usize,
    pub(crate) unread: usize,
    pub(crate) partly: usize,
    pub(crate) left_out: usize,
}

pub(crate) fn run(scan: &Scan) -> Exit {
    match scan_all(scan) {
        Ok(exit) | Err(exit) => exit,
    }
}

/// Opens the output, once it is known that it is no input.
fn output(scan: &Scan, inputs: &mut Inputs) -> Result<Output, Exit> {
    let reader = match scan.format {
        OutputFormat::Human => Reader::Person,
        OutputFormat::Json | OutputFormat::Jsonl => Reader::Program,
    };
    let Some(path) = &scan.output else { return Ok(Output::stdout(reader)) };
    if scan.paths.iter().any(|input| same_file(input, path)) {
        let why = "is an input, too: writing would destroy it; name another file";
        complain(&path.display().to_string(), why);
        return Err(Exit::Setup);
    }
    // What an earlier run wrote into a folder that is read is no recording.
    inputs.found.retain(|input| !matches!(input, Input::File(input) if same_file(input, path)));
    Output::file(path, reader)
}

fn same_file(a: &Path, b: &Path) -> bool {
    let (a, b) = (a.canonicalize(), b.canonicalize());
    matches!((a, b), (Ok(a), Ok(b)) if a == b)
}

fn scan_all(scan: &Scan) -> Result<Exit, Exit> {
    let preset = scan.preset()?;
    let mut inputs = match scan.paths.as_slice() {
        [] => sessions::find(scan.from())?,
        paths => inputs::find(paths),
    };
    let output = output(scan, &mut inputs)?;
    let mut reporter = Reporter::new(scan, output);
    reporter.tally.left_out = inputs.left_out.len();
    for (path, why) in &inputs.errors {
        reporter.unread(path, why);
    }
    let written = scan_each(scan, preset, inputs.found, &mut reporter);
    let exit = reporter.exit;
    Ok(written.map_or_else(|closed| closed.exit(exit), |()| exit))
}

/// Reads and judges the inputs, and reports on each in its turn, until nobody reads any more.
fn scan_each(
    scan: &Scan,
    preset: &'static Preset,
    inputs: Vec<Input>,
    reporter: &mut Reporter<'_>,
) -> Result<(), Closed> {
    let from = scan.from();
    let jobs = scan.jobs().min(inputs.len());
    let progress = Arc::new(Progress::of(&inputs));
    let shared = Arc::clone(&progress);
    let work = move |input: Input| (input.name(), Report::of(&input, from, preset, &shared));
    let mut judged = 0;
    let written = jobs::in_order(inputs, jobs, work, |(path, report)| {
        judged += 1;
        progress.judged(judged);
        progress.aside(|| reporter.take(&path, report))
    });
    progress.end();
    written.and_then(|()| reporter.finish())
}

/// Writes the reports, and keeps count.
struct Reporter<'s> {
    scan: &'s Scan,
    output: Output,
    document: machine::Document,
    tally: Tally,
    exit: Exit,
}

impl<'s> Reporter<'s> {
    fn new(scan: &'s Scan, output: Output) -> Self {
        let document = machine::Document::default();
        Self { scan, output, document, tally: Tally::default(), exit: Exit::Clean }
    }

    /// Complains of an input of which nothing could be read.
    fn unread(&mut self, path: &str, why: &str) {
        complain(path, why);
        self.tally.unread += 1;
        self.exit = self.exit.max(Exit::Input);
    }

    /// Takes in what became of an input.
    fn take(&mut self, path: &str, report: Result<Report, String>) -> Result<(), Closed> {
        match report {
            Ok(report) => self.report(&report),
            Err(why) => {
                self.unread(path, &why);
                Ok(())
            }
        }
    }

    fn report(&mut self, report: &Report) -> Result<(), Closed> {
        if self.scan.verbose {
            let Trace { format, reason, .. } = report.trace;
            remark(&report.path, &format!("read as {format}: {reason}"));
        }
        self.judge(report);
        match self.scan.format {
            OutputFormat::Human => self.output.write(&human::report(report)),
            OutputFormat::Jsonl => self.output.write(&machine::line(report)),
            OutputFormat::Json => {
                self.document.push(report);
                Ok(())
            }
        }
    }

    /// Counts the report, and complains of what could not be read in it.
    fn judge(&mut self, report: &Report) {
        let worst = report.worst();
        if worst > Action::Proceed {
            self.tally.stuck += 1;
        } else {
            self.tally.clean += 1;
        }
        for problem in &report.trace.problems {
            complain(&report.path, &problem.to_string());
        }
        let unsaid = report.trace.skipped.saturating_sub(report.trace.problems.len());
        if unsaid > 0 {
            complain(&report.path, &format!("and {unsaid} more that could not be read"));
        }
        if report.trace.skipped > 0 {
            self.tally.partly += 1;
            self.exit = self.exit.max(Exit::Input);
        } else if self.scan.fail_on().is_some_and(|least| worst >= least) {
            self.exit = self.exit.max(Exit::Found);
        }
    }

    /// Writes what comes after the last report.
    fn finish(&mut self) -> Result<(), Closed> {
        match self.scan.format {
            OutputFormat::Human => self.output.write(&human::summary(&self.tally)),
            OutputFormat::Jsonl => Ok(()),
            OutputFormat::Json => self.output.write(&std::mem::take(&mut self.document).finish()),
        }
    }
}
