//! Finds loops of a whole swarm: calls that many workers make, none of them often enough to be stuck
//! alone.
//!
//! Ten workers that each make the same vain call twice are stuck together. A [`Rule`] says how many equal
//! calls make a loop, by how many workers, within what time; each worker tells of its calls, as a
//! [`Observation`], and hears what to do, as a [`Verdict`]:
//!
//! ```
//! use unstuck_swarm::{Action, Digest, Ledger, Rule, Observation, Tool, Worker};
//!
//! let mut ledger = Ledger::new(Rule::default())?;
//! for call in 0..10 {
//!     let worker = Worker::new(call % 5);
//!     let made = Observation::new(worker, Tool::named("bash"), Digest::of(b"make all"));
//!     let verdict = ledger.record(&made.failed(Digest::of(b"no rule")), 1000 * call);
//!     assert_eq!(verdict.action == Action::Nudge, call == 9);
//! }
//! # Ok::<(), unstuck_swarm::RuleError>(())
//! ```
//!
//! # Where calls are counted
//!
//! | where the workers are | what counts | feature |
//! |---|---|---|
//! | in one thread, or where there is no `std` | [`Ledger`] | |
//! | in one process | `SharedLedger` | `std` |
//! | on machines that reach one Redis 7, or a cluster of it | `redis::RedisStore` | `redis`; `redis-async` for tasks of tokio |
//! | on machines that only send each other packets | [`Replica`], and `SharedReplica` for threads | none; `std` |
//!
//! All that can be shared are a [`SwarmStore`], which a guard of the crate `unstuck` takes by its feature `swarm`:
//! it makes the digests, tells of the calls and says to its worker what it hears.
//!
//! # What this crate does not do
//!
//! It keeps digests, and no arguments and no results. Digests of short arguments can be guessed by trying:
//! what goes to a server is hashed with a secret, frames of gossip are not.
//!
//! The count is the same everywhere, and where it is uncertain it is too low: what was forgotten for want of
//! room is not counted ([`Finding::missed`]), an estimate of more than 15 workers (64 on a server) frees
//! more first calls than there may be, and by gossip no worker stands for more than its share of a rung, as
//! anybody may say anything of anybody there.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod checkpoint;
mod generation;
mod gossip;
mod ledger;
mod observation;
#[cfg(feature = "redis")]
pub mod redis;
mod rule;
#[cfg(feature = "std")]
mod shared_ledger;
mod store;
mod verdict;
mod workers;

pub use checkpoint::{CHECKPOINT_VERSION, Checkpoint, CheckpointError};
#[cfg(feature = "std")]
pub use gossip::SharedReplica;
pub use gossip::{CELLS, FRAME_MAX, FRAME_MIN, FrameError, Limits, Merged, Replica, SPREAD};
pub use ledger::{CAPACITY, CAPACITY_MAX, Heat, LOOPS_MAX, Ledger};
pub use observation::{Answer, Key, Observation, Worker};
pub use rule::{Allowance, CALLS_MAX, Rule, RuleError, WORKERS_MAX, Window};
#[cfg(feature = "std")]
pub use shared_ledger::{SHARDS, SharedLedger};
pub use store::SwarmStore;
pub use unstuck_core::{Action, Digest, LoopId, Tool};
pub use verdict::{Counts, Finding, Nudge, Outcome, Verdict};
