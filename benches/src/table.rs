//! The one look of all tables.

use comfy_table::{CellAlignment, Table, presets::NOTHING};

/// A table of `rows`, whose first `left` columns are words and all others numbers. What stands in the
/// first column is said once for all rows in a row that have it.
pub(crate) fn table<const N: usize>(
    header: [&str; N],
    left: usize,
    rows: impl IntoIterator<Item = [String; N]>,
) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    let mut group = String::new();
    for mut row in rows {
        if let Some(first) = row.first_mut() {
            if *first == group {
                first.clear();
            } else {
                group.clone_from(first);
            }
        }
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(left) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
