//! The rules of the repository that neither the compiler nor clippy checks.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::machine;
use crate::step::{Done, failed};

/// The folders that may stand at the top level.
const FOLDERS: &[&str] = &[
    ".agents",
    ".cargo",
    ".ci",
    ".claude-plugin",
    ".github",
    "adapters",
    "benches",
    "core",
    "fuzz",
    "xtask",
];

/// The largest file, in bytes. A larger one is an artefact and not a source.
const FILE_SIZE_MAX: u64 = 512 * 1024;

/// Finds tests and examples that do not run, or that pass on any panic.
const SKIPPED: &str = r"^[[:space:]]*(#\[(ignore|should_panic)[] (]|//[/!] *```(.*[, ])?(ignore|should_panic)([, ]|$))";

/// The day from which on [`mistitled`] holds for commits.
const TITLED_SINCE: &str = "2026-11-27T00:00Z";

/// The longest title of a commit, in characters.
const TITLE_MAX: usize = 60;

/// Checks the repository's own rules.
pub(crate) fn run() -> Done {
    let violations = check(machine::root())?;
    for violation in &violations {
        println!("{violation}");
    }
    let Some(first) = violations.first() else { return Ok(()) };
    failed(format!("{first} (and {} more)", violations.len() - 1))
}

/// Returns a line for each violation in the tree at `root`: the path, the line if there is one, what is
/// wrong and what would be right. The tree is every file that git tracks or would track.
fn check(root: &Path) -> io::Result<Vec<String>> {
    let paths = listed(root)?;
    let mut violations = foreign_folders(&paths);
    violations.extend(empty_folders(root)?);
    violations.extend(titles(root)?.lines().filter_map(mistitled));
    let skipped = git(root, &["grep", "--untracked", "-nE", SKIPPED, "--", "*.rs"])?;
    let rule = "make the test run, and check its result";
    violations.extend(skipped.lines().map(|line| format!("{line}: {rule}")));
    for path in paths {
        let file = root.join(&path);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
        let size = fs::metadata(&file).map_err(named)?.len();
        if size > FILE_SIZE_MAX {
            violations.push(format!("{path}: {size} bytes; a file has at most {FILE_SIZE_MAX}"));
        }
        if file.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&file).map_err(named)?;
            if !text.starts_with("//!") {
                let rule = "a source opens with `//!` and a sentence on its contents";
                violations.push(format!("{path}:1: {rule}"));
            }
        }
    }
    Ok(violations)
}

/// Returns the path of every file that git tracks or would track, sorted.
fn listed(root: &Path) -> io::Result<Vec<String>> {
    let text = git(root, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    // Git still lists a file that was removed but not staged.
    let paths = text.split_terminator('\0');
    let paths: BTreeSet<_> = paths.filter(|path| root.join(path).is_file()).collect();
    Ok(paths.into_iter().map(String::from).collect())
}

/// Returns the titles of new commits, one line each. A repository without commits has none.
fn titles(root: &Path) -> io::Result<String> {
    if git(root, &["rev-parse", "--verify", "HEAD"]).is_err() {
        return Ok(String::new());
    }
    git(root, &["log", &format!("--since={TITLED_SINCE}"), "--no-merges", "--format=%h %s"])
}

/// Returns what git prints.
fn git(root: &Path, args: &[&str]) -> io::Result<String> {
    let output = machine::program("git").current_dir(root).args(args).output()?;
    // `git grep` that finds nothing ends with 1, and an error with 128.
    if !matches!(output.status.code(), Some(0 | 1)) {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("git {}: {}", args.join(" "), why.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Finds a commit whose title has no area, or is too long. `line` has its hash and its title.
fn mistitled(line: &str) -> Option<String> {
    let (hash, title) = line.split_once(' ')?;
    let (area, what) = title.split_once(": ").unwrap_or_default();
    let is_well = !area.is_empty()
        && !area.contains(char::is_whitespace)
        && !what.trim().is_empty()
        && title.chars().count() <= TITLE_MAX;
    (!is_well).then(|| {
        format!("commit {hash}: `{title}`: a title is `area: …`, of at most {TITLE_MAX} characters")
    })
}

/// Finds folders at the top level that are not in [`FOLDERS`].
fn foreign_folders(paths: &[String]) -> Vec<String> {
    let folders = paths.iter().filter_map(|path| path.split_once('/'));
    let folders: BTreeSet<_> = folders.map(|(folder, _)| folder).collect();
    let foreign = folders.into_iter().filter(|folder| !FOLDERS.contains(folder));
    let rule = format!("the top level has only the folders {FOLDERS:?}");
    foreign.map(|folder| format!("{folder}: {rule}")).collect()
}

/// Finds empty folders at the top level. Git does not keep them, so a fresh clone lacks them.
fn empty_folders(root: &Path) -> io::Result<Vec<String>> {
    let mut violations = Vec::new();
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && fs::read_dir(entry.path())?.next().is_none() {
            let name = entry.file_name();
            violations.push(format!("{}: an empty folder; remove it", name.to_string_lossy()));
        }
    }
    Ok(violations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_has_an_area_and_is_short() {
        let longest = "a".repeat(TITLE_MAX - "core: ".len());
        for (title, is_well) in [
            ("core: forget the oldest loop first", true),
            (&format!("core: {longest}"), true),
            (&format!("core: {longest}é"), false),
            ("forget the oldest loop first", false),
            ("core:", false),
            ("two words: forget", false),
            (": forget", false),
            ("", false),
        ] {
            assert_eq!(mistitled(&format!("0a1b2c {title}")).is_none(), is_well, "{title}");
        }
    }
}
