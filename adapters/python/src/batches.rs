//! The scan of runs in the columns of a table, by the `PyCapsule` interface of Arrow.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader as _};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use unstuck_report::{FindingRow, Rows, RunRow};

use crate::scan::format_of;
use crate::setup::{policy, preset_of};

/// The table of findings. It is a stream of Arrow.
#[pyclass(frozen, module = "unstuck")]
pub(crate) struct Batches {
    batch: RecordBatch,
}

#[pymethods]
impl Batches {
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The columns have no other types to offer, and the interface allows to ignore the request.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<Batches {} rows>", self.batch.num_rows())
    }
}

/// Finds the loops in recorded runs that are the rows of a table.
#[pyfunction]
#[pyo3(signature = (runs, preset="balanced", *, config=None, tools=None, format="auto"))]
pub(crate) fn scan_batches(
    py: Python<'_>,
    runs: &Bound<'_, PyAny>,
    preset: &str,
    config: Option<&Bound<'_, PyAny>>,
    tools: Option<&Bound<'_, PyAny>>,
    format: &str,
) -> PyResult<Batches> {
    let preset = preset_of(&policy(preset, config, tools)?)?;
    let format = format_of(format)?;
    let mut reader = reader(runs)?;
    let refused = |error: ArrowError| PyValueError::new_err(error.to_string());
    let batch = py.detach(|| {
        let schema = reader.schema();
        let (run, body) = (column(&schema, "run")?, column(&schema, "body")?);
        let error = schema.index_of("error").ok();
        let mut table = Table::default();
        for batch in &mut reader {
            let batch = batch?;
            let (runs, bodies) = (batch.column(run), batch.column(body));
            for row in 0..batch.num_rows() {
                let run = bytes(runs, row)?.map(String::from_utf8_lossy);
                let body = bytes(bodies, row)?;
                let rows = match (body, error) {
                    (Some(body), _) => Rows::read(body, format, preset),
                    (None, Some(error)) => Rows::unread(&reason(batch.column(error), row)?),
                    (None, None) => Rows::unread(NO_BODY),
                };
                table.take(run.as_deref(), rows);
            }
        }
        table.finish()
    });
    Ok(Batches { batch: batch.map_err(refused)? })
}

/// The reason why a run without a body could not be read, if the table has none.
const NO_BODY: &str = "its body is null";

/// Returns the reason in a table why a run could not be read.
fn reason(column: &ArrayRef, row: usize) -> Result<Cow<'_, str>, ArrowError> {
    Ok(bytes(column, row)?.map_or(Cow::Borrowed(NO_BODY), String::from_utf8_lossy))
}

/// Takes the stream of a table.
#[expect(unsafe_code, reason = "the stream is a struct of C in a capsule")]
fn reader(table: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let py = table.py();
    let Some(method) = table.getattr_opt(intern!(py, "__arrow_c_stream__"))? else {
        let found = table.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "expected a table of Arrow, Polars, DuckDB or the like with the columns `run` and `body`, \
             not {found}"
        )));
    };
    let capsule = method.call0()?;
    let stream = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a valid stream, and `capsule` keeps it alive. The reader moves
    // it out and leaves a released one behind.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr().cast()) };
    reader.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the place of a column.
fn column(schema: &SchemaRef, name: &str) -> Result<usize, ArrowError> {
    schema.index_of(name).map_err(|_| {
        let found: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let found = found.join(", ");
        ArrowError::SchemaError(format!("there is no column `{name}`; there are: {found}"))
    })
}

/// Returns a text or bytes, or `None` for null.
fn bytes(column: &ArrayRef, row: usize) -> Result<Option<&[u8]>, ArrowError> {
    if column.is_null(row) {
        return Ok(None);
    }
    Ok(Some(match column.data_type() {
        // A column of nothing but nulls, which has no list of them.
        DataType::Null => return Ok(None),
        DataType::Utf8 => column.as_string::<i32>().value(row).as_bytes(),
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).as_bytes(),
        DataType::Utf8View => column.as_string_view().value(row).as_bytes(),
        DataType::Binary => column.as_binary::<i32>().value(row),
        DataType::LargeBinary => column.as_binary::<i64>().value(row),
        DataType::BinaryView => column.as_binary_view().value(row),
        found => {
            let what = format!("expected columns of strings or binaries, not of {found}");
            return Err(ArrowError::SchemaError(what));
        }
    }))
}

/// The columns, the same as in `unstuck scan --format parquet`.
#[derive(Default)]
struct Table {
    run: StringBuilder,
    status: StringBuilder,
    format: StringBuilder,
    run_calls: Int64Builder,
    rule: StringBuilder,
    kind: StringBuilder,
    action: StringBuilder,
    tool: StringBuilder,
    worker: StringBuilder,
    first: Int64Builder,
    last: Int64Builder,
    calls: ListBuilder<Int64Builder>,
    finding_id: StringBuilder,
    tokens_after: Int64Builder,
    error: StringBuilder,
}

impl Table {
    /// Adds the rows of a run.
    fn take(&mut self, name: Option<&str>, Rows { mut run, findings }: Rows) {
        if findings.is_empty() {
            self.add(name, &run, None);
        }
        for found in &findings {
            self.add(name, &run, Some(found));
            run = run.again();
        }
    }

    fn add(&mut self, name: Option<&str>, run: &RunRow, found: Option<&FindingRow>) {
        self.run.append_option(name);
        self.status.append_value(run.status);
        self.format.append_option(run.format);
        self.run_calls.append_option(run.run_calls.map(number));
        self.tokens_after.append_option(run.tokens_after.map(number));
        self.error.append_option(run.error.as_deref());
        self.rule.append_option(found.map(|one| &one.rule));
        self.kind.append_option(found.map(|one| &one.kind));
        self.action.append_option(found.map(|one| &one.action));
        self.tool.append_option(found.and_then(|one| one.tool.as_ref()));
        self.worker.append_option(found.map(|one| &one.worker));
        self.first.append_option(found.map(|one| number(one.first)));
        self.last.append_option(found.map(|one| number(one.last)));
        self.calls.append_option(found.map(|one| one.calls.iter().map(|call| Some(number(*call)))));
        self.finding_id.append_option(found.map(|one| &one.finding_id));
    }

    fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let columns: [(&str, ArrayRef); 15] = [
            ("run", Arc::new(self.run.finish())),
            ("status", Arc::new(self.status.finish())),
            ("format", Arc::new(self.format.finish())),
            ("run_calls", Arc::new(self.run_calls.finish())),
            ("rule", Arc::new(self.rule.finish())),
            ("kind", Arc::new(self.kind.finish())),
            ("action", Arc::new(self.action.finish())),
            ("tool", Arc::new(self.tool.finish())),
            ("worker", Arc::new(self.worker.finish())),
            ("first", Arc::new(self.first.finish())),
            ("last", Arc::new(self.last.finish())),
            ("calls", Arc::new(self.calls.finish())),
            ("finding_id", Arc::new(self.finding_id.finish())),
            ("tokens_after", Arc::new(self.tokens_after.finish())),
            ("error", Arc::new(self.error.finish())),
        ];
        let field =
            |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        RecordBatch::try_new(Arc::new(schema), columns.map(|(_, column)| column).into())
    }
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
