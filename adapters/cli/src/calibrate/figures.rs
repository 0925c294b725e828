//! Formats names, ratios and intervals in tables.

use comfy_table::{CellAlignment, Table, presets::NOTHING};
use unstuck_report::shown::{plain, shortened};

use unstuck_report::effect::Interval;

/// The most columns of a name: the length of the longest preset's name.
const NAME_MAX: usize = 22;

/// The cell for an unknown number.
pub(super) const NONE: &str = "-";

/// A column: its head, and the cell of a row.
pub(crate) type Column<R> = (&'static str, fn(&R) -> String);

/// Returns the rows as a table without a line break at its end. The first column is aligned to the
/// left, the others to the right.
pub(crate) fn table<R>(columns: &[Column<R>], rows: &[R]) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(columns.iter().map(|(head, _)| *head));
    for row in rows {
        table.add_row(columns.iter().map(|(_, cell)| cell(row)));
    }
    for (n, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if n > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// Returns the name of a policy, a source or a rule, cut to [`NAME_MAX`] columns.
pub(crate) fn name(name: &str) -> String {
    shortened(&plain(name), NAME_MAX)
}

pub(super) fn number(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| NONE.to_owned(), |ratio| format!("{ratio:.2}"))
}

pub(crate) fn percent(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| NONE.to_owned(), |ratio| format!("{:.1} %", ratio * 100.0))
}

pub(super) fn ends(interval: Option<Interval>) -> String {
    interval.map_or_else(|| NONE.to_owned(), |[low, high]| format!("{low:.2}–{high:.2}"))
}

pub(crate) fn percents(interval: Option<Interval>) -> String {
    let percents = |[low, high]: Interval| format!("{:.1}–{:.1} %", low * 100.0, high * 100.0);
    interval.map_or_else(|| NONE.to_owned(), percents)
}
