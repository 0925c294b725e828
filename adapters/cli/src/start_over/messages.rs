//! The messages of `unstuck start-over`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::SystemTime;

use anstyle::Style;
use unstuck::{GitError, SavedState, WentBack};
use unstuck_report::json::Object;
use unstuck_report::shown::{counted, plain};

use super::{Change, newest};
use crate::time::millis;

/// The version of the output's format. A new field does not change it.
const SCHEMA: u32 = 1;

/// The digits of a commit id that are shown.
const DIGITS: usize = 12;

const STRONG: Style = Style::new().bold();

/// Describes an error, with the option that helps if there is one.
pub(super) fn error(error: &GitError) -> String {
    match error {
        GitError::AlreadyBegun { run } => {
            format!("the run {run} was begun before: give another name, or --again for a new start")
        }
        GitError::NoRun { run: None, .. } => {
            format!("{error}; to begin one: unstuck start-over begin")
        }
        GitError::Outside { folder, said } => {
            let what = format!("{} is not in a work tree of git", folder.display());
            // This is git's message if there is no repository at all.
            if said.starts_with("not a git repository") { what } else { format!("{what}: {said}") }
        }
        other => other.to_string(),
    }
}

/// Describes the start of a run.
pub(super) fn begun(start: &SavedState) -> String {
    format!(
        "The run {} begins here, with {}.\nSaved under {}; to go back to it:\n  unstuck start-over now --run {0}\n",
        start.run,
        checked_out(start.branch.as_deref(), start.head.as_deref()),
        start.reference
    )
}

/// Describes what happened to the work tree.
pub(super) fn went_back(went: &WentBack) -> String {
    let WentBack { to, reference, .. } = went;
    let place = match to.number {
        None => format!("at the start of {}, begun {}", to.run, ago(to.time)),
        Some(number) => format!("at number {number} of {}, kept {}", to.run, ago(to.time)),
    };
    if !went.is_change() && went.left.is_empty() {
        return format!(
            "Nothing has changed: the work tree is {place}. It was saved nevertheless, under \
             {reference}.\n"
        );
    }
    let files = match went.files() {
        files if files.is_empty() => "no file differs".to_owned(),
        files => files,
    };
    let mut text = format!("Back {place}: {files}.\n");
    // Writing to a string cannot fail.
    if went.has_moved() {
        let is = checked_out(to.branch.as_deref(), to.head.as_deref());
        let was = checked_out(went.branch.as_deref(), went.head.as_deref());
        let _ = writeln!(text, "Checked out again: {is}; before: {was}.");
    }
    if went.was_staged {
        text.push_str("The index was restored, too.\n");
    }
    let _ = writeln!(
        text,
        "The state before is saved under {reference}; to restore it:\n  \
         unstuck start-over restore {} --run {}",
        went.number, went.run,
    );
    if went.uncovered > 0 {
        let files = counted(went.uncovered, "file");
        let _ = writeln!(
            text,
            "Left alone: {files} that {} ignored until now",
            if went.uncovered == 1 { "was" } else { "were" }
        );
    }
    text.push_str(&named("Left as it is, because it was being changed", &went.left));
    text.push_str(&named("Left alone, a nested repository", &went.nested));
    text
}

/// Returns a line for each of `paths`.
fn named(what: &str, paths: &[PathBuf]) -> String {
    let line = |path: &PathBuf| format!("{what}: {}\n", plain(&path.display().to_string()));
    paths.iter().map(line).collect()
}

/// Lists the saved states for people, with the commands that show a `change`.
pub(super) fn list(saved: &[SavedState], change: Option<&Change<'_>>) -> String {
    if saved.is_empty() {
        return "No run was begun here; to begin one: unstuck start-over begin\n".to_owned();
    }
    let mut text = String::new();
    for one in saved {
        let elsewhere = if one.is_here { "" } else { ", in another work tree" };
        let when = ago(one.time);
        let what = checked_out(one.branch.as_deref(), one.head.as_deref());
        // Writing to a string cannot fail.
        let _ = match one.number {
            None => writeln!(
                text,
                "{STRONG}{}{STRONG:#}  begun {when}{elsewhere}, with {what}",
                one.run
            ),
            Some(number) => writeln!(text, "  {number}  kept {when}, with {what}"),
        };
    }
    if let Some(Change { start, end }) = change {
        let (start, end) = (&start.reference, &end.reference);
        let _ = writeln!(text, "To see the changes:\n  git diff {start} {end}");
    }
    if let Some(SavedState { run, .. }) = newest(saved) {
        let _ = writeln!(
            text,
            "To delete {run}:\n  git for-each-ref --format='delete %(refname)' \
             refs/unstuck/{run}/ | git update-ref --stdin"
        );
    }
    text
}

/// Lists the saved states for programs. The start of a run has no number, times are in seconds since 1970, and those that
/// are here belong to the work tree that was asked for.
pub(super) fn lines(saved: &[SavedState]) -> String {
    let line = |one: &SavedState| {
        Object::default()
            .with("schema", SCHEMA)
            .with("run", &one.run)
            .with("number", one.number)
            .with("ref", &one.reference)
            .with("commit", &one.commit)
            .with("time", millis(one.time) / 1000)
            .with("branch", &one.branch)
            .with("head", &one.head)
            .with("here", one.is_here)
            .line()
    };
    saved.iter().map(line).collect()
}

/// Describes what is checked out, for example "main at 0123456789ab".
fn checked_out(branch: Option<&str>, head: Option<&str>) -> String {
    let commit = head.map(|id| id.get(..DIGITS).unwrap_or(id));
    match (branch.map(plain), commit) {
        (Some(branch), Some(commit)) => format!("{branch} at {commit}"),
        (Some(branch), None) => format!("{branch} without a commit"),
        (None, Some(commit)) => format!("no branch, at {commit}"),
        (None, None) => "nothing".to_owned(),
    }
}

/// Describes the time since `time`. A clock that was set back gives "just now".
fn ago(time: SystemTime) -> String {
    age(time.elapsed().unwrap_or_default().as_secs())
}

/// Describes a number of seconds in the largest unit that is at least one.
fn age(seconds: u64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let fits = units.into_iter().find(|&(unit, _)| seconds >= unit);
    let age = fits.map(|(unit, name)| format!("{} ago", counted(seconds / unit, name)));
    age.unwrap_or_else(|| "just now".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_the_largest_whole_unit() {
        for (seconds, expected) in [
            (0, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (7_150, "1 hour ago"),
            (172_830, "2 days ago"),
        ] {
            assert_eq!(age(seconds), expected);
        }
    }

    #[test]
    fn the_checkout_is_a_branch_a_commit_or_both() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(checked_out(Some("main"), Some(id)), "main at 0123456789ab");
        assert_eq!(checked_out(Some("a\u{202e}b"), None), "a\u{fffd}b without a commit");
        assert_eq!(checked_out(None, Some("01")), "no branch, at 01");
    }
}
