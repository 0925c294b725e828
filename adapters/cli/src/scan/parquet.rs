//! The output of `scan` as a Parquet file: one row for each finding, and one for each run without any.
//!
//! Parquet's own columns are written without Arrow, which the program needs for nothing else. The file is not
//! compressed: its texts repeat, so dictionaries make it small, and every reader can read it.

use std::mem::take;
use std::sync::Arc;

use parquet::basic::Repetition;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use unstuck_report::rows::{FindingRow, RunRow};

use crate::exit::Exit;
use crate::output::{Closed, Output, complain};
use crate::scan::judge::{FullReport, Tally};
use crate::scan::writer::Writer;

/// The columns, in the order in which [`Columns::write`] writes them. They are also the columns of `scan_batches`
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

/// The rows of a row group, which are in memory until it is written.
const ROWS_MAX: usize = 64 * 1024;

/// The writer of one file.
#[derive(Default)]
pub(super) struct Parquet {
    /// The rows that are not written yet.
    waiting: Columns,
    /// The file. Its bytes go on to the output after each row group.
    file: Option<SerializedFileWriter<Vec<u8>>>,
}

impl Parquet {
    /// Adds a row. Writes the row group if it is full.
    fn add(
        &mut self,
        path: &str,
        run: RunRow,
        found: Option<&FindingRow>,
        output: &mut Output,
    ) -> std::result::Result<(), Closed> {
        self.waiting.add(path, run, found);
        if self.waiting.run.defined.len() < ROWS_MAX {
            return Ok(());
        }
        let written = self.flush();
        Self::pass_on(written, output)
    }

    /// Writes the waiting rows as a row group. Returns the bytes for the output.
    fn flush(&mut self) -> Result<Vec<u8>> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => created()?,
        };
        let mut group = file.next_row_group()?;
        take(&mut self.waiting).write(&mut group)?;
        group.close()?;
        file.flush()?;
        let bytes = take(file.inner_mut());
        self.file = Some(file);
        Ok(bytes)
    }

    /// Returns the last bytes of the file.
    fn end(&mut self) -> Result<Vec<u8>> {
        let mut bytes =
            if self.waiting.run.defined.is_empty() { Vec::new() } else { self.flush()? };
        let file = match self.file.take() {
            Some(file) => file,
            None => created()?,
        };
        bytes.extend(file.into_inner()?);
        Ok(bytes)
    }

    fn pass_on(bytes: Result<Vec<u8>>, output: &mut Output) -> std::result::Result<(), Closed> {
        match bytes {
            Ok(bytes) => output.write_bytes(&bytes),
            Err(error) => {
                complain("--format parquet", &format!("the table cannot be written: {error}"));
                Err(Closed::ByError)
            }
        }
    }
}

/// Creates an empty file.
fn created() -> Result<SerializedFileWriter<Vec<u8>>> {
    let by = concat!("unstuck version ", env!("CARGO_PKG_VERSION"));
    let properties = WriterProperties::builder().set_created_by(by.to_owned()).build();
    SerializedFileWriter::new(
        Vec::new(),
        Arc::new(parse_message_type(SCHEMA)?),
        Arc::new(properties),
    )
}

impl Writer for Parquet {
    fn report(
        &mut self,
        report: &mut FullReport,
        output: &mut Output,
    ) -> std::result::Result<(), Closed> {
        let FullReport { report, parts } = report;
        let mut run = RunRow::of(report);
        let mut is_first = true;
        if let Some(rows) = &mut parts.rows {
            let written = rows.each(&mut |row| {
                let row = serde_json::from_str(row).map_err(|error| {
                    complain(&report.path, &format!("a finding cannot be read back: {error}"));
                    Closed::ByError
                })?;
                let next = run.again();
                is_first = false;
                self.add(&report.path, std::mem::replace(&mut run, next), Some(&row), output)
            });
            written.unwrap_or_else(|error| {
                let what =
                    format!("its findings cannot be read back from the temporary file: {error}");
                complain(&report.path, &what);
                Err(Closed::ByError)
            })?;
        }
        if is_first {
            self.add(&report.path, run, None, output)?;
        }
        Ok(())
    }

    fn unread(&mut self, path: &str, why: &str) {
        // The next report writes them, if they are many.
        self.waiting.add(path, RunRow::unread(why), None);
    }

    fn finish(&mut self, _tally: &Tally, output: &mut Output) -> std::result::Result<Exit, Closed> {
        let written = self.end();
        Self::pass_on(written, output)?;
        Ok(Exit::Clean)
    }
}

/// The columns of the rows that wait.
#[derive(Default)]
struct Columns {
    run: Column<ByteArray>,
    status: Column<ByteArray>,
    format: Column<ByteArray>,
    run_calls: Column<i64>,
    rule: Column<ByteArray>,
    kind: Column<ByteArray>,
    action: Column<ByteArray>,
    tool: Column<ByteArray>,
    worker: Column<ByteArray>,
    first: Column<i64>,
    last: Column<i64>,
    calls: List,
    finding_id: Column<ByteArray>,
    tokens_after: Column<i64>,
    error: Column<ByteArray>,
}

