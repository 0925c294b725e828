//! The output of `scan` as a Parquet file: one row for each finding, and one for each run without any.
//!
//! Parquet's own columns are written without Arrow, which the program needs for nothing else. The file is not
//! compressed: its texts repeat, so dictionaries make it small, and every reader can read it.

use std::io::{self, Write};
use std::mem::take;
use std::sync::Arc;

use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use crate::baseline::Tally;
use crate::failure::Failure;
use crate::parts::{FullReport, Needs};
use crate::rows::{FindingRow, RunRow};
use crate::writer::Writer;

/// The columns, in the order in which [`cells`] returns them. They are also the columns of `scan_batches`
/// in the package for Python.
const SCHEMA: &str = "message findings {
    required binary run (STRING);
    required binary status (STRING);
    optional binary format (STRING);
    optional int64 run_calls;
    optional binary rule (STRING);
    optional binary kind (STRING);
    optional binary action (STRING);
    optional binary tool (STRING);
    optional binary worker (STRING);
    optional int64 first;
    optional int64 last;
    optional group calls (LIST) { repeated group list { optional int64 element; } }
    optional binary finding_id (STRING);
    optional int64 tokens_after;
    optional binary error (STRING);
}";

/// The number of columns.
const COLUMNS: usize = 15;

/// The rows of a row group, which are in memory until it is written.
const ROWS_MAX: usize = 64 * 1024;

/// The writer of one file.
#[derive(Default)]
pub struct Parquet {
    /// The rows that are not written yet.
    waiting: [Column; COLUMNS],
    rows: usize,
    /// The file. Its bytes go on to the output after each row group.
    file: Option<SerializedFileWriter<Vec<u8>>>,
}

impl Parquet {
    /// Adds a row, which waits for its row group.
    fn add(&mut self, path: &str, run: &RunRow, found: Option<&FindingRow>) {
        for (column, cell) in self.waiting.iter_mut().zip(cells(path, run, found)) {
            column.push(cell);
        }
        self.rows += 1;
    }

    /// Writes the row group if it is full.
    fn write_if_full(&mut self, output: &mut dyn Write) -> io::Result<()> {
        if self.rows < ROWS_MAX {
            return Ok(());
        }
        output.write_all(&self.group().map_err(|error| unwritten(&error))?)
    }

    /// Writes the waiting rows as a row group. Returns the bytes for the output.
    fn group(&mut self) -> Result<Vec<u8>> {
        let mut file = self.opened()?;
        let mut group = file.next_row_group()?;
        for column in take(&mut self.waiting) {
            // The schema has as many columns as a row has cells.
            if let Some(writer) = group.next_column()? {
                column.write(writer)?;
            }
        }
        group.close()?;
        file.flush()?;
        let bytes = take(file.inner_mut());
        (self.file, self.rows) = (Some(file), 0);
        Ok(bytes)
    }

    /// Returns the last bytes of the file.
    fn end(&mut self) -> Result<Vec<u8>> {
        let mut bytes = if self.rows == 0 { Vec::new() } else { self.group()? };
        bytes.extend(self.opened()?.into_inner()?);
        Ok(bytes)
    }

    /// Returns the file, which is created for the first row group.
    fn opened(&mut self) -> Result<SerializedFileWriter<Vec<u8>>> {
        if let Some(file) = self.file.take() {
            return Ok(file);
        }
        let by = concat!("unstuck version ", env!("CARGO_PKG_VERSION"));
        let properties = WriterProperties::builder().set_created_by(by.to_owned()).build();
        let schema = parse_message_type(SCHEMA)?;
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))
    }
}

fn unwritten(error: &ParquetError) -> io::Error {
    Failure::error("--format parquet", format!("the table cannot be written: {error}"))
}

impl Writer for Parquet {
    fn needs(&self) -> Needs {
        Needs { rows: true, ..Needs::default() }
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        let FullReport { report, parts } = report;
        let mut run = RunRow::of(report);
        let mut is_first = true;
        if let Some(rows) = &mut parts.rows {
            rows.each(&report.path, &mut |row| {
                let row = serde_json::from_str(row).map_err(|error| {
                    Failure::error(&report.path, format!("a finding cannot be read back: {error}"))
                })?;
                self.add(&report.path, &run, Some(&row));
                if take(&mut is_first) {
                    run = run.again();
                }
                self.write_if_full(output)
            })?;
        }
        if is_first {
            self.add(&report.path, &run, None);
        }
        self.write_if_full(output)
    }

    fn unread(&mut self, path: &str, why: &str) {
        // The next report writes them, if they are many.
        self.add(path, &RunRow::unread(why), None);
    }

    fn finish(&mut self, _tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(&self.end().map_err(|error| unwritten(&error))?)
    }
}

