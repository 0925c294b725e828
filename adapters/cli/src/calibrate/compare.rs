//! `unstuck scan --compare`: what policies and limits of steps would have done in recorded runs, and what the runs
//! spent after that.
//!
//! A candidate first acts at its first finding, or at the call that a limit does not allow. What the run spent from
//! there on is the most that it could have saved: nobody knows what the agent would have done instead.

mod bill;
mod candidate;
mod ending;
mod good;
mod trial;
mod written;

use std::convert::Infallible;

use unstuck_report::cost::Spent;
use unstuck_report::shown::counted;

use crate::exit::Exit;
use crate::output::{Closed, complain, remark};
use crate::read::inputs::{Input, Inputs};
use crate::read::reading::read_in_order;
use crate::scan::command::{find, open};
use crate::scan::options::Scan;
use crate::scan::targets::OutputFormat;
use bill::Bill;
use candidate::Candidate;
pub(crate) use candidate::CandidateName;
use good::Good;
pub(super) use trial::spent;
use trial::{TriedInput, tried};
use written::{FORMATS, written};

/// Compares the candidates of `--compare`.
pub(crate) fn run(scan: &Scan) -> Exit {
    match compare(scan) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn compare(scan: &Scan) -> Result<Exit, Exit> {
    if let Some(other) = scan.targets.iter().find(|target| !FORMATS.contains(&target.format)) {
        let (name, all) = (other.format.name(), FORMATS.map(OutputFormat::name).join(", "));
        return Err(Scan::misused(format!("--compare has no --format {name}: give {all}")));
    }
    let candidates = candidate::load(&scan.compare)?;
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
        complain(path, why);
        exit = Exit::Input;
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
