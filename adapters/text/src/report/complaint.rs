//! Lines in which a tool says that it could not do what it was asked.

use super::line::{BUFFER, is_log_entry, plain};
use super::object::{self, Status};
use super::phrases;
use super::refusal::{says_refused, untagged};
use super::timeout::says_timed_out;
use crate::find;
use crate::said;
use crate::words::{Phrases, after, phrases, starts_with_any};

/// Labels at the start of an error line, from git, compilers and many other tools.
const OPENINGS: [&str; 21] = [
    "fatal: ",
    "fatal error: ",
    "Fatal error: ",
    "FATAL: ",
    "error: ",
    "error[",
    "Error: ",
    "ERROR: ",
    "(error) ",
    "abort: ",
    "panic: ",
    "API Error: ",
    "MCP error ",
    "Tool error: ",
    "PHP Fatal error: ",
    "Uncaught ",
    "E: ",
    "npm ERR! ",
    "npm error ",
    "Exception in thread \"",
    "Error executing ",
];

/// Sentences of the tools of agents, which may quote a file behind them.
const AGENTS: [&str; 9] = [
    "Command aborted",
    "Command timed out",
    "EXECUTION TIMED OUT",
    "File does not exist.",
    "No replacement was performed",
    "String to replace not found",
    "Your proposed edit has introduced ",
    "apply_patch verification failed",
    "old_string not found",
];

/// Words of a last line that says that all went well.
static GOOD_ENDS: Phrases = phrases!(["succe", "done"]);

/// The longest result that is taken for a sentence in free words, in bytes and in lines.
const SHORT_MAX: usize = 1024;

/// The most lines of such a result.
const LINES_MAX: usize = 12;

/// Shells, whatever they say before a colon.
const SHELLS: [&str; 7] = ["bash", "sh", "zsh", "dash", "/bin/sh", "/bin/bash", "-bash"];

/// Messages of the system or the shell about a name or a file. A broken pipe is not included,
/// because `head` ends its input that way.
const REASONS: [&str; 21] = [
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
    "Connection reset by peer",
    "Connection timed out",
    "Device or resource busy",
    "Input/output error",
    "Name or service not known",
    "Network is unreachable",
    "No route to host",
    "Temporary failure in name resolution",
    "Text file busy",
    "Too many open files",
];

/// Openings of messages by tools that cannot do or do not understand something.
const REFUSALS: [&str; 21] = [
    "Error is not recoverable",
    "Exiting with failure status",
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
    "error: ",
    "fatal error: ",
    "illegal option -- ",
    "extra operand ",
    "unknown predicate ",
    "cannot overwrite ",
];

/// Returns whether `result` starts or ends with a complaint that is not an entry of a log. O(n).
pub(crate) fn complains(result: &str) -> bool {
    let text = result.trim_end();
    // A clock before a later line makes it the entry of a log: not what the call says, but what it shows.
    let opens = || is_own(full(said::lines(text)), is_complaint) || is_sentence(text);
    !goes_on(text) && opens()
        || is_own(full(find::lines_back(text)), is_complaint)
        || is_node_crash(result)
}

/// The shortest output behind a complaint of the shell that shows that the script went on, in bytes.
const OUTPUT_MIN: usize = 100;

/// Returns whether the shell complains about one line of a script, or of its profile, and goes on.
fn goes_on(result: &str) -> bool {
    let (line, output) = find::split_once(result, "\n").unwrap_or((result, ""));
    let shell = find::split_once(line, ": line ").map(|(shell, _)| shell);
    output.len() >= OUTPUT_MIN && shell.is_some_and(|shell| shell.ends_with("sh"))
}

/// Returns whether the first or the last line of `result` reports a time-out. O(length of the two
/// lines).
pub(crate) fn times_out(result: &str, status: Status<'_>) -> bool {
    let text = result.trim_end();
    is_own(full(find::lines(text)), shown_timed_out)
        || is_own(full(find::lines_back(text)), shown_timed_out)
        || status.message.is_some_and(says_timed_out)
}

