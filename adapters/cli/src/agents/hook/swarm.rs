//! The swarm that a session is one of. A hook asks it in passing, and no longer than it may wait.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use unstuck_swarm::redis::{RedisStore, SettingsError};

use crate::agents::state::Folder;
use crate::swarm::{NoSettings, settings};

/// How long an agent may be held up for its swarm. A hook is a process of its own, which connects anew and
/// is late now and then where the machine is busy.
const DEADLINE: Duration = Duration::from_millis(20);

/// What a line of the log begins with that is about the swarm alone: the agent is watched all the same.
pub(crate) const LINE: &str = "swarm: ";

/// A swarm, and where it is.
pub(super) struct Swarm<'u> {
    url: &'u str,
    board: Arc<RedisStore>,
}

impl<'u> Swarm<'u> {
    /// The swarm at `url`; none if it did not answer shortly before `now`.
    pub(super) fn open(url: &'u str, folder: &Folder, now: u64) -> Result<Option<Self>, Alone> {
        let settings = settings(url).map_err(Alone::Settings)?;
        if folder.rests(url, now) {
            return Ok(None);
        }
        let settings = settings.deadline(DEADLINE).map_err(Alone::Deadline)?;
        Ok(Some(Self { url, board: Arc::new(RedisStore::open(settings)) }))
    }

    pub(super) fn board(&self) -> Arc<RedisStore> {
        Arc::clone(&self.board)
    }

    /// Says so if it did not answer, and has it left alone for a while by all hooks.
    pub(super) fn end(self, folder: &Folder, now: u64) -> Result<(), Alone> {
        let health = self.board.health();
        if health.late == 0 && health.failed == 0 {
            if health.answered > 0 {
                folder.rest_no_more();
            }
            return Ok(());
        }
        folder.rest(self.url, now);
        // Whoever drops a board waits for it once more.
        std::mem::forget(self.board);
        Err(Alone::Unanswered(health.last_error))
    }
}

/// Why an agent is judged without its swarm.
#[derive(Debug)]
pub(super) enum Alone {
    Settings(NoSettings),
    Deadline(SettingsError),
    /// What went wrong, unless there was no answer at all.
    Unanswered(Option<String>),
}

impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(LINE)?;
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Deadline(error) => error.fmt(f),
            Self::Unanswered(Some(error)) => f.write_str(error),
            Self::Unanswered(None) => write!(
                f,
                "no answer within {} ms; after three such times it is left alone for a while",
                DEADLINE.as_millis()
            ),
        }
    }
}
