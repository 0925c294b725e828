//! `unstuck scan`: reads recorded runs and prints the loops in them.

mod explain;
mod feedback;
mod human;
mod kept;
mod machine;
pub(crate) mod options;
mod report;
mod spool;

use std::collections::BTreeSet;
use std::path::Path;

use unstuck_core::{Action, LoopId};
use unstuck_trace::{Trace, WORKERS_MAX};

use crate::agents::sessions;
use crate::exit::Exit;
use crate::output::shown::counted;
use crate::output::{Closed, Output, Reader, complain, remark};
use crate::read::inputs::{self, Input, Inputs};
use crate::read::reading::read_in_order;
use explain::Explanation;
use kept::{Detail, Kept};
use options::{OutputFormat, Scan};
use report::{Judge, Report, Tally};

pub(crate) fn run(scan: &Scan) -> Exit {
    match scan_all(scan) {
        Ok(exit) | Err(exit) => exit,
    }
}

/// Opens the output, unless it is one of the inputs.
fn output(scan: &Scan, inputs: &mut Inputs) -> Result<Output, Exit> {
    let reader = match scan.format {
        OutputFormat::Human => Reader::Person,
        OutputFormat::Json | OutputFormat::Jsonl => Reader::Program,
    };
    let Some(path) = &scan.output else { return Ok(Output::stdout(reader)) };
    if scan.paths.iter().any(|input| same_file(input, path)) {
        let why = "is also an input, and writing would destroy it: name another file";
        complain(&path.display().to_string(), why);
        return Err(Exit::Setup);
    }
    // An output file of an earlier run in the same folder is not a recording.
    inputs.found.retain(|input| !matches!(input, Input::File(input) if same_file(input, path)));
    Output::file(path, reader)
}

fn same_file(a: &Path, b: &Path) -> bool {
    let (a, b) = (a.canonicalize(), b.canonicalize());
    matches!((a, b), (Ok(a), Ok(b)) if a == b)
}

fn scan_all(scan: &Scan) -> Result<Exit, Exit> {
    if scan.explain.is_some() && scan.format != OutputFormat::Human {
        complain("--explain", "works only with --format human");
        return Err(Exit::Usage);
    }
    let judge = Judge::of(scan)?;
    let mut inputs = match scan.paths.as_slice() {
        [] => sessions::find(scan.from()).map_err(Scan::misused)?,
        paths => inputs::find(paths),
    };
    let output = output(scan, &mut inputs)?;
    let mut reporter = Reporter::new(scan, &judge, output);
    reporter.tally.left_out = inputs.left_out.len();
    for (path, why) in &inputs.errors {
        reporter.unread(path, why);
    }
    let written = scan_each(scan, judge, inputs.found, &mut reporter);
    let exit = reporter.exit;
    Ok(written.map_or_else(|closed| closed.exit(exit), |()| exit))
}

/// Reads and judges the inputs, and reports on each in order, until the output is closed.
fn scan_each(
    scan: &Scan,
    judge: Judge,
    inputs: Vec<Input>,
    reporter: &mut Reporter<'_>,
) -> Result<(), Closed> {
    let inputs = inputs.into_iter().map(|input| (input, ())).collect();
    let work = move |input: &Input, (): &(), progress: &_| Report::of(input, &judge, progress);
    read_in_order(inputs, scan.jobs(), work, |input, (), report| {
        reporter.take(&input.name(), report)
    })?;
    reporter.finish()
}

/// Returns the message that `forgotten` workers were not followed to their end.
pub(crate) fn too_many_workers(forgotten: usize) -> String {
    let workers = counted(forgotten, "worker");
    format!(
        "{workers} had to be forgotten: at most {WORKERS_MAX} are followed at a time, or fewer with long \
         histories. Loops may be missing, and a worker that returned is counted again. Split the file by \
         worker"
    )
}

