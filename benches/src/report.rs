//! A report: tables and remarks, printed as text or as JSON.

use std::fmt::{self, Display};

use comfy_table::{CellAlignment, Table, presets::NOTHING};
use serde_json::{Map, Value};

/// The results of a benchmark. Displays as text.
#[derive(Debug, Default)]
pub(crate) struct Report {
    text: String,
    json: Map<String, Value>,
    left_out: Vec<String>,
}

impl Report {
    /// Adds a table, which is the array `name` in JSON. A row has a cell for each heading: a text, a number, or
    /// null if nothing was measured. The text has no columns and no table without cells.
    pub(crate) fn table(&mut self, name: &str, headings: &[&str], rows: Vec<Vec<Value>>) {
        let shown = |&column: &usize| rows.iter().any(|row| !row[column].is_null());
        let shown: Vec<usize> = (0..headings.len()).filter(shown).collect();
        let digits = shown.iter().map(|&column| digits(rows.iter().map(|row| &row[column])));
        let digits: Vec<Option<usize>> = digits.collect();
        let mut table = Table::new();
        table.load_style(NOTHING).set_header(shown.iter().map(|&column| headings[column]));
        let mut above = &Value::Null;
        for row in &rows {
            let cell = |(&column, digits): (&usize, &Option<usize>)| match &row[column] {
                Value::Number(number) => {
                    format!("{:.*}", digits.unwrap_or(0), number.as_f64().unwrap_or(f64::NAN))
                }
                // A first cell that equals the one above it stays empty.
                Value::String(text) if column > 0 || row[0] != *above => text.clone(),
                _ => String::new(),
            };
            table.add_row(shown.iter().zip(&digits).map(cell));
            above = &row[0];
        }
        for (column, _) in
            table.column_iter_mut().zip(digits).filter(|(_, digits)| digits.is_some())
        {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if !rows.is_empty() {
            self.remark(&format!("{table}\n"));
        }
        let object = |row: Vec<Value>| -> Map<String, Value> {
            headings.iter().map(|&heading| heading.to_owned()).zip(row).collect()
        };
        self.json.insert(name.to_owned(), rows.into_iter().map(object).collect());
    }

    /// Adds a remark for the reader of the text. JSON does not contain it.
    pub(crate) fn remark(&mut self, remark: &str) {
        self.text += remark;
        self.text.push('\n');
    }

    /// Records a measurement that this machine cannot make, with the reason.
    pub(crate) fn leave_out(&mut self, reason: impl Into<String>) {
        self.left_out.push(reason.into());
    }

    /// Returns the report as one line of JSON.
    pub(crate) fn into_json(mut self) -> String {
        self.json.insert("left_out".to_owned(), self.left_out.into());
        Value::Object(self.json).to_string()
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.left_out.iter().try_for_each(|reason| writeln!(f, "left out: {reason}"))
    }
}

/// Returns the most digits behind the point of any number in a column, or `None` for a column of texts.
fn digits<'v>(cells: impl Iterator<Item = &'v Value>) -> Option<usize> {
    let numbers = cells.filter(|cell| cell.is_number()).map(Value::to_string);
    numbers.map(|number| number.split_once('.').map_or(0, |(_, behind)| behind.len())).max()
}

/// Returns a number for a cell, with so many digits behind the point.
pub(crate) fn rounded(number: f64, digits: usize) -> Value {
    format!("{number:.digits$}").parse().map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_has_tables_remarks_and_what_was_left_out() {
        let mut report = Report::default();
        let row = |program: &str, ms: Value| vec![json!(program), ms, Value::Null];
        let rows = [("a", rounded(1.25, 1)), ("a", Value::Null), ("longer", rounded(100.0, 1))];
        let rows = rows.map(|(program, ms)| row(program, ms)).to_vec();
        report.table("rows", &["program", "ms", "instructions"], rows);
        report.table("none", &["program"], Vec::new());
        report.remark("A remark.");
        report.leave_out("node: it is not installed");
        let text = [
            " program     ms ",
            " a          1.2 ",
            "                ",
            " longer   100.0 ",
            "",
            "A remark.",
            "left out: node: it is not installed",
            "",
        ];
        assert_eq!(report.to_string(), text.join("\n"));
    }
}
