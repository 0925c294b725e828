//! What hosts wrap around an answer: headers, tables, elements and trailers, with the exit status and other facts
//! that they tell.
//!
//! This is the only place that knows the wrappers. All readers of an answer get its [body](Envelope::body), so an
//! answer means the same in every agent. To add a wrapper, add its lines or elements to a table below, and a text
//! to `tests/answers/envelopes.txt`.
//!
//! A file may contain a wrapper, too. So one counts only at the outer ends of an answer, and only if all of its lines
//! are known.

use crate::find;
#[cfg(feature = "alloc")]
use crate::lexer::unescape;
use crate::list::{List, list};
use crate::members::{Member, unquoted, whole_members};
use crate::said::{Clocks, uncoloured};

/// An answer without what its host wraps around it.
///
/// ```
/// use unstuck_text::{Envelope, Unescaped};
///
/// let mut memory = Unescaped::default();
/// let answer = "Chunk ID: 3fa9c1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nno such file";
/// let envelope = Envelope::open(answer, &mut memory);
/// assert_eq!((envelope.body, envelope.exit), ("no such file", Some(1)));
/// assert_eq!(Envelope::open("no such file", &mut memory).body, "no such file");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'t> {
    /// The answer itself. It is a part of the text that was opened, or in the memory that was given.
    pub body: &'t str,
    /// The exit status that the host tells. Of several, one that is not 0. A signal counts as 128 and its number, as
    /// in a shell.
    pub exit: Option<i32>,
    /// Whether the host says that the command still runs.
    pub is_running: bool,
    /// Whether the host told how many steps are left. That changes with every answer.
    pub counts_down: bool,
    /// Whether the answer was a single line with a clock, which may be the entry of a log. The body is what stands
    /// behind the clock.
    pub is_entry: bool,
}

/// The memory for an output that has escapes inside of an object, or comes in two parts. Without the feature `alloc`
/// there is none, and such an object stays as it is.
#[derive(Clone, Debug, Default)]
pub struct Unescaped {
    #[cfg(feature = "alloc")]
    text: alloc::string::String,
}

/// The deepest nesting of wrappers.
const DEPTH_MAX: usize = 4;

/// What a line or an element of a wrapper says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    /// Nothing about the call: an id, a time, a folder.
    Nothing,
    /// The number behind it is an exit status.
    Exit,
    /// The number behind it is a signal, if it is not 0.
    Signal,
    /// The command still runs.
    Running,
    /// The call failed.
    Failed,
    /// The state of a job is inside.
    State,
    /// The answer is inside.
    Body,
}

use Says::{Body, Exit, Failed, Nothing, Running, Signal, State};

/// The lines of a header that ends with [`OUTPUT`], by their beginnings (Codex).
const HEADER: [(&str, Says); 11] = [
    ("Chunk ID: ", Nothing),
    ("Wall time: ", Nothing),
    ("Wall time ", Nothing),
    ("Process exited with code ", Exit),
    ("Exit code: ", Exit),
    ("Process running with session ID ", Running),
    ("Original token count: ", Nothing),
    ("Total output lines: ", Nothing),
    ("Script completed", Nothing),
    ("Script running", Running),
    ("Script failed", Failed),
];

const OUTPUT: &str = "Output:";

/// The fields behind the output in a table (Gemini CLI, Qwen Code), by their beginnings.
const FIELDS: [(&str, Says); 5] = [
    ("Error: (none)", Nothing),
    ("Exit Code: ", Exit),
    ("Signal: ", Signal),
    ("Background PIDs: ", Nothing),
    ("Process Group PGID: ", Nothing),
];

/// The last lines of an answer, by their beginnings, with what stands before a status in them (Copilot CLI, `OpenHands`).
const TRAILERS: [(&str, Says, &str); 7] = [
    ("<shellId: ", Exit, " completed with exit code "),
    ("[The command completed with exit code ", Exit, "code "),
    ("[Command finished with exit code ", Exit, "code "),
    ("[The command has no new output after ", Running, ""),
    ("[Current working directory: ", Nothing, ""),
    ("[Jupyter current working directory: ", Nothing, ""),
    ("[Python interpreter: ", Nothing, ""),
];

