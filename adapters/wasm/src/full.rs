//! Policies in TOML, and the scan of recorded runs.

use std::fmt::Display;

use serde::Serialize;
use unstuck_report::{
    Config, Excerpt, PolicyChoice, ReplayFinding, Scanned, config_of_json, masked, plain,
    what_recurs,
};
use unstuck_text::Preset;
use unstuck_trace::Format;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::guard::Guard;

/// The name of the option with a policy.
const OPTION: &str = "policy";

/// The name of the option with a budget.
const BUDGET: &str = "budget";

/// Returns the policy of the options: a preset, a configuration in TOML or JSON, declared tools in JSON, and a budget in
/// JSON.
fn config_of(
    preset: &str,
    config: Option<String>,
    is_json: bool,
    tools: Option<&str>,
    budget: Option<&str>,
) -> Result<&'static Config, String> {
    let config = match config {
        Some(json) if is_json => {
            Some(config_of_json(&json).map_err(|why| format!("{OPTION}: {why}"))?)
        }
        config => config,
    };
    let choice = PolicyChoice::new(OPTION, preset, config.as_deref(), tools)?;
    match budget {
        Some(budget) => choice.with_budget(BUDGET, budget)?.config(BUDGET),
        None => choice.config(OPTION),
    }
}

fn thrown(why: impl Display) -> JsError {
    JsError::new(&why.to_string())
}

#[wasm_bindgen]
impl Guard {
    /// Creates a guard with a policy of its own, or with one of all policies.
    #[expect(clippy::too_many_arguments, reason = "JavaScript passes no structures")]
    pub fn of_policy(
        preset: &str,
        config: Option<String>,
        is_json: bool,
        tools: Option<String>,
        budget: Option<String>,
        observe: bool,
        off: bool,
        escalate: u8,
        session: &str,
        worker: &str,
        state: &[u8],
    ) -> Result<Self, JsError> {
        let (tools, budget) = (tools.as_deref(), budget.as_deref());
        let found = config_of(preset, config, is_json, tools, budget).map_err(thrown)?;
        let (preset, budget) = (found.preset, found.budget);
        Self::made(preset, budget, observe, off, escalate, session, worker, state).map_err(thrown)
    }
}

/// The policy and the format of scans.
#[wasm_bindgen]
pub struct Scan {
    preset: &'static Preset,
    format: Option<Format>,
}

#[wasm_bindgen]
impl Scan {
    /// Reads the options of a scan.
    #[wasm_bindgen(constructor)]
    pub fn new(
        preset: &str,
        config: Option<String>,
        is_json: bool,
        tools: Option<String>,
        format: &str,
    ) -> Result<Self, JsError> {
        let found = config_of(preset, config, is_json, tools.as_deref(), None).map_err(thrown)?;
        let format = match format {
            "auto" => None,
            name => Some(name.parse().map_err(thrown)?),
        };
        Ok(Self { preset: found.preset, format })
    }

    /// Reads a recorded run, and returns it with its loops as JSON.
    pub fn run(&self, bytes: &[u8]) -> Result<String, JsError> {
        let scanned = unstuck_report::scan(bytes, self.format, self.preset)
            .map_err(|problem| thrown(plain(&problem.to_string())))?;
        serde_json::to_string(&Run::of(&scanned)).map_err(thrown)
    }
}

/// A recorded run, as `adapters/js/src/scan.ts` reads it.
#[derive(Serialize)]
struct Run<'s> {
    format: &'static str,
    session: Option<&'s str>,
    calls: usize,
    workers: usize,
    errors: Option<usize>,
    skipped: usize,
    problems: Vec<String>,
    findings: Vec<Finding<'s>>,
}

impl<'s> Run<'s> {
    fn of(Scanned { trace, findings, incomplete }: &'s Scanned) -> Self {
        let problems = trace.problems.iter().map(|problem| plain(&problem.to_string()));
        Self {
            format: trace.format.name(),
            session: trace.session.as_deref(),
            calls: trace.calls,
            workers: trace.workers,
            errors: trace.errors,
            skipped: trace.skipped,
            problems: problems.chain(incomplete.clone()).collect(),
            findings: findings.iter().map(Finding::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct Finding<'s> {
    id: String,
    rule: &'s str,
    kind: &'static str,
    action: &'static str,
    tool: &'s str,
    worker: &'s str,
    message: &'s str,
    period: u8,
    laps: u16,
    confidence: u8,
    first: usize,
    at: usize,
    last: usize,
    calls: Vec<usize>,
    line: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Cause<'s>>,
    proof: Vec<Proof<'s>>,
}

/// The cause of a finding.
#[derive(Serialize)]
struct Cause<'s> {
    kind: &'static str,
    text: &'s str,
}

impl<'s> Finding<'s> {
    fn of(found: &'s ReplayFinding) -> Self {
        let (first, at, last) = found.location.numbers();
        Self {
            id: found.finding.loop_id.to_string(),
            rule: found.rule,
            kind: found.finding.kind.name(),
            action: found.action.name(),
            tool: &found.tool,
            worker: &found.worker,
            message: &found.message,
            period: found.finding.period,
            laps: found.finding.laps,
            confidence: found.finding.confidence,
            first,
            at,
            last,
            calls: found.proof.iter().map(|excerpt| excerpt.index).collect(),
            line: what_recurs(&found.finding, &found.tool),
            cause: found.cause.as_ref().map(|it| Cause { kind: it.kind.name(), text: &it.text }),
            proof: found.proof.iter().map(Proof::of).collect(),
        }
    }
}

/// A call that proves a finding.
#[derive(Serialize)]
struct Proof<'s> {
    call: usize,
    tool: Option<&'s str>,
    text: String,
}

impl<'s> Proof<'s> {
    fn of(Excerpt { index, tool, text, .. }: &'s Excerpt) -> Self {
        Self { call: *index, tool: tool.as_deref(), text: masked(text).into_owned() }
    }
}
