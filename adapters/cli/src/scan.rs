//! `unstuck scan`: reads recorded runs, prints the loops in them, and passes the reports to the outputs.

pub(crate) mod feedback;
pub(crate) mod judge;
pub(crate) mod options;
pub(crate) mod targets;

use std::collections::{BTreeSet, HashMap};
use std::io::{self, IsTerminal as _};

use unstuck_core::{Action, LoopId};
use unstuck_report::baseline::{Baseline, Tally};
use unstuck_report::parts::{FullReport, Needs};
use unstuck_report::writer::Writer;
use unstuck_report::writer::human::View;
use unstuck_report::{Settings, too_many_workers};
use unstuck_text::Preset;
use unstuck_trace::Trace;

use crate::exit::Exit;
use crate::output::{Closed, Output, complain, fail, remark};
use crate::read::inputs::{self, Input, Inputs, same_file};
use crate::read::jobs::read_in_order;
use crate::sessions::transcripts;
use options::{CandidateName, Only, Scan, Sort};
use targets::{OutputFormat, Target};

pub(crate) fn run(scan: &Scan) -> Exit {
    scan.set_colours();
    scan_all(scan).unwrap_or_else(|exit| exit)
}

/// The most loops of a run whose effects are shown, unless an output has room for more.
const EFFECT_LOOPS: usize = 10;

/// Opens the outputs, unless one is also an input.
pub(crate) fn open(scan: &Scan, inputs: &mut Inputs) -> Result<Vec<(OutputFormat, Output)>, Exit> {
    // All outputs are checked before the first one is emptied.
    for path in scan.targets.iter().filter_map(|target| target.path.as_deref()) {
        let options = scan.feedback.iter().chain(&scan.policy.config).chain(&scan.good);
        let policies = scan.compare.iter().filter_map(CandidateName::file);
        if scan.paths.iter().chain(options).chain(policies).any(|input| same_file(input, path)) {
            let why = "is also an input, and writing would destroy it: name another file";
            return Err(fail(Exit::Setup, &path.display().to_string(), why));
        }
        // An output file of an earlier run in the same folder is not a recording.
        inputs.found.retain(|input| !matches!(input, Input::File(input) if same_file(input, path)));
    }
    for list in scan.baseline.iter().chain(&scan.good) {
        inputs.found.retain(|input| !matches!(input, Input::File(input) if same_file(input, list)));
    }
    let output = |target: &Target| {
        let reader = target.format.reader();
        let output = match &target.path {
            Some(path) if target.format.is_binary() => Output::replacing(path)?,
            Some(path) => Output::file(path, reader)?,
            None => Output::stdout(reader),
        };
        Ok((target.format, output))
    };
    scan.outputs().map(output).collect()
}

/// Returns the outputs with their writers.
fn sinks(scan: &Scan, preset: &'static Preset, inputs: &mut Inputs) -> Result<Vec<Sink>, Exit> {
    let outputs = open(scan, inputs)?.into_iter();
    let sink = |(format, output): (OutputFormat, Output)| {
        let view = View {
            inputs: inputs.found.len(),
            summary: scan.summary,
            dearest_first: scan.sort == Sort::Cost,
            columns: output.columns(),
        };
        let writer = format.writer(scan, preset.policy, view);
        Sink { output, writer, is_open: true }
    };
    Ok(outputs.map(sink).collect())
}

fn scan_all(scan: &Scan) -> Result<Exit, Exit> {
    for target in scan.targets.iter() {
        if scan.explain.is_some() && !target.format.can_explain() {
            let why = "works only with --format human and --format svg";
            return Err(fail(Exit::Usage, "--explain", why));
        }
        if scan.explain.is_none() && target.format == OutputFormat::Svg {
            let why = "shows one loop: give --explain LOOP, with an id that scan prints";
            return Err(fail(Exit::Usage, "--format svg", why));
        }
    }
    if scan.summary && !scan.targets.iter().any(|target| target.format == OutputFormat::Human) {
        return Err(fail(Exit::Usage, "--summary", "works only with --format human"));
    }
    let mut shown = scan.outputs().filter(|target| target.path.is_none());
    if shown.any(|target| target.format.is_binary()) && io::stdout().is_terminal() {
        let why = "is not text: give -o FILE, or pipe it to a program";
        return Err(fail(Exit::Usage, "--format parquet", why));
    }
    if scan.fails_on_new() && scan.baseline.is_none() {
        return Err(Scan::misused("--fail-on new needs --baseline FILE".to_owned()));
    }
    let preset = scan.policy.preset()?;
    let mut inputs = find(scan)?;
    let mut settings = judge::settings(scan, preset, &inputs.found)?;
    let sinks = sinks(scan, settings.preset, &mut inputs)?;
    let needs = sinks.iter().map(|sink| sink.writer.needs());
    settings.needs = needs.fold(Needs::default(), Needs::and);
    if scan.effect {
        let needs = Needs { effects: true, ..Needs::loops(EFFECT_LOOPS) };
        settings.needs = settings.needs.and(needs);
    }
    let mut reporter = Reporter::new(scan, &settings, sinks);
    reporter.tally.left_out = inputs.left_out.len();
    reporter.tally.older = inputs.older;
    for (path, why) in &inputs.errors {
        reporter.unread(path, why);
    }
    let written = scan_each(scan, settings, inputs.found, &mut reporter);
    // The end was not reached if nobody reads the output any more.
    reporter.unread.tell(complain);
    let exit = reporter.exit;
    Ok(written.map_or_else(|closed| closed.exit(exit), |()| exit))
}

