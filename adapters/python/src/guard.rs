//! The guard of one agent.
//!
//! Two threads that wait for each other, one for the lock and one for the interpreter, would never go on.
//! Short text is read at once under the lock. For longer text, the thread first lets go of the interpreter.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use unstuck::{Action, Asked, Kind};

use crate::PolicyError;
use crate::budget::{spent, tell_time, with_budget};
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
    engine: Mutex<unstuck::Guard>,
    setup: Setup,
    /// The function that is asked before a loop is refused.
    on_escalate: Option<Py<PyAny>>,
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
            match self.engine.try_lock() {
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

    /// Asks the function of the host about a decision that escalates. Returns the decision that holds.
    fn heard(
        slf: &Bound<'_, Self>,
        decision: unstuck::Decision,
        result: &str,
    ) -> PyResult<Decision> {
        let asked = slf.get().on_escalate.as_ref().filter(|_| decision.escalates());
        let Some(on_escalate) = asked else { return Ok(Decision(decision)) };
        let heard = slf.py().import("unstuck._escalation")?.getattr("heard")?;
        let answer = heard.call1((slf, on_escalate, Decision(decision), result))?;
        Ok(Decision(answer.cast::<Decision>()?.get().0.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, unstuck::Guard> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of loops about which a function is asked, unless the host says another.
const ESCALATIONS: u8 = 2;

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
    #[pyo3(signature = (preset="balanced", *, config=None, tools=None, budget=None, observe=false, escalate=None, on_escalate=None, session=None, worker=None))]
    #[expect(clippy::too_many_arguments, reason = "Python passes them by their names")]
    fn new(
        preset: &str,
        config: Option<&Bound<'_, PyAny>>,
        tools: Option<&Bound<'_, PyAny>>,
        budget: Option<&Bound<'_, PyAny>>,
        observe: bool,
        escalate: Option<u8>,
        on_escalate: Option<Py<PyAny>>,
        session: Option<&str>,
        worker: Option<&str>,
    ) -> PyResult<Self> {
        let escalate = escalate.unwrap_or(if on_escalate.is_some() { ESCALATIONS } else { 0 });
        let policy = with_budget(policy(preset, config, tools)?, budget)?;
        let setup = Setup { policy, observe, escalate };
        let builder = setup.builder(session.unwrap_or_default(), worker.unwrap_or("main"))?;
        let guard = builder.build().map_err(|why| PolicyError::new_err(why.to_string()))?;
        Ok(Self { engine: Mutex::new(guard), setup, on_escalate })
    }

    /// Returns what makes a copy, and its state, for every protocol of `pickle`.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let (py, guard) = (slf.py(), slf.get());
        let (preset, options) = guard.setup.arguments(py)?;
        let (session, worker) = guard.names(py);
        options.set_item("session", session)?;
        options.set_item("worker", worker)?;
        options.set_item("on_escalate", &guard.on_escalate)?;
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

    /// Shows the collector of garbage the function of the host.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.on_escalate.as_ref().map_or(Ok(()), |asked| visit.call(asked))
    }

    /// Judges a call before it runs.
    #[pyo3(signature = (tool, args, *, id=None, step=None))]
    fn before(
        slf: &Bound<'_, Self>,
        py: Python<'_>,
        tool: &str,
        args: &Bound<'_, PyAny>,
        id: Option<&str>,
        step: Option<u64>,
    ) -> PyResult<Decision> {
        let args = Text::of(args)?;
        let args = args.as_str();
        let decision = slf.get().with(py, args.len(), |guard| {
            let mut asked = Asked::new(tool, args);
            if let Some(id) = id {
                asked = asked.id(id);
            }
            if let Some(step) = step {
                asked = asked.step(step);
            }
            tell_time(guard);
            guard.announce(&asked)
        });
        Self::heard(slf, decision, "")
    }

    /// Reports the result of a call.
    #[pyo3(signature = (call, result, *, error=false))]
    fn after(
        slf: &Bound<'_, Self>,
        py: Python<'_>,
        call: &Bound<'_, PyAny>,
        result: &Bound<'_, PyAny>,
        error: bool,
    ) -> PyResult<Decision> {
        let call = Named::of(call)?;
        let result = Text::of(result)?;
        let result = result.as_str();
        let decision = slf.get().with(py, result.len(), |guard| {
            let ticket = call.open(guard);
            tell_time(guard);
            guard.after(ticket, result, error)
        });
        Self::heard(slf, decision, result)
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
            let decision = if let Some(text) = text {
                guard.user_message(text)
            } else {
                guard.clear();
                // No call is taken back.
                guard.cancelled(None)
            };
            // The time until now was the user's.
            tell_time(guard);
            decision
        })))
    }

    /// Reports a turn of the agent without a call.
    fn text_turn(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<Decision> {
        let text = Text::of(text)?;
        let text = text.as_str();
        Ok(Decision(self.with(py, text.len(), |guard| guard.text_turn(text))))
    }

    /// Reports tokens and dollars that were spent of the budget.
    #[pyo3(signature = (*, tokens=0, dollars=0.0))]
    fn spend(&self, py: Python<'_>, tokens: u64, dollars: f64) -> PyResult<()> {
        let spent = spent(tokens, dollars)?;
        self.with(py, 0, |guard| guard.spend(&spent));
        Ok(())
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

    /// Takes in what somebody says about a decision that has a question. Returns the decision that holds.
    fn answered(
        &self,
        py: Python<'_>,
        decision: &Bound<'_, Decision>,
        answer: Option<&str>,
    ) -> PyResult<Decision> {
        let decision = &decision.get().0;
        let Some(evidence) = decision.evidence() else { return Ok(Decision(decision.clone())) };
        match answer {
            None => Ok(Decision(decision.clone())),
            Some("stop") => Ok(Decision(self.with(py, 0, |guard| guard.stop(evidence)))),
            Some("go on") => Ok(Decision(self.with(py, 0, |guard| {
                guard.silence(evidence.finding.loop_id);
                // No call is taken back.
                guard.cancelled(None)
            }))),
            Some(other) => {
                let why = format!("expected the answer 'go on', 'stop' or None, not {other:?}");
                Err(PyValueError::new_err(why))
            }
        }
    }

    /// Returns those of the ids whose calls only repeat.
    #[expect(clippy::needless_pass_by_value, reason = "it is made of a list of Python")]
    fn repeated(&self, py: Python<'_>, ids: Vec<String>) -> Vec<String> {
        let is_once = |id: &&String| ids.iter().filter(|other| other == id).count() == 1;
        self.with(py, 0, |guard| {
            let repeated = ids.iter().filter(|id| guard.is_repeated(id));
            repeated.filter(is_once).cloned().collect()
        })
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