/// The elements of an answer that consists of elements (mini-SWE-agent, background tasks of Claude Code).
const ELEMENTS: [(&str, &str, Says); 14] = [
    ("<returncode>", "</returncode>", Exit),
    ("<exit_code>", "</exit_code>", Exit),
    ("<retrieval_status>", "</retrieval_status>", Nothing),
    ("<status>", "</status>", State),
    ("<task_id>", "</task_id>", Nothing),
    ("<task_type>", "</task_type>", Nothing),
    ("<timestamp>", "</timestamp>", Nothing),
    ("<warning>", "</warning>", Nothing),
    ("<output>", "</output>", Body),
    ("<output_head>", "</output_head>", Body),
    ("<elided_chars>", "</elided_chars>", Nothing),
    ("<output_tail>", "</output_tail>", Body),
    ("<stdout>", "</stdout>", Body),
    ("<stderr>", "</stderr>", Body),
];

/// The members of an object around a file or the output of a command (Codex before 2026, Cursor, many SDKs).
static MEMBERS: [(Says, List); 4] = [
    (Body, list!["content" "output" "stdout" "stderr"]),
    (Exit, list!["exit_code" "exitCode" "exit_status" "returncode" "return_code"]),
    (Running, list!["backgroundTaskId"]),
    (
        Nothing,
        list![
            "metadata" "cwd" "duration" "duration_ms" "durationMs" "duration_seconds" "executionTime"
            "interrupted" "isImage" "pid" "wall_time_seconds"
        ],
    ),
];

/// The states of a job that still runs.
const RUNNING: [&str; 5] = ["running", "pending", "queued", "in_progress", "not_ready"];

/// The words in front of the number of steps that are left (MINT).
const BUDGET: &str = "You have ";

/// The words behind that number.
const LEFT: &str = " steps left";

/// The heading of an expert's advice, which follows the line of the steps.
const ADVICE: &str = "Expert feedback:";

/// The most places at which a budget is looked for.
const BUDGET_MAX: usize = 8;

/// The element around a whole answer (Gemini CLI), and the one behind it (Claude Code).
const AROUND: (&str, &str) = ("<untrusted_context>", "</untrusted_context>");
const BEHIND: (&str, &str) = ("<system-reminder>", "</system-reminder>");

impl<'t> Envelope<'t> {
    /// Takes `answer` as it is.
    pub const fn bare(answer: &'t str) -> Self {
        Self { body: answer, exit: None, is_running: false, counts_down: false, is_entry: false }
    }

    /// Takes the wrappers off `answer`, at most four of them. `memory` is for an output inside of an object. O(length of
    /// `answer`).
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub fn open(answer: &'t str, memory: &'t mut Unescaped) -> Self {
        let (mut opened, mut memory) = (Self::bare(answer), Some(memory));
        for _ in 0..DEPTH_MAX {
            if opened.peel(&mut memory).is_none() {
                break;
            }
        }
        for _ in 0..DEPTH_MAX {
            let Some(body) = before_budget(opened.body) else { break };
            (opened.body, opened.counts_down) = (body, true);
        }
        opened.said();
        opened
    }

    /// Whether the host tells an exit status that is not 0.
    pub fn has_failed(&self) -> bool {
        self.exit.is_some_and(|code| code != 0)
    }

    /// Takes one wrapper off. Returns `None` if there is none.
    fn peel(&mut self, memory: &mut Option<&'t mut Unescaped>) -> Option<()> {
        let text = uncoloured(self.body.trim_ascii()).trim_ascii();
        let peeled = match text.as_bytes().first()? {
            b'{' => self.object(text, memory),
            b'<' => around(text).or_else(|| self.elements(text)),
            b'C' | b'O' | b'E' | b'W' | b'P' | b'S' | b'T' => {
                self.header(text).or_else(|| self.table(text))
            }
            _ => None,
        };
        let ends = || match text.as_bytes().last()? {
            b'>' | b']' => reminder(text).or_else(|| self.trailer(text)),
            _ => None,
        };
        self.body = peeled.or_else(ends)?;
        Some(())
    }

