//! Decisions, and the tickets of calls.

use pyo3::prelude::*;

use crate::finding::Finding;

/// The name of an announced call, for its result. It is valid for the guard that issued it.
#[pyclass(frozen, eq, module = "unstuck")]
#[derive(Clone, PartialEq)]
pub(crate) struct Ticket(pub(crate) unstuck::Ticket);

/// What to do about a call, and why.
#[pyclass(frozen, module = "unstuck")]
pub(crate) struct Decision(pub(crate) unstuck::Decision);

#[pymethods]
impl Decision {
    /// The action to take, as a word.
    #[getter]
    fn action(&self) -> &'static str {
        self.0.action().name()
    }

    /// The action that the guard would take if it did not only observe.
    #[getter]
    fn judged(&self) -> &'static str {
        self.0.judged().name()
    }

    /// Whether the announced call must not run.
    #[getter]
    fn blocked(&self) -> bool {
        self.0.is_blocked()
    }

    /// Whether the run ends here, or starts over.
    #[getter]
    fn ends_run(&self) -> bool {
        self.0.ends_the_run()
    }

    /// The text for the model, if there is any.
    #[getter]
    fn message(&self) -> Option<String> {
        if self.0.is_blocked() {
            return Some(self.0.refusal());
        }
        self.0.message().map(unstuck::Message::note)
    }

    /// The question to someone else, if they are to take the next turn.
    #[getter]
    fn question(&self) -> Option<String> {
        self.0.question()
    }

    /// The evidence, if there is any.
    #[getter]
    fn finding(&self) -> Option<Finding> {
        Finding::live(&self.0)
    }

    /// The name of the call, for `Guard.after`.
    #[getter]
    fn ticket(&self) -> Option<Ticket> {
        self.0.ticket().map(Ticket)
    }

    /// Appends the message to a result, if there is one.
    fn annotate(&self, result: &str) -> String {
        self.0.annotate(result).into_owned()
    }

    #[expect(clippy::unused_self, reason = "Python calls it on a decision")]
    fn __bool__(&self) -> PyResult<bool> {
        let why = "a decision is neither true nor false: use .blocked, .ends_run or .action";
        Err(pyo3::exceptions::PyTypeError::new_err(why))
    }

    fn __repr__(&self) -> String {
        let action = self.0.action().name();
        match self.0.evidence() {
            Some(evidence) => format!("<Decision {action}: {evidence}>"),
            None => format!("<Decision {action}>"),
        }
    }
}
