//! The bills of a comparison as they are written: tables, lines of JSON, and a picture.

use serde::Serialize;
use unicode_width::UnicodeWidthStr;
use unstuck_report::cost::{Spent, rounded};
use unstuck_report::json::Object;
use unstuck_report::shown::{COLUMNS, counted, plain, shortened};
use unstuck_report::writer::chart::{Chart, ChartRow, Share};
use unstuck_report::writer::markdown::escaped;

use super::trial::Deed;
use super::{Comparison, Good};
use crate::calibrate::figures::{Column, NONE, percent, percents, table};
use crate::calibrate::score::{Interval, ratio, wilson};
use crate::scan::targets::OutputFormat;

/// The formats of a comparison.
pub(super) const FORMATS: [OutputFormat; 5] = [
    OutputFormat::Human,
    OutputFormat::Jsonl,
    OutputFormat::Markdown,
    OutputFormat::Html,
    OutputFormat::Svg,
];

/// The fewest columns of a name in the table for people.
const NAME_MIN: usize = 8;

const TITLE: &str = "What policies would have done";

/// What the columns of a narrow table mean.
const LEGEND: [&str; 3] = [
    "Spoke, refused, ended: runs in which the policy would have said something, would have \
     refused a call, and would have ended the run.",
    "Calls, tokens, time, and with --price cost: what these runs spent after its first word. It \
     could have saved no more, and perhaps less.",
    "Good: the good runs in which it would have spoken, and in parentheses those of them in which \
     it would have refused or ended.",
];

/// What the last columns of a wide table mean.
const OF_GOOD: &str =
    "Share of good: in how many of the good runs it would have spoken. 95 %: Wilson's interval.";

/// Returns the comparison in one of the [`FORMATS`]. Without a price, the tables have no column for the cost.
pub(super) fn written(comparison: &Comparison, format: OutputFormat, has_price: bool) -> String {
    let columns = |all: &[Column<Bill>]| -> Vec<Column<Bill>> {
        all.iter().filter(|(head, _)| has_price || *head != "cost").copied().collect()
    };
    match format {
        OutputFormat::Jsonl => {
            comparison.bills.iter().map(|bill| bill.line(&comparison.total)).collect()
        }
        OutputFormat::Markdown => markdown(comparison, &columns(&WIDE)),
        OutputFormat::Html => chart(comparison, &columns(&WIDE)).page(),
        OutputFormat::Svg => chart(comparison, &[]).svg(),
        _ => for_people(comparison, &columns(&NARROW)),
    }
}

/// Returns what the runs are, and which of them are good.
fn heading(comparison: &Comparison) -> String {
    let Comparison { runs, good_runs, total, good, .. } = comparison;
    let by = match good {
        Good::Listed(_) => "listed as good",
        Good::EndedWell => "ended with passing tests or a commit",
    };
    format!("{}, {total}. {good_runs} {by}.", counted(*runs, "run"))
}

/// Returns the table for people. Long names are cut, if it would be too wide.
fn for_people(comparison: &Comparison, columns: &[Column<Bill>]) -> String {
    let name: Column<Bill> = ("policy", |bill| bill.name.clone());
    let columns = [&[name], columns].concat();
    let shown = |name_max: usize| {
        let name = |bill: &Bill| shortened(&plain(&bill.name), name_max);
        let named = |bill: &Bill| Bill { name: name(bill), ..bill.clone() };
        table(&columns, &comparison.bills.iter().map(named).collect::<Vec<_>>())
    };
    let longest = comparison.bills.iter().map(|bill| plain(&bill.name).width()).max();
    let longest = longest.unwrap_or_default();
    let width = shown(longest).lines().map(UnicodeWidthStr::width).max();
    let excess = width.unwrap_or_default().saturating_sub(COLUMNS);
    let table = shown(longest.saturating_sub(excess).max(NAME_MIN));
    let [heading, legend @ ..] = [&heading(comparison), LEGEND[0], LEGEND[1], LEGEND[2]]
        .map(|text| textwrap::fill(text, COLUMNS));
    format!("{heading}\n\n{table}\n\n{}\n", legend.join("\n"))
}

/// Returns the table for a page in Markdown.
fn markdown(comparison: &Comparison, columns: &[Column<Bill>]) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let heads = columns.iter().map(|(head, _)| (*head).to_owned());
    let head = row(["policy".to_owned()].into_iter().chain(heads).collect());
    let rule = "---:|".repeat(columns.len());
    let rows = comparison.bills.iter().map(|bill| {
        let cells = columns.iter().map(|(_, cell)| escaped(&cell(bill)));
        row([escaped(&plain(&bill.name))].into_iter().chain(cells).collect())
    });
    let rows: String = rows.collect();
    let (heading, legend) = (escaped(&heading(comparison)), LEGEND.join("\n\n"));
    format!("## {TITLE}\n\n{heading}\n\n{head}|---|{rule}\n{rows}\n{legend}\n\n{OF_GOOD}\n")
}

