//! The bill: what a candidate would have done in all runs, and what the runs spent after that.

use serde::Serialize;
use unstuck_report::cost::{Spent, rounded};
use unstuck_trace::Tokens;

use super::trial::Deed;
use crate::calibrate::figures::{Column, NONE, percent, percents};
use crate::calibrate::interval::{Interval, wilson};
use crate::calibrate::score::ratio;

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

    /// Returns the line for programs. All runs together cost `total`.
    pub(super) fn line(&self, total: &Spent) -> BillLine<'_> {
        let seconds = |spent: &Spent| spent.time.map(|time| time.as_secs());
        let (good_share, good_interval) = self.good_share();
        BillLine {
            policy: &self.name,
            all: self.all,
            calls: total.calls,
            tokens: total.tokens,
            seconds: seconds(total),
            dollars: total.dollars,
            calls_after: self.after.calls,
            tokens_after: self.after.tokens,
            seconds_after: seconds(&self.after),
            dollars_after: self.after.dollars,
            good: self.good,
            good_share,
            good_interval,
        }
    }
}

/// A bill as JSON. What is unknown is null.
#[derive(Serialize)]
pub(super) struct BillLine<'b> {
    policy: &'b str,
    #[serde(flatten)]
    all: Touched,
    calls: usize,
    tokens: Option<Tokens>,
    seconds: Option<u64>,
    dollars: Option<f64>,
    calls_after: usize,
    tokens_after: Option<Tokens>,
    seconds_after: Option<u64>,
    dollars_after: Option<f64>,
    good: Option<Touched>,
    /// The share of good runs in which the policy would have spoken, and its 95 % interval (Wilson).
    good_share: Option<f64>,
    good_interval: Option<Interval>,
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
