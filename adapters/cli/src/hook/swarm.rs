//! The swarm that a session is one of. A hook asks it in passing, and no longer than it may wait.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use unstuck::Board;
use unstuck_core::Digest;
use unstuck_swarm::redis::{RedisBoard, SettingsError};
use unstuck_swarm::{Sighting, Verdict};

use crate::state::Folder;
use crate::swarm::{NoSettings, settings};

/// How long an agent may be held up for its swarm.
const DEADLINE: Duration = Duration::from_millis(10);

/// What a line of the log begins with that is about the swarm alone: the agent is watched all the same.
pub(crate) const LINE: &str = "swarm: ";

/// The board of a swarm, and whether it kept its worker waiting.
pub(super) struct Swarm {
    board: RedisBoard,
    was_slow: AtomicBool,
}

impl Swarm {
    /// The swarm at `url`; none if it did not answer shortly before `now`.
    pub(super) fn open(url: &str, folder: &Folder, now: u64) -> Result<Option<Arc<Self>>, Alone> {
        let settings = settings(url).map_err(Alone::Settings)?;
        if folder.rests(url, now) {
            return Ok(None);
        }
        let settings = settings.deadline(DEADLINE).map_err(Alone::Deadline)?;
        let board = RedisBoard::open(settings);
        Ok(Some(Arc::new(Self { board, was_slow: AtomicBool::new(false) })))
    }

    /// Has it left alone for a while, if it kept this process waiting.
    pub(super) fn end(&self, url: &str, folder: &Folder, now: u64) -> Result<(), Alone> {
        if !self.was_slow.load(Ordering::Relaxed) {
            return Ok(());
        }
        folder.rest(url, now);
        Err(Alone::Slow)
    }
}

impl Board for Swarm {
    fn record(&self, sighting: &Sighting) -> Verdict {
        self.record_named(sighting, "")
    }

    fn record_named(&self, sighting: &Sighting, tool: &str) -> Verdict {
        let begun = Instant::now();
        let verdict = self.board.record_named(sighting, tool);
        if begun.elapsed() >= DEADLINE {
            self.was_slow.store(true, Ordering::Relaxed);
        }
        verdict
    }

    fn look(&self, call: Digest) -> Verdict {
        self.board.look(call)
    }
}

/// Why an agent was judged without its swarm.
#[derive(Debug)]
pub(super) enum Alone {
    Settings(NoSettings),
    Deadline(SettingsError),
    Slow,
}

impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(LINE)?;
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Deadline(error) => error.fmt(f),
            Self::Slow => write!(
                f,
                "no answer within {} ms; it is left alone for some seconds. See unstuck swarm watch",
                DEADLINE.as_millis()
            ),
        }
    }
}
