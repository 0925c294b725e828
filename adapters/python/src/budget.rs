//! The budget of a guard: the time, which the guard does not know, and what the host reports.

use std::time::SystemTime;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use unstuck::Spent;
use unstuck_report::PolicyChoice;

use crate::PolicyError;
use crate::text::Text;

/// The name of the option with a budget.
const OPTION: &str = "budget";

/// Adds the argument `budget` to a policy.
pub(crate) fn with_budget(
    policy: PolicyChoice,
    budget: Option<&Bound<'_, PyAny>>,
) -> PyResult<PolicyChoice> {
    let Some(budget) = budget else { return Ok(policy) };
    if budget.cast::<PyMapping>().is_err() {
        let found = budget.get_type().name()?;
        return Err(PyTypeError::new_err(format!("budget: expected a dict, not {found}")));
    }
    policy.with_budget(OPTION, Text::of(budget)?.as_str()).map_err(PolicyError::new_err)
}

/// Tells a guard with a budget the time.
pub(crate) fn tell_time(guard: &mut unstuck::Guard) {
    if guard.account().is_some() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        guard.tell_time(now.unwrap_or_default());
    }
}

/// Returns what a host reports.
pub(crate) fn spent(tokens: u64, dollars: f64) -> PyResult<Spent> {
    if dollars.is_finite() && dollars >= 0.0 {
        return Ok(Spent { tokens, dollars, ..Spent::default() });
    }
    Err(PyValueError::new_err("dollars: expected a number from 0"))
}