    /// Takes off a header that ends with a line `Output:`. A header with a status may be the whole answer.
    fn header(&mut self, text: &'t str) -> Option<&'t str> {
        let mut told = Self { exit: None, ..*self };
        let mut rest = text;
        loop {
            let is_whole = rest.is_empty() && told.exit.is_some();
            let (line, behind) = find::split_once(rest, "\n").unwrap_or((rest, ""));
            let line = uncoloured(line.trim_ascii_end());
            // Without a line before it, it is the heading of a table, or of a file.
            if is_whole || line == OUTPUT && rest.len() < text.len() {
                self.is_running = told.is_running;
                if let Some(code) = told.exit {
                    self.end(code);
                }
                return Some(behind);
            }
            let (begin, says) = *HEADER.iter().find(|(begin, _)| line.starts_with(begin))?;
            told.hear(says, line.get(begin.len()..)?);
            rest = behind;
        }
    }

    /// Takes off a table with a field for the output. Without a command before it, a field has to follow.
    fn table(&mut self, text: &'t str) -> Option<&'t str> {
        let (mut body, has_command) = match text.strip_prefix("Command: ") {
            Some(rest) => {
                let (_, rest) = find::split_once(rest, "\nDirectory: ")?;
                (find::split_once(rest, "\nOutput: ")?.1, true)
            }
            None => (text.strip_prefix("Output: ")?, false),
        };
        let mut has_fields = false;
        loop {
            let (rest, line) = last_line(body);
            let Some((begin, says)) = FIELDS.iter().find(|(begin, _)| line.starts_with(begin))
            else {
                break;
            };
            self.hear(*says, line.get(begin.len()..)?);
            (body, has_fields) = (rest, true);
        }
        (has_command || has_fields).then_some(body)
    }

    /// Takes off elements that make up the whole answer, one of which says how the call went.
    fn elements(&mut self, text: &'t str) -> Option<&'t str> {
        let (mut told, mut rest) = (*self, text);
        let (mut body, mut is_told): (Option<(usize, usize)>, _) = (None, false);
        while !rest.is_empty() {
            let (open, close, says) = ELEMENTS.iter().find(|(open, ..)| rest.starts_with(open))?;
            let inside = rest.get(open.len()..)?;
            // An output may quote its own end.
            let (value, behind) = match says {
                Body => find::rsplit_once(inside, close)?,
                _ => find::split_once(inside, close)?,
            };
            if *says == Body {
                let start = text.len() - inside.len();
                let end = start + value.len();
                body = Some((body.map_or(start, |(first, _)| first), end));
            }
            is_told |= matches!(says, Exit | State) || *open == "<retrieval_status>";
            told.hear(*says, value);
            rest = uncoloured(uncoloured(behind).trim_ascii_start());
        }
        let body = body.map_or(Some(""), |(start, end)| text.get(start..end))?;
        is_told.then(|| (self.exit, self.is_running) = (told.exit, told.is_running))?;
        Some(body.strip_prefix('\n').unwrap_or(body))
    }

    /// Takes off an object, if its members are known and some of them hold the output.
    fn object(&mut self, text: &'t str, memory: &mut Option<&'t mut Unescaped>) -> Option<&'t str> {
        // Most objects have another first member, and need not be read to their end.
        let first = text.get(1..)?.trim_ascii_start().get(1..)?;
        let mut names = MEMBERS.iter().flat_map(|(_, names)| names.words());
        names.find(|name| first.as_bytes().starts_with(name))?;
        let (mut told, mut body, mut is_plain) = (*self, None, true);
        for member in whole_members(text) {
            let says = says(&member)?;
            if says == Body {
                let (output, before) = (output(&member)?, body.unwrap_or(""));
                is_plain &=
                    !find::contains(output, "\\") && (output.is_empty() || before.is_empty());
                body = Some(if output.is_empty() { before } else { output });
            }
            told.hear(says, unquoted(member.value));
        }
        let body = body.filter(|_| text.ends_with('}'))?;
        let body = if is_plain { body } else { memory.take()?.hold(text)? };
        (self.exit, self.is_running) = (told.exit, told.is_running);
        Some(body)
    }

    /// Takes off the last line.
    fn trailer(&mut self, text: &'t str) -> Option<&'t str> {
        let (body, line) = last_line(text);
        let (_, says, before) = TRAILERS.iter().find(|(begin, ..)| line.starts_with(begin))?;
        let mut value = "";
        if *says == Exit {
            value = find::rsplit_once(line, before)?.1.trim_end_matches(['.', ']', '>']);
            value.parse::<i32>().ok()?;
        }
        self.hear(*says, value);
        Some(body)
    }

    /// Takes the clock and the colours off a body of one line.
    fn said(&mut self) {
        let line = self.body.trim_ascii();
        let clocks = Clocks::of(line);
        let said = clocks.off(line);
        if said.len() < line.len() && !find::contains(line, "\n") {
            (self.body, self.is_entry) = (said, clocks.any());
        }
    }

    /// Takes in what the value of a line or an element says.
    fn hear(&mut self, says: Says, value: &str) {
        let number = || value.trim_ascii().parse().ok();
        match says {
            Nothing | Body => {}
            Running => self.is_running = true,
            Failed => self.end(1),
            State => self.is_running |= RUNNING.contains(&value.trim_ascii()),
            Exit => _ = number().map(|code| self.end(code)),
            Signal => {
                let signal = number().filter(|signal: &i32| (1..128).contains(signal));
                _ = signal.map(|signal| self.end(128 + signal));
            }
        }
    }

    /// Takes in an exit status.
    fn end(&mut self, code: i32) {
        if !self.has_failed() {
            self.exit = Some(code);
        }
    }
}

impl Unescaped {
    /// Joins the outputs in `object`, and undoes their escapes. Returns `None` if one is invalid.
    #[cfg(feature = "alloc")]
    fn hold(&mut self, object: &str) -> Option<&str> {
        for member in whole_members(object).filter(|member| says(member) == Some(Body)) {
            let output = output(&member)?;
            if !(output.is_empty() || self.text.is_empty()) {
                self.text.push('\n');
            }
            unescape(output, &mut self.text)?;
        }
        Some(&self.text)
    }

    /// Returns `None`, because there is no memory.
    #[cfg(not(feature = "alloc"))]
    #[expect(clippy::unused_self, reason = "the memory is empty")]
    fn hold(&mut self, _: &str) -> Option<&str> {
        None
    }
}

/// Returns what a member of an object around an output says.
fn says(member: &Member<'_>) -> Option<Says> {
    MEMBERS.iter().find(|(_, names)| names.contains(member.name)).map(|(says, _)| *says)
}

/// Returns the output in the value of `member`, without the end of its last line, or `None` if it is no text.
fn output<'t>(member: &Member<'t>) -> Option<&'t str> {
    if matches!(member.value, "null" | "None") {
        return Some("");
    }
    let text = unquoted(member.value);
    let line = text.strip_suffix("\\n").unwrap_or(text);
    let line = line.strip_suffix("\\r").unwrap_or(line);
    (text.len() < member.value.len()).then_some(line)
}

/// Returns whether a host wrote `message` in the user's name to tell the agent about one of its jobs (Claude Code).
///
/// ```
/// use unstuck_text::is_notification;
///
/// assert!(is_notification("<task-notification><task-id>b1</task-id></task-notification>"));
/// assert!(!is_notification("Fix it."));
/// ```
pub fn is_notification(message: &str) -> bool {
    message.trim_ascii_start().starts_with("<task-notification>")
}

/// Returns what is inside of the element around a whole answer.
fn around(text: &str) -> Option<&str> {
    text.strip_prefix(AROUND.0)?.strip_suffix(AROUND.1)
}

/// Returns what stands before a reminder at the end of an answer. A reminder alone is the answer.
fn reminder(text: &str) -> Option<&str> {
    let (body, _) = find::rsplit_once(text.strip_suffix(BEHIND.1)?, BEHIND.0)?;
    let body = body.trim_ascii_end();
    (!body.is_empty()).then_some(body)
}

/// Returns what stands before the line of the steps that are left, and the advice behind it (MINT). Lines of others may
/// follow.
fn before_budget(text: &str) -> Option<&str> {
    let mut left = text;
    // The advice may say "You have", too.
    for _ in 0..BUDGET_MAX {
        let (start, _) = find::rsplit_once(left, BUDGET)?;
        let (body, sign) = find::rsplit_once(start, "\n")?;
        let mut lines = find::lines(text.get(start.len()..)?);
        // A clock or a colour may stand before the line.
        let is_line = !sign.bytes().any(|byte| byte.is_ascii_lowercase() && byte != b'm');
        if is_line && lines.next().is_some_and(|line| find::contains(line, LEFT)) {
            let is_advised = lines.clone().take(3).any(|line| find::contains(line, ADVICE));
            let is_last = lines.filter(|line| !line.trim_ascii().is_empty()).nth(2).is_none();
            return (is_advised || is_last).then_some(body);
        }
        left = start;
    }
    None
}

/// Returns the last line of `text`, and the text before it.
fn last_line(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_end();
    find::rsplit_once(text, "\n").unwrap_or(("", text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use unstuck_core::Digest;

    use super::{ELEMENTS, Envelope, FIELDS, HEADER, TRAILERS, Unescaped};
    use crate::phrases::texts;
    use crate::recipe::Recipe;
    use crate::tables::{check, lines};

    #[test]
    fn the_escapes_of_an_object_are_undone() {
        check("an object", |answer| {
            let mut memory = Unescaped::default();
            format!("{:?}", Envelope::open(answer, &mut memory).body)
        });
    }

    #[test]
    fn an_answer_means_the_same_in_every_wrapper() {
        let read = |text: &str| Recipe::BALANCED.outcome("bash", text, false).raw(Digest::new(0));
        for (body, wrapper) in lines("bodies")
            .iter()
            .flat_map(|body| lines("wrappers").into_iter().map(move |wrapper| (body, wrapper)))
        {
            let is_object = wrapper.starts_with('{');
            let inner = if is_object { body.replace('\n', "\\n") } else { body.clone() };
            let wrapped = wrapper.replace('#', &inner);
            assert_eq!(read(&wrapped), read(body), "{wrapped}");
        }
    }

    fn parts() -> impl Strategy<Value = String> {
        let lines = HEADER.iter().chain(&FIELDS).map(|(begin, _)| *begin);
        let elements = ELEMENTS.iter().flat_map(|(open, close, _)| [*open, *close]);
        let others = texts![
            "\n" "1" " " "a" "Output:" "Output: " "<untrusted_context>" "</untrusted_context>"
            "<system-reminder>" "</system-reminder>" "]" ">" "é" "Command: " "\nDirectory: " "code "
            "{" "}" ":" "," "\"" "\\n" "output" "exitCode"
        ];
        let trailers = TRAILERS.iter().map(|(begin, ..)| *begin);
        let parts = lines.chain(elements).chain(trailers).chain(others);
        proptest::collection::vec(select(parts.collect::<Vec<_>>()), 0..24)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn a_body_is_a_part_of_the_answer_or_of_the_memory_and_wrapped_text_is_opened(answer in parts()) {
            let mut memory = Unescaped::default();
            let opened = Envelope::open(&answer, &mut memory);
            let (is_bare, body) = (opened == Envelope::bare(&answer), String::from(opened.body));
            prop_assert!(answer.contains(&body) || memory.text.contains(&body));
            if is_bare {
                let text = format!("<untrusted_context>\nOutput: {answer}\nExit Code: 3\n</untrusted_context>");
                let mut memory = Unescaped::default();
                let wrapped = Envelope::open(&text, &mut memory);
                prop_assert!(wrapped.exit == Some(3) && wrapped.body.len() <= answer.len());
            }
        }
    }
}
