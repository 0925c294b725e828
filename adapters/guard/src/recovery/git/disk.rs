//! Each change of the work tree as one step, none of which overwrites anything.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use super::snapshot::Mode;

/// Where a run can be broken off by a test; nothing at all otherwise.
#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "in tests it breaks off")]
pub(super) fn step() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) use super::tests::step;

/// Moves the file `path` out of the way, under a name that nothing has, in the same folder: so
/// that nobody who writes to `path` from now on writes to what is looked at.
pub(super) fn hold(path: &Path) -> io::Result<PathBuf> {
    static HELD: AtomicU32 = AtomicU32::new(0);
    loop {
        let n = HELD.fetch_add(1, Ordering::Relaxed);
        let held = path.with_file_name(format!(".unstuck-held-{}-{n}", process::id()));
        if held.symlink_metadata().is_err() {
            step()?;
            fs::rename(path, &held)?;
            return Ok(held);
        }
    }
}

/// Gives what is held at `held` its name again, unless somebody else has taken that by now: then
/// it stays where it is.
pub(super) fn release(held: &Path, path: &Path) -> io::Result<()> {
    step()?;
    // Unlike a new name, a second one never takes the place of anything.
    if fs::hard_link(held, path).is_ok() {
        step()?;
        return fs::remove_file(held);
    }
    // A folder has no second name, and neither has anything on some file systems.
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(held, path),
        _ => Ok(()),
    }
}

/// Removes a file or a link; that it is gone already is as well.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    step()?;
    unless(fs::remove_file(path), io::ErrorKind::NotFound)
}

/// Removes a folder, if there is nothing in it.
pub(super) fn remove_folder(path: &Path) -> io::Result<bool> {
    step()?;
    Ok(fs::remove_dir(path).is_ok())
}

/// Makes a folder, in one that is there.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    step()?;
    unless(fs::create_dir(path), io::ErrorKind::AlreadyExists)
}

/// Makes a file where there is none, for `write` to fill. It may be read and written by whom
/// `like` says, so that a secret that goes back stays one.
pub(super) fn make_file(
    path: &Path,
    mode: Mode,
    like: Option<Permissions>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    step()?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = Stepwise(options.open(path)?);
    step()?;
    if let Some(like) = like {
        fs::set_permissions(path, like)?;
    }
    set_executable(path, mode == Mode::Executable)?;
    write(&mut file)
}

/// A file of which each piece that is written is a step.
struct Stepwise(File);

impl Write for Stepwise {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        step()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Makes a link where there is nothing.
#[cfg(unix)]
pub(super) fn make_link(path: &Path, target: &[u8]) -> io::Result<()> {
    step()?;
    std::os::unix::fs::symlink(super::path::os(target), path)
}

/// Makes what stands for a link where there may be none: a file with its target, as git does.
#[cfg(not(unix))]
pub(super) fn make_link(path: &Path, target: &[u8]) -> io::Result<()> {
    make_file(path, Mode::Plain, None, |file| file.write_all(target))
}

/// Makes a file executable for whoever may read it, or for nobody.
#[cfg(unix)]
pub(super) fn set_executable(path: &Path, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    step()?;
    let mode = path.symlink_metadata()?.permissions().mode();
    let mode = if executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 };
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Nothing: no file says there whether it can be executed.
#[cfg(not(unix))]
pub(super) fn set_executable(_path: &Path, _executable: bool) -> io::Result<()> {
    step()
}

/// `done`, unless it failed in the way that does not matter.
fn unless(done: io::Result<()>, harmless: io::ErrorKind) -> io::Result<()> {
    done.or_else(|error| if error.kind() == harmless { Ok(()) } else { Err(error) })
}
