//! Kinds of tools by their names, across agents.
//!
//! A declaration wins over a name. A name may decide because a wrong guess is cheap: a tool that is wrongly
//! taken for a read is refused only after five equal answers, byte for byte, and one that is wrongly taken
//! for a wait is never refused.

use unstuck_core::Tag;

use crate::command::{Nature, effect, only_waits, runs_tests, with_command};
use crate::find;
use crate::grams::FewGrams;
use crate::list::{List, Word, list};
use crate::members::{Member, members};
use crate::names::{Named, last_segment, named};

/// Names of tools, in lower case, with what they do. Sources: the tool lists of Claude Code,
/// Codex, Gemini CLI, `OpenHands`, SWE-agent, Cline and opencode.
static TOOLS: [(Tag, List); 10] = [
    (
        Tag::Shell,
        list![
            "bash" "shell" "sh" "terminal" "run_shell_command" "execute_bash" "exec_command"
            "execute_command" "run_command" "run_terminal_cmd" "local_shell" "sql"
        ],
    ),
    (
        Tag::Read,
        list![
            "read" "read_file" "fs_read" "view" "open" "cat" "read_many_files" "webfetch"
            "web_fetch" "fetch"
        ],
    ),
    (
        Tag::Write,
        list![
            "write" "edit" "write_file" "edit_file" "multiedit" "replace" "apply_patch"
            "create_file" "fs_write" "patch" "write_to_file" "replace_in_file" "search_replace"
            "str_replace"
        ],
    ),
    (
        Tag::Search,
        list![
            "grep" "glob" "search" "ls" "list" "list_directory" "list_files" "find" "search_files"
            "search_file_content" "websearch" "web_search" "codebase_search"
        ],
    ),
    (Tag::Test, list!["run_tests" "run_test" "test" "tests" "pytest"]),
    (Tag::Poll, list!["wait" "sleep" "job_status" "get_status" "bashoutput" "write_stdin"]),
    (Tag::Think, list!["think" "thinking" "sequential_thinking" "sequentialthinking"]),
    (
        Tag::Finish,
        list![
            "finish" "submit" "complete" "attempt_completion" "complete_task" "task_done"
            "exit_plan_mode"
        ],
    ),
    (Tag::StartOver, list!["start_over" "startover" "start-over"]),
    (Tag::Act, list!["computer" "computer_use" "send_keys" "repl"]),
];

/// Returns the kind of `tool`, by its name and, for a shell, by its command. Case does not matter.
/// O(length of the name, and of the arguments up to the command).
///
/// A name that no known agent uses is judged by its words: `getBuildStatus` polls, and
/// `browser_press_key` acts. A name whose words say nothing is judged by its arguments: with a `command` it is a
/// shell, and with a `query` a search.
///
/// ```
/// use unstuck_core::Tag;
/// use unstuck_text::tag;
///
/// assert_eq!(tag("Bash", r#"{"command":"make"}"#), Tag::Shell);
/// assert_eq!(tag("Bash", r#"{"command":"sed -i s/a/b/ f"}"#), Tag::Write);
/// assert_eq!(tag("execute_bash", r#"{"command":"cd app && cargo test"}"#), Tag::Test);
/// assert_eq!(tag("mcp__ci__get_build_status", "{}"), Tag::Poll);
/// assert_eq!(tag("knowledge_base", r#"{"query":"refunds"}"#), Tag::Search);
/// assert_eq!(tag("status.rs", "{}"), Tag::Other);
/// ```
pub fn tag(tool: &str, args: &str) -> Tag {
    nature(tool, args).tag
}

/// Returns the nature of a call of `tool` with `args`: its kind, and whether an equal answer proves
/// that repeating it does not help.
pub(crate) fn nature(tool: &str, args: &str) -> Nature {
    let by_segment = || {
        let segment = last_segment(tool);
        if segment.len() < tool.len() { listed(segment) } else { None }
    };
    if let Some(tag) = listed(tool).or_else(by_segment) {
        return of_kind(tag, args);
    }
    if WRAPPERS.contains_in_any_case(last_segment(tool))
        && let Some(inner) = inner(args)
    {
        return inner;
    }
    let own = by_name(tool);
    // A tool that is given a command is a shell, whatever it is called, and one that is given a query searches.
    let by_command = || with_command(args, |command| Some(effect(command)));
    let by_query = || takes_query(args).then_some(Nature::acting(Tag::Search));
    if own.tag != Tag::Other || args.is_empty() {
        return own;
    }
    by_command().or_else(by_query).unwrap_or(own)
}

/// Returns the nature of a tool by the words in its name.
fn by_name(tool: &str) -> Nature {
    let Named { tag, idempotent } = named(tool);
    Nature { tag, idempotent, edits: tag == Tag::Write }
}

/// Tools that take a script with calls of other tools, or a list of such calls.
static WRAPPERS: List = list!["exec" "parallel" "multi_tool_use"];

