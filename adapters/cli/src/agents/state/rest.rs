//! What is left alone for a while, since it did not answer: known to all hooks.

use std::fs;

use super::folder::{Folder, digest, make};

/// The name of the file that says so.
const REST: &str = "swarm.rest";

/// After so many times in a row it is left alone: a machine that is busy is late now and then.
const TIMES: u32 = 3;

/// How long it is left alone the first time, in milliseconds; each time more for twice as long.
const FIRST: u64 = 1000;

/// How often it is doubled.
const DOUBLED_MAX: u32 = 5;

impl Folder {
    /// Whether `server` did not answer shortly before `now`, in milliseconds since 1970.
    pub(crate) fn rests(&self, server: &str, now: u64) -> bool {
        self.rest_of(server).is_some_and(|(times, since)| {
            let doubled = times.checked_sub(TIMES).map(|more| more.min(DOUBLED_MAX));
            doubled.is_some_and(|doubled| now.abs_diff(since) < FIRST << doubled)
        })
    }

    /// `server` did not answer at `now`; after some times it is left alone from then on. If that cannot be
    /// written down, it is asked again.
    pub(crate) fn rest(&self, server: &str, now: u64) {
        let times = self.rest_of(server).map_or(0, |(times, _)| times).saturating_add(1);
        let kept = format!("{} {times} {now}\n", name(server));
        let _ = make(self.path()).and_then(|()| fs::write(self.path().join(REST), kept));
    }

    /// The server has answered.
    pub(crate) fn rest_no_more(&self) {
        // Mostly there is nothing to remove.
        let _ = fs::remove_file(self.path().join(REST));
    }

    /// How often in a row `server` did not answer, and when it was asked last.
    fn rest_of(&self, server: &str) -> Option<(u32, u64)> {
        let kept = fs::read_to_string(self.path().join(REST)).ok()?;
        let [whose, times, since] = kept.split_ascii_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        let rest = (times.parse().ok()?, since.parse().ok()?);
        (whose == name(server)).then_some(rest)
    }
}

/// What stands for a server, in whose address a password may be.
fn name(server: &str) -> String {
    format!("{:016x}", digest(&[server]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_answer_is_left_alone_for_a_while() {
        let around = tempfile::tempdir().expect("a folder");
        let folder = Folder::at(around.path().join("unstuck"));
        assert!(!folder.rests("a", 7));
        for _ in 0..TIMES {
            assert!(!folder.rests("a", 50_000));
            folder.rest("a", 50_000);
        }
        for (server, now, rests) in [
            ("a", 50_000, true),
            ("a", 50_000 + FIRST - 1, true),
            ("a", 50_000 + FIRST, false),
            ("a", 0, false),
            ("b", 50_000, false),
        ] {
            assert_eq!(folder.rests(server, now), rests, "{server} at {now}");
        }
        folder.rest("a", 60_000);
        assert!(folder.rests("a", 60_000 + FIRST) && !folder.rests("a", 60_000 + 2 * FIRST));
        for _ in 0..40 {
            folder.rest("a", 60_000);
        }
        let longest = FIRST << DOUBLED_MAX;
        assert!(folder.rests("a", 59_999 + longest) && !folder.rests("a", 60_000 + longest));
        folder.rest_no_more();
        assert!(!folder.rests("a", 60_000));
        for damaged in ["", "a", "0123 4 5", "\u{e9} 1 2"] {
            fs::write(folder.path().join(REST), damaged).expect("a file");
            assert!(!folder.rests("a", 50_000), "{damaged}");
        }
    }
}
