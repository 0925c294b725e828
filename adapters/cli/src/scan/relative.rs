//! Paths as the readers of a report find them.

use std::env;
use std::path::{Component, MAIN_SEPARATOR, Path};

use unstuck_report::shown::plain;

/// Returns `path` as others find the file: relative to the current folder if it is in it, with forward slashes.
pub(super) fn relative(path: &str) -> String {
    let here = env::current_dir().unwrap_or_default();
    relative_to(&here, path)
}

fn relative_to(here: &Path, path: &str) -> String {
    let given = Path::new(path);
    let inside = given.strip_prefix(here).unwrap_or(given);
    let parts = inside.components().filter(|part| *part != Component::CurDir);
    let joined: std::path::PathBuf = parts.collect();
    plain(&joined.display().to_string().replace(MAIN_SEPARATOR, "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_and_short() {
        let here = Path::new("/home/me/project");
        for (path, expected) in [
            ("runs/a.jsonl", "runs/a.jsonl"),
            ("./runs//a.jsonl", "runs/a.jsonl"),
            ("../b.jsonl", "../b.jsonl"),
            ("/home/me/project/runs/a.jsonl", "runs/a.jsonl"),
            ("/home/me/projects/a.jsonl", "/home/me/projects/a.jsonl"),
            ("-", "-"),
            ("a\u{1b}[31m\nb", "a\u{FFFD}[31m b"),
        ] {
            assert_eq!(relative_to(here, path), expected);
        }
    }
}
