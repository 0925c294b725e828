//! The guard of one agent.
//!
//! Two threads that wait for each other, one for the lock and one for the interpreter, would never go on.
//! Short text is read at once under the lock. For longer text, the thread first lets go of the interpreter.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use unstuck::{Action, Asked, Kind};

use crate::PolicyError;
use crate::decision::{Decision, Ticket};
use crate::finding::Finding;
use crate::setup::{Setup, policy};
use crate::text::Text;

/// The longest text in bytes that is digested while the thread is attached to the interpreter: a few
/// microseconds. To detach and attach again takes longer than to digest a shorter one.
const ATTACHED_MAX: usize = 4096;

/// Watches the calls of one agent.
#[pyclass(frozen, subclass, module = "unstuck._unstuck")]
pub(crate) struct Guard {
    guard: Mutex<unstuck::Guard>,
    setup: Setup,
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

    /// Returns the names of the session and of the worker.
    fn names(&self, py: Python<'_>) -> (String, String) {
        self.with(py, 0, |guard| (guard.session().to_owned(), guard.worker().to_owned()))
    }

    fn lock(&self) -> MutexGuard<'_, unstuck::Guard> {
        self.guard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A function that makes a copy, its arguments, and the state of the copy.
type Reduced<'py> = (Bound<'py, PyAny>, (), Bound<'py, PyBytes>);

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
        let why =
            format!("expected the ticket of a decision, the id of a call or None, not {found}");
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
    #[pyo3(signature = (preset="balanced", *, config=None, tools=None, observe=false, session=None, worker=None))]
    fn new(
        preset: &str,
        config: Option<&Bound<'_, PyAny>>,
        tools: Option<&Bound<'_, PyAny>>,
        observe: bool,
        session: Option<&str>,
        worker: Option<&str>,
    ) -> PyResult<Self> {
        let setup = Setup { policy: policy(preset, config, tools)?, observe };
        let builder = setup.builder(session.unwrap_or_default(), worker.unwrap_or("main"))?;
        let guard = builder.build().map_err(|why| PolicyError::new_err(why.to_string()))?;
        Ok(Self { guard: Mutex::new(guard), setup })
    }

    /// Returns what makes a copy, and its state, for every protocol of `pickle`.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let (py, guard) = (slf.py(), slf.get());
        let (preset, options) = guard.setup.arguments(py)?;
        let (session, worker) = guard.names(py);
        options.set_item("session", session)?;
        options.set_item("worker", worker)?;
        let partial = py.import("functools")?.getattr("partial")?;
        let make = partial.call((slf.get_type(), preset), Some(&options))?;
        Ok((make, (), guard.save(py)))
    }

    /// Replaces the state by one that `save` wrote.
    fn __setstate__(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let (session, worker) = self.names(py);
        let restored = self.setup.builder(&session, &worker)?.restore(state);
        let restored = restored.map_err(|why| PyValueError::new_err(why.to_string()))?;
        self.with(py, 0, |guard| *guard = restored);
        Ok(())
    }

    #[getter]
    fn session(&self, py: Python<'_>) -> String {
        self.names(py).0
    }

    #[getter]
    fn worker(&self, py: Python<'_>) -> String {
        self.names(py).1
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
        Ok(Decision(self.with(py, text.map_or(0, str::len), |guard| {
            if let Some(text) = text {
                return guard.user_message(text);
            }
            guard.clear();
            // No call is taken back.
            guard.cancelled(None)
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
        self.with(py, 0, |guard| match finding.evidence() {
            Some(evidence) => guard.false_positive(evidence),
            None => guard.silence(finding.loop_id()),
        });
    }

    /// The counts of calls, findings and actions.
    #[getter]
    fn statistics(&self, py: Python<'_>) -> Statistics {
        self.with(py, 0, |guard| {
            let counts = guard.statistics();
            let count = |kind: Kind| (kind.name(), counts.findings(kind));
            let acted = |action: Action| (action.name(), counts.actions(action));
            Statistics {
                calls: counts.checks(),
                loops: guard.loops(),
                blocked: guard.blocked_calls(),
                false_positives: counts.false_positives(),
                findings: Kind::ALL.map(count).into(),
                actions: Action::ALL.map(acted).into_iter().skip(1).collect(),
            }
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
    calls: u32,
    loops: u32,
    blocked: u32,
    false_positives: u32,
    findings: BTreeMap<&'static str, u32>,
    actions: BTreeMap<&'static str, u32>,
}

#[pymethods]
impl Statistics {
    fn __repr__(&self) -> String {
        let Self { calls, loops, blocked, false_positives, .. } = self;
        format!(
            "<Statistics calls={calls} loops={loops} blocked={blocked} \
             false_positives={false_positives}>"
        )
    }
}
