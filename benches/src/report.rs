//! Prints tables and figures, and what is left out.

use std::fmt::Display;

use comfy_table::{CellAlignment, Table, presets::NOTHING};

/// Prints a table. A row has a text for each heading. The columns from `numbers` on are numbers.
pub(crate) fn table(headings: &[&str], numbers: usize, rows: Vec<Vec<String>>) {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(headings).add_rows(rows);
    for column in table.column_iter_mut().skip(numbers) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!("{table}\n");
}

/// Prints a figure.
pub(crate) fn figure(what: &str, value: impl Display) {
    println!("{what:<56}  {value}");
}

/// Prints what this machine cannot measure, with the reason.
pub(crate) fn left_out(what: &str, why: &str) {
    println!("left out: {what}: {why}");
}
