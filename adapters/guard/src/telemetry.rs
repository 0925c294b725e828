//! What the guard sees and says, told to `tracing` and counted by `metrics`: never arguments, never
//! results.

use std::time::Instant;

use crate::decision::Decision;

/// Whose guard it is.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "tracing"), expect(dead_code, reason = "only traces name the worker"))]
pub(crate) struct Identity<'a> {
    pub(crate) session: &'a str,
    pub(crate) worker: &'a str,
}

/// The time, where somebody counts it.
pub(crate) fn now() -> Option<Instant> {
    cfg!(feature = "metrics").then(Instant::now)
}

/// Counts a call of `tool`.
pub(crate) fn called(tool: &str) {
    #[cfg(feature = "metrics")]
    metrics::counter!("unstuck_calls_total", "tool" => tool.to_owned()).increment(1);
    let _ = tool;
}

/// Tells of one event that was decided on.
pub(crate) fn told(begun: Option<Instant>, who: Identity<'_>, decision: &Decision) {
    #[cfg(feature = "metrics")]
    counted(begun, decision);
    #[cfg(feature = "tracing")]
    traced(who, decision);
    let _ = (begun, who, decision);
}

#[cfg(feature = "metrics")]
fn counted(begun: Option<Instant>, decision: &Decision) {
    if let Some(begun) = begun {
        metrics::histogram!("unstuck_check_seconds").record(begun.elapsed());
    }
    let Some(found) = decision.found() else { return };
    let (kind, action) = (found.finding.kind.name(), decision.judged().name());
    metrics::counter!("unstuck_verdicts_total", "kind" => kind, "action" => action).increment(1);
}

#[cfg(feature = "tracing")]
fn traced(who: Identity<'_>, decision: &Decision) {
    use unstuck_core::Action;

    let Identity { session, worker } = who;
    let action = decision.judged().name();
    let Some(found) = decision.found() else {
        tracing::debug!(target: "unstuck::check", action, worker, session);
        return;
    };
    let (rule, tool, finding) = (found.rule, &*found.tool, found.finding);
    let workers = found.is_of_swarm().then_some(found.workers);
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
