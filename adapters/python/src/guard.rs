//! The guard of one agent.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use unstuck::Asked;

use crate::PolicyError;
use crate::decision::{Decision, Ticket};
use crate::finding::Finding;
use crate::text::Text;

/// The longest text in bytes that is digested while the thread is attached to the interpreter: a few
/// microseconds. To detach and attach again takes longer than to digest a shorter one.
const ATTACHED_MAX: usize = 4096;

/// Watches the calls of one agent.
#[pyclass(frozen, subclass, module = "unstuck._unstuck")]
pub(crate) struct Guard {
    guard: Mutex<unstuck::Guard>,
}

impl Guard {
    /// Calls `work` with the guard. It detaches from the interpreter if `bytes` of text take long, or if
    /// another thread uses the guard.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        bytes: usize,
        work: impl FnOnce(&mut unstuck::Guard) -> T + Send,
    ) -> T {
        if bytes <= ATTACHED_MAX {
            match self.guard.try_lock() {
                Ok(mut guard) => return work(&mut guard),
                Err(TryLockError::Poisoned(poisoned)) => return work(&mut poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        py.detach(|| work(&mut self.lock()))
    }

    fn lock(&self) -> MutexGuard<'_, unstuck::Guard> {
        self.guard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call by its ticket or by the host's id.
enum Named<'p> {
    Ticket(unstuck::Ticket),
    Id(&'p str),
    /// The call was not watched.
    Unwatched,
}

impl<'p> Named<'p> {
    fn of(call: &'p Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(ticket) = call.cast::<Ticket>() {
            return Ok(Self::Ticket(ticket.get().0));
        }
        if let Ok(id) = call.cast::<PyString>() {
            return Ok(Self::Id(id.to_str()?));
        }
        if call.is_none() {
            return Ok(Self::Unwatched);
        }
        let found = call.get_type().name()?;
        let why = format!("expected the ticket of a decision, the id of a call or None, not {found}");
        Err(PyTypeError::new_err(why))
    }

    /// Returns the ticket, if the call is open.
    fn open(self, guard: &unstuck::Guard) -> Option<unstuck::Ticket> {
        let ticket = match self {
            Self::Ticket(ticket) => ticket,
            Self::Id(id) => guard.ticket(id)?,
            Self::Unwatched => return None,
        };
        guard.open_calls().any(|open| open == ticket).then_some(ticket)
    }
}

#[pymethods]
impl Guard {
    #[new]
    #[pyo3(signature = (preset="balanced", *, observe=false, session=None, worker=None))]
    fn new(
        preset: &str,
        observe: bool,
        session: Option<&str>,
        worker: Option<&str>,
    ) -> PyResult<Self> {
        let refused = |error: unstuck::BuildError| PolicyError::new_err(error.to_string());
        let mut builder = unstuck::Guard::builder().named(preset).map_err(refused)?;
        if observe {
            builder = builder.observe_only();
        }
        if let Some(session) = session {
            builder = builder.session(session);
        }
        if let Some(worker) = worker {
            builder = builder.worker(worker);
        }
        Ok(Self { guard: Mutex::new(builder.build().map_err(refused)?) })
    }

    /// Judges a call before it runs.
    #[pyo3(signature = (tool, args, *, id=None, step=None))]
    fn before(
        &self,
        py: Python<'_>,
        tool: &str,
        args: &Bound<'_, PyAny>,
        id: Option<&str>,
        step: Option<u64>,
    ) -> PyResult<Decision> {
        let args = Text::of(args)?;
        let args = args.as_str();
        let decision = self.with(py, args.len(), |guard| {
            let mut asked = Asked::new(tool, args);
            if let Some(id) = id {
                asked = asked.id(id);
            }
            if let Some(step) = step {
                asked = asked.step(step);
            }
            guard.announce(&asked)
        });
        Ok(Decision(decision))
    }

    /// Reports the result of a call.
    #[pyo3(signature = (call, result, *, error=false))]
    fn after(
        &self,
        py: Python<'_>,
        call: &Bound<'_, PyAny>,
        result: &Bound<'_, PyAny>,
        error: bool,
    ) -> PyResult<Decision> {
        let call = Named::of(call)?;
        let result = Text::of(result)?;
        let result = result.as_str();
        Ok(Decision(self.with(py, result.len(), |guard| {
            let ticket = call.open(guard);
            guard.after(ticket, result, error)
        })))
    }

    /// Reports that somebody else refused the call.
    fn refused(&self, py: Python<'_>, call: &Bound<'_, PyAny>) -> PyResult<Decision> {
        let call = Named::of(call)?;
        Ok(Decision(self.with(py, 0, |guard| {
            let ticket = call.open(guard);
            guard.refused(ticket)
        })))
    }

    /// Takes a call back that never ran or was broken off.
    fn cancelled(&self, py: Python<'_>, call: &Bound<'_, PyAny>) -> PyResult<Decision> {
        let call = Named::of(call)?;
        Ok(Decision(self.with(py, 0, |guard| {
            let ticket = call.open(guard);
            guard.cancelled(ticket)
        })))
    }

    /// Reports a message of the user.
    #[pyo3(signature = (text=None))]
    fn user_message(&self, py: Python<'_>, text: Option<&Bound<'_, PyAny>>) -> PyResult<Decision> {
        let text = text.map(Text::of).transpose()?;
        let text = text.as_ref().map(Text::as_str);
        Ok(Decision(self.with(py, text.map_or(0, str::len), |guard| match text {
            Some(text) => guard.user_message(text),
            None => {
                guard.clear();
                guard.user_message("")
            }
        })))
    }

    /// Reports a turn of the agent without a call.
    fn text_turn(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<Decision> {
        let text = Text::of(text)?;
        let text = text.as_str();
        Ok(Decision(self.with(py, text.len(), |guard| guard.text_turn(text))))
    }

    /// Ends the step, because all calls that were issued together are announced.
    fn end_step(&self, py: Python<'_>) {
        self.with(py, 0, unstuck::Guard::end_step);
    }

    /// Forgets all calls and turns, because a new run begins.
    fn clear(&self, py: Python<'_>) {
        self.with(py, 0, unstuck::Guard::clear);
    }

    /// Reports that a finding was wrong.
    fn false_positive(&self, py: Python<'_>, finding: &Bound<'_, Finding>) {
        let finding = finding.get();
        self.with(py, 0, |guard| match &finding.evidence {
            Some(evidence) => guard.false_positive(evidence),
            None => guard.silence(finding.loop_id()),
        });
    }

    /// The counts of calls, findings and actions.
    #[getter]
    fn statistics(&self, py: Python<'_>) -> Statistics {
        self.with(py, 0, |guard| Statistics {
            calls: guard.statistics().checks(),
            loops: guard.loops(),
            blocked: guard.blocked_calls(),
            false_positives: guard.statistics().false_positives(),
        })
    }

    /// The state as bytes.
    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = self.with(py, 0, |guard| guard.save());
        PyBytes::new(py, &bytes)
    }
}

/// Counts over the life of a guard.
#[pyclass(frozen, get_all, module = "unstuck")]
pub(crate) struct Statistics {
    /// The number of calls that were judged.
    calls: u32,
    /// The number of loops that were found.
    loops: u32,
    /// The number of calls that were blocked.
    blocked: u32,
    /// The number of findings that were reported as wrong.
    false_positives: u32,
}
