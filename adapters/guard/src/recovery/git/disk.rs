//! The changes of the work tree, step by step. No step overwrites a file.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use super::snapshot::Mode;

/// Marks a step, at which a test can break off. Otherwise it always succeeds.
#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "in tests it breaks off")]
pub(super) fn step() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) use super::tests::step;

/// Moves the file `path` to an unused name in the same folder, and returns that. A process that writes to
/// `path` from now on does not change the file that is compared.
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

/// Gives the file at `held` its name back. If another process has taken the name, the file stays where it
/// is.
pub(super) fn release(held: &Path, path: &Path) -> io::Result<()> {
    step()?;
    // Unlike a rename, a hard link never replaces a file.
    if fs::hard_link(held, path).is_ok() {
        step()?;
        return fs::remove_file(held);
    }
    // Folders have no hard links, and some file systems do not support them.
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(held, path),
        _ => Ok(()),
    }
}

/// Removes a file or a link. It is no error if it is gone already.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    step()?;
    unless(fs::remove_file(path), io::ErrorKind::NotFound)
}

/// Removes a folder if it is empty. Returns whether it was.
pub(super) fn remove_folder(path: &Path) -> io::Result<bool> {
    step()?;
    Ok(fs::remove_dir(path).is_ok())
}

/// Makes a folder in an existing one.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    step()?;
    unless(fs::create_dir(path), io::ErrorKind::AlreadyExists)
}

/// Makes a new file and fills it by `write`. The file gets the permissions `like`, so that a secret stays
/// one.
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

/// A file for which each write is a step.
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

/// Makes a new link.
#[cfg(unix)]
pub(super) fn make_link(path: &Path, target: &[u8]) -> io::Result<()> {
    step()?;
    std::os::unix::fs::symlink(super::path::os(target), path)
}

/// Makes a file with the target of the link, as git does on systems without links.
#[cfg(not(unix))]
pub(super) fn make_link(path: &Path, target: &[u8]) -> io::Result<()> {
    make_file(path, Mode::Plain, None, |file| file.write_all(target))
}

/// Makes a file executable for all who may read it, or for no user.
#[cfg(unix)]
pub(super) fn set_executable(path: &Path, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    step()?;
    let mode = path.symlink_metadata()?.permissions().mode();
    let mode = if executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 };
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Does nothing: on this system files have no such permission.
#[cfg(not(unix))]
pub(super) fn set_executable(_path: &Path, _executable: bool) -> io::Result<()> {
    step()
}

/// Returns `done`, but takes the `harmless` error for a success.
fn unless(done: io::Result<()>, harmless: io::ErrorKind) -> io::Result<()> {
    done.or_else(|error| if error.kind() == harmless { Ok(()) } else { Err(error) })
}
