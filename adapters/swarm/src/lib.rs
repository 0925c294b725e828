//! Finds loops of a whole swarm: calls that many workers make, each of them too rarely to be stuck alone.
//!
//! For example, ten workers that each make the same failing call twice are stuck together. A [`Rule`] says
//! how many equal calls by how many workers within what time make a loop. A worker reports each of its calls
//! as an [`Observation`], and the store returns a [`Verdict`]:
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
//! | place of the workers | store | feature |
//! |---|---|---|
//! | in one thread, also without `std` | [`Ledger`] | |
//! | in one process | `SharedLedger` | `std` |
//! | on machines that reach one Redis 7, or a cluster of it | `redis::RedisStore` | `redis`; `redis-async` for tasks of tokio |
//! | on machines that exchange packets | [`Replica`], and `SharedReplica` for threads | none; `std` |
//!
//! Every store that can be shared is a [`SwarmStore`]. A guard of the crate `unstuck` takes one. It makes the
//! digests, reports the calls and passes the verdicts to its worker.
//!
//! # What this crate does not do
//!
//! It keeps digests, but no arguments and no results. The digest of a short argument can be guessed by trial.
//! A server only sees digests that are hashed with a secret. Frames of gossip are not hashed.
//!
//! All stores count alike. An uncertain count is too low rather than too high:
//!
//! - Calls that were forgotten for lack of room are not counted ([`Finding::missed`]).
//! - More than 15 workers (64 on a server) are estimated, and then more first calls are free than there may be.
//! - In gossip no worker counts for more than its share of a rung, because a sender can claim anything.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

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

#[cfg(feature = "std")]
pub use gossip::SharedReplica;
pub use gossip::{CELLS, FRAME_MAX, FRAME_MIN, FrameError, Limits, Merged, Replica, SPREAD};
pub use ledger::{CAPACITY, CAPACITY_MAX, Heat, LOOPS_MAX, Ledger};
pub use observation::{CallResult, Key, Observation, Worker};
pub use rule::{Allowance, CALLS_MAX, Rule, RuleError, WORKERS_MAX, Window};
#[cfg(feature = "std")]
pub use shared_ledger::{SHARDS, SharedLedger};
pub use store::SwarmStore;
pub use unstuck_core::{Action, Digest, LoopId, Tool};
pub use verdict::{Counts, Finding, Nudge, Outcome, Verdict};