/// Returns the picture, with the columns of the table beside it.
fn chart(comparison: &Comparison, columns: &[Column<Bill>]) -> Chart {
    let row = |bill: &Bill| ChartRow {
        name: bill.name.clone(),
        cells: columns.iter().map(|(_, cell)| cell(bill)).collect(),
        all: share(&bill.all),
        good: bill.good.as_ref().map(share),
    };
    Chart {
        title: TITLE,
        note: heading(comparison),
        heads: columns.iter().map(|(head, _)| *head).collect(),
        rows: comparison.bills.iter().map(row).collect(),
        legend: LEGEND.into_iter().chain([OF_GOOD]).collect(),
    }
}

fn share(touched: &Touched) -> Share {
    let Touched { runs, spoke, stopped, .. } = *touched;
    Share { runs, spoke, stopped }
}

/// The bill of one candidate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bill {
    pub(super) name: String,
    pub(super) all: Touched,
    /// What the runs spent after the candidate first spoke, refused or ended.
    pub(super) after: Spent,
    /// The runs that are known to be good. `None` if none is.
    pub(super) good: Option<Touched>,
}

/// Some runs, and those in which a candidate would have done something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Touched {
    pub(super) runs: usize,
    /// The runs in which it would have spoken, refused or ended.
    pub(super) spoke: usize,
    pub(super) refused: usize,
    pub(super) ended: usize,
    /// The runs in which it would have refused or ended.
    #[serde(skip)]
    pub(super) stopped: usize,
}

impl Touched {
    fn take(&mut self, deed: &Deed) {
        self.runs += 1;
        self.spoke += usize::from(deed.after.is_some());
        self.refused += usize::from(deed.refused);
        self.ended += usize::from(deed.ended);
        self.stopped += usize::from(deed.refused || deed.ended);
    }
}

impl Bill {
    pub(super) fn new(name: String) -> Self {
        Self { name, all: Touched::default(), after: Spent::default(), good: None }
    }

    /// Adds a run.
    pub(super) fn take(&mut self, deed: &Deed, is_good: bool) {
        self.all.take(deed);
        self.after = self.after + deed.after.unwrap_or_default();
        if is_good {
            self.good.get_or_insert_default().take(deed);
        }
    }

    /// Returns the share of good runs in which the candidate would have done something, and its interval.
    fn good_share(&self) -> (Option<f64>, Option<Interval>) {
        let Some(Touched { runs, spoke, .. }) = self.good else { return (None, None) };
        (ratio(spoke, runs), wilson(spoke, runs))
    }

    /// Returns the line for programs. All runs together cost `total`, and what is unknown is null. The share of good runs
    /// has its 95 % interval (Wilson).
    fn line(&self, total: &Spent) -> String {
        let (share, interval) = self.good_share();
        let Touched { runs, spoke, refused, ended, .. } = self.all;
        let line = Object::default()
            .with("policy", &self.name)
            .with("runs", runs)
            .with("spoke", spoke)
            .with("refused", refused)
            .with("ended", ended);
        with_spent(with_spent(line, "", total), "_after", &self.after)
            .with("good", self.good)
            .with("good_share", share)
            .with("good_interval", interval)
            .line()
    }
}

/// Adds what was `spent`, in members whose names end with `end`.
fn with_spent(line: Object, end: &str, spent: &Spent) -> Object {
    let name = |what: &str| format!("{what}{end}");
    line.with(&name("calls"), spent.calls)
        .with(&name("tokens"), spent.tokens)
        .with(&name("seconds"), spent.time.map(|time| time.as_secs()))
        .with(&name("dollars"), spent.dollars)
}

/// The columns behind the name.
const SPOKE: Column<Bill> = ("spoke", |bill| bill.all.spoke.to_string());
const REFUSED: Column<Bill> = ("refused", |bill| bill.all.refused.to_string());
const ENDED: Column<Bill> = ("ended", |bill| bill.all.ended.to_string());
const CALLS: Column<Bill> = ("calls", |bill| rounded(bill.after.calls as u64));
const TOKENS: Column<Bill> =
    ("tokens", |bill| known(bill.after.tokens.map(|tokens| rounded(tokens.total()))));
const TIME: Column<Bill> =
    ("time", |bill| known(bill.after.time.map(|time| hours(time.as_secs()))));
const COST: Column<Bill> = ("cost", |bill| known(bill.after.dollars.map(dollars)));
const GOOD: Column<Bill> = ("good", |bill| {
    known(bill.good.map(|Touched { spoke, stopped, .. }| format!("{spoke} ({stopped})")))
});
const SHARE: Column<Bill> = ("share of good", |bill| percent(bill.good_share().0));
const INTERVAL: Column<Bill> = ("95 %", |bill| percents(bill.good_share().1));

/// The columns of a table that fits into a terminal, and those of one that need not.
pub(super) const NARROW: [Column<Bill>; 8] =
    [SPOKE, REFUSED, ENDED, CALLS, TOKENS, TIME, COST, GOOD];
pub(super) const WIDE: [Column<Bill>; 10] =
    [SPOKE, REFUSED, ENDED, CALLS, TOKENS, TIME, COST, GOOD, SHARE, INTERVAL];

fn known(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| NONE.to_owned())
}

/// Returns a span of time in one unit: minutes, or hours if there are two or more.
fn hours(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", rounded(seconds / 3600)),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a price from 1000 on")]
fn dollars(dollars: f64) -> String {
    if dollars < 1000.0 {
        format!("${dollars:.2}")
    } else {
        format!("${}", rounded(dollars as u64))
    }
}
