//! Findings: the evidence for a decision, and the loops of a recorded run.

use pyo3::prelude::*;
use unstuck::{Action, Evidence, LoopId};
use unstuck_core::Kind;
use unstuck_report::{Excerpt, ReplayFinding, ResultLine, masked, what_recurs};

use crate::html;

/// A loop, and the calls that prove it.
#[pyclass(frozen, module = "unstuck")]
pub(crate) struct Finding {
    of_engine: unstuck::Finding,
    rule: &'static str,
    action: Action,
    #[pyo3(get)]
    tool: String,
    #[pyo3(get)]
    worker: String,
    #[pyo3(get)]
    message: String,
    #[pyo3(get)]
    pub(crate) first: u64,
    #[pyo3(get)]
    at: u64,
    #[pyo3(get)]
    pub(crate) last: u64,
    #[pyo3(get)]
    pub(crate) calls: Vec<u64>,
    /// The kind and the text of the cause.
    cause: Option<(&'static str, String)>,
    proof: Vec<Excerpt>,
    /// The evidence of a guard, for its false positives.
    evidence: Option<Evidence>,
}

impl Finding {
    /// Creates the finding of a guard from its evidence.
    pub(crate) fn live(decision: &unstuck::Decision) -> Option<Self> {
        let evidence = decision.evidence()?;
        let finding = evidence.finding;
        let message = decision.message().map(|message| message.text().to_owned());
        Some(Self {
            of_engine: finding,
            rule: evidence.rule,
            action: evidence.action,
            tool: evidence.tool.to_string(),
            worker: String::new(),
            message: message.unwrap_or_default(),
            first: finding.first,
            at: finding.last,
            last: finding.last,
            calls: finding.calls().collect(),
            cause: evidence.cause.as_ref().map(|it| (it.kind.name(), it.to_string())),
            proof: Vec::new(),
            evidence: Some(evidence.clone()),
        })
    }

    /// Creates a finding of a recorded run.
    pub(crate) fn recorded(found: ReplayFinding) -> Self {
        let (first, at, last) = found.location.numbers();
        Self {
            of_engine: found.finding,
            rule: found.rule,
            action: found.action,
            tool: found.tool,
            worker: found.worker.to_string(),
            message: found.message,
            first: first as u64,
            at: at as u64,
            last: last as u64,
            calls: found.proof.iter().map(|excerpt| excerpt.index as u64).collect(),
            cause: found.cause.map(|it| (it.kind.name(), it.text)),
            proof: found.proof.into_iter().map(without_secrets).collect(),
            evidence: None,
        }
    }

    pub(crate) const fn evidence(&self) -> Option<&Evidence> {
        self.evidence.as_ref()
    }

    pub(crate) const fn loop_id(&self) -> LoopId {
        self.of_engine.loop_id
    }

    /// Returns one line that says what recurs.
    pub(crate) fn description(&self) -> String {
        what_recurs(&self.of_engine, &self.tool)
    }

    /// Returns the finding as HTML: a line, and a table of the calls that prove it.
    pub(crate) fn html(&self) -> String {
        let (what, rule, action) = (self.description(), self.rule, self.action);
        let (at, id) = (self.at, self.of_engine.loop_id);
        let head = format!("{what}: {action} at #{at}, rule {rule}, loop {id}");
        let rows = self.proof.iter().map(|Excerpt { index, tool, text, .. }| {
            [format!("#{index}"), tool.clone().unwrap_or_default(), text.clone()]
        });
        let mut rows: Vec<_> = rows.collect();
        if rows.is_empty() {
            rows.extend(self.calls.iter().map(|call| {
                [
                    format!("#{call}"),
                    if self.period() > 1 { "" } else { &self.tool }.to_owned(),
                    String::new(),
                ]
            }));
        }
        html::table(&head, ["call", "tool", "arguments"], &rows)
    }
}

/// Masks the secrets in an excerpt, which programs may print.
fn without_secrets(excerpt: Excerpt) -> Excerpt {
    let result = excerpt.result.map(|line| {
        let text = masked(&line.text).into_owned();
        ResultLine { text, ..line }
    });
    Excerpt { text: masked(&excerpt.text).into_owned(), result, ..excerpt }
}

#[pymethods]
impl Finding {
    #[getter]
    pub(crate) fn id(&self) -> String {
        self.of_engine.loop_id.to_string()
    }

    #[getter]
    fn cause(&self) -> Option<&str> {
        self.cause.as_ref().map(|(_, text)| text.as_str())
    }

    #[getter]
    fn cause_kind(&self) -> Option<&'static str> {
        self.cause.as_ref().map(|(kind, _)| *kind)
    }

    #[getter]
    pub(crate) const fn rule(&self) -> &'static str {
        self.rule
    }

    #[getter]
    pub(crate) const fn kind(&self) -> &'static str {
        self.of_engine.kind.name()
    }

    #[getter]
    pub(crate) const fn action(&self) -> &'static str {
        self.action.name()
    }

    #[getter]
    const fn period(&self) -> u8 {
        self.of_engine.period
    }

    #[getter]
    const fn laps(&self) -> u16 {
        self.of_engine.laps
    }

    #[getter]
    const fn confidence(&self) -> u8 {
        self.of_engine.confidence
    }

    /// Whether the calls are turns of text.
    #[getter]
    const fn is_text(&self) -> bool {
        matches!(self.of_engine.kind, Kind::Text | Kind::Echo)
    }

    /// The recorded calls that prove the finding: number, tool, and the beginning of the arguments.
    #[getter]
    fn proof(&self) -> Vec<(usize, Option<&str>, &str)> {
        self.proof.iter().map(|one| (one.index, one.tool.as_deref(), &*one.text)).collect()
    }

    fn __str__(&self) -> String {
        self.description()
    }

    fn __repr__(&self) -> String {
        let (what, action, at) = (self.description(), self.action, self.at);
        format!(
            "<Finding {}: {what}; {action} at #{at}, loop {}>",
            self.rule, self.of_engine.loop_id
        )
    }

    fn _repr_html_(&self) -> String {
        self.html()
    }
}