/// Finds the inputs: the paths, or else a pipe on standard input, or else the usual sessions.
pub(crate) fn find(scan: &Scan) -> Result<Inputs, Exit> {
    let tell = |path: &str, what: &str| {
        if !scan.quiet {
            remark(path, what);
        }
    };
    let inputs = Inputs::since(scan.since());
    let mut inputs = match scan.paths.as_slice() {
        [] if inputs::is_piped(tell) => inputs.find(&["-".into()]),
        [] => transcripts::find(inputs, scan.from(), tell).map_err(Scan::misused)?,
        paths => inputs.find(paths),
    };
    if scan.sort == Sort::Time {
        inputs.newest_first();
    }
    Ok(inputs)
}

/// Reads and judges the inputs, and reports on each in order, until the output is closed.
fn scan_each(
    scan: &Scan,
    settings: Settings,
    inputs: Vec<Input>,
    reporter: &mut Reporter<'_>,
) -> Result<(), Closed> {
    let inputs = inputs.into_iter().map(|input| (input, ())).collect();
    let work = move |input: &Input, (): &(), progress: &_| judge::read(input, &settings, progress);
    read_in_order(inputs, scan.jobs(), work, |input, (), report| {
        reporter.take(&input.name(), report)
    })?;
    reporter.finish()
}

/// An output and its writer.
struct Sink {
    output: Output,
    writer: Box<dyn Writer>,
    /// `false` once the reader has left.
    is_open: bool,
}

/// Passes the reports to the outputs and counts them.
struct Reporter<'s> {
    scan: &'s Scan,
    /// Empty with `-q`, because no report is written.
    sinks: Vec<Sink>,
    tally: Tally,
    unread: Unread,
    /// Not filled with `-q`.
    without_calls: Unread,
    /// The silenced loops that no input contained so far. Filled only with `--verbose`.
    unseen: BTreeSet<LoopId>,
    baseline: Option<&'static Baseline>,
    /// The loops that were found. Filled only with a baseline.
    loops: BTreeSet<LoopId>,
    exit: Exit,
}

impl<'s> Reporter<'s> {
    fn new(scan: &'s Scan, settings: &Settings, sinks: Vec<Sink>) -> Self {
        let policy = settings.preset.policy;
        let unseen = settings.unsilenced.map_or(&[][..], |_| policy.silenced());
        Self {
            scan,
            sinks,
            tally: Tally::default(),
            unread: Unread::new(scan.verbose),
            without_calls: Unread::new(scan.verbose),
            unseen: unseen.iter().copied().collect(),
            baseline: settings.baseline,
            loops: BTreeSet::new(),
            exit: Exit::Clean,
        }
    }

    /// Reports an input that could not be read at all.
    fn unread(&mut self, path: &str, why: &str) {
        self.unread.add(path, why);
        for sink in &mut self.sinks {
            sink.writer.unread(path, why);
        }
        self.tally.unread += 1;
        self.exit = self.exit.max(Exit::Input);
    }

    /// Takes in the report on an input, or the reason why it could not be read.
    fn take(&mut self, path: &str, report: Result<FullReport, String>) -> Result<(), Closed> {
        match report {
            Ok(report) => self.report(report),
            Err(why) => {
                self.unread(path, &why);
                Ok(())
            }
        }
    }

    fn report(&mut self, mut report: FullReport) -> Result<(), Closed> {
        if self.scan.verbose {
            let Trace { format, reason, .. } = report.trace;
            remark(&report.path, &format!("read as {format}: {reason}"));
        }
        if let Some(seen) = report.parts.silenced() {
            self.unseen.retain(|id| !seen.contains(id));
        }
        if let Some(compared) = &report.parts.compared {
            self.loops.extend(&compared.found);
        }
        self.judge(&report);
        let is_stuck = report.judged.worst > Action::Proceed || report.forgotten > 0;
        if self.scan.only == Some(Only::Stuck) && !is_stuck {
            return Ok(());
        }
        self.write(|writer, output| {
            if let Some(what) = writer.left_out(&report) {
                remark(&report.path, &what);
            }
            output.take(|output| writer.report(&mut report, output))
        })
    }

    /// Counts the report, and prints an error for each part that could not be read.
    fn judge(&mut self, report: &FullReport) {
        let worst = report.judged.worst;
        if let Some(why) = report.without_calls().filter(|_| !self.scan.quiet) {
            self.without_calls.add(&report.path, &why);
        }
        match worst {
            Action::Proceed if report.is_empty() => self.tally.empty += 1,
            Action::Proceed => self.tally.clean += 1,
            _ => self.tally.stuck += 1,
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
        }
        if self.scan.fails(report) {
            self.exit = self.exit.max(Exit::Found);
        }
    }