/// Writes the reports and counts them.
struct Reporter<'s> {
    scan: &'s Scan,
    output: Output,
    document: machine::Document,
    explanation: Option<Explanation>,
    tally: Tally,
    /// The silenced loops that no input contained so far. Filled only with `--verbose`.
    unseen: BTreeSet<LoopId>,
    exit: Exit,
}

impl<'s> Reporter<'s> {
    fn new(scan: &'s Scan, judge: &Judge, output: Output) -> Self {
        let policy = judge.preset.policy;
        let unseen = judge.unsilenced.map_or(&[][..], |_| policy.silenced());
        Self {
            scan,
            output,
            document: machine::Document::default(),
            explanation: judge.explain.map(|wanted| Explanation::new(wanted, policy)),
            tally: Tally::default(),
            unseen: unseen.iter().copied().collect(),
            exit: Exit::Clean,
        }
    }

    /// Reports an input that could not be read at all.
    fn unread(&mut self, path: &str, why: &str) {
        complain(path, why);
        self.tally.unread += 1;
        self.exit = self.exit.max(Exit::Input);
    }

    /// Takes in the report on an input, or the reason why it could not be read.
    fn take(&mut self, path: &str, report: Result<Report, String>) -> Result<(), Closed> {
        match report {
            Ok(report) => self.report(report),
            Err(why) => {
                self.unread(path, &why);
                Ok(())
            }
        }
    }

    fn report(&mut self, report: Report) -> Result<(), Closed> {
        if self.scan.verbose {
            let Trace { format, reason, .. } = report.trace;
            remark(&report.path, &format!("read as {format}: {reason}"));
        }
        if let Some(Kept { detail: Detail::Seen { seen, .. }, .. }) = &report.unsilenced {
            self.unseen.retain(|id| !seen.contains(id));
        }
        self.judge(&report);
        if let Some(explanation) = &mut self.explanation {
            explanation.take(report);
            return Ok(());
        }
        match self.scan.format {
            OutputFormat::Human => self.output.write(&human::report(&report)),
            OutputFormat::Jsonl => machine::write_line(report, &mut self.output),
            OutputFormat::Json => self.document.push(report, &mut self.output),
        }
    }

    /// Counts the report, and prints an error for each part that could not be read.
    fn judge(&mut self, report: &Report) {
        let worst = report.kept.worst;
        if worst > Action::Proceed {
            self.tally.stuck += 1;
        } else {
            self.tally.clean += 1;
        }
        for problem in &report.trace.problems {
            complain(&report.path, &problem.to_string());
        }
        let unprinted = report.trace.skipped.saturating_sub(report.trace.problems.len());
        if unprinted > 0 {
            complain(&report.path, &format!("{unprinted} more could not be read"));
        }
        if report.forgotten > 0 {
            complain(&report.path, &too_many_workers(report.forgotten));
        }
        if report.trace.skipped > 0 || report.forgotten > 0 {
            self.tally.partly += 1;
            self.exit = self.exit.max(Exit::Input);
        } else if self.scan.fail_on().is_some_and(|least| worst >= least) {
            self.exit = self.exit.max(Exit::Found);
        }
    }

    fn explain(&mut self, explanation: Explanation) -> Result<(), Closed> {
        match explanation.finish() {
            Ok(text) => self.output.write(&text),
            Err(exit) => {
                self.exit = self.exit.max(exit);
                Ok(())
            }
        }
    }

    /// Prints the loops of the feedback file that no input contains.
    fn remark_unseen(&self) {
        let Some(path) = &self.scan.feedback else { return };
        for id in &self.unseen {
            remark(&path.display().to_string(), &format!("no input contains the loop {id}"));
        }
    }

    /// Writes the end of the output, after the last report.
    fn finish(&mut self) -> Result<(), Closed> {
        self.remark_unseen();
        if let Some(explanation) = self.explanation.take() {
            return self.explain(explanation);
        }
        match self.scan.format {
            OutputFormat::Human => self.output.write(&human::summary(&self.tally)),
            OutputFormat::Jsonl => Ok(()),
            OutputFormat::Json => self.document.finish(&mut self.output),
        }
    }
}
