//! The folder of what hooks keep, and what went wrong with them.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use walkdir::WalkDir;

use crate::agents::state::{Folder, LOG};

/// How many of the log's last lines are shown.
const LINES: usize = 3;

/// How long they are shown, in milliseconds: what went wrong before may have been mended since.
const SHOWN: u64 = 24 * 60 * 60 * 1000;

#[derive(Serialize)]
pub(super) struct State {
    pub(super) folder: String,
    pub(super) exists: bool,
    /// Who may look into it, as `chmod` takes it.
    pub(super) mode: Option<String>,
    pub(super) bytes: u64,
    /// How many sessions are kept, each with all of its workers.
    pub(super) sessions: usize,
    /// The last lines of the log, of the last day.
    pub(super) log: Vec<Logged>,
    /// When this was found out, in milliseconds since 1970.
    #[serde(skip)]
    pub(super) now: u64,
}

/// A line of the log.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Logged {
    /// When that was, in milliseconds since 1970.
    pub(super) at: u64,
    /// Of which agent, and what went wrong.
    pub(super) what: String,
}

impl Logged {
    /// None if it is no line that this program wrote.
    fn read(line: &str) -> Option<Self> {
        let (at, what) = line.split_once(' ')?;
        Some(Self { at: at.parse().ok()?, what: what.to_owned() })
    }
}

/// The last lines of `log` that are still of use at the time `now`.
fn recent(log: &str, now: u64) -> Vec<Logged> {
    let lines = log.lines().rev().filter_map(Logged::read);
    let mut recent: Vec<_> =
        lines.filter(|line| now.saturating_sub(line.at) <= SHOWN).take(LINES).collect();
    recent.reverse();
    recent
}

impl State {
    /// The state of this user; none if there is no place for it.
    pub(super) fn find() -> Option<Self> {
        let folder = Folder::find()?;
        let files = WalkDir::new(folder.path()).into_iter().flatten();
        let sizes = files.filter_map(|file| file.metadata().ok()).filter(fs::Metadata::is_file);
        let log = fs::read(folder.path().join(LOG)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let sessions = folder.sessions().map(|worker| (worker.agent, worker.session));
        Some(Self {
            folder: folder.path().display().to_string(),
            exists: folder.path().is_dir(),
            mode: mode(folder.path()),
            bytes: sizes.map(|file| file.len()).sum(),
            sessions: sessions.collect::<HashSet<_>>().len(),
            log: recent(&log, now),
            now,
        })
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path).ok()?.permissions().mode();
    Some(format!("{:04o}", mode & 0o7777))
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_log_the_last_lines_of_the_last_day_are_shown() {
        let now = 10 * SHOWN;
        let at = |before: u64| now - before;
        let log = [(SHOWN + 1, "old"), (SHOWN, "a"), (3, "b"), (2, "c"), (1, "d")];
        let text = log.map(|(before, what)| format!("{} codex: {what}\n", at(before)));
        let text = text.concat() + "written by somebody else\n\n";
        let line = |before, what: &str| Logged { at: at(before), what: format!("codex: {what}") };
        assert_eq!(recent(&text, now), [line(3, "b"), line(2, "c"), line(1, "d")]);
        assert_eq!(recent(&text, now + SHOWN - 1), [line(1, "d")]);
        assert_eq!(recent("", now), []);
    }
}
