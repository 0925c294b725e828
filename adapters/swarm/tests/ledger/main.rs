//! The ledger of a swarm, against its definition.

mod checkpoint;
mod forgetting;
mod messages;
mod model;
mod rules;
mod threads;

use unstuck_swarm::{Digest, Observation, Tool, Worker};

/// What the tests call.
fn tool() -> Tool {
    Tool::named("bash")
}

/// The call with this number, made by the worker with that, of which nobody knows what came back.
fn call(worker: u64, number: u64) -> Observation {
    Observation::new(Worker::new(worker), tool(), Digest::of(&number.to_le_bytes()))
}
