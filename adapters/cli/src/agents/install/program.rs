//! By which path agents are to start this program.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The path by which this program is found; the error says why there is none.
///
/// The first `unstuck` in `PATH` that is this program: an upgrade leaves that path as it is, where
/// it may move the file that the path leads to. Where there is none, the file itself.
pub(super) fn path() -> Result<String, String> {
    let this = env::current_exe().map_err(|error| format!("cannot be told: {error}"))?;
    let path = env::var_os("PATH").and_then(|path| in_path(&this, &path)).unwrap_or(this);
    path.into_os_string().into_string().map_err(|path| {
        format!("{} is not UTF-8, which no settings can hold", path.to_string_lossy())
    })
}

/// The first entry of `path` that leads to `this`.
fn in_path(this: &Path, path: &OsStr) -> Option<PathBuf> {
    let real = fs::canonicalize(this).ok()?;
    let name = format!("unstuck{}", env::consts::EXE_SUFFIX);
    let found = env::split_paths(path).map(|folder| folder.join(&name));
    found
        .filter(|found| found.is_absolute())
        .find(|found| fs::canonicalize(found).is_ok_and(|found| found == real))
}
