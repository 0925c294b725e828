//! The state folder of the hooks, and the latest failures in their log.

use std::collections::HashSet;
use std::path::Path;
use std::{fs, io};

use serde::Serialize;
use unstuck_report::shown::plain;
use walkdir::WalkDir;

use crate::agents::state::Folder;
use crate::time::now;

/// The largest number of log lines in the report.
const LINES: usize = 3;

/// The largest age of a log line in the report, in milliseconds. Older failures may be mended.
const SHOWN: u64 = 24 * 60 * 60 * 1000;

#[derive(Serialize)]
pub(super) struct State {
    pub(super) folder: String,
    pub(super) exists: bool,
    /// The reasons why hooks cannot work with this folder, each with a remedy.
    pub(super) faults: Vec<String>,
    /// The permissions of the folder, in octal.
    pub(super) mode: Option<String>,
    pub(super) bytes: u64,
    /// The number of sessions. The workers of a session count as one.
    pub(super) sessions: usize,
    /// The latest lines of the log.
    pub(super) log: Vec<LogLine>,
    /// The time of the report, in milliseconds since 1970.
    #[serde(skip)]
    pub(super) now: u64,
}

/// A line of the log.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct LogLine {
    /// The time of the failure, in milliseconds since 1970.
    pub(super) at: u64,
    /// The agent and the message.
    pub(super) what: String,
}

impl LogLine {
    /// Reads a line. Returns `None` if this program did not write it.
    fn read(line: &str) -> Option<Self> {
        let (at, what) = line.split_once(' ')?;
        Some(Self { at: at.parse().ok()?, what: what.to_owned() })
    }
}

/// Returns the latest lines of `log` that are not too old at the time `now`.
fn recent(log: &str, now: u64) -> Vec<LogLine> {
    let lines = log.lines().rev().filter_map(LogLine::read);
    let mut recent: Vec<_> =
        lines.filter(|line| now.abs_diff(line.at) <= SHOWN).take(LINES).collect();
    recent.reverse();
    recent
}

impl State {
    /// Returns the state of this user, or `None` if the environment names no folder.
    pub(super) fn find() -> Option<Self> {
        let folder = Folder::find()?;
        let files = WalkDir::new(folder.path()).into_iter().flatten();
        let sizes = files.filter_map(|file| file.metadata().ok()).filter(fs::Metadata::is_file);
        let now = now();
        let sessions = folder.sessions().map(|worker| (worker.agent, worker.session));
        Some(Self {
            folder: folder.path().display().to_string(),
            exists: folder.path().is_dir(),
            faults: faults(&folder),
            mode: mode(folder.path()),
            bytes: sizes.map(|file| file.len()).sum(),
            sessions: sessions.collect::<HashSet<_>>().len(),
            log: recent(&folder.log_text(), now),
            now,
        })
    }
}

/// The beginning of a message about a folder in which hooks cannot store anything.
const UNUSABLE: &str = "Hooks cannot store anything here, so they let every call pass";

/// Returns the reasons why hooks cannot work with `folder`.
fn faults(folder: &Folder) -> Vec<String> {
    let path = folder.path();
    let file = match folder.try_out() {
        Ok(file) => file,
        Err(error) => return vec![format!("{UNUSABLE}: {}.", unusable(path, &error))],
    };
    let mut faults = Vec::new();
    let place = path.display();
    let owners = fs::metadata(path).ok().and_then(|folder| different_owners(&folder, &file));
    if let Some([owner, user]) = owners {
        faults.push(format!(
            "The folder belongs to user {owner}, and this is user {user}: run agents and unstuck as the \
             same user, or give the folder away with chown -R."
        ));
    }
    if bits(path).is_some_and(|mode| mode & 0o022 != 0) {
        faults.push(format!(
            "Other users can write to this folder, and so change what hooks say: run chmod 700 {place}."
        ));
    }
    faults.extend(folder.try_files().into_iter().map(|(name, error)| {
        let name = plain(&name);
        format!("{name} in this folder cannot be written: {error}. Remove it, or make it writable.")
    }));
    faults
}

/// Describes why nothing can be written to the folder `path`, and the remedy.
fn unusable(path: &Path, error: &io::Error) -> String {
    const ELSEWHERE: &str = "or set UNSTUCK_STATE_DIR to another folder for your agents";
    let is_file = |path: &Path| path.exists() && !path.is_dir();
    if let Some(file) = path.join("sessions").ancestors().find(|path| is_file(path)) {
        return format!("{} is not a folder. Move it away, {ELSEWHERE}", file.display());
    }
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "Free some space"
        }
        io::ErrorKind::PermissionDenied => {
            "Make the folder your own and writable (chown, chmod 700)"
        }
        _ => "Make the folder writable",
    };
    format!("{error}. {remedy}, {ELSEWHERE}")
}

/// Returns the numbers of the users who own two files, if they are different users.
#[cfg(unix)]
fn different_owners(one: &fs::Metadata, other: &fs::Metadata) -> Option<[u32; 2]> {
    let owners = [one, other].map(std::os::unix::fs::MetadataExt::uid);
    (owners[0] != owners[1]).then_some(owners)
}

#[cfg(not(unix))]
fn different_owners(_: &fs::Metadata, _: &fs::Metadata) -> Option<[u32; 2]> {
    None
}

/// Returns the permissions of `path` in octal.
fn mode(path: &Path) -> Option<String> {
    bits(path).map(|mode| format!("{mode:04o}"))
}

#[cfg(unix)]
fn bits(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    Some(fs::metadata(path).ok()?.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn bits(_: &Path) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_lines_of_the_last_day_are_shown() {
        let now = 10 * SHOWN;
        let at = |before: u64| now - before;
        let log = [(SHOWN + 1, "old"), (SHOWN, "a"), (3, "b"), (2, "c"), (1, "d")];
        let text = log.map(|(before, what)| format!("{} codex: {what}\n", at(before)));
        let text = text.concat() + "written by somebody else\n\n";
        let line = |before, what: &str| LogLine { at: at(before), what: format!("codex: {what}") };
        assert_eq!(recent(&text, now), [line(3, "b"), line(2, "c"), line(1, "d")]);
        assert_eq!(recent(&text, now + SHOWN - 1), [line(1, "d")]);
        // A clock that was far ahead wrote these lines.
        assert_eq!(recent(&text, now / 2), []);
        assert_eq!(recent("", now), []);
    }
}
