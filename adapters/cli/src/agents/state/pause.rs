//! The pause after a swarm server failed to answer, which all hooks share.

use std::fs;
use std::io::Write as _;

use super::PAUSES;
use super::file::{anew, create, read};
use super::folder::{Folder, digest};

/// The number of failures in a row that starts a pause. A busy machine is late now and then.
const TIMES: u32 = 3;

/// The first pause, in milliseconds. Each further failure doubles it.
const FIRST: u64 = 1000;

/// The largest number of doublings.
const DOUBLED_MAX: u32 = 5;

impl Folder {
    /// Returns whether `server` is in a pause at `now`, in milliseconds since 1970.
    pub(crate) fn is_paused(&self, server: &str, now: u64) -> bool {
        self.pause_of(server).is_some_and(|(times, since)| {
            let doubled = times.checked_sub(TIMES).map(|more| more.min(DOUBLED_MAX));
            doubled.is_some_and(|doubled| now.abs_diff(since) < FIRST << doubled)
        })
    }

    /// Counts a failure of `server` at `now`. If the count cannot be written, there is no pause.
    pub(crate) fn pause(&self, server: &str, now: u64) {
        let times = self.pause_of(server).map_or(0, |(times, _)| times).saturating_add(1);
        let line = format!("{} {times} {now}\n", name(server));
        let opened = create(&mut anew(), &self.path().join(PAUSES));
        let _ = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    }

    /// Forgets the failures, because the server has answered.
    pub(crate) fn end_rest(&self) {
        // The file rarely exists.
        let _ = fs::remove_file(self.path().join(PAUSES));
    }

    /// Returns the number of failures of `server` in a row, and the time of the last one.
    fn pause_of(&self, server: &str) -> Option<(u32, u64)> {
        let text = String::from_utf8(read(&self.path().join(PAUSES)).ok()?).ok()?;
        let [server_name, times, since] = text.split_ascii_whitespace().collect::<Vec<_>>()[..]
        else {
            return None;
        };
        let rest = (times.parse().ok()?, since.parse().ok()?);
        (server_name == name(server)).then_some(rest)
    }
}

/// Returns a digest of a server's address, which may contain a password.
fn name(server: &str) -> String {
    format!("{:016x}", digest(&[server]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_fails_repeatedly_gets_a_growing_pause() {
        let (_around, folder) = Folder::temporary();
        assert!(!folder.is_paused("a", 7));
        for _ in 0..TIMES {
            assert!(!folder.is_paused("a", 50_000));
            folder.pause("a", 50_000);
        }
        for (server, now, is_paused) in [
            ("a", 50_000, true),
            ("a", 50_000 + FIRST - 1, true),
            ("a", 50_000 + FIRST, false),
            ("a", 0, false),
            ("b", 50_000, false),
        ] {
            assert_eq!(folder.is_paused(server, now), is_paused, "{server} at {now}");
        }
        folder.pause("a", 60_000);
        assert!(
            folder.is_paused("a", 60_000 + FIRST) && !folder.is_paused("a", 60_000 + 2 * FIRST)
        );
        for _ in 0..40 {
            folder.pause("a", 60_000);
        }
        let longest = FIRST << DOUBLED_MAX;
        assert!(
            folder.is_paused("a", 59_999 + longest) && !folder.is_paused("a", 60_000 + longest)
        );
        folder.end_rest();
        assert!(!folder.is_paused("a", 60_000));
        for damaged in ["", "a", "0123 4 5", "\u{e9} 1 2"] {
            fs::write(folder.path().join(PAUSES), damaged).expect("a file");
            assert!(!folder.is_paused("a", 50_000), "{damaged}");
        }
    }
}
