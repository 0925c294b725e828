//! Finds loops of a whole swarm: calls that many workers make, none of them often enough to be stuck
//! alone.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod board;
mod checkpoint;
mod generation;
mod gossip;
mod ledger;
#[cfg(feature = "redis")]
pub mod redis;
mod rule;
#[cfg(feature = "std")]
mod shards;
mod sighting;
mod verdict;
mod workers;

pub use board::Board;
pub use checkpoint::{CHECKPOINT_VERSION, Checkpoint, CheckpointError};
#[cfg(feature = "std")]
pub use gossip::SharedReplica;
pub use gossip::{CELLS, FRAME_MAX, FRAME_MIN, FrameError, Limits, Merged, Replica, SPREAD};
pub use ledger::{CAPACITY, CAPACITY_MAX, Heat, LOOPS_MAX, Ledger};
pub use rule::{Allowance, CALLS_MAX, Rule, RuleError, WORKERS_MAX, Window};
#[cfg(feature = "std")]
pub use shards::{SHARDS, Shards};
pub use sighting::{Answer, Key, Sighting, Worker};
pub use unstuck_core::{Action, Digest, LoopId, Tool};
pub use verdict::{Counts, Finding, Nudge, Outcome, Verdict};
