//! A report: tables of measurements and remarks, printed as text or as JSON.

use std::fmt::{self, Display};
use std::io::{self, Write as _};

use comfy_table::{CellAlignment, Table, presets::NOTHING};
use serde::Serialize;
use serde_json::{Map, Value};

/// A measurement that fills one line of a table.
pub trait Measurement: Serialize {
    /// The headings of the columns.
    const HEADINGS: &'static [&'static str];

    /// The number of columns, from the left, that contain words. The other columns contain numbers,
    /// which are aligned to the right.
    const WORDS: usize;

    /// Returns the cells of the line, one for each heading.
    fn cells(&self) -> Vec<String>;
}

/// All results of a benchmark. Displays as text.
#[derive(Clone, Debug, Default)]
pub struct Report {
    text: String,
    json: Map<String, Value>,
    left_out: Vec<String>,
}

impl Report {
    /// Adds a table, which is the array `name` in JSON. Without measurements the text has no table.
    ///
    /// # Errors
    ///
    /// If a measurement cannot be serialized.
    pub fn table<M: Measurement>(&mut self, name: &str, measurements: &[M]) -> io::Result<()> {
        self.json.insert(name.to_owned(), serde_json::to_value(measurements)?);
        if !measurements.is_empty() {
            self.text += &table(measurements).to_string();
            self.text += "\n\n";
        }
        Ok(())
    }

    /// Adds values with a line of text each. They are the array `name` in JSON.
    ///
    /// # Errors
    ///
    /// If a value cannot be serialized.
    pub fn lines<V: Display + Serialize>(&mut self, name: &str, values: &[V]) -> io::Result<()> {
        self.json.insert(name.to_owned(), serde_json::to_value(values)?);
        self.text.extend(values.iter().map(|value| format!("{value}\n")));
        Ok(())
    }

    /// Adds a remark for the reader of the text. JSON does not contain it.
    pub fn remark(&mut self, remark: &str) {
        self.text += remark;
        self.text.push('\n');
    }

    /// Records a measurement that this machine cannot make, with the reason.
    pub fn leave_out(&mut self, reason: impl Into<String>) {
        self.left_out.push(reason.into());
    }

    /// Writes the report to standard output, as text or as one line of JSON.
    ///
    /// # Errors
    ///
    /// If standard output cannot be written.
    pub fn print(mut self, as_json: bool) -> io::Result<()> {
        let mut output = io::stdout();
        if as_json {
            self.json.insert("left_out".to_owned(), self.left_out.into());
            return writeln!(output, "{}", Value::Object(self.json));
        }
        write!(output, "{self}")
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.left_out.iter().try_for_each(|reason| writeln!(f, "left out: {reason}"))
    }
}

/// Formats a number, or nothing if it was not measured.
pub(crate) fn rounded(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(String::new, |number| format!("{number:.digits$}"))
}

/// Returns a table of `measurements`. A first cell that equals the one above it stays empty.
fn table<M: Measurement>(measurements: &[M]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(M::HEADINGS);
    let mut group = String::new();
    for measurement in measurements {
        let mut cells = measurement.cells();
        if let Some(first) = cells.first_mut().filter(|_| M::WORDS > 0) {
            if *first == group {
                first.clear();
            } else {
                group.clone_from(first);
            }
        }
        table.add_row(cells);
    }
    for column in table.column_iter_mut().skip(M::WORDS) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Sample(&'static str, Option<f64>);

    impl Measurement for Sample {
        const HEADINGS: &'static [&'static str] = &["program", "ms"];
        const WORDS: usize = 1;

        fn cells(&self) -> Vec<String> {
            vec![self.0.to_owned(), rounded(self.1, 1)]
        }
    }

    #[test]
    fn a_report_has_tables_lines_and_remarks() {
        let mut report = Report::default();
        let samples = [Sample("a", Some(1.25)), Sample("a", None), Sample("longer", Some(100.0))];
        report.table("samples", &samples).unwrap();
        report.table::<Sample>("none", &[]).unwrap();
        report.lines("sizes", &["8 bytes", "16 bytes"]).unwrap();
        report.remark("A remark.");
        report.leave_out("node: it is not installed");
        insta::assert_snapshot!(report);
        let json = Value::Object(report.json).to_string();
        assert_eq!(
            json,
            r#"{"none":[],"samples":[["a",1.25],["a",null],["longer",100.0]],"sizes":["8 bytes","16 bytes"]}"#
        );
    }
}
