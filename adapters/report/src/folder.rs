//! Paths as the readers of a report find them.

use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

use crate::shown::plain;

/// The folder in which the readers of a report are.
#[derive(Clone, Debug, Default)]
pub struct Folder(PathBuf);

impl Folder {
    /// Names the folder.
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Returns `path` as others find the file: relative to the folder if it is in it, with forward slashes.
    pub(crate) fn relative(&self, path: &str) -> String {
        let given = Path::new(path);
        let inside = given.strip_prefix(&self.0).unwrap_or(given);
        let parts = inside.components().filter(|part| *part != Component::CurDir);
        let joined: PathBuf = parts.collect();
        plain(&joined.display().to_string().replace(MAIN_SEPARATOR, "/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_and_short() {
        let here = Folder::new("/home/me/project".into());
        for (path, expected) in [
            ("runs/a.jsonl", "runs/a.jsonl"),
            ("./runs//a.jsonl", "runs/a.jsonl"),
            ("../b.jsonl", "../b.jsonl"),
            ("/home/me/project/runs/a.jsonl", "runs/a.jsonl"),
            ("/home/me/projects/a.jsonl", "/home/me/projects/a.jsonl"),
            ("-", "-"),
            ("a\u{1b}[31m\nb", "a\u{FFFD}[31m b"),
        ] {
            assert_eq!(here.relative(path), expected);
        }
    }
}
