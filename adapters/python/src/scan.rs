//! The scan of recorded runs.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyFileNotFoundError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use unstuck_report::{Scanned, plain};
use unstuck_text::Preset;
use unstuck_trace::{Format, UnknownFormat};

use crate::finding::Finding;
use crate::html;
use crate::setup::{policy, preset_of};

/// The size of the read buffer in bytes.
const BUFFER: usize = 256 * 1024;

/// A recorded run and its loops.
#[pyclass(frozen, get_all, module = "unstuck")]
pub(crate) struct Run {
    path: Option<String>,
    error: Option<String>,
    format: Option<&'static str>,
    session: Option<String>,
    calls: usize,
    workers: usize,
    errors: Option<usize>,
    skipped: usize,
    problems: Vec<String>,
    findings: Vec<Py<Finding>>,
}

/// A run that was read while the thread was detached.
struct RunRead {
    path: Option<String>,
    scanned: Result<Scanned, String>,
}

impl Run {
    fn of(py: Python<'_>, RunRead { path, scanned }: RunRead) -> PyResult<Self> {
        Ok(match scanned {
            Ok(Scanned { trace, findings, incomplete }) => Self {
                path,
                error: None,
                format: Some(trace.format.name()),
                session: trace.session,
                calls: trace.calls,
                workers: trace.workers,
                errors: trace.errors,
                skipped: trace.skipped,
                problems: trace
                    .problems
                    .iter()
                    .map(|problem| plain(&problem.to_string()))
                    .chain(incomplete)
                    .collect(),
                findings: findings
                    .into_iter()
                    .map(|found| Py::new(py, Finding::recorded(found)))
                    .collect::<PyResult<_>>()?,
            },
            Err(error) => Self {
                path,
                error: Some(error),
                format: None,
                session: None,
                calls: 0,
                workers: 0,
                errors: None,
                skipped: 0,
                problems: Vec::new(),
                findings: Vec::new(),
            },
        })
    }

    /// Returns one line about the run.
    fn line(&self) -> String {
        let path = self.path.as_deref().unwrap_or("bytes");
        match &self.error {
            Some(error) => format!("{path}: {error}"),
            None => format!("{path}: {}, {} calls", self.verdict(), self.calls),
        }
    }

    fn verdict(&self) -> &'static str {
        if self.stuck() { "stuck" } else { "clean" }
    }
}

#[pymethods]
impl Run {
    /// Whether there is a finding.
    #[getter]
    const fn stuck(&self) -> bool {
        !self.findings.is_empty()
    }

    fn __repr__(&self) -> String {
        format!("<Run {}, {} findings>", self.line(), self.findings.len())
    }

    fn _repr_html_(&self) -> String {
        let findings = self.findings.iter().map(|finding| finding.get().html());
        let head = format!("<p><b>{}</b></p>", html::shown(&self.line()));
        [head].into_iter().chain(findings).collect::<Vec<_>>().join("\n")
    }
}

/// Reads recorded runs and finds their loops, as the program `unstuck scan` does.
#[pyfunction]
#[pyo3(signature = (runs, preset="balanced", *, config=None, tools=None, format="auto"))]
pub(crate) fn scan(
    py: Python<'_>,
    runs: &Bound<'_, PyAny>,
    preset: &str,
    config: Option<&Bound<'_, PyAny>>,
    tools: Option<&Bound<'_, PyAny>>,
    format: &str,
) -> PyResult<Vec<Run>> {
    let preset = preset_of(&policy(preset, config, tools)?)?;
    let format = format_of(format)?;
    if let Ok(bytes) = runs.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        let scanned = py.detach(|| scanned(bytes, format, preset));
        return Ok(vec![Run::of(py, RunRead { path: None, scanned })?]);
    }
    let paths = paths(runs)?;
    let read = py.detach(|| {
        let (files, errors) = unstuck_cli::transcripts(&paths);
        if let Some((path, why)) = errors.into_iter().next() {
            return Err(format!("{path}: {why}"));
        }
        Ok(files.iter().map(|path| read(path, format, preset)).collect::<Vec<_>>())
    });
    let read = read.map_err(PyValueError::new_err)?;
    read.into_iter().map(|run| Run::of(py, run)).collect()
}

/// Returns whether a file of a folder is read as a transcript, by its name.
#[pyfunction]
pub(crate) fn is_transcript(name: &str) -> bool {
    unstuck_cli::is_transcript(Path::new(name))
}

/// Returns the format of this name, or `None` for `auto`.
pub(crate) fn format_of(name: &str) -> PyResult<Option<Format>> {
    match name {
        "auto" => Ok(None),
        name => name
            .parse()
            .map(Some)
            .map_err(|error: UnknownFormat| PyValueError::new_err(error.to_string())),
    }
}

/// Returns the paths of one path or of an iterable of them.
fn paths(runs: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    let one = |path: &Bound<'_, PyAny>| {
        let path: PathBuf = path.extract().map_err(|_| {
            let found =
                path.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string());
            let expected = "expected a path, an iterable of paths, or the bytes of one run";
            PyTypeError::new_err(format!("{expected}, not {found}"))
        })?;
        if path.exists() {
            return Ok(path);
        }
        Err(PyFileNotFoundError::new_err(format!("no such file or folder: {}", path.display())))
    };
    let is_one = runs.is_instance_of::<PyString>() || runs.hasattr("__fspath__")?;
    if is_one || runs.try_iter().is_err() {
        return Ok(vec![one(runs)?]);
    }
    runs.try_iter()?.map(|path| one(&path?)).collect()
}

fn read(path: &Path, format: Option<Format>, preset: &'static Preset) -> RunRead {
    let scanned = File::open(path)
        .map_err(|error| format!("cannot be read: {error}"))
        .and_then(|file| scanned(file, format, preset));
    RunRead { path: Some(path.display().to_string()), scanned }
}

pub(crate) fn scanned(
    input: impl Read,
    format: Option<Format>,
    preset: &'static Preset,
) -> Result<Scanned, String> {
    let input = BufReader::with_capacity(BUFFER, input);
    unstuck_report::scan(input, format, preset).map_err(|problem| plain(&problem.to_string()))
}
