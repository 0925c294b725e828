//! `unstuck scan --compare`: what policies and limits of steps would have done in recorded runs, and what the runs
//! spent after that.
//!
//! A candidate first acts at its first finding, or at the call that a limit does not allow. What the run spent from
//! there on is the most that it could have saved: nobody knows what the agent would have done instead.

mod trial;
mod written;

use std::collections::HashSet;
use std::convert::Infallible;
use std::path::{Path, PathBuf};

use unstuck_report::cost::Spent;
use unstuck_report::mistake::Mistake;
use unstuck_report::shown::{counted, plain};
use unstuck_text::Preset;

use crate::calibrate::labels;
use crate::exit::Exit;
use crate::output::{Closed, fail, remark};
use crate::policy::options::preset;
use crate::read::inputs::{Input, Inputs};
use crate::read::jobs::read_in_order;
use crate::scan::options::{CandidateName, STEPS, Scan};
use crate::scan::targets::OutputFormat;
use crate::scan::{find, open};
use crate::{policy, setup};
pub(super) use trial::spent;
use trial::{TriedInput, TriedRun, tried};
use written::{Bill, FORMATS, written};

/// Compares the candidates of `--compare`.
pub(crate) fn run(scan: &Scan) -> Exit {
    scan.set_colours();
    compare(scan).unwrap_or_else(|exit| exit)
}

fn compare(scan: &Scan) -> Result<Exit, Exit> {
    if let Some(other) = scan.targets.iter().find(|target| !FORMATS.contains(&target.format)) {
        let (name, all) = (other.format.name(), FORMATS.map(OutputFormat::name).join(", "));
        return Err(Scan::misused(format!("--compare has no --format {name}: give {all}")));
    }
    let candidates = load(&scan.compare)?;
    let good = Good::load(scan)?;
    let mut inputs = find(scan)?;
    let outputs = open(scan, &mut inputs)?;
    let mut comparison = Comparison::new(candidates.iter().map(|one| one.name.clone()), good);
    let exit = read_all(scan, candidates, inputs, &mut comparison);
    if comparison.empty > 0 {
        let runs = counted(comparison.empty, "run");
        remark("--compare", &format!("left out {runs} in which the agent did nothing"));
    }
    for (format, mut output) in outputs {
        match output.write(&written(&comparison, format, scan.price.is_some())) {
            // The other outputs have a reader, too.
            Ok(()) | Err(Closed::Reader) => {}
            Err(closed) => return Err(closed.exit(exit)),
        }
    }
    Ok(exit)
}

/// Reads the inputs and adds their runs to the comparison. Prints what could not be read.
fn read_all(
    scan: &Scan,
    candidates: Vec<Candidate>,
    inputs: Inputs,
    comparison: &mut Comparison,
) -> Exit {
    let mut exit = Exit::Clean;
    let mut unread = |path: &str, why: &str| {
        exit = fail(Exit::Input, path, why);
    };
    for (path, why) in &inputs.errors {
        unread(path, why);
    }
    let told = (scan.from(), scan.price);
    let work = move |input: &_, (): &(), progress: &_| tried(input, progress, told, &candidates);
    let inputs = inputs.found.into_iter().map(|input| (input, ())).collect();
    let taken = read_in_order(inputs, scan.jobs(), work, |input, (), read| {
        match read {
            Ok(tried) => {
                comparison.take(input, &tried);
                if tried.skipped > 0 {
                    let records = counted(tried.skipped, "record");
                    unread(&input.name(), &format!("{records} could not be read"));
                }
            }
            Err(why) => unread(&input.name(), &why),
        }
        Ok::<(), Infallible>(())
    });
    match taken {
        Ok(()) => exit,
    }
}

/// The bills of all candidates.
struct Comparison {
    good: Good,
    bills: Vec<Bill>,
    runs: usize,
    good_runs: usize,
    /// The cost of all runs.
    total: Spent,
    /// The number of runs that are left out, because the agent did nothing.
    empty: usize,
}

