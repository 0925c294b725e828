//! The digest of many runs: what recurs in how many of them, and the runs that spent most after their first
//! finding.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;
use unstuck_trace::Tokens;

use super::Headline;
use crate::cost::Spent;
use crate::groups::groups;
use crate::recurring::kind_of;
use crate::report::Report;
use crate::shown::{counted, plain};

/// The most runs that are listed.
const RUNS_MAX: usize = 10;

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// The part of a digest about one run that is stuck.
pub(super) struct Stuck {
    path: String,
    /// The kind of its strongest loop, and a line about it.
    kind: String,
    what: String,
    pub(super) after: Spent,
    total: Spent,
}

impl Stuck {
    /// Returns the entry of a run, if something was found in it, in at most `columns`.
    pub(super) fn of(report: &Report, columns: usize) -> Option<Self> {
        let groups = groups(&report.judged.loops.shown);
        let worst = groups.iter().rev().max_by_key(|group| group.strongest.worst())?;
        let found = worst.strongest.first();
        Some(Self {
            path: plain(&report.path),
            kind: kind_of(&found.finding),
            what: Headline::of(found).line(columns.saturating_sub(INDENT.len())),
            after: report.cost.after.unwrap_or_default(),
            total: report.cost.total,
        })
    }
}

/// The indentation of the line below a run's path.
const INDENT: &str = "      ";

/// The measure that orders the runs: dollars, tokens or calls, the first one that all runs have.
#[derive(Clone, Copy)]
pub(super) enum Measure {
    Dollars,
    Tokens,
    Calls,
}

impl Measure {
    pub(super) fn of<'s>(mut spent: impl Iterator<Item = &'s Spent> + Clone) -> Self {
        if spent.clone().all(|spent| spent.dollars.is_some()) {
            Self::Dollars
        } else if spent.all(|spent| spent.tokens.is_some()) {
            Self::Tokens
        } else {
            Self::Calls
        }
    }

    /// Orders the run that spent more first.
    pub(super) fn dearest_first(self, a: &Spent, b: &Spent) -> Ordering {
        let dollars = |spent: &Spent| spent.dollars.unwrap_or_default();
        let tokens = |spent: &Spent| spent.tokens.map_or(0, Tokens::total);
        let by_measure = match self {
            Self::Dollars => dollars(b).total_cmp(&dollars(a)),
            Self::Tokens => tokens(b).cmp(&tokens(a)),
            Self::Calls => Ordering::Equal,
        };
        by_measure.then(b.calls.cmp(&a.calls))
    }
}

/// Returns the digest of the runs that are stuck, or nothing if there is none.
pub(super) fn digest(stuck: &[Stuck]) -> String {
    if stuck.is_empty() {
        return String::new();
    }
    kinds(stuck) + &dearest(stuck)
}

/// Returns the number of runs by what recurs in them, the most frequent first.
fn kinds(stuck: &[Stuck]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for run in stuck {
        *counts.entry(&run.kind).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let runs = counted(stuck.len(), "stuck run");
    let mut text = format!("\n{STRONG}What recurs in {runs}{STRONG:#}\n");
    for (kind, count) in counts {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{count:>5}  {kind}");
    }
    text
}

/// Returns the runs that spent most after their first finding.
fn dearest(stuck: &[Stuck]) -> String {
    let measure = Measure::of(stuck.iter().map(|run| &run.after));
    let mut runs: Vec<&Stuck> = stuck.iter().filter(|run| run.after != Spent::default()).collect();
    runs.sort_by(|a, b| measure.dearest_first(&a.after, &b.after));
    if runs.is_empty() {
        return String::new();
    }
    let after: Spent = runs.iter().map(|run| run.after).sum();
    let total: Spent = stuck.iter().map(|run| run.total).sum();
    let mut text = format!(
        "\n{STRONG}Spent after the first finding: {after}{STRONG:#}\n  {FAINT}of {total} in these runs{FAINT:#}\n"
    );
    let shown = runs.get(..RUNS_MAX).unwrap_or(&runs);
    let digits = |run: &Stuck| run.after.calls.to_string().len();
    let digits_max = shown.iter().map(|run| digits(run)).max().unwrap_or(0);
    let spent = |run: &&Stuck| format!("{}{}", " ".repeat(digits_max - digits(run)), run.after);
    let spent: Vec<String> = shown.iter().map(spent).collect();
    let width = spent.iter().map(|spent| spent.width()).max().unwrap_or(0);
    for (run, spent) in shown.iter().zip(spent) {
        let Stuck { path, what, .. } = run;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {spent:<width$}  {path}\n{INDENT}{FAINT}{what}{FAINT:#}");
    }
    match runs.len() - shown.len() {
        0 => {}
        more => {
            let _ = writeln!(text, "  {FAINT}and {}{FAINT:#}", counted(more, "more run"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(calls: usize, tokens: Option<u64>, dollars: Option<f64>) -> Spent {
        let tokens = tokens.map(|input| Tokens { input, ..Tokens::default() });
        Spent { calls, tokens, time: None, dollars }
    }

    fn stuck(path: &str, kind: &str, after: Spent) -> Stuck {
        let (path, kind, what) = (path.to_owned(), kind.to_owned(), "`bash` 3 times".to_owned());
        Stuck { path, kind, what, after, total: Spent { calls: 20, ..after } }
    }

    /// Returns the digest without styles.
    fn shown(stuck: &[Stuck]) -> String {
        anstream::adapter::strip_str(&digest(stuck)).to_string()
    }

    #[test]
    fn runs_are_compared_by_what_all_of_them_have() {
        let order = |runs: &[Spent]| {
            let measure = Measure::of(runs.iter());
            let mut places: Vec<usize> = (0..runs.len()).collect();
            places.sort_by(|a, b| measure.dearest_first(&runs[*a], &runs[*b]));
            places
        };
        let (few, many) = (spent(1, Some(9), Some(0.5)), spent(7, Some(8), Some(0.1)));
        assert_eq!(order(&[many, few]), [1, 0], "by dollars");
        assert_eq!(order(&[many, few, spent(9, Some(3), None)]), [1, 0, 2], "by tokens");
        assert_eq!(order(&[many, few, spent(9, None, None)]), [2, 0, 1], "by calls");
    }

    #[test]
    fn ten_runs_are_listed_and_no_digest_is_made_of_nothing() {
        assert_eq!(shown(&[]), "");
        let runs: Vec<_> =
            (0..25).map(|n| stuck(&format!("run-{n}"), "a cycle", spent(n, None, None))).collect();
        let text = shown(&runs);
        assert!(text.contains("300 calls") && text.contains("of 500 calls"), "{text}");
        assert!(text.contains("run-24\n") && !text.contains("run-14\n"), "{text}");
        assert!(text.contains("and 14 more runs"), "{text}");
        let idle = shown(&runs[..1]);
        assert!(!idle.contains("Spent"), "{idle}");
    }
}
