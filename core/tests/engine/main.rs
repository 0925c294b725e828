//! The engine, one kind of event or message at a time.

mod control;
mod erased;
mod events;
mod nearest;
mod nudges;
mod policy;
mod size;
mod words;

use unstuck_core::{Call, Detector, Digest, Outcome, Policy, Rule, Tool, presets};

type Balanced = Detector<'static, 20>;

fn balanced() -> Balanced {
    Detector::new(&presets::BALANCED).unwrap()
}

/// Returns a detector with one rule, whose window is its capacity.
fn with_rule<const W: usize, const O: usize>(rule: Rule<'static>) -> Detector<'static, W, O> {
    let rules = Vec::leak(vec![rule]);
    let policy = Policy::new("p", u8::try_from(W).unwrap(), rules).unwrap();
    Detector::new(Box::leak(Box::new(policy))).unwrap()
}

fn call(args: u8) -> Call {
    Call::new(Tool::new(1), Digest::of(&[args]))
}

/// Returns a call that only reads, so that equal answers prove that it does not help.
fn read(args: u8) -> Call {
    call(args).idempotent()
}

fn answer(result: u8) -> Outcome {
    Outcome::ok(Digest::of(&[result]))
}
