//! The folder of what hooks keep, and what went wrong with them.

use std::fs;
use std::path::Path;

use serde::Serialize;
use walkdir::WalkDir;

use crate::state::{Folder, LOG};

/// How many of the log's last lines are shown.
const LINES: usize = 3;

#[derive(Serialize)]
pub(super) struct State {
    pub(super) folder: String,
    pub(super) exists: bool,
    /// Who may look into it, as `chmod` takes it.
    pub(super) mode: Option<String>,
    pub(super) bytes: u64,
    /// How many workers of sessions are kept.
    pub(super) sessions: usize,
    /// The last lines of the log.
    pub(super) log: Vec<String>,
}

impl State {
    /// The state of this user; none if there is no place for it.
    pub(super) fn find() -> Option<Self> {
        let folder = Folder::find()?;
        let files = WalkDir::new(folder.path()).into_iter().flatten();
        let sizes = files.filter_map(|file| file.metadata().ok()).filter(fs::Metadata::is_file);
        let log = fs::read(folder.path().join(LOG)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<_> = log.lines().map(str::to_owned).collect();
        Some(Self {
            folder: folder.path().display().to_string(),
            exists: folder.path().is_dir(),
            mode: mode(folder.path()),
            bytes: sizes.map(|file| file.len()).sum(),
            sessions: folder.sessions().count(),
            log: lines[lines.len().saturating_sub(LINES)..].to_vec(),
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
