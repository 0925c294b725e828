//! The scan of runs in the columns of a table, by the `PyCapsule` interface of Arrow.

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
use unstuck_text::Preset;
use unstuck_trace::Format;

use crate::finding::Finding;
use crate::scan::{format_of, scanned};
use crate::setup::{policy, preset_of};

/// The findings in a table, one a row. It is a stream of Arrow.
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
        format!("<Batches {} findings>", self.batch.num_rows())
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
        let mut table = Table::default();
        for batch in &mut reader {
            let batch = batch?;
            let (runs, bodies) = (batch.column(run), batch.column(body));
            for row in 0..batch.num_rows() {
                table.take(bytes(runs, row)?, bytes(bodies, row)?, format, preset);
            }
        }
        table.finish()
    });
    Ok(Batches { batch: batch.map_err(refused)? })
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

/// The columns of the findings.
#[derive(Default)]
struct Table {
    run: StringBuilder,
    rule: StringBuilder,
    kind: StringBuilder,
    action: StringBuilder,
    first: Int64Builder,
    last: Int64Builder,
    calls: ListBuilder<Int64Builder>,
    finding_id: StringBuilder,
    error: StringBuilder,
}

impl Table {
    /// Scans one run and adds its findings. A run that cannot be read is a row with an error.
    fn take(
        &mut self,
        run: Option<&[u8]>,
        body: Option<&[u8]>,
        format: Option<Format>,
        preset: &'static Preset,
    ) {
        let run = run.map(String::from_utf8_lossy);
        match scanned(body.unwrap_or_default(), format, preset) {
            Ok(scanned) => {
                for found in scanned.findings {
                    self.run.append_option(run.as_deref());
                    self.add(&Finding::recorded(found));
                }
                if let Some(why) = scanned.incomplete {
                    self.fail(run.as_deref(), why);
                }
            }
            Err(error) => self.fail(run.as_deref(), error),
        }
    }

    /// Adds a row that says what could not be read.
    fn fail(&mut self, run: Option<&str>, error: String) {
        self.run.append_option(run);
        for column in [&mut self.rule, &mut self.kind, &mut self.action, &mut self.finding_id] {
            column.append_null();
        }
        self.first.append_null();
        self.last.append_null();
        self.calls.append_null();
        self.error.append_value(error);
    }

    fn add(&mut self, finding: &Finding) {
        let number = |call: u64| i64::try_from(call).unwrap_or(i64::MAX);
        self.rule.append_value(finding.rule());
        self.kind.append_value(finding.kind());
        self.action.append_value(finding.action());
        self.first.append_value(number(finding.first));
        self.last.append_value(number(finding.last));
        self.calls.append_value(finding.calls.iter().map(|call| Some(number(*call))));
        self.finding_id.append_value(finding.id());
        self.error.append_null();
    }

    fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let columns: [(&str, ArrayRef); 9] = [
            ("run", Arc::new(self.run.finish())),
            ("rule", Arc::new(self.rule.finish())),
            ("kind", Arc::new(self.kind.finish())),
            ("action", Arc::new(self.action.finish())),
            ("first", Arc::new(self.first.finish())),
            ("last", Arc::new(self.last.finish())),
            ("calls", Arc::new(self.calls.finish())),
            ("finding_id", Arc::new(self.finding_id.finish())),
            ("error", Arc::new(self.error.finish())),
        ];
        let field =
            |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        RecordBatch::try_new(Arc::new(schema), columns.map(|(_, column)| column).into())
    }
}
