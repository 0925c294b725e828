//! A replica that the threads of one process share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use unstuck_core::Digest;

use crate::gossip::Replica;
use crate::observation::Observation;
use crate::store::SwarmStore;
use crate::verdict::Verdict;

/// A replica that the threads of one process share: those that work, and one that sends and receives.
///
/// `clock` says what time it is, as [`Replica::record`] wants to know it.
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

    /// Gives the replica and the time to `visit`, while all others wait: to write a frame, or to merge one.
    pub fn with<T>(&self, visit: impl FnOnce(&mut Replica, u64) -> T) -> T {
        visit(&mut self.lock(), (self.clock)())
    }

    /// A thread that panicked left the counts as they were: they are as good as ever.
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
