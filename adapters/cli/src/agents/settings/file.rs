//! The file of an agent's settings: reading it, backing it up and replacing it atomically.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::output::Replacement;

/// The suffix of a backup's file name.
const BACKUP: &str = ".unstuck-backup";

/// The largest number of backups of one file, each with a different content.
const COPIES_MAX: usize = 99;

/// The largest number of symbolic links to follow, like the limit of the operating system.
const LINKS_MAX: usize = 40;

/// The settings in a file.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The path that the agent opens.
    pub(crate) path: PathBuf,
    /// The file itself, if `path` is a symbolic link.
    target: PathBuf,
    /// The content, or `None` if the file does not exist.
    pub(crate) text: Option<String>,
}

impl Settings {
    /// Reads the file `path`. The error completes a sentence that begins with the path.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let target = target(path);
        let text = match fs::read(&target) {
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|error| {
                let byte = error.utf8_error().valid_up_to() + 1;
                format!("not UTF-8 at byte {byte}: expected JSON")
            })?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) if target.is_dir() => return Err("is a folder: expected a file".to_owned()),
            Err(error) => return Err(format!("cannot be read: {error}")),
        };
        Ok(Self { path: path.to_owned(), target, text })
    }

    /// Writes `text`, and returns the path of a new backup. Returns `None` if the file did not exist or
    /// already had a backup with this content.
    pub(crate) fn replace(&self, text: &str) -> Result<Option<PathBuf>, String> {
        self.write(text, |permissions| self.back_up(permissions))
    }

    /// Writes `text` without a backup, for a change that only touches what this program wrote.
    pub(crate) fn update(&self, text: &str) -> Result<(), String> {
        self.write(text, |_| Ok(()))
    }

    /// Removes the backups that hold `text`, which the settings now hold themselves.
    pub(crate) fn forget(&self, text: &str) -> Result<(), String> {
        let cannot = |error| format!("is changed, but its backup cannot be removed: {error}");
        let mut useless = self.copies().filter(|copy| copy.text == text);
        useless.try_for_each(|copy| fs::remove_file(copy.path)).map_err(cannot)
    }

    /// Removes the file, which this program has created. Removes the folders around it, too, if they are
    /// below `base` and empty.
    pub(crate) fn remove(&self, base: &Path) -> Result<(), String> {
        fs::remove_file(&self.target).map_err(|error| format!("cannot be removed: {error}"))?;
        let around = self.path.ancestors().skip(1);
        let mut made = around.take_while(|around| around.starts_with(base) && *around != base);
        // A folder that is not empty stays, and so do those around it.
        let _ = made.try_for_each(fs::remove_dir);
        Ok(())
    }

    /// Returns the backups, the oldest first.
    pub(crate) fn copies(&self) -> impl Iterator<Item = Copy> {
        (1..=COPIES_MAX).filter_map(|n| {
            let path = self.copy(n);
            let text = fs::read_to_string(&path).ok()?;
            Some(Copy { path, text })
        })
    }

    /// Replaces the file by `text`, after `keep` has saved the old content.
    fn write<T>(
        &self,
        text: &str,
        keep: impl FnOnce(Option<&Permissions>) -> io::Result<T>,
    ) -> Result<T, String> {
        let cannot = |error: io::Error| format!("cannot be written: {error}");
        let folder = self.target.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(cannot)?;
        let permissions = match fs::metadata(&self.target) {
            Ok(file) if file.permissions().readonly() => {
                return Err("is read-only: make it writable, and try again".to_owned());
            }
            Ok(file) => Some(file.permissions()),
            Err(_) => None,
        };
        let new = Replacement::of(&self.target).and_then(|new| new.write(text)).map_err(cannot)?;
        let kept = keep(permissions.as_ref()).map_err(cannot)?;
        if Self::read(&self.path)?.text != self.text {
            return Err("was changed by another program meanwhile: try again".to_owned());
        }
        new.commit().map_err(cannot)?;
        Ok(kept)
    }

    /// Returns the path of the `n`th backup.
    fn copy(&self, n: usize) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(BACKUP);
        if n > 1 {
            name.push(format!(".{n}"));
        }
        name.into()
    }

    /// Writes a backup, unless one with the same content exists. A backup is never overwritten.
    fn back_up(&self, permissions: Option<&Permissions>) -> io::Result<Option<PathBuf>> {
        let Some(text) = &self.text else { return Ok(None) };
        if self.copies().any(|copy| copy.text == *text) {
            return Ok(None);
        }
        for path in (1..=COPIES_MAX).map(|n| self.copy(n)) {
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return fill(file, text, permissions).map(|()| Some(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        let what = format!("it has {COPIES_MAX} backups already, *{BACKUP}*: remove some");
        Err(io::Error::other(what))
    }
}

/// A backup of earlier content.
#[derive(Debug)]
pub(crate) struct Copy {
    path: PathBuf,
    pub(crate) text: String,
}

/// Follows symbolic links from `path`. The target need not exist.
fn target(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(next) = fs::read_link(&target) else { break };
        target = target.parent().map_or(next.clone(), |folder| folder.join(&next));
    }
    target
}

/// Writes `text` to `file` and syncs it to disk.
fn fill(mut file: File, text: &str, permissions: Option<&Permissions>) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions.clone())?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a file of settings.
    fn settings(text: &str) -> (tempfile::TempDir, PathBuf, Settings) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("settings.json");
        fs::write(&path, text).expect("a file");
        let settings = Settings::read(&path).expect("settings");
        (folder, path, settings)
    }

    fn files(folder: &tempfile::TempDir) -> usize {
        fs::read_dir(folder).expect("a folder").count()
    }

    #[test]
    fn a_change_by_another_program_is_not_overwritten() {
        let (folder, path, settings) = settings("{}");
        fs::write(&path, "{\"theirs\": 1}").expect("a file");
        let refused = settings.replace("{\"ours\": 1}").expect_err("a change");
        assert!(refused.contains("try again"), "{refused}");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "{\"theirs\": 1}");
        // The file and its backup.
        assert_eq!(files(&folder), 2);
    }

    #[test]
    fn no_backup_is_overwritten_or_written_twice() {
        let (folder, path, _) = settings("0");
        for n in 1..=COPIES_MAX {
            let settings = Settings::read(&path).expect("settings");
            assert_eq!(settings.replace(&n.to_string()), Ok(Some(settings.copy(n))));
        }
        let settings = Settings::read(&path).expect("settings");
        assert!(settings.replace("new").expect_err("too many").contains("remove some"));
        assert_eq!(files(&folder), COPIES_MAX + 1);
        let texts: Vec<_> = settings.copies().map(|copy| copy.text).collect();
        assert!(texts.into_iter().eq((0..COPIES_MAX).map(|n| n.to_string())));

        fs::write(&path, "7").expect("a file");
        assert_eq!(Settings::read(&path).expect("settings").replace("8"), Ok(None));
    }
}