    /// Does `write` on each output that is open. A reader that leaves ends the scan if no other output is
    /// open.
    fn write(
        &mut self,
        mut write: impl FnMut(&mut dyn Writer, &mut Output) -> Result<(), Closed>,
    ) -> Result<(), Closed> {
        for sink in self.sinks.iter_mut().filter(|sink| sink.is_open) {
            match write(&mut *sink.writer, &mut sink.output) {
                Err(Closed::Reader) => sink.is_open = false,
                written => written?,
            }
        }
        let is_read = self.sinks.is_empty() || self.sinks.iter().any(|sink| sink.is_open);
        if is_read { Ok(()) } else { Err(Closed::Reader) }
    }

    /// Prints the loops of the feedback file that no input contains.
    fn remark_unseen(&self) {
        let Some(path) = &self.scan.feedback else { return };
        for id in &self.unseen {
            remark(&path.display().to_string(), &format!("no input contains the loop {id}"));
        }
    }

    /// Writes the end of the outputs, after the last report.
    fn finish(&mut self) -> Result<(), Closed> {
        self.remark_unseen();
        self.tally.difference = self.baseline.map(|baseline| baseline.difference(&self.loops));
        self.unread.tell(complain);
        self.without_calls.tell(remark);
        let (tally, mut exit) = (std::mem::take(&mut self.tally), self.exit);
        let written = self.write(|writer, output| {
            match output.take(|output| writer.finish(&tally, output)) {
                // The other outputs have an end, too.
                Err(Closed::Writer(failed)) => exit = exit.max(failed),
                written => written?,
            }
            output.commit()
        });
        self.exit = exit;
        written
    }
}

/// The inputs that could not be read, or that have nothing to judge.
struct Unread {
    /// The most inputs of one reason that are named, each on its own line if there are no more.
    names_max: usize,
    /// In the order in which they first occurred.
    reasons: Vec<Reason>,
    /// The place of each reason.
    places: HashMap<String, usize>,
}

/// A reason, and the inputs that could not be judged because of it.
struct Reason {
    why: String,
    /// The first inputs.
    names: Vec<String>,
    count: usize,
}

impl Unread {
    /// Names each input if `each` is set, or the first ones of each reason.
    fn new(each: bool) -> Self {
        let names_max = if each { usize::MAX } else { 3 };
        Self { names_max, reasons: Vec::new(), places: HashMap::new() }
    }

    fn add(&mut self, name: &str, why: &str) {
        let place = *self.places.entry(why.to_owned()).or_insert_with(|| {
            self.reasons.push(Reason { why: why.to_owned(), names: Vec::new(), count: 0 });
            self.reasons.len() - 1
        });
        let reason = &mut self.reasons[place];
        reason.count += 1;
        if reason.names.len() < self.names_max {
            reason.names.push(name.to_owned());
        }
    }

    /// Tells the inputs and the reasons, and forgets them.
    fn tell(&mut self, tell: fn(&str, &str)) {
        self.places.clear();
        for reason in self.reasons.drain(..) {
            for line in reason.lines() {
                tell(&line, &reason.why);
            }
        }
    }
}

impl Reason {
    /// Returns the beginning of each line: the name of an input, or of all if they are many.
    fn lines(&self) -> Vec<String> {
        match self.count.saturating_sub(self.names.len()) {
            0 => self.names.clone(),
            more => {
                vec![format!("{} files ({} and {more} more)", self.count, self.names.join(", "))]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(each: bool, inputs: &[(&str, &str)]) -> Vec<String> {
        let mut unread = Unread::new(each);
        for (name, why) in inputs {
            unread.add(name, why);
        }
        let lines = |reason: &Reason| {
            reason
                .lines()
                .into_iter()
                .map(|name| format!("{name}: {}", reason.why))
                .collect::<Vec<_>>()
        };
        unread.reasons.iter().flat_map(lines).collect()
    }

    #[test]
    fn a_few_files_have_a_line_each_and_many_share_one() {
        let few = [("a", "empty"), ("b", "locked"), ("c", "empty"), ("d", "empty")];
        assert_eq!(lines(false, &few), ["a: empty", "c: empty", "d: empty", "b: locked"]);
        let many = [few.as_slice(), &[("e", "empty"), ("f", "empty")]].concat();
        assert_eq!(lines(false, &many), ["5 files (a, c, d and 2 more): empty", "b: locked"]);
        assert_eq!(lines(true, &many).len(), 6);
    }

    #[test]
    fn the_names_do_not_grow_with_their_number() {
        let mut unread = Unread::new(false);
        for n in 0..10_000 {
            unread.add(&n.to_string(), "empty");
        }
        assert_eq!(unread.reasons.len(), 1);
        assert_eq!(unread.reasons[0].lines(), ["10000 files (0, 1, 2 and 9997 more)"]);
    }
}
