//! The path with which agents start this program.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the path of this program.
///
/// This is the first `unstuck` in `PATH` that leads to this program, because an upgrade keeps that path
/// even if it moves the file behind it. Without such an entry it is the file itself.
pub(super) fn path() -> Result<String, String> {
    let this = env::current_exe().map_err(|error| format!("cannot be found: {error}"))?;
    let path = env::var_os("PATH").and_then(|path| in_path(&this, &path)).unwrap_or(this);
    path.into_os_string().into_string().map_err(|path| {
        format!("{} is not UTF-8, as settings need: install it elsewhere", path.to_string_lossy())
    })
}

/// Returns the first entry of `path` that leads to `this`.
fn in_path(this: &Path, path: &OsStr) -> Option<PathBuf> {
    let real = fs::canonicalize(this).ok()?;
    let name = format!("unstuck{}", env::consts::EXE_SUFFIX);
    let found = env::split_paths(path).map(|folder| folder.join(&name));
    found
        .filter(|found| found.is_absolute())
        .find(|found| fs::canonicalize(found).is_ok_and(|found| found == real))
}
