//! `unstuck scan`: reads recorded runs and prints the loops that are in them.

use std::path::Path;

use unstuck_core::Action;
use unstuck_text::Preset;
use unstuck_trace::{Format, Trace, read};

use crate::args::{OutputFormat, Scan};
use crate::exit::Exit;
use crate::inputs::{self, Input, Inputs};
use crate::output::{Closed, Output, Reader, complain, remark};
use crate::replay::Replay;
use crate::{human, machine};

/// One input, read and judged.
pub(crate) struct Report {
    pub(crate) path: String,
    pub(crate) trace: Trace,
    pub(crate) replay: Replay,
}

impl Report {
    /// Reads `input` and judges it; the error says what is wrong with it.
    pub(crate) fn of(
        input: &Input,
        from: Option<Format>,
        preset: &'static Preset,
    ) -> Result<Self, String> {
        let reader = input.open().map_err(|error| inputs::explained(&error))?;
        let mut replay = Replay::new(preset);
        let trace = read(reader, from, &mut |event| replay.take(&event))
            .map_err(|problem| problem.to_string())?;
        replay.finish();
        Ok(Self { path: input.name(), trace, replay })
    }

    /// The strongest action that was asked for.
    pub(crate) fn worst(&self) -> Action {
        let actions = self.replay.found.iter().map(|found| found.action);
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
        return Err(Exit::Output);
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
    let mut inputs = inputs::find(&scan.paths);
    let mut output = output(scan, &mut inputs)?;
    let mut tally = Tally { left_out: inputs.left_out.len(), ..Tally::default() };
    let mut exit = Exit::Clean;
    for (path, why) in &inputs.errors {
        complain(path, why);
        tally.unread += 1;
        exit = Exit::Input;
    }
    let written = scan_each(scan, &inputs.found, &mut output, &mut tally, &mut exit);
    Ok(written.map_or_else(|closed| closed.exit(exit), |()| exit))
}

/// Reads, judges and prints one input after the other, until nobody reads any more.
fn scan_each(
    scan: &Scan,
    inputs: &[Input],
    output: &mut Output,
    tally: &mut Tally,
    exit: &mut Exit,
) -> Result<(), Closed> {
    let mut document = machine::Document::default();
    for input in inputs {
        let report = match Report::of(input, scan.from(), scan.preset()) {
            Ok(report) => report,
            Err(why) => {
                complain(&input.name(), &why);
                tally.unread += 1;
                *exit = Exit::Input;
                continue;
            }
        };
        if scan.verbose {
            let Trace { format, reason, .. } = report.trace;
            remark(&report.path, &format!("read as {format}: {reason}"));
        }
        *exit = judge(&report, scan, tally).max(*exit);
        match scan.format {
            OutputFormat::Human => output.write(&human::report(&report))?,
            OutputFormat::Jsonl => output.write(&machine::line(&report))?,
            OutputFormat::Json => document.push(&report),
        }
    }
    match scan.format {
        OutputFormat::Human => output.write(&human::summary(tally)),
        OutputFormat::Jsonl => Ok(()),
        OutputFormat::Json => output.write(&document.finish()),
    }
}

/// Counts the report, complains of what could not be read in it, and says how to exit.
fn judge(report: &Report, scan: &Scan, tally: &mut Tally) -> Exit {
    let worst = report.worst();
    if worst > Action::Proceed {
        tally.stuck += 1;
    } else {
        tally.clean += 1;
    }
    for problem in &report.trace.problems {
        complain(&report.path, &problem.to_string());
    }
    let unsaid = report.trace.skipped.saturating_sub(report.trace.problems.len());
    if unsaid > 0 {
        complain(&report.path, &format!("and {unsaid} more that could not be read"));
    }
    if !report.trace.problems.is_empty() || report.trace.skipped > 0 {
        tally.partly += 1;
        return Exit::Input;
    }
    let fails = scan.fail_on().is_some_and(|least| worst >= least);
    if fails { Exit::Found } else { Exit::Clean }
}
