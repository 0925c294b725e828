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

use unstuck_report::cost::Spent;
use unstuck_report::json::json_line;
use unstuck_report::shown::{COLUMNS, counted, plain, shortened};
use unstuck_report::writer::markdown::escaped;

use super::figures::{Column, table};
use crate::exit::Exit;
use crate::output::{complain, remark};
use crate::read::inputs::Input;
use crate::read::reading::read_in_order;
use crate::scan::command::{find, open};
use crate::scan::options::Scan;
use crate::scan::targets::OutputFormat;
use bill::{Bill, NARROW, WIDE};
pub(crate) use candidate::CandidateName;
use good::Good;
use trial::{TriedInput, tried};

/// The fewest columns of a name in the table for people.
const NAME_MIN: usize = 8;

/// Compares the candidates of `--compare`.
pub(crate) fn run(scan: &Scan) -> Exit {
    match compare(scan) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn compare(scan: &Scan) -> Result<Exit, Exit> {
    if let Some(other) = scan.targets.iter().find(|target| !is_written(target.format)) {
        let name = other.format.name();
        return Err(Scan::misused(format!("--compare has no --format {name}: {WRITTEN}")));
    }
    let candidates = candidate::load(&scan.compare)?;
    let good = Good::load(scan)?;
    let mut inputs = find(scan)?;
    let outputs = open(scan, &mut inputs)?;
    let mut exit = Exit::Clean;
    for (path, why) in &inputs.errors {
        complain(path, why);
        exit = Exit::Input;
    }
    let mut comparison = Comparison::new(candidates.iter().map(|one| one.name.clone()), good);
    let (told, inputs) = ((scan.from(), scan.price), inputs.found.into_iter());
    let work = move |input: &_, (): &(), progress: &_| tried(input, progress, told, &candidates);
    read_in_order(
        inputs.map(|input| (input, ())).collect(),
        scan.jobs(),
        work,
        |input, (), read| {
            let read = read.inspect(|tried| comparison.take(input, tried));
            let skipped = |tried: TriedInput| match tried.skipped {
                0 => Ok(()),
                n => Err(format!("{} could not be read", counted(n, "record"))),
            };
            if let Err(why) = read.and_then(skipped) {
                complain(&input.name(), &why);
                exit = Exit::Input;
            }
            Ok::<(), Exit>(())
        },
    )?;
    if comparison.empty > 0 {
        let runs = counted(comparison.empty, "run");
        remark("--compare", &format!("left out {runs} in which the agent did nothing"));
    }
    for (format, mut output) in outputs {
        let written = output.write(&comparison.written(format, scan.price.is_some()));
        written.map_err(|closed| closed.exit(exit))?;
    }
    Ok(exit)
}

/// The formats of a comparison.
const WRITTEN: &str = "give human, markdown or jsonl";

fn is_written(format: OutputFormat) -> bool {
    matches!(format, OutputFormat::Human | OutputFormat::Markdown | OutputFormat::Jsonl)
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

    fn written(&self, format: OutputFormat, has_price: bool) -> String {
        match format {
            OutputFormat::Jsonl => {
                self.bills.iter().map(|bill| json_line(&bill.line(&self.total))).collect()
            }
            OutputFormat::Markdown => self.markdown(has_price),
            _ => self.for_people(has_price),
        }
    }

    /// Returns the runs, and which of them are good.
    fn heading(&self) -> String {
        let (runs, good) = (counted(self.runs, "run"), self.good_runs);
        let by = match self.good {
            Good::Listed(_) => "listed as good",
            Good::EndedWell => "ended with passing tests or a commit",
        };
        let total = self.total;
        format!("{runs}, {total}. {good} {by}.")
    }

    /// Returns the table for people. Names are cut, if it would be too wide.
    fn for_people(&self, has_price: bool) -> String {
        let columns = columns(&NARROW, has_price);
        let shown = |name_max: usize| {
            let short = |bill: &Bill| Bill {
                name: shortened(&plain(&bill.name), name_max),
                ..bill.clone()
            };
            let bills: Vec<Bill> = self.bills.iter().map(short).collect();
            let name: Column<Bill> = ("policy", |bill| bill.name.clone());
            table(&[&[name], &columns[..]].concat(), &bills)
        };
        let width = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let longest = self.bills.iter().map(|bill| plain(&bill.name).chars().count()).max();
        let longest = longest.unwrap_or(0);
        let excess = width(&shown(longest)).saturating_sub(COLUMNS);
        let table = shown(longest.saturating_sub(excess).max(NAME_MIN));
        let (heading, legend) = (self.heading(), LEGEND.map(|line| textwrap::fill(line, COLUMNS)));
        format!("{}\n\n{table}\n\n{}\n", textwrap::fill(&heading, COLUMNS), legend.join("\n"))
    }
    /// Returns the table for a page in Markdown.
    fn markdown(&self, has_price: bool) -> String {
        let columns = columns(&WIDE, has_price);
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let heads = columns.iter().map(|(head, _)| (*head).to_owned());
        let head = row(["policy".to_owned()].into_iter().chain(heads).collect());
        let rule = format!("|---|{}\n", "---:|".repeat(columns.len()));
        let rows = self.bills.iter().map(|bill| {
            let cells = columns.iter().map(|(_, cell)| escaped(&cell(bill)));
            row([escaped(&plain(&bill.name))].into_iter().chain(cells).collect())
        });
        let rows: String = rows.collect();
        let (heading, legend) = (escaped(&self.heading()), LEGEND.join("\n\n"));
        format!(
            "## What policies would have done\n\n{heading}\n\n{head}{rule}{rows}\n{legend}\n\n\
             95 %: Wilson's interval for the share.\n"
        )
    }
}

/// Returns the columns that have a meaning: without a price, there is no cost.
fn columns(all: &[Column<Bill>], has_price: bool) -> Vec<Column<Bill>> {
    all.iter().filter(|(head, _)| has_price || *head != "cost").copied().collect()
}

/// What the columns mean.
const LEGEND: [&str; 3] = [
    "Spoke, refused, ended: runs in which the policy would have said something, would have \
     refused a call, and would have ended the run.",
    "Calls, tokens, time, and with --price cost: what these runs spent after its first word. It \
     could have saved no more, and perhaps less.",
    "Good: the good runs in which it would have spoken, and in parentheses those of them in which \
     it would have refused or ended.",
];
