//! Events for `tracing` and counters for `metrics`. Neither contains arguments or results.

use std::sync::Arc;
use std::time::Instant;

use unstuck_core::Kind;

use crate::decision::Decision;

/// The names of a guard's session and worker.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "tracing"), expect(dead_code, reason = "only traces name the worker"))]
pub(crate) struct Identity<'a> {
    pub(crate) session: &'a str,
    pub(crate) worker: &'a str,
}

/// Returns the time, if the feature `metrics` measures it.
pub(crate) fn now() -> Option<Instant> {
    cfg!(feature = "metrics").then(Instant::now)
}

/// Counts a call of `tool`.
pub(crate) fn count_call(tool: &Arc<str>) {
    #[cfg(feature = "metrics")]
    metrics::counter!("unstuck_calls_total", "tool" => Arc::clone(tool)).increment(1);
    let _ = tool;
}

/// Counts a loop that was not found before.
pub(crate) fn count_loop(kind: Kind) {
    #[cfg(feature = "metrics")]
    metrics::counter!("unstuck_loops_total", "kind" => kind.name()).increment(1);
    let _ = kind;
}

/// Counts and traces one event and the decision about it.
pub(crate) fn record(begun: Option<Instant>, who: Identity<'_>, decision: &Decision) {
    #[cfg(feature = "metrics")]
    count(begun, decision);
    #[cfg(feature = "tracing")]
    trace(who, decision);
    let _ = (begun, who, decision);
}

#[cfg(feature = "metrics")]
fn count(begun: Option<Instant>, decision: &Decision) {
    if let Some(begun) = begun {
        metrics::histogram!("unstuck_check_seconds").record(begun.elapsed());
    }
    let Some(evidence) = decision.evidence() else { return };
    let (kind, action) = (evidence.finding.kind.name(), decision.judged().name());
    metrics::counter!("unstuck_verdicts_total", "kind" => kind, "action" => action).increment(1);
}

#[cfg(feature = "tracing")]
fn trace(who: Identity<'_>, decision: &Decision) {
    use unstuck_core::Action;

    let Identity { session, worker } = who;
    let action = decision.judged().name();
    let Some(evidence) = decision.evidence() else {
        tracing::debug!(target: "unstuck::check", action, worker, session);
        return;
    };
    let (rule, tool, finding) = (evidence.rule, &*evidence.tool, evidence.finding);
    let workers = evidence.is_of_swarm().then_some(evidence.workers);
    let (kind, period, laps) = (finding.kind.name(), finding.period, finding.laps);
    let loop_id = tracing::field::display(finding.loop_id);
    macro_rules! event {
        ($level:expr) => {
            tracing::event!(
                target: "unstuck::verdict", $level,
                action, rule, kind, tool, period, laps, workers, loop_id, worker, session
            )
        };
    }
    match decision.judged() {
        Action::Proceed => event!(tracing::Level::DEBUG),
        Action::Nudge | Action::Warn | Action::Block => event!(tracing::Level::WARN),
        Action::StartOver | Action::Stop => event!(tracing::Level::ERROR),
    }
}
