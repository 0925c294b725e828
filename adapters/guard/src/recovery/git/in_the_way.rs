//! What git does not list, but stands where a file has to go: it is kept, too.

use std::fs;
use std::path::PathBuf;

use super::error::GitError;
use super::path::{bytes, path};
use super::place::Place;
use super::snapshot::{Listed, Seen, look};

/// Adds to `listed` all that has to go before there can be a file `name`: what is ignored, since
/// what is listed is there already.
pub(super) fn add(place: &Place, name: &[u8], listed: &mut Listed) -> Result<(), GitError> {
    match look(&place.top, name)? {
        Seen::Nothing => Ok(()),
        Seen::File(mode) => {
            listed.files.entry(name.to_owned()).or_insert(mode);
            Ok(())
        }
        Seen::Folder => folder(place, name, listed),
        Seen::Other => Err(other(name)),
        Seen::Blocked(parent) => match look(&place.top, parent)? {
            Seen::File(mode) => {
                listed.files.entry(parent.to_owned()).or_insert(mode);
                Ok(())
            }
            Seen::Other => Err(other(parent)),
            // It is gone by now.
            Seen::Nothing | Seen::Folder | Seen::Blocked(_) => Ok(()),
        },
    }
}

/// Adds all that is in a folder, however deep.
fn folder(place: &Place, name: &[u8], listed: &mut Listed) -> Result<(), GitError> {
    let mut folders = vec![path(name)];
    while let Some(folder) = folders.pop() {
        for entry in entries(place, &folder)? {
            if entry.file_name().is_some_and(|name| name == ".git") {
                let what = "a repository of its own";
                return Err(GitError::InTheWay { path: folder, what });
            }
            let entry_name = bytes(&entry);
            match look(&place.top, &entry_name)? {
                Seen::File(mode) => {
                    listed.files.entry(entry_name).or_insert(mode);
                }
                Seen::Folder => folders.push(entry),
                Seen::Other => return Err(other(&entry_name)),
                Seen::Nothing | Seen::Blocked(_) => {}
            }
        }
    }
    Ok(())
}

/// What is in a folder, by the paths from the top of the work tree.
pub(super) fn entries(place: &Place, folder: &std::path::Path) -> Result<Vec<PathBuf>, GitError> {
    let wrong = |error| GitError::Disk { path: folder.to_owned(), error };
    let mut entries = Vec::new();
    for entry in fs::read_dir(place.top.join(folder)).map_err(wrong)? {
        entries.push(folder.join(entry.map_err(wrong)?.file_name()));
    }
    Ok(entries)
}

fn other(name: &[u8]) -> GitError {
    GitError::InTheWay { path: path(name), what: "neither a file nor a folder nor a link" }
}
