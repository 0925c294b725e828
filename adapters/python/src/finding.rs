//! Findings: the evidence for a decision.

use pyo3::prelude::*;
use unstuck::Evidence;

/// The evidence for a decision.
#[pyclass(frozen, module = "unstuck")]
pub(crate) struct Finding {
    finding: unstuck::Finding,
    /// The evidence of a guard, which it takes back as a false positive.
    pub(crate) evidence: Option<Evidence>,
    rule: &'static str,
    tool: String,
    action: unstuck::Action,
}

impl Finding {
    /// The finding of a guard.
    pub(crate) fn live(evidence: &Evidence) -> Self {
        Self {
            finding: evidence.finding,
            evidence: Some(evidence.clone()),
            rule: evidence.rule,
            tool: evidence.tool.to_string(),
            action: evidence.action,
        }
    }

    pub(crate) fn loop_id(&self) -> unstuck::LoopId {
        self.finding.loop_id
    }
}

#[pymethods]
impl Finding {
    /// The id of the loop: 16 hexadecimal digits, the same in every run with the same calls.
    #[getter]
    fn id(&self) -> String {
        self.finding.loop_id.to_string()
    }

    /// The name of the rule.
    #[getter]
    fn rule(&self) -> &'static str {
        self.rule
    }

    /// The way in which the calls recur.
    #[getter]
    fn kind(&self) -> &'static str {
        self.finding.kind.name()
    }

    /// The action that the rule asks for.
    #[getter]
    fn action(&self) -> &'static str {
        self.action.name()
    }

    /// The tool of the last call; empty for text.
    #[getter]
    fn tool(&self) -> &str {
        &self.tool
    }

    /// The number of calls in a lap.
    #[getter]
    fn period(&self) -> u8 {
        self.finding.period
    }

    /// The number of repetitions.
    #[getter]
    fn laps(&self) -> u16 {
        self.finding.laps
    }

    /// The confidence in percent.
    #[getter]
    fn confidence(&self) -> u8 {
        self.finding.confidence
    }

    /// The numbers of the calls that prove the loop, counted from 0.
    #[getter]
    fn calls(&self) -> Vec<u64> {
        self.finding.calls().collect()
    }

    fn __repr__(&self) -> String {
        let (rule, kind, id) = (self.rule, self.kind(), self.id());
        format!("<Finding {rule}: {kind} of {} at {:?}, loop {id}>", self.laps(), self.tool)
    }
}
