//! Finds the latest saved state whose files differ from the start of its run.

use std::path::Path;
use std::process::{Command, Stdio};

use unstuck::SavedState;

/// The environment variables that would lead git to another repository.
const SURROUNDINGS: [&str; 4] =
    ["GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"];

/// The start of a run, and its latest state with other files.
pub(super) struct Change<'k> {
    pub(super) start: &'k SavedState,
    pub(super) end: &'k SavedState,
}

impl<'k> Change<'k> {
    /// Returns the change in the latest run, or `None` if there is none or if git fails.
    pub(super) fn latest(folder: &Path, saved: &'k [SavedState]) -> Option<Self> {
        let start = newest(saved)?;
        let ends: Vec<_> =
            saved.iter().filter(|one| one.run == start.run && one.number.is_some()).collect();
        let commits = [start].into_iter().chain(ends.iter().copied());
        let trees = trees(folder, commits.map(|one| &*one.commit))?;
        let (first, others) = trees.split_first()?;
        let end = ends.into_iter().zip(others).rfind(|(_, tree)| *tree != first)?.0;
        Some(Self { start, end })
    }
}

/// Returns the start of the latest run.
pub(super) fn newest(saved: &[SavedState]) -> Option<&SavedState> {
    saved.iter().filter(|one| one.number.is_none()).max_by_key(|one| one.time)
}

/// Returns the tree of each of these commits.
fn trees<'c>(folder: &Path, commits: impl Iterator<Item = &'c str>) -> Option<Vec<String>> {
    let mut git = Command::new("git");
    for variable in SURROUNDINGS {
        git.env_remove(variable);
    }
    git.arg("-C").arg(folder).arg("rev-parse");
    git.args(commits.map(|commit| format!("{commit}^{{tree}}")));
    let output = git.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let trees = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| trees.lines().map(str::to_owned).collect())
}
