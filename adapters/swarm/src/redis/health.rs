//! The health of a store, for its operators.

use core::sync::atomic::{AtomicU64, Ordering};
use std::string::{String, ToString};
use std::sync::{Mutex, PoisonError};

use crate::redis::error::RedisError;

/// The health of a store since it was opened.
///
/// ```
/// use unstuck_swarm::redis::{Health, RedisStore, Settings};
///
/// let settings = Settings::parse("redis://127.0.0.1:1/?swarm=nightly", b"secret of this swarm")?;
/// assert_eq!(RedisStore::open(settings).health(), Health::default());
/// # Ok::<(), unstuck_swarm::redis::SettingsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// The number of calls that were sent to the server.
    pub sent: u64,
    /// The number of calls that the server counted and replied to.
    pub answered: u64,
    /// The number of calls whose worker went on, because the reply did not come in time, or because the server put
    /// the call off.
    pub late: u64,
    /// The number of calls that were not sent, because the queue was full.
    pub dropped: u64,
    /// The number of calls that could not be sent, or that the server did not count as far as is known.
    pub failed: u64,
    /// `true` while no worker waits for the server, because it did not reply lately.
    pub paused: bool,
    /// The last error, if there was one.
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

/// Adds to a counter.
pub(super) fn add(count: &AtomicU64, more: usize) {
    count.fetch_add(u64::try_from(more).unwrap_or(u64::MAX), Ordering::Relaxed);
}

impl Tally {
    /// Notes that `calls` calls were not counted, for this reason.
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
