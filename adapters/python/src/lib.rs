//! The engine for Python, as the module `unstuck._unstuck`. The package `unstuck` beside it is what users
//! import.
//!
//! A value of Python becomes text while the thread is attached to the interpreter. Long text is digested
//! while it is detached, so that other threads run meanwhile. No lock is held while a thread waits for the
//! interpreter.

mod decision;
mod finding;
mod guard;
mod text;

use pyo3::prelude::*;

pyo3::create_exception!(
    _unstuck,
    PolicyError,
    pyo3::exceptions::PyValueError,
    "The setup of a guard is wrong: an unknown preset, or rules that cannot go together."
);

#[pymodule(gil_used = false)]
mod _unstuck {
    #[pymodule_export]
    use super::PolicyError;
    #[pymodule_export]
    use crate::decision::{Decision, Ticket};
    #[pymodule_export]
    use crate::finding::Finding;
    #[pymodule_export]
    use crate::guard::{Guard, Statistics};
}
