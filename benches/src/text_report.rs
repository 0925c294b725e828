//! What was measured of texts, as a table and as JSON.

use std::fmt;

use comfy_table::Table;
use serde::Serialize;

use crate::table::table;
use crate::text::Work;
use crate::texts::Kind;

/// Something made of texts of one kind and length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The kind of the texts.
    pub kind: Kind,
    /// How long they are, but for the last line.
    pub length: usize,
    /// What is made of them.
    pub work: Work,
    /// The median time for a text, in nanoseconds.
    pub ns: f64,
    /// How many billion bytes that is in a second.
    pub gigabytes_per_second: f64,
    /// The instructions for a text, where they were counted.
    pub instructions: Option<f64>,
    /// Those for a byte.
    pub instructions_per_byte: Option<f64>,
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Each work on each kind and length.
    pub rows: Vec<Row>,
    /// What was left out, and why.
    pub left_out: Vec<&'static str>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.table())?;
        writeln!(
            f,
            "By the recipe of `balanced`, all masks on. A similarity is that of two texts of the \
             length; a verdict is\nwhat comes of a call and its outcome, from raw arguments and a \
             raw result on."
        )?;
        self.left_out.iter().try_for_each(|what| writeln!(f, "left out: {what}"))
    }
}

impl Report {
    fn table(&self) -> Table {
        let header = ["text", "made of it", "ns", "GB/s", "instructions", "instructions/byte"];
        table(header, 2, self.rows.iter().map(Row::cells))
    }
}

impl Row {
    fn cells(&self) -> [String; 6] {
        let rounded = |count: Option<f64>, digits| {
            count.map_or_else(String::new, |count| format!("{count:.digits$}"))
        };
        [
            format!("{} B, {}", self.length, self.kind.name()),
            self.work.name().to_owned(),
            format!("{:.0}", self.ns),
            format!("{:.2}", self.gigabytes_per_second),
            rounded(self.instructions, 0),
            rounded(self.instructions_per_byte, 1),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_one_table_and_a_line_for_all_else() {
        let row = |kind, length, work, instructions: Option<f64>| Row {
            kind,
            length,
            work,
            ns: 1000.4,
            gigabytes_per_second: 0.456,
            instructions,
            instructions_per_byte: instructions.map(|count| count / 200.0),
        };
        let report = Report {
            rows: vec![
                row(Kind::Log, 200, Work::Masked, Some(1234.5)),
                row(Kind::Log, 200, Work::Outcome, Some(2345.6)),
                row(Kind::Log, 100_000, Work::Outcome, None),
            ],
            left_out: vec!["instructions: valgrind is not installed"],
        };
        insta::assert_snapshot!(report);
    }
}