impl Columns {
    fn add(&mut self, path: &str, run: RunRow, found: Option<&FindingRow>) {
        self.run.push(Some(path.into()));
        self.status.push(Some(run.status.into()));
        self.format.push(run.format.map(ByteArray::from));
        self.run_calls.push(run.run_calls.map(number));
        self.tokens_after.push(run.tokens_after.map(number));
        self.error.push(run.error.map(text));
        self.rule.push(found.map(|one| one.rule.as_str().into()));
        self.kind.push(found.map(|one| one.kind.as_str().into()));
        self.action.push(found.map(|one| one.action.as_str().into()));
        self.tool.push(found.and_then(|one| one.tool.as_deref()).map(ByteArray::from));
        self.worker.push(found.map(|one| one.worker.as_str().into()));
        self.first.push(found.map(|one| number(one.first)));
        self.last.push(found.map(|one| number(one.last)));
        self.calls.push(found.map(|one| &*one.calls));
        self.finding_id.push(found.map(|one| one.finding_id.as_str().into()));
    }

    /// Writes the columns in the order of [`SCHEMA`].
    fn write(self, group: &mut SerializedRowGroupWriter<'_, Vec<u8>>) -> Result<()> {
        self.run.write::<ByteArrayType>(group, Repetition::REQUIRED)?;
        self.status.write::<ByteArrayType>(group, Repetition::REQUIRED)?;
        self.format.write::<ByteArrayType>(group, Repetition::OPTIONAL)?;
        self.run_calls.write::<Int64Type>(group, Repetition::OPTIONAL)?;
        for column in [self.rule, self.kind, self.action, self.tool, self.worker] {
            column.write::<ByteArrayType>(group, Repetition::OPTIONAL)?;
        }
        self.first.write::<Int64Type>(group, Repetition::OPTIONAL)?;
        self.last.write::<Int64Type>(group, Repetition::OPTIONAL)?;
        self.calls.write(group)?;
        self.finding_id.write::<ByteArrayType>(group, Repetition::OPTIONAL)?;
        self.tokens_after.write::<Int64Type>(group, Repetition::OPTIONAL)?;
        self.error.write::<ByteArrayType>(group, Repetition::OPTIONAL)
    }
}

/// A column of values that may be null.
#[derive(Default)]
struct Column<T> {
    values: Vec<T>,
    /// 1 for each row with a value, 0 for null.
    defined: Vec<i16>,
}

impl<T> Column<T> {
    fn push(&mut self, value: Option<T>) {
        self.defined.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn write<D: DataType<T = T>>(
        self,
        group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
        repetition: Repetition,
    ) -> Result<()> {
        let defined = (repetition == Repetition::OPTIONAL).then_some(&*self.defined);
        write::<D>(group, &self.values, defined, None)
    }
}

/// A column of lists of numbers that may be null.
#[derive(Default)]
struct List {
    values: Vec<i64>,
    /// 0 for null, 1 for an empty list, 3 for a number. The schema allows 2, a null in a list.
    defined: Vec<i16>,
    /// 1 for each number after the first one of its list.
    repeated: Vec<i16>,
}

impl List {
    fn push(&mut self, calls: Option<&[u64]>) {
        let numbers = calls.unwrap_or_default();
        if numbers.is_empty() {
            self.defined.push(i16::from(calls.is_some()));
            self.repeated.push(0);
        }
        for (place, call) in numbers.iter().enumerate() {
            self.values.push(number(*call));
            self.defined.push(3);
            self.repeated.push(i16::from(place > 0));
        }
    }

    fn write(self, group: &mut SerializedRowGroupWriter<'_, Vec<u8>>) -> Result<()> {
        write::<Int64Type>(group, &self.values, Some(&self.defined), Some(&self.repeated))
    }
}

/// Writes the next column of `group`.
fn write<D: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[D::T],
    defined: Option<&[i16]>,
    repeated: Option<&[i16]>,
) -> Result<()> {
    // The schema has as many columns as `Columns::write` writes.
    if let Some(mut column) = group.next_column()? {
        column.typed::<D>().write_batch(values, defined, repeated)?;
        column.close()?;
    }
    Ok(())
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn text(text: String) -> ByteArray {
    text.into_bytes().into()
}

#[cfg(test)]
mod tests {
    use std::fs::File;

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
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("table.parquet");
        let mut output = Output::replacing(&path).expect("an output");
        let mut parquet = Parquet::default();
        let count = ROWS_MAX + 10;
        for n in 0..count {
            let calls = (0..n as u64 % 4).collect();
            let run = RunRow { status: "stuck", ..RunRow::default() };
            let found = (n % 5 > 0).then(|| found(calls));
            parquet.add(&n.to_string(), run, found.as_ref(), &mut output).expect("a row");
        }
        parquet.unread("gone", "no such file");
        assert!(!path.exists(), "a file that is not complete");
        parquet.finish(&Tally::default(), &mut output).expect("an end");
        output.commit().expect("a file");
        let file = SerializedFileReader::new(File::open(&path).expect("a file")).expect("a table");
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
