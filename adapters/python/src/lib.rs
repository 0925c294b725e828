//! The engine for Python, as the module `unstuck._unstuck`. The package `unstuck` in `python/` is what
//! users import.
//!
//! A value of Python becomes text while the thread is attached to the interpreter. Long text is digested
//! while it is detached, so that other threads run meanwhile. No lock is held while a thread waits for the
//! interpreter.

mod batches;
mod budget;
mod decision;
mod digest;
mod finding;
mod guard;
mod html;
mod scan;
mod setup;
mod text;

use pyo3::prelude::*;

pyo3::create_exception!(
    unstuck,
    PolicyError,
    pyo3::exceptions::PyValueError,
    "The setup of a guard or a scan is wrong, for example an unknown preset."
);

#[pymodule(gil_used = false)]
mod _unstuck {
    #[pymodule_export]
    use super::PolicyError;
    #[pymodule_export]
    use crate::batches::{Batches, scan_batches};
    #[pymodule_export]
    use crate::decision::{Decision, Ticket};
    #[pymodule_export]
    use crate::digest::{fingerprint, normalize};
    #[pymodule_export]
    use crate::finding::Finding;
    #[pymodule_export]
    use crate::guard::{Guard, Statistics};
    #[pymodule_export]
    use crate::scan::{Run, is_transcript, scan};
    #[pymodule_export]
    use crate::setup::presets;
}
