//! The swarm that a session belongs to. A hook asks it once, within a short deadline.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use unstuck_swarm::redis::RedisStore;

use crate::agents::state::Folder;
use crate::swarm::settings;

/// The time that an agent may wait for its swarm. Each hook is a process that connects anew, so on a busy
/// machine an answer is late now and then.
const DEADLINE: Duration = Duration::from_millis(20);

/// The beginning of a log line that is only about the swarm. The agent is still watched.
pub(crate) const LINE: &str = "swarm: ";

/// A swarm and its address.
pub(super) struct Swarm {
    url: String,
    board: Arc<RedisStore>,
}

impl Swarm {
    /// Opens the swarm at `url`. Returns `None` during the pause after it failed to answer. The error is a line for the
    /// log, and so is the error of [`Swarm::end`].
    pub(super) fn open(url: &str, folder: &Folder, now: u64) -> Result<Option<Self>, String> {
        let settings = settings(url).map_err(alone)?;
        if folder.is_paused(url, now) {
            return Ok(None);
        }
        let settings = settings.deadline(DEADLINE).map_err(alone)?;
        Ok(Some(Self { url: url.to_owned(), board: Arc::new(RedisStore::open(settings)) }))
    }

    pub(super) fn board(&self) -> Arc<RedisStore> {
        Arc::clone(&self.board)
    }

    /// Ends the use of the swarm. If it did not answer, returns an error and counts the failure: after
    /// several failures all hooks pause.
    pub(super) fn end(self, folder: &Folder, now: u64) -> Result<(), String> {
        let health = self.board.health();
        if health.late == 0 && health.failed == 0 {
            if health.answered > 0 {
                folder.end_rest();
            }
            return Ok(());
        }
        folder.pause(&self.url, now);
        // Dropping the store would wait for the server once more.
        std::mem::forget(self.board);
        Err(alone(health.last_error.unwrap_or_else(|| {
            let limit = DEADLINE.as_millis();
            format!(
                "no answer within {limit} ms; after three failures hooks stop asking it for a while"
            )
        })))
    }
}

/// Returns the line for the log if an agent is judged without its swarm.
fn alone(why: impl Display) -> String {
    format!("{LINE}{why}")
}
