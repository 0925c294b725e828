//! Removing the states of old sessions.

use std::fs::{self, OpenOptions};
use std::time::{Duration, SystemTime};

use super::file::open;
use super::folder::{ENDING, Folder, NEWER, has_ending, session};
use super::journal::Entry;
use super::spent::SPENT;

/// The age after the last event at which a session counts as over.
const AGE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The time between two searches for old states.
const EVERY: Duration = Duration::from_secs(60 * 60);

/// The largest number of files in one search, so that no event waits for long.
const LOOKED_AT_MAX: usize = 1024;

/// The largest number of files that one search removes.
const REMOVED_MAX: usize = 128;

impl Folder {
    /// Removes states that are too old at the time `now`, unless another search was recent.
    pub(crate) fn remove_old(&self, now: SystemTime) {
        let mark = self.states().join("swept");
        // A mark of the future is from before the clock was set back.
        let is_recent = |swept| now.duration_since(swept).is_ok_and(|passed| passed < EVERY);
        if modified(&mark).is_some_and(is_recent) {
            return;
        }
        // The mark comes first, so that only one of many processes searches.
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        if open(&mut options, &mark).and_then(|file| file.set_modified(now)).is_err() {
            return;
        }
        let old = self.ending_with(&[ENDING, NEWER, SPENT]).take(LOOKED_AT_MAX).filter(|entry| {
            modified(&entry.path()).is_some_and(|used| !is_younger(used, AGE_MAX, now))
        });
        let mut ended = Vec::new();
        for entry in old.take(REMOVED_MAX) {
            // What was spent is no session.
            let session = session(&entry).filter(|_| !has_ending(&entry, SPENT));
            ended.extend(session.map(|session| Entry::ended(&session, session.last_seen)));
            let _ = fs::remove_file(entry.path());
        }
        // Without it, these sessions are only missing in reports.
        let _ = self.record(&ended);
    }
}

fn modified(path: &std::path::Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// Returns whether `then` is less than `age` before `now`. After a clock was set back, nothing is old.
fn is_younger(then: SystemTime, age: Duration, now: SystemTime) -> bool {
    now.duration_since(then).map_or(true, |passed| passed < age)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_ahead_does_not_end_the_search() {
        let around = tempfile::tempdir().expect("a folder");
        let folder = Folder::at(around.path().join("unstuck"));
        fs::create_dir_all(folder.states()).expect("a folder");
        let (now, path) = (SystemTime::now(), folder.states().join(format!("a.{ENDING}")));
        for (searched, is_searched) in
            [(now, true), (now, false), (now + AGE_MAX, true), (now, true)]
        {
            let file = fs::File::create(&path).expect("a file");
            file.set_modified(now - 2 * AGE_MAX).expect("a file");
            folder.remove_old(searched);
            assert_eq!(path.exists(), !is_searched, "{searched:?}");
        }
    }
}
