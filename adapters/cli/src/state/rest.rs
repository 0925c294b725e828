//! What is left alone for a while, since it did not answer: known to all hooks.

use std::fs;

use super::folder::{Folder, digest, make};

/// The name of the file that says so.
const REST: &str = "swarm.rest";

/// How long it is left alone, in milliseconds.
const MILLISECONDS: u64 = 10_000;

impl Folder {
    /// Whether `server` did not answer shortly before `now`, in milliseconds since 1970.
    pub(crate) fn rests(&self, server: &str, now: u64) -> bool {
        let kept = fs::read_to_string(self.path().join(REST)).unwrap_or_default();
        let mut words = kept.split_ascii_whitespace();
        let is_it = words.next() == Some(&name(server));
        let since = words.next().and_then(|at| at.parse().ok()).map(|at: u64| now.abs_diff(at));
        is_it && since.is_some_and(|since| since < MILLISECONDS)
    }

    /// Has `server` left alone from `now` on. If that cannot be written down, it is asked again.
    pub(crate) fn rest(&self, server: &str, now: u64) {
        let kept = format!("{} {now}\n", name(server));
        let _ = make(self.path()).and_then(|()| fs::write(self.path().join(REST), kept));
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
        folder.rest("a", 50_000);
        for (server, now, rests) in [
            ("a", 50_000, true),
            ("a", 50_000 + MILLISECONDS - 1, true),
            ("a", 50_000 + MILLISECONDS, false),
            ("a", 0, false),
            ("b", 50_000, false),
        ] {
            assert_eq!(folder.rests(server, now), rests, "{server} at {now}");
        }
        for damaged in ["", "a", "0123 4", "\u{e9} \u{e9}"] {
            fs::write(folder.path().join(REST), damaged).expect("a file");
            assert!(!folder.rests("a", 50_000), "{damaged}");
        }
    }
}
