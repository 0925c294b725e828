//! `tune --limit`: a limit of what a run may spend, which few healthy runs exceed.
//!
//! The score of a run is what it spent; [`conformal`](super::conformal) says what the quantile guarantees. A limit is
//! about the length of a run and says nothing about loops: a run that reaches it was long, whatever it did.

use anstyle::Style;
use unstuck_report::cost::Spent;
use unstuck_report::shown::{COLUMNS, counted};
use unstuck_trace::Tokens;

use super::conformal::quantile;
use super::{ACCUSED, AccusedRuns, Rate, comment, read_healthy, too_few, write};
use crate::calibrate::compare::spent;
use crate::calibrate::figures::table;
use crate::calibrate::options::{LimitOf, Tune};
use crate::exit::Exit;
use crate::output::fail;

/// Computes the limit from the first half of the runs, and counts the runs of the other half that spent more.
pub(super) fn limited(tune: &Tune, of: LimitOf) -> Result<Exit, Exit> {
    let price = tune.price;
    let (runs, exit) = read_healthy(tune, move |input, progress| {
        let score = |run: &Spent| of.score(run).ok_or_else(|| input.name());
        Ok(spent(input, progress, price)?.iter().map(score).collect())
    })?;
    let (runs, lacking): (Vec<_>, Vec<_>) = runs.into_iter().partition(Result::is_ok);
    let runs: Vec<u64> = runs.into_iter().flatten().collect();
    let exit = exit.max(of.refuse(lacking.into_iter().filter_map(Result::err).collect()));
    if runs.is_empty() && exit != Exit::Clean {
        // What is wrong with the runs was printed.
        return Err(exit);
    }
    let (fitted, unseen) = runs.split_at(runs.len().div_ceil(2));
    let rate = tune.false_alarms;
    let limit = quantile(fitted, rate)
        .ok_or_else(|| fail(Exit::Input, "--healthy", &too_few(fitted.len(), rate)))?;
    // A limit of nothing would end every run.
    let limit = limit.max(1);
    let rows = [
        AccusedRuns::of("fitted", fitted, &limit, true),
        AccusedRuns::of("unseen", unseen, &limit, false),
    ];
    let what = description(&of.shown(limit), &rows, rate);
    let config = format!("{}\n[budget]\n{} = {}\n", comment(&what), of.key(), of.value(limit));
    write(tune, &report(&what, &rows), &config, exit)
}

/// Says what the limit is, where it comes from, and what it guarantees.
fn description(limit: &str, [fitted, unseen]: &[AccusedRuns; 2], rate: Rate) -> String {
    format!(
        "A limit of {limit}, computed from {}. Of other runs like these, at most {rate} % are \
         expected to spend more. Of {} that it was not computed from: {} (95 %: {}). A run that \
         reaches it was long, and need not be stuck.",
        counted(fitted.runs, "healthy run"),
        unseen.runs,
        unseen.share(),
        unseen.interval(),
    )
}

fn report(what: &str, rows: &[AccusedRuns; 2]) -> String {
    let strong = Style::new().bold();
    let columns =
        ACCUSED.map(|(head, cell)| (if head == "accused" { "longer" } else { head }, cell));
    let legend = "Fitted: the half of the runs that the limit was computed from. Unseen: the other \
                  half. Longer: those that spent more. 95 %: Wilson's interval. What is expected \
                  holds on average over such samples: one limit from few runs may be exceeded \
                  more often.";
    let (what, legend) = (textwrap::fill(what, COLUMNS), textwrap::fill(legend, COLUMNS));
    format!("{strong}{what}{strong:#}\n\n{}\n\n{legend}\n", table(&columns, rows))
}

impl LimitOf {
    /// Returns what a run spent in the unit of the limit, rounded up: calls, tokens, cents or minutes. `None` if its
    /// file does not tell.
    fn score(self, run: &Spent) -> Option<u64> {
        match self {
            Self::Calls => Some(run.calls as u64),
            Self::Tokens => run.tokens.map(Tokens::total),
            Self::Dollars => run.dollars.map(cents),
            Self::Minutes => {
                run.time.map(|time| time.as_millis().div_ceil(60_000))?.try_into().ok()
            }
        }
    }

    /// Prints an error about the runs whose files, with these names, do not tell.
    fn refuse(self, mut names: Vec<String>) -> Exit {
        names.sort_unstable();
        let Some(first) = names.first() else { return Exit::Clean };
        let lacks = match self {
            Self::Calls => "calls",
            Self::Tokens | Self::Dollars => "tokens",
            Self::Minutes => "times",
        };
        let others = match names.len() - 1 {
            0 => String::new(),
            others => format!(", like {}", counted(others, "other run")),
        };
        let what = format!("has no {lacks}{others}, and is left out of a limit of {}", self.key());
        fail(Exit::Input, first, &what)
    }

    /// Returns the key in the table `[budget]` of a policy.
    const fn key(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Tokens => "tokens",
            Self::Dollars => "dollars",
            Self::Minutes => "minutes",
        }
    }

    /// Returns the limit as a value of TOML.
    fn value(self, limit: u64) -> String {
        match self {
            Self::Dollars => format!("{}.{:02}", limit / 100, limit % 100),
            _ => limit.to_string(),
        }
    }

    /// Returns the limit for people.
    fn shown(self, limit: u64) -> String {
        match self {
            Self::Calls => counted_by(limit, "call"),
            Self::Tokens => counted_by(limit, "token"),
            Self::Dollars => format!("${}", self.value(limit)),
            Self::Minutes => counted_by(limit, "minute"),
        }
    }
}

fn counted_by(limit: u64, what: &str) -> String {
    counted(usize::try_from(limit).unwrap_or(usize::MAX), what)
}

/// Returns a sum of dollars in cents, rounded up.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sums saturate")]
fn cents(dollars: f64) -> u64 {
    (dollars * 100.0).ceil() as u64
}
