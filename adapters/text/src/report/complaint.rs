//! Lines in which a tool says that it could not do what it was asked.

use super::line::{BUFFER, is_log_entry, plain};
use crate::find;

/// What such a line opens with, by the tools that put it there: git, compilers and many others.
const OPENINGS: [&str; 8] = [
    "fatal: ",
    "error: ",
    "Error: ",
    "ERROR: ",
    "npm ERR! ",
    "npm error ",
    "Exception in thread \"",
    "Error executing ",
];

/// Shells, whatever they say before a colon.
const SHELLS: [&str; 7] = ["bash", "sh", "zsh", "dash", "/bin/sh", "/bin/bash", "-bash"];

/// What the system, or the shell, says of a name or a file. A broken pipe is not among it: that is
/// how `head` ends what it has read enough of.
const REASONS: [&str; 11] = [
    "No such file or directory",
    "Permission denied",
    "Is a directory",
    "Not a directory",
    "Directory not empty",
    "File exists",
    "Operation not permitted",
    "Read-only file system",
    "No space left on device",
    "Connection refused",
    "command not found",
];

/// What a tool begins to say when it cannot, or does not understand.
const REFUSALS: [&str; 13] = [
    "cannot access ",
    "cannot create ",
    "cannot open ",
    "cannot remove ",
    "cannot stat ",
    "can't open ",
    "missing operand",
    "missing argument to ",
    "option requires an argument",
    "invalid option -- ",
    "unrecognized option ",
    "No module named ",
    "command not found: ",
];

/// Whether `result` begins or ends with a complaint that is no entry of a log. O(n).
pub(crate) fn complains(result: &str) -> bool {
    let (told, is_full) = (result.trim_end(), |line: &&str| !line.trim().is_empty());
    is_own(find::lines(told).filter(is_full))
        || is_own(find::lines_back(told).filter(is_full))
        || is_node_crash(result)
}

/// Whether the first of `lines` is a complaint, and the one beside it no entry of a log.
fn is_own<'a>(mut lines: impl Iterator<Item = &'a str>) -> bool {
    let is_complaint = lines.next().is_some_and(is_complaint);
    is_complaint && !lines.next().is_some_and(is_log_entry)
}

/// Whether `result` ends as Node.js does when it crashes.
fn is_node_crash(result: &str) -> bool {
    let last = find::lines_back(result.trim_end()).next();
    let version = last.and_then(|line| line.strip_prefix("Node.js v"));
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether `line` is a complaint, by its shape.
fn is_complaint(line: &str) -> bool {
    let mut buffer = BUFFER;
    let line = plain(line, &mut buffer);
    !line.ends_with([';', ',', '{', '('])
        && (is_opened(line) || is_error_type(line) || is_of_tool(line))
}

/// Whether `line` opens as many tools do, and goes on in words: `error: true` is a setting.
fn is_opened(line: &str) -> bool {
    let message = OPENINGS.iter().find_map(|opening| line.strip_prefix(opening));
    line.starts_with("Command timed out")
        || message.is_some_and(|message| message.trim().contains(' '))
}

/// Whether `line` is an exception with its message: `SyntaxError: invalid syntax`.
fn is_error_type(line: &str) -> bool {
    let name = find::split_once(line, ": ").map_or(line, |(name, _)| name);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !name.contains(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_')));
    let class = find::rsplit_once(name, ".").map_or(name, |(_, class)| class);
    let is_class = class.starts_with(|c: char| c.is_ascii_uppercase())
        && (class.ends_with("Error") || class.ends_with("Exception"))
        && !matches!(class, "Error" | "Exception");
    is_name && is_class && name.len() < line.len()
}

/// Whether `line` is a tool's name and what it says: `cat: a.txt: No such file or directory`.
fn is_of_tool(line: &str) -> bool {
    let Some((tool, message)) = find::split_once(line, ": ") else { return false };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-' | '+');
    if tool.is_empty() || tool.contains(|c| !is_name(c)) {
        return false;
    }
    let is_told = |reason: &&str| {
        let before = message.strip_suffix(*reason);
        before.is_some_and(|before| before.is_empty() || before.ends_with([' ', ':']))
    };
    SHELLS.contains(&tool) && find::contains(message, ": ")
        || tool.starts_with("make") && message.starts_with("*** ")
        || REASONS.iter().any(is_told)
        || REFUSALS.iter().any(|refusal| message.starts_with(refusal))
}
