//! The bills of a comparison as they are written: tables, lines of JSON, and a picture.

use unicode_width::UnicodeWidthStr;
use unstuck_report::json::json_line;
use unstuck_report::shown::{COLUMNS, counted, plain, shortened};
use unstuck_report::writer::chart::{Chart, ChartRow, Share};
use unstuck_report::writer::markdown::escaped;

use super::Comparison;
use super::bill::{Bill, NARROW, Touched, WIDE};
use super::good::Good;
use crate::calibrate::figures::{Column, table};
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
const SHARE: &str =
    "Share of good: in how many of the good runs it would have spoken. 95 %: Wilson's interval.";

/// Returns the comparison in one of the [`FORMATS`]. Without a price, the tables have no column for the cost.
pub(super) fn written(comparison: &Comparison, format: OutputFormat, has_price: bool) -> String {
    let columns = |all: &[Column<Bill>]| -> Vec<Column<Bill>> {
        all.iter().filter(|(head, _)| has_price || *head != "cost").copied().collect()
    };
    match format {
        OutputFormat::Jsonl => {
            let line = |bill: &Bill| json_line(&bill.line(&comparison.total));
            comparison.bills.iter().map(line).collect()
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
    format!("## {TITLE}\n\n{heading}\n\n{head}|---|{rule}\n{rows}\n{legend}\n\n{SHARE}\n")
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
        legend: LEGEND.into_iter().chain([SHARE]).collect(),
    }
}

fn share(touched: &Touched) -> Share {
    let Touched { runs, spoke, stopped, .. } = *touched;
    Share { runs, spoke, stopped }
}
