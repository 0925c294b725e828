//! Files that git does not list, but that stand where a file has to go. They are saved, too.

use std::fs;
use std::path::PathBuf;

use super::error::GitError;
use super::path::{bytes, path};
use super::snapshot::{Listed, PathState, path_state};
use super::work_tree::WorkTree;

/// Adds to `listed` the ignored files that have to be removed before there can be a file `name`.
pub(super) fn add(place: &WorkTree, name: &[u8], listed: &mut Listed) -> Result<(), GitError> {
    match path_state(&place.top, name)? {
        PathState::Nothing => Ok(()),
        PathState::File(mode) => {
            listed.files.entry(name.to_owned()).or_insert(mode);
            Ok(())
        }
        PathState::Folder => folder(place, name, listed),
        PathState::Other => Err(other(name)),
        PathState::Blocked(parent) => match path_state(&place.top, parent)? {
            PathState::File(mode) => {
                listed.files.entry(parent.to_owned()).or_insert(mode);
                Ok(())
            }
            PathState::Other => Err(other(parent)),
            // It is gone meanwhile.
            PathState::Nothing | PathState::Folder | PathState::Blocked(_) => Ok(()),
        },
    }
}

/// Adds all files in a folder and in the folders below it.
fn folder(place: &WorkTree, name: &[u8], listed: &mut Listed) -> Result<(), GitError> {
    let mut folders = vec![path(name)];
    while let Some(folder) = folders.pop() {
        for entry in entries(place, &folder)? {
            if entry.file_name().is_some_and(|name| name == ".git") {
                let what = "a repository of its own";
                return Err(GitError::InTheWay { path: folder, what });
            }
            let entry_name = bytes(&entry);
            match path_state(&place.top, &entry_name)? {
                PathState::File(mode) => {
                    listed.files.entry(entry_name).or_insert(mode);
                }
                PathState::Folder => folders.push(entry),
                PathState::Other => return Err(other(&entry_name)),
                PathState::Nothing | PathState::Blocked(_) => {}
            }
        }
    }
    Ok(())
}

/// Returns the entries of a folder, as paths from the top of the work tree.
pub(super) fn entries(
    place: &WorkTree,
    folder: &std::path::Path,
) -> Result<Vec<PathBuf>, GitError> {
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
