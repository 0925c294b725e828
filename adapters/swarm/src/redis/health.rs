//! How a board fares: for those who look after it.

use core::sync::atomic::{AtomicU64, Ordering};
use std::string::{String, ToString};
use std::sync::{Mutex, PoisonError};

use crate::redis::error::RedisError;

/// How a board has fared since it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// Calls that the server was told of.
    pub sent: u64,
    /// Calls that it counted, and told how many there are.
    pub answered: u64,
    /// Calls whose worker went on without an answer, since it did not come in time.
    pub late: u64,
    /// Calls that nobody was told of, since too many waited to be told.
    pub dropped: u64,
    /// Calls that the server could not be told of, or did not count, or not that anybody knows.
    pub failed: u64,
    /// Whether nobody waits for the server for the moment, since it did not answer of late.
    pub paused: bool,
    /// What went wrong last, if anything did.
    pub last_error: Option<String>,
}

/// The counts behind [`Health`].
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) sent: AtomicU64,
    pub(super) answered: AtomicU64,
    pub(super) late: AtomicU64,
    pub(super) dropped: AtomicU64,
    pub(super) failed: AtomicU64,
    last_error: Mutex<Option<RedisError>>,
}

/// Counts so many more.
pub(super) fn add(count: &AtomicU64, more: usize) {
    count.fetch_add(u64::try_from(more).unwrap_or(u64::MAX), Ordering::Relaxed);
}

impl Tally {
    /// So many calls were not counted, for this reason.
    pub(super) fn fail(&self, calls: usize, error: RedisError) {
        add(&self.failed, calls);
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    pub(super) fn health(&self, paused: bool) -> Health {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let error = self.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        Health {
            sent: read(&self.sent),
            answered: read(&self.answered),
            late: read(&self.late),
            dropped: read(&self.dropped),
            failed: read(&self.failed),
            paused,
            last_error: error.as_ref().map(ToString::to_string),
        }
    }
}