/// A value of a row, or null.
#[derive(Clone, Copy)]
enum Cell<'c> {
    Text(Option<&'c str>),
    Number(Option<u64>),
    Numbers(Option<&'c [u64]>),
}

/// Returns the cells of a row.
fn cells<'c>(path: &'c str, run: &'c RunRow, found: Option<&'c FindingRow>) -> [Cell<'c>; COLUMNS] {
    let text = |of: fn(&FindingRow) -> &str| Cell::Text(found.map(of));
    [
        Cell::Text(Some(path)),
        Cell::Text(Some(run.status)),
        Cell::Text(run.format),
        Cell::Number(run.run_calls),
        text(|one| &one.rule),
        text(|one| &one.kind),
        text(|one| &one.action),
        Cell::Text(found.and_then(|one| one.tool.as_deref())),
        text(|one| &one.worker),
        Cell::Number(found.map(|one| one.first)),
        Cell::Number(found.map(|one| one.last)),
        Cell::Numbers(found.map(|one| &*one.calls)),
        text(|one| &one.finding_id),
        Cell::Number(run.tokens_after),
        Cell::Text(run.error.as_deref()),
    ]
}

/// The waiting cells of a column, which are of one kind.
#[derive(Default)]
struct Column {
    texts: Vec<ByteArray>,
    numbers: Vec<i64>,
    /// 0 for null, 1 for a value or an empty list, 3 for a number of a list. The schema allows 2, a null in a list.
    defined: Vec<i16>,
    /// 1 for each number after the first one of its list.
    repeated: Vec<i16>,
}

impl Column {
    fn push(&mut self, cell: Cell<'_>) {
        match cell {
            Cell::Text(text) => {
                self.texts.extend(text.map(ByteArray::from));
                self.defined.push(text.is_some().into());
            }
            Cell::Number(value) => {
                self.numbers.extend(value.map(number));
                self.defined.push(value.is_some().into());
            }
            Cell::Numbers(Some(list @ [_, ..])) => {
                self.numbers.extend(list.iter().copied().map(number));
                self.defined.extend(list.iter().map(|_| 3));
                self.repeated.extend((0..list.len()).map(|place| i16::from(place > 0)));
            }
            Cell::Numbers(list) => {
                self.defined.push(list.is_some().into());
                self.repeated.push(0);
            }
        }
    }

    fn write(self, mut writer: SerializedColumnWriter<'_>) -> Result<()> {
        let defined = Some(&*self.defined);
        let repeated = Some(&*self.repeated).filter(|levels| !levels.is_empty());
        match writer.untyped() {
            ColumnWriter::ByteArrayColumnWriter(it) => {
                it.write_batch(&self.texts, defined, None)?
            }
            ColumnWriter::Int64ColumnWriter(it) => {
                it.write_batch(&self.numbers, defined, repeated)?
            }
            _ => return Err(ParquetError::General("a column of another type".to_owned())),
        };
        writer.close()
    }
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::RowAccessor as _;

    use super::*;

    fn found(calls: Vec<u64>) -> FindingRow {
        FindingRow {
            rule: "same-effect".to_owned(),
            kind: "streak".to_owned(),
            action: "nudge".to_owned(),
            tool: None,
            worker: "main".to_owned(),
            first: 0,
            last: u64::MAX,
            calls,
            finding_id: "9f0c5e8b2a7d4411".to_owned(),
        }
    }

    #[test]
    fn many_rows_are_several_row_groups_in_their_order() {
        let mut file = tempfile::tempfile().expect("a file");
        let mut parquet = Parquet::default();
        let count = ROWS_MAX + 10;
        for n in 0..count {
            let calls = (0..n as u64 % 4).collect();
            let run = RunRow { status: "stuck", ..RunRow::default() };
            let found = (n % 5 > 0).then(|| found(calls));
            parquet.add(&n.to_string(), &run, found.as_ref());
            parquet.write_if_full(&mut file).expect("a row group");
        }
        parquet.unread("gone", "no such file");
        parquet.finish(&Tally::default(), &mut file).expect("an end");
        let file = SerializedFileReader::new(file).expect("a table");
        assert_eq!(file.num_row_groups(), 2);
        let rows: Vec<_> = file.into_iter().map(|row| row.expect("a row")).collect();
        assert_eq!(rows.len(), count + 1);
        for (n, row) in rows[..count].iter().enumerate() {
            assert_eq!(row.get_string(0).expect("a run"), &n.to_string());
            assert_eq!(row.get_string(1).expect("a status"), "stuck");
            let calls = row.get_list(11).map(|list| list.elements().len());
            assert_eq!(calls.ok(), (n % 5 > 0).then_some(n % 4), "{n}");
            assert_eq!(row.get_long(10).ok(), (n % 5 > 0).then_some(i64::MAX), "{n}");
        }
        let last = &rows[count];
        assert_eq!(last.get_string(0).expect("a run"), "gone");
        assert_eq!(last.get_string(14).expect("an error"), "no such file");
    }
}