/// Prefixes of the name of an inner tool, in a script of Codex and in the list of `multi_tool_use`.
const CALLS: [&str; 2] = ["tools.", "functions."];

/// Returns the nature of the calls in `args`: a write if one of them writes, the nature that they have in common, or else
/// that of a shell. Returns `None` if there are no calls.
fn inner(args: &str) -> Option<Nature> {
    let mut common: Option<Nature> = None;
    for sign in CALLS {
        for rest in find::split(args, sign).skip(1) {
            let length = rest
                .bytes()
                .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                .count();
            let name = rest.get(..length).filter(|name| !name.is_empty());
            let Some(name) = name else { continue };
            let own = listed(name).map_or_else(|| by_name(name), |tag| of_kind(tag, ""));
            common = match common {
                Some(known) if known == own || known.tag == Tag::Write => Some(known),
                Some(_) if own.tag != Tag::Write => Some(Nature::acting(Tag::Shell)),
                _ => Some(own),
            };
        }
    }
    common
}

/// Names of arguments that hold what is searched for.
static QUERIES: List = list![
    "query" "q" "question" "keyword" "keywords" "search_query" "searchquery" "search_term"
    "search_terms"
];

/// Returns whether an argument is a query in words.
fn takes_query(args: &str) -> bool {
    members(args).any(|Member { depth, name, value }| {
        depth == 1 && value.starts_with(['"', '[']) && QUERIES.contains_in_any_case(name)
    })
}

/// Returns the nature of a call of a tool of the kind `tag`. For a shell, its command decides.
pub(crate) fn of_kind(tag: Tag, args: &str) -> Nature {
    let idempotent = matches!(tag, Tag::Read | Tag::Search | Tag::Write);
    let own = Nature { tag, idempotent, edits: tag == Tag::Write };
    let nature = if tag == Tag::Shell {
        with_command(args, |command| Some(effect(command))).unwrap_or(own)
    } else {
        own
    };
    let is_look = matches!(nature.tag, Tag::Read | Tag::Search);
    // What is there may be another at the next look.
    if is_look && names_output_of_job(args) { Nature::acting(Tag::Read) } else { nature }
}

/// Returns whether `args` name a file to which a host writes the output of a job in the background:
/// `.../tasks/b4x7.output`. The host tells the agent to look there until the job is done.
fn names_output_of_job(args: &str) -> bool {
    let Some((path, _)) = find::split_once(args, ".output") else { return false };
    let folder = path.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let above = folder.trim_end_matches(['/', '\\']);
    let before = above.strip_suffix("tasks").filter(|_| above.len() < folder.len());
    folder.len() < path.len() && before.is_some_and(|before| before.ends_with(['/', '\\']))
}

/// The kind of a tool as rule sets know it that look at no command but to see whether it tests or
/// sleeps.
pub(crate) fn plain_tag(tool: &str, args: &str) -> Tag {
    match listed(tool) {
        Some(Tag::Shell) if may_be_special(args) => with_command(args, kind).unwrap_or(Tag::Shell),
        listed => listed.unwrap_or_default(),
    }
}

/// The kind of a tool that a list of a known agent has under this name.
fn listed(name: &str) -> Option<Tag> {
    let name = Word::new(name);
    TOOLS.iter().find(|(_, names)| name.is_in_any_case(names)).map(|&(tag, _)| tag)
}

/// Four letters of each command that does not just run.
static SPECIAL: FewGrams = FewGrams::new(&[b"test", b"jest", b"chec", b"slee", b"tox ", b"tox\""]);

/// Returns whether a command in `args` may do more than run. It only looks at bytes.
fn may_be_special(args: &str) -> bool {
    SPECIAL.may_be_in(args.as_bytes())
}

/// Returns the kind of a shell's command, if it does more than run.
fn kind(command: &str) -> Option<Tag> {
    if runs_tests(command) {
        return Some(Tag::Test);
    }
    only_waits(command).then_some(Tag::Poll)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{TOOLS, nature};
    use crate::tables::{kind, kinds};

    /// Each line of the file has the kind of a call, its tool and its arguments. A `+` marks those for which an equal answer
    /// is a proof.
    #[test]
    fn a_call_is_known_by_its_tool_and_by_what_it_takes() {
        for (expected, call) in kinds(include_str!("tags.txt")) {
            let (tool, args) = call.split_once(' ').expect("a tool and arguments");
            let nature = nature(tool, args);
            assert_eq!(kind(nature.tag, nature.idempotent), expected, "{call}");
        }
    }

    #[test]
    fn no_name_stands_for_two_kinds() {
        let mut seen = HashSet::new();
        for name in TOOLS.iter().flat_map(|(_, names)| names.words()) {
            assert!(seen.insert(name), "{name:?} stands twice");
            assert_eq!(name, name.to_ascii_lowercase());
        }
    }
}
