//! The ledger of a swarm, against its definition.

mod forgetting;
mod messages;
mod model;
mod rules;
mod threads;

use unstuck_swarm::{Digest, Observation, Tool, Worker};

/// The tool of the tests.
fn tool() -> Tool {
    Tool::named("bash")
}

/// Returns an observation of the call `call` by the worker `worker`, with an unknown result.
fn call(worker: u64, number: u64) -> Observation {
    Observation::new(Worker::new(worker), tool(), Digest::of(&number.to_le_bytes()))
}
