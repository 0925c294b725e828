//! The guard as a host sees it.

mod budget;
mod builder;
mod calls;
mod checkpoint;
mod declared;
mod ended;
mod engine;
mod escalate;
mod feedback;
mod ladder;
mod repeated;
mod scenarios;
mod scripts;
mod swarm;
mod wording;

use unstuck::{Action, Decision, Guard};

/// Arguments of a call that is made again and again.
const ARGS: &str = r#"{"command":"make all"}"#;

/// Makes the call of `bash` with `args`, if it may run, and reports the same failure. Returns the decisions
/// before and after it.
fn fail(guard: &mut Guard, args: &str) -> (Decision, Option<Decision>) {
    let before = guard.before("bash", args);
    if before.is_blocked() {
        return (before, None);
    }
    let ticket = before.ticket().expect("a call has a ticket");
    let after = guard.after(ticket, "make: *** No rule to make target 'all'.", true);
    (before, Some(after))
}

/// Makes this many such calls. Returns the stronger action before and after each.
fn actions(guard: &mut Guard, calls: usize) -> Vec<Action> {
    let decided = |guard: &mut Guard| {
        let (before, after) = fail(guard, ARGS);
        before.action().max(after.map_or(Action::Proceed, |after| after.action()))
    };
    (0..calls).map(|_| decided(guard)).collect()
}