/// Returns whether `line` reports a time-out as a terminal shows it.
fn shown_timed_out(line: &str) -> bool {
    let mut buffer = BUFFER;
    says_timed_out(untagged(plain(line, &mut buffer)))
}

/// Returns whether the first line of `result` says that the call failed. O(length of that line).
///
/// This is the question to ask about a tool that writes: behind its first line, the result may quote
/// the file.
///
/// ```
/// use unstuck_text::opens_with_complaint;
///
/// assert!(opens_with_complaint("String to replace not found in file.\nString: let x = 1;"));
/// assert!(!opens_with_complaint("The file a.log has been updated:\nerror: no such command"));
/// ```
pub fn opens_with_complaint(result: &str) -> bool {
    let Some(line) = full(find::lines(result)).next() else { return false };
    let mut buffer = BUFFER;
    is_complaint(line)
        || says_refused(untagged(line.trim()))
        || says_timed_out(untagged(line))
        || phrases::is_sentence(plain(untagged(line), &mut buffer))
        || object::read(result).failed == Some(true)
        || is_usage(result) && full(find::lines(result)).nth(1).is_none()
}

/// The lines that show anything.
fn full<'t>(lines: impl Iterator<Item = &'t str> + Clone) -> impl Iterator<Item = &'t str> + Clone {
    lines.filter(|line| !line.trim().is_empty())
}

/// Returns whether the first of `lines` is a complaint and the line beside it is not an entry of a
/// log.
fn is_own<'a>(mut lines: impl Iterator<Item = &'a str>, complains: fn(&str) -> bool) -> bool {
    let is_complaint = lines.next().is_some_and(complains);
    is_complaint && !lines.next().is_some_and(is_log_entry)
}

/// Returns whether `result` is short, starts with a complaint in free words, and does not take it
/// back at its end.
fn is_sentence(result: &str) -> bool {
    let mut lines = full(find::lines(result)).take(LINES_MAX + 1);
    let Some(first) = lines.next() else { return false };
    let count = lines.clone().count();
    if result.len() > SHORT_MAX || count >= LINES_MAX {
        return false;
    }
    let last = lines.clone().last().unwrap_or_default();
    let is_alone = count == 0;
    let mut buffer = BUFFER;
    let shown = plain(first, &mut buffer);
    if is_of_diff(shown) {
        return false;
    }
    (phrases::is_sentence(shown) && (is_alone || !phrases::is_heading(shown))
        || is_short_error(shown) && is_alone
        || is_usage(result))
        && !GOOD_ENDS.are_in(last)
        && !lines.next().is_some_and(is_log_entry)
}

/// Returns whether `line` is an error in one word, for example `Error: ENOENT`. A value would be a
/// setting.
fn is_short_error(line: &str) -> bool {
    let message =
        ["Error: ", "ERROR: ", "error: "].iter().find_map(|start| line.strip_prefix(start));
    message.is_some_and(|message| {
        let word = message.trim();
        word.len() > 2
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
            && word.starts_with(|c: char| c.is_ascii_alphabetic())
            && !["true", "false", "null", "none", "nil", "undefined"]
                .iter()
                .any(|value| value.eq_ignore_ascii_case(word))
    })
}

/// Returns whether `result` is a note on the usage of a command. The whole help does not count,
/// because the agent may have asked for it.
fn is_usage(result: &str) -> bool {
    const SECTIONS: [&str; 7] =
        ["options:", "commands:", "arguments:", "flags:", "examples:", "-h, --help", "--help "];
    let mut lines = full(find::lines(result));
    let opens = lines
        .next()
        .is_some_and(|line| after(line, "usage: ").is_some() && !line.ends_with([',', ';']));
    opens && !lines.any(|line| starts_with_any(line.trim_start(), &SECTIONS))
}

