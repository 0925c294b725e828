//! The health of a store, for its operators.

use std::string::String;

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
