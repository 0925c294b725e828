//! What was measured of those who read JSON, as a table and as JSON.

use std::fmt;

use comfy_table::Table;
use serde::Serialize;

use crate::documents::Document;
use crate::json::Reader;
use crate::table::table;

/// A reader on a document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The document.
    pub document: Document,
    /// The reader.
    pub reader: Reader,
    /// The median time for a document, in nanoseconds.
    pub ns: f64,
    /// How many million bytes it reads in a second.
    pub megabytes_per_second: f64,
    /// How many times as fast it is as `serde_jcs` with a hash, or, where it makes a text, without.
    pub times_as_fast: f64,
    /// The instructions for a byte, where they were counted.
    pub instructions_per_byte: Option<f64>,
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Each reader on each document.
    pub rows: Vec<Row>,
    /// What was left out, and why.
    pub left_out: Vec<&'static str>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.table())?;
        writeln!(
            f,
            "From raw bytes to 64 bits; rows that say `text` stop at canonical text, those that \
             say `parsed only`\nat a value. `x serde_jcs` is how many times as fast; a `text` is \
             compared with that of `serde_jcs`.\nThe hash is rapidhash v3 throughout. `serde_json` \
             has its feature `float_roundtrip`, which a right\ncanonical text needs."
        )?;
        self.left_out.iter().try_for_each(|what| writeln!(f, "left out: {what}"))
    }
}

impl Report {
    fn table(&self) -> Table {
        let header = ["document", "read by", "ns", "MB/s", "x serde_jcs", "instructions/byte"];
        table(header, 2, self.rows.iter().map(Row::cells))
    }
}

impl Row {
    fn cells(&self) -> [String; 6] {
        let instructions = self.instructions_per_byte;
        [
            self.document.name().to_owned(),
            self.reader.name().to_owned(),
            format!("{:.0}", self.ns),
            format!("{:.0}", self.megabytes_per_second),
            format!("{:.1}", self.times_as_fast),
            instructions.map_or_else(String::new, |count| format!("{count:.1}")),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_one_table_and_a_line_for_all_else() {
        let row = |document, reader, ns: f64, instructions_per_byte| Row {
            document,
            reader,
            ns,
            megabytes_per_second: 60_000.0 / ns,
            times_as_fast: 1000.0 / ns,
            instructions_per_byte,
        };
        let report = Report {
            rows: vec![
                row(Document::Args60, Reader::SerdeJcs, 1000.0, Some(160.04)),
                row(Document::Args60, Reader::Fingerprint, 60.5, Some(9.76)),
                row(Document::File, Reader::SerdeJcs, 1000.0, None),
            ],
            left_out: vec!["instructions: valgrind is not installed"],
        };
        insta::assert_snapshot!(report);
    }
}
