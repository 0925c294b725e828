//! What each worker has spent of a budget. Its file stays when the session ends, because the day goes on.

use std::fs::DirEntry;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde::Deserialize;
use unstuck::{Account, Spent};

use super::envelope;
use super::file::{self, StateFile, Trouble};
use super::folder::{Folder, file_name, session_name};
use super::session::Key;

/// The ending of a file with what a worker has spent.
pub(super) const SPENT: &str = "spent";

/// The length of a day, after which a file is of another one.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The first part of such a file.
#[derive(Deserialize)]
struct Front {
    account: Account,
}

impl Folder {
    /// Opens what this worker has spent. The caller holds the lock of its state.
    pub(crate) fn open_spent(&self, key: &Key<'_>) -> Result<StateFile, Trouble> {
        let path = self.states().join(file_name(key)).with_extension(SPENT);
        StateFile::open(&path, Duration::ZERO)
    }

    /// Returns what the other workers have spent: those of the same session, and, if `of_day`, all on the day of the
    /// time `now` since 1970. A worker that writes at the same time may be missing.
    pub(crate) fn spent_beside(
        &self,
        key: &Key<'_>,
        of_day: bool,
        now: Duration,
    ) -> (Spent, Spent) {
        let (own, session_name) = (file_name(key), session_name(key));
        let (mut session, mut day) = (Spent::default(), Spent::default());
        for entry in self.ending_with(&[SPENT]) {
            let is_of_session = entry.file_name().to_string_lossy().starts_with(&session_name);
            let is_own = entry.path().file_stem() == Path::new(&own).file_stem();
            if is_own || !(is_of_session || (of_day && is_recent(&entry, now))) {
                continue;
            }
            let Some(account) = account(&entry) else { continue };
            day += account.spent_on_day(now);
            if is_of_session {
                session += account.spent();
            }
        }
        (session, day)
    }
}

fn is_recent(entry: &DirEntry, now: Duration) -> bool {
    let changed = entry.metadata().and_then(|metadata| metadata.modified()).ok();
    let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    changed.is_none_or(|changed| changed + DAY > now)
}

fn account(entry: &DirEntry) -> Option<Account> {
    let front: Front = envelope::open(&file::read(&entry.path()).ok()?).ok()??;
    Some(front.account)
}