impl Comparison {
    fn new(names: impl Iterator<Item = String>, good: Good) -> Self {
        let (total, bills) = (Spent::default(), names.map(Bill::new).collect());
        Self { good, bills, runs: 0, good_runs: 0, total, empty: 0 }
    }

    /// Adds the runs of an input.
    fn take(&mut self, input: &Input, tried: &TriedInput) {
        self.empty += tried.empty;
        self.runs += tried.runs.len();
        for run in &tried.runs {
            let is_good = self.good.has(input, run);
            self.good_runs += usize::from(is_good);
            self.total = self.total + run.total;
            for (bill, deed) in self.bills.iter_mut().zip(&run.deeds) {
                bill.take(deed, is_good);
            }
        }
    }
}

/// A policy or a limit that judges the runs.
#[derive(Clone, Debug)]
struct Candidate {
    name: String,
    judge: Judge,
}

#[derive(Clone, Copy, Debug)]
enum Judge {
    Policy(&'static Preset),
    /// The run ends when it asks for one call more than this.
    Steps(usize),
}

/// Loads what the command line names. Prints an error if a file is wrong, or if two have one name.
fn load(names: &[CandidateName]) -> Result<Vec<Candidate>, Exit> {
    let (mut candidates, mut seen) = (Vec::new(), HashSet::new());
    for name in names {
        let (name, judge) = match name {
            CandidateName::Policy(name) => (name.clone(), Judge::Policy(preset(name))),
            CandidateName::File(path) => {
                let preset = policy::load(path)?;
                (preset.policy.name().to_owned(), Judge::Policy(preset))
            }
            CandidateName::Steps(steps) => {
                let most = usize::try_from(steps.get()).unwrap_or(usize::MAX);
                (format!("{STEPS}{steps}"), Judge::Steps(most))
            }
        };
        if !seen.insert(name.clone()) {
            let what =
                format!("--compare has {} twice: each needs a name of its own", plain(&name));
            return Err(Scan::misused(what));
        }
        candidates.push(Candidate { name, judge });
    }
    Ok(candidates)
}

/// What makes a run a good one.
enum Good {
    /// Its file is one of these, which are canonical.
    Listed(HashSet<PathBuf>),
    /// It ended with passing tests or a commit.
    EndedWell,
}

impl Good {
    /// Reads the file of `--good`, if there is one. Prints an error if it is wrong.
    fn load(scan: &Scan) -> Result<Self, Exit> {
        let Some(path) = &scan.good else { return Ok(Self::EndedWell) };
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let folders = [PathBuf::new(), folder].into_iter().chain(scan.paths.iter().cloned());
        let folders: Vec<PathBuf> = folders.collect();
        setup::load(path, "paths or labels, one a line", |text| listed(text, &folders))
            .map(Self::Listed)
    }

    /// Returns whether a run of `input` is good.
    fn has(&self, input: &Input, run: &TriedRun) -> bool {
        match (self, input) {
            (Self::EndedWell, _) => run.ended_well,
            (Self::Listed(_), Input::Stdin) => false,
            (Self::Listed(files), Input::File(path)) => {
                path.canonicalize().is_ok_and(|path| files.contains(&path))
            }
        }
    }
}

/// Returns the files of the good runs that `text` lists. Each is looked for in the `folders`.
fn listed(text: &str, folders: &[PathBuf]) -> Result<HashSet<PathBuf>, Mistake> {
    let (mut files, mut start) = (HashSet::new(), 0);
    for line in text.split_inclusive('\n') {
        let entry = line.trim();
        let span = start..start + line.trim_end().len();
        start += line.len();
        if entry.is_empty() {
            continue;
        }
        let file = if entry.starts_with('{') {
            let label = labels::label(entry).map_err(|why| Mistake::new(span.clone(), why))?;
            if !label.is_good() {
                continue;
            }
            label.file
        } else {
            PathBuf::from(entry)
        };
        let found = folders.iter().find_map(|folder| folder.join(&file).canonicalize().ok());
        files.insert(found.ok_or_else(|| {
            let what = "no such file: expected the path of a run, as it is scanned or relative to \
                        this file, or a label of `unstuck eval`";
            Mistake::new(span, what)
        })?);
    }
    Ok(files)
}