/// Returns whether `result` ends as Node.js does when it crashes.
fn is_node_crash(result: &str) -> bool {
    let last = find::lines_back(result.trim_end()).next();
    let version = last.and_then(|line| line.strip_prefix("Node.js v"));
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns whether `line` is a complaint, by its shape.
pub(super) fn is_complaint(line: &str) -> bool {
    let mut buffer = BUFFER;
    let line = plain(line, &mut buffer);
    if is_of_diff(line) {
        return false;
    }
    let inner = untagged(line);
    inner.len() < line.len()
        || !line.ends_with([';', ',', '{', '('])
            && (is_opened(line)
                || is_error_type(line)
                || is_errno(line)
                || is_of_tool(line)
                || is_unmatched(line))
}

/// Returns whether `line` was added or removed in a diff. `-bash: x: not found` comes from a login
/// shell and is not a diff.
fn is_of_diff(line: &str) -> bool {
    let Some(rest) = line.strip_prefix(['+', '-']) else { return false };
    let is_shell =
        |shell: &&str| rest.strip_prefix(*shell).is_some_and(|rest| rest.starts_with(':'));
    !SHELLS.iter().any(is_shell)
}

/// Returns whether `line` starts as error lines of many tools do, and continues in words. `error:
/// true` is a setting.
fn is_opened(line: &str) -> bool {
    let message = OPENINGS.iter().find_map(|opening| line.strip_prefix(opening));
    AGENTS.iter().any(|sentence| line.starts_with(sentence))
        || message.is_some_and(|message| message.trim().contains(' '))
}

/// Returns whether `line` is an exception with its message: `SyntaxError: invalid syntax`.
pub(super) fn is_error_type(line: &str) -> bool {
    let name = find::split_once(line, ": ").map_or(line, |(name, _)| name);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !name.contains(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_')));
    let class = find::rsplit_once(name, ".").map_or(name, |(_, class)| class);
    let is_class = class.starts_with(|c: char| c.is_ascii_uppercase())
        && (class.ends_with("Error") || class.ends_with("Exception"))
        && !matches!(class, "Error" | "Exception");
    is_name && is_class && name.len() < line.len()
}

/// Returns whether `line` opens with the name of an error of the system: `ENOENT: no such file or
/// directory`.
fn is_errno(line: &str) -> bool {
    let Some((name, message)) = find::split_once(line, ": ") else { return false };
    let is_name = name.len() > 3
        && name.starts_with('E')
        && name != "ERROR"
        && name.bytes().all(|byte| byte.is_ascii_uppercase());
    is_name && message.trim().contains(' ')
}

/// Returns whether `line` is zsh's message about a pattern without matches.
fn is_unmatched(line: &str) -> bool {
    (line.starts_with("zsh:") || line.starts_with("(eval):"))
        && find::contains(line, ": no matches found: ")
}

/// Returns whether `line` is a tool's name and its message: `cat: a.txt: No such file or
/// directory`.
fn is_of_tool(line: &str) -> bool {
    let Some((tool, message)) = find::split_once(line, ": ") else { return false };
    let is_name =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-' | '+' | '*');
    if tool.is_empty() || tool.contains(|c| !is_name(c)) {
        return false;
    }
    let said = find::rsplit_once(message, " (os error ").map_or(message, |(said, _)| said);
    let said = said.trim_end_matches(')');
    let is_given = |reason: &&str| {
        let before = said.strip_suffix(*reason);
        before.is_some_and(|before| before.is_empty() || before.ends_with([' ', ':', '(']))
    };
    tool == "curl" && message.starts_with('(')
        || SHELLS.contains(&tool) && find::contains(message, ": ")
        || tool.starts_with("make") && message.starts_with("*** ")
        || REASONS.iter().any(is_given)
        || REFUSALS.iter().any(|refusal| message.starts_with(refusal))
}
