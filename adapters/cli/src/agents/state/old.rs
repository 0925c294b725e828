//! States that nobody asks for any more are removed.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use super::folder::Folder;

/// How long a state is kept after its last event: a session that rests for longer is over.
const AGE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How often old states are looked for.
const EVERY: Duration = Duration::from_secs(60 * 60);

/// How many files are looked at in one go, so that no call waits for long.
const LOOKED_AT_MAX: usize = 1024;

/// How many are removed in one go.
const REMOVED_MAX: usize = 128;

impl Folder {
    /// Removes states that are too old at the time `now`, if that was not done lately.
    pub(crate) fn remove_old(&self, now: SystemTime) {
        let mark = self.states().join("swept");
        if modified(&mark).is_some_and(|swept| is_younger(swept, EVERY, now)) {
            return;
        }
        // First of all, so that of many processes one alone looks.
        if File::create(&mark).and_then(|file| file.set_modified(now)).is_err() {
            return;
        }
        let old = self.entries().take(LOOKED_AT_MAX).filter(|entry| {
            modified(&entry.path()).is_some_and(|used| !is_younger(used, AGE_MAX, now))
        });
        for entry in old.take(REMOVED_MAX) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn modified(path: &std::path::Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// Whether `then` is less than `age` before `now`; a clock that was set back makes nothing old.
fn is_younger(then: SystemTime, age: Duration, now: SystemTime) -> bool {
    now.duration_since(then).map_or(true, |passed| passed < age)
}
