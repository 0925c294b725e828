//! Finds loops of a whole swarm: calls that many workers make, none of them often enough to be stuck
//! alone.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod board;
mod rule;
mod sighting;
mod verdict;

pub use board::Board;
pub use rule::{Allowance, CALLS_MAX, Rule, RuleError, WORKERS_MAX, Window};
pub use sighting::{Answer, Key, Sighting, Worker};
pub use unstuck_core::{Action, Digest, LoopId, Tool};
pub use verdict::{Counts, Finding, Nudge, Outcome, Verdict};
