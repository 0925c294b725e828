//! Lines in which a tool says that it could not do what it was asked.

use super::line::{is_log_entry, plain};
use super::object::{self, Status};
use super::refusal::{says_refused, untagged};
use super::sentence;
use super::timeout::says_timed_out;
use crate::body::Body;
use crate::find;
use crate::phrases::{after, starts_with_any};
use crate::words::complaint::{AGENTS, GOOD_ENDS, LABELS, MESSAGES, REASONS, SHELLS};

/// The longest result that is taken for a sentence in free words, in bytes.
const SHORT_MAX: usize = 1024;

/// The most lines of such a result.
const LINES_MAX: usize = 12;

/// Returns whether `body` starts or ends with a complaint that is not an entry of a log. O(n).
pub(crate) fn complains(body: &Body<'_>) -> bool {
    let Body { first, second, last, .. } = *body;
    let opens = || is_own(first, second, is_complaint) || is_sentence(body);
    let ends = |(line, before)| is_own(line, Some(before), is_complaint) || is_node_crash(line);
    !goes_on(body) && opens() || last.is_some_and(ends) || is_node_crash(first)
}

/// The shortest output behind a complaint of the shell that shows that the script went on, in bytes.
const OUTPUT_MIN: usize = 100;

/// Returns whether the shell complains about one line of a script, or of its profile, and goes on.
fn goes_on(body: &Body<'_>) -> bool {
    let shell = || find::split_once(body.first, ": line ").map(|(shell, _)| shell);
    body.text.len() >= body.first.len() + OUTPUT_MIN
        && shell().is_some_and(|shell| shell.ends_with("sh"))
}

/// Returns whether the first or the last line of `body` reports a time-out. O(length of the two lines).
pub(crate) fn times_out(body: &Body<'_>, status: Status<'_>) -> bool {
    let Body { first, second, last, .. } = *body;
    is_own(first, second, shown_timed_out)
        || last.is_some_and(|(line, before)| is_own(line, Some(before), shown_timed_out))
        || status.message.is_some_and(says_timed_out)
}

/// Returns whether `line` reports a time-out as a terminal shows it.
fn shown_timed_out(line: &str) -> bool {
    says_timed_out(untagged(&plain(line)))
}

/// Returns whether the first line of `body` says that the call failed. This is the question to ask about a tool that writes:
/// behind its first line, the answer may quote the file.
pub(crate) fn opens(body: &Body<'_>) -> bool {
    let inner = untagged(body.first);
    is_complaint(body.first)
        || says_refused(inner)
        || says_timed_out(inner)
        || sentence::is_sentence(&plain(inner))
        || object::read(body.text).failed == Some(true)
        || body.is_single() && is_usage(body)
}

/// Returns whether `line` is a complaint, and not an entry of the log to which the line `beside` it belongs.
fn is_own(line: &str, beside: Option<&str>, complains: fn(&str) -> bool) -> bool {
    complains(line) && !beside.is_some_and(is_log_entry)
}

/// Returns whether `body` is short, starts with a complaint in free words, and does not take it
/// back at its end.
fn is_sentence(body: &Body<'_>) -> bool {
    let Body { first, second, last, .. } = *body;
    if body.text.len() > SHORT_MAX {
        return false;
    }
    let shown = plain(first);
    let is_alone = body.is_single();
    let says = || {
        sentence::is_sentence(&shown) && (is_alone || !sentence::is_heading(&shown))
            || is_alone && is_short_error(&shown)
            || is_usage(body)
    };
    !is_of_diff(&shown)
        && says()
        && body.lines().nth(LINES_MAX).is_none()
        && !last.is_some_and(|(line, _)| GOOD_ENDS.are_in(line))
        && !second.is_some_and(is_log_entry)
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

/// Returns whether `body` is a note on the usage of a command. The whole help does not count,
/// because the agent may have asked for it.
fn is_usage(body: &Body<'_>) -> bool {
    const SECTIONS: [&str; 7] =
        ["options:", "commands:", "arguments:", "flags:", "examples:", "-h, --help", "--help "];
    let opens = after(body.first, "usage: ").is_some() && !body.first.ends_with([',', ';']);
    let is_section = |line: &str| starts_with_any(line.trim_start(), &SECTIONS);
    opens && !body.lines().skip(1).any(is_section)
}

/// Returns whether `last` is the last line of Node.js when it crashes.
fn is_node_crash(last: &str) -> bool {
    let version = last.strip_prefix("Node.js v");
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns whether `line` is a complaint, by its shape.
pub(crate) fn is_complaint(line: &str) -> bool {
    let line = &*plain(line);
    if is_of_diff(line) {
        return false;
    }
    let inner = untagged(line);
    inner.len() < line.len()
        || !line.ends_with([';', ',', '{', '('])
            && (is_opened(line) || find::split_once(line, ": ").is_some_and(is_named))
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
    let message = LABELS.iter().find_map(|opening| line.strip_prefix(opening));
    AGENTS.iter().any(|sentence| line.starts_with(sentence))
        || message.is_some_and(|message| message.trim().contains(' '))
}

/// Returns whether a line that consists of a `name` and a `message` is a complaint.
fn is_named((name, message): (&str, &str)) -> bool {
    is_exception(name)
        || is_errno(name) && message.trim().contains(' ')
        || is_of_tool(name, message)
        || matches!(name.split(':').next(), Some("zsh" | "(eval)"))
            && (message.starts_with("no matches found: ")
                || find::contains(message, ": no matches found: "))
}

/// Returns whether `line` is an exception with its message: `SyntaxError: invalid syntax`.
pub(super) fn is_error_type(line: &str) -> bool {
    find::split_once(line, ": ").is_some_and(|(name, _)| is_exception(name))
}

/// Returns whether `name` is that of an exception, maybe with its path.
fn is_exception(name: &str) -> bool {
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !name.contains(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_')));
    let class = find::rsplit_once(name, ".").map_or(name, |(_, class)| class);
    let is_class = class.starts_with(|c: char| c.is_ascii_uppercase())
        && (class.ends_with("Error") || class.ends_with("Exception"))
        && !matches!(class, "Error" | "Exception");
    is_name && is_class
}

/// Returns whether `name` is that of an error of the system: `ENOENT`.
fn is_errno(name: &str) -> bool {
    name.len() > 3
        && name.starts_with('E')
        && name != "ERROR"
        && name.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns whether `message` is one that `tool` writes behind its name: `cat: a.txt: No such file or directory`.
fn is_of_tool(tool: &str, message: &str) -> bool {
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
        || MESSAGES.iter().any(|refusal| message.starts_with(refusal))
}
