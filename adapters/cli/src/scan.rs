//! `unstuck scan`: reads recorded runs and prints the loops that are in them.

pub(crate) mod explain;
pub(crate) mod feedback;
pub(crate) mod human;
pub(crate) mod machine;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use unstuck_core::{Action, LoopId};
use unstuck_text::Preset;
use unstuck_trace::{Event, Format, Trace, read};

use crate::agents::sessions;
use crate::args::{OutputFormat, Scan};
use crate::exit::Exit;
use crate::output::{Closed, Output, Reader, complain, remark};
use crate::read::inputs::{self, Input, Inputs};
use crate::read::jobs;
use crate::read::progress::Progress;
use crate::replay::{Findings, Replay, Wanted};
use crate::scan::explain::Explanation;

/// How inputs are read and judged.
#[derive(Clone, Copy)]
pub(crate) struct Judge {
    /// The format that they have; none to look at each.
    from: Option<Format>,
    preset: &'static Preset,
    /// The same without its feedback, where it is asked for what that has silenced.
    unsilenced: Option<&'static Preset>,
    /// The loop that is to be explained.
    explain: Option<Wanted>,
}

impl Judge {
    /// Judges inputs of any format by `preset`.
    pub(crate) fn by(preset: &'static Preset) -> Self {
        Self { from: None, preset, unsilenced: None, explain: None }
    }

    fn of(scan: &Scan) -> Result<Self, Exit> {
        let by = Self { from: scan.from(), explain: scan.explain, ..Self::by(scan.preset()?) };
        let Some(path) = &scan.feedback else { return Ok(by) };
        let preset = feedback::silencing(by.preset, feedback::load(path)?);
        Ok(Self { preset, unsilenced: scan.verbose.then_some(by.preset), ..by })
    }
}

/// One input, read and judged.
pub(crate) struct Report {
    pub(crate) path: String,
    pub(crate) trace: Trace,
    pub(crate) findings: Findings,
    /// What would have been found without feedback, where it is asked for that.
    unsilenced: Option<Findings>,
}

impl Report {
    /// Reads `input` and judges it; the error says what is wrong with it.
    pub(crate) fn of(input: &Input, judge: &Judge, progress: &Progress) -> Result<Self, String> {
        let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
        let mut replay = Replay::new(judge.preset).explaining(judge.explain);
        let mut unsilenced = judge.unsilenced.map(Replay::new);
        let mut take = |event: Event<'_>| {
            replay.take(&event);
            if let Some(replay) = &mut unsilenced {
                replay.take(&event);
            }
        };
        let trace = read(reader, judge.from, &mut take).map_err(|problem| problem.to_string())?;
        let (findings, unsilenced) = (replay.finish(), unsilenced.map(Replay::finish));
        Ok(Self { path: input.name(), trace, findings, unsilenced })
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
    if scan.explain.is_some() && scan.format != OutputFormat::Human {
        complain("--explain", "is for people alone: leave out --format");
        return Err(Exit::Usage);
    }
    let judge = Judge::of(scan)?;
    let mut inputs = match scan.paths.as_slice() {
        [] => sessions::find(scan.from())?,
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

/// Reads and judges the inputs, and reports on each in its turn, until nobody reads any more.
fn scan_each(
    scan: &Scan,
    judge: Judge,
    inputs: Vec<Input>,
    reporter: &mut Reporter<'_>,
) -> Result<(), Closed> {
    let jobs = scan.jobs().min(inputs.len());
    let progress = Arc::new(Progress::of(&inputs));
    let shared = Arc::clone(&progress);
    let work = move |input: Input| (input.name(), Report::of(&input, &judge, &shared));
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
    explanation: Option<Explanation>,
    tally: Tally,
    /// The silenced loops that were in no input so far, where it is asked for them.
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

    /// Complains of an input of which nothing could be read.
    fn unread(&mut self, path: &str, why: &str) {
        complain(path, why);
        self.tally.unread += 1;
        self.exit = self.exit.max(Exit::Input);
    }

    /// Takes in what became of an input.
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
        for found in report.unsilenced.iter().flat_map(|findings| &findings.found) {
            self.unseen.remove(&found.finding.loop_id);
        }
        self.judge(&report);
        if let Some(explanation) = &mut self.explanation {
            explanation.take(report);
            return Ok(());
        }
        match self.scan.format {
            OutputFormat::Human => self.output.write(&human::report(&report)),
            OutputFormat::Jsonl => self.output.write(&machine::line(&report)),
            OutputFormat::Json => {
                self.document.push(&report);
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

    fn explain(&mut self, explanation: Explanation) -> Result<(), Closed> {
        match explanation.finish() {
            Ok(text) => self.output.write(&text),
            Err(exit) => {
                self.exit = self.exit.max(exit);
                Ok(())
            }
        }
    }

    /// Says which loops of the feedback are in no input.
    fn remark_unseen(&self) {
        let Some(path) = &self.scan.feedback else { return };
        for id in &self.unseen {
            remark(&path.display().to_string(), &format!("loop {id} is in no input"));
        }
    }

    /// Writes what comes after the last report.
    fn finish(&mut self) -> Result<(), Closed> {
        self.remark_unseen();
        if let Some(explanation) = self.explanation.take() {
            return self.explain(explanation);
        }
        match self.scan.format {
            OutputFormat::Human => self.output.write(&human::summary(&self.tally)),
            OutputFormat::Jsonl => Ok(()),
            OutputFormat::Json => self.output.write(&std::mem::take(&mut self.document).finish()),
        }
    }
}
