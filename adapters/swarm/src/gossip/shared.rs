//! A replica for the threads of one process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use unstuck_core::Digest;

use crate::gossip::Replica;
use crate::observation::Observation;
use crate::store::SwarmStore;
use crate::verdict::Verdict;

/// A replica for the threads of one process: the workers, and one thread that sends and receives frames.
///
/// `clock` returns the time for [`Replica::record`].
///
/// ```
/// use unstuck_swarm::{
///     Digest, FRAME_MAX, Limits, Observation, Replica, Rule, SharedReplica, SwarmStore, Tool, Worker,
/// };
///
/// let swarm = Digest::of(b"hall 3");
/// let replica = Replica::new(Rule::default(), swarm, Worker::new(1), Limits::default())?;
/// let shared = SharedReplica::new(replica, || 1_000); // a fixed time, for this example
/// let _ = shared.record(&Observation::new(Worker::new(1), Tool::named("go"), Digest::of(b"x")));
/// let mut buffer = [0; FRAME_MAX];
/// assert!(!shared.with(|replica, now| replica.frame(&mut buffer, now).is_empty()));
/// # Ok::<(), unstuck_swarm::RuleError>(())
/// ```
#[derive(Debug)]
pub struct SharedReplica<C> {
    replica: Mutex<Replica>,
    clock: C,
}

impl<C: Fn() -> u64> SharedReplica<C> {
    /// Shares a replica.
    pub const fn new(replica: Replica, clock: C) -> Self {
        Self { replica: Mutex::new(replica), clock }
    }

    /// Calls `visit` with the replica and the time, to write or to merge a frame. All other threads wait.
    pub fn with<T>(&self, visit: impl FnOnce(&mut Replica, u64) -> T) -> T {
        visit(&mut self.lock(), (self.clock)())
    }

    /// Locks the replica. Its counts stay usable after a thread panicked.
    fn lock(&self) -> MutexGuard<'_, Replica> {
        self.replica.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Fn() -> u64 + Send + Sync> SwarmStore for SharedReplica<C> {
    fn record(&self, observation: &Observation) -> Verdict {
        self.with(|replica, now| replica.record(observation, now))
    }

    fn look(&self, call: Digest) -> Verdict {
        self.with(|replica, now| replica.look(call, now))
    }
}
