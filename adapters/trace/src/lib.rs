//! Reads transcripts of real agents as a stream of events.
//!
//! [`read`] takes an input of any size. It delivers calls, their results and messages in the order
//! of the file, with the tokens and the times that the file has. It keeps one record at a time in memory, so a file of gigabytes needs no more memory
//! than its longest line.
//!
//! ```
//! use unstuck_trace::{Event, read};
//!
//! let file = br#"{"session":"run-7"}
//! {"type":"message","role":"assistant","text":"I look first."}
//! {"type":"call","tool":"bash","args":{"command":"ls"},"result":"a.rs"}
//! "#;
//! let mut tools = Vec::new();
//! let trace = read(&file[..], None, &mut |event| {
//!     if let Event::Call(call) = event {
//!         tools.push(call.tool.to_owned());
//!     }
//! })?;
//! assert_eq!(tools, ["bash"]);
//! assert_eq!((trace.calls, trace.session.as_deref()), (1, Some("run-7")));
//! # Ok::<(), unstuck_trace::Problem>(())
//! ```
//!
//! # Formats
//!
//! | [`Format`] | is | recognised by | costs |
//! |---|---|---|---|
//! | `native` | JSON Lines of `call` and `message` records | a `type` of `call`, or of `message` with `role` and `text` | tokens, times |
//! | `claude-code` | a session's JSON Lines, `{"loglines":[…]}`, or messages of the SDK in an array | `type` `user` or `assistant` with a `message` object | tokens, times |
//! | `codex` | a rollout's JSON Lines | `type` and `payload` of its kinds of line | tokens, times |
//! | `codex-exec` | the JSON Lines that `codex exec --json` prints | `type` such as `item.completed` | tokens |
//! | `openai` | an array of chat messages, or an object with `messages` | `role` and `content` of messages, without blocks of Anthropic | tokens |
//! | `openai-responses` | a request, a response, an array of items, or JSON Lines of them | items such as `function_call`; `input_text` blocks | tokens, times |
//! | `anthropic` | a request's body, or its array of messages | `tool_use` and `tool_result` blocks; `system` beside `messages` | tokens |
//! | `managed-agents` | events of Claude Managed Agents, one a line, an array, or a page with `data` | `id` beginning with `sevt_` | tokens, times |
//! | `gemini` | a chat's JSON Lines, or one object with `messages` | `projectHash`; `type` `gemini` | tokens, times |
//! | `gemini-stream` | the JSON Lines that `gemini --output-format stream-json` prints | `tool_use` with `tool_name`, and others | tokens, times |
//! | `qwen` | a session's JSON Lines of Qwen Code | `message` with `parts` | tokens, times |
//! | `copilot` | the events of a GitHub Copilot CLI session, one a line | `type` such as `session.start`, with `data` | tokens, times |
//! | `cursor` | the JSON Lines that `cursor-agent --output-format stream-json` prints | `tool_call` with `subtype`; `thinking` | tokens, times |
//! | `cline` | `api_conversation_history.json` of Cline, Roo Code and others | texts such as `<environment_details>` | tokens, times |
//! | `cline-ui` | `ui_messages.json` of the same | `type` `ask` or `say` | tokens, times |
//! | `aider` | `.aider.chat.history.md` of aider | its heading | tokens, times |
//! | `opencode` | an export of opencode or Kilo, or the lines that `opencode run` prints | `info` with `parts`; `part` with `sessionID` | tokens, times |
//! | `pi` | a session's JSON Lines | `type` `session` with `id`; `type` `message` with `parentId` | tokens, times |
//! | `swe-agent` | an object with `trajectory` and `history` | either list, of steps or messages with an `action` | tokens |
//! | `mini-swe-agent` | an object with `info` and `messages`, or an array of messages | `trajectory_format`; `info` of a run; `extra.actions`; its fenced commands | tokens, times |
//! | `openhands` | events one a line, an array of them, or an object with `history` | `kind` ending with `Event`; `source` with `action` or `observation` | tokens, times |
//! | `atif` | an ATIF trajectory of Harbor and others, versions 1.0 to 1.8 | `schema_version` | tokens, times |
//! | `browser-use` | a history that browser-use saved | `history` with `model_output` and `result` | tokens, times |
//! | `smolagents` | an array of steps from the memory of smolagents, or a result with `steps` | `task` with `task_images`; `tool_calls` with `observations` | tokens, times |
//! | `autogen` | messages of `AutoGen`, one a line, in an array or a result with `messages`, or the log of its events | `type` such as `ToolCallRequestEvent`, with `source`; `ToolCall` with `agent_id` | tokens, times |
//! | `langchain` | an array of messages of `LangChain`, or a state with `messages` | `type` `human` or `ai`; `lc` with `kwargs` | tokens |
//! | `pydantic-ai` | an array of messages of Pydantic AI | `parts` with `part_kind` | tokens, times |
//! | `inspect` | a log of Inspect: a `.eval` archive, JSON with `samples`, or a list of events | `eval` of a log; `event` `model` or `tool`; the names in an archive | tokens, times |
//! | `acp` | messages of the Agent Client Protocol, one a line | `method` `session/update`; `sessionUpdate` | tokens |
//! | `otlp` | OTLP's JSON of spans, one request a line, or a document | `resourceSpans` | tokens, times |
//! | `phoenix` | spans of Arize Phoenix, one a line, in an array, a page or a trace | `context` with `span_id`, beside `attributes` | tokens, times |
//! | `langfuse` | a trace of Langfuse, a page or an array of observations, or observations one a line | `type` such as `GENERATION`, with `startTime` | tokens, times |
//! | `langsmith` | runs of `LangSmith`, one a line, in an array, a page or a run | `run_type` with an id | tokens, times |
//!
//! The error for a format that is known but not read names it: the transcripts of Cursor's editor, spans of
//! other exporters, and the payloads of hooks.
//! [`Trace::reason`] names the keys by which a format was recognised.
//!
//! The last column says what a file of the format can tell of its [costs](Event::Usage). `openai`,
//! `anthropic` and `mini-swe-agent` have the tokens of answers whose response was kept, and `swe-agent` and
//! `copilot` those of the whole run, at its end. `openai-responses` has times in JSON Lines of responses. A
//! `call` or a `message` of a native trace may have `"time"`, a text by RFC 3339 or milliseconds since 1970,
//! and `"tokens":{"input":…,"cached":…,"output":…}`. If an answer has several calls, only one of them has
//! the tokens.
//!
//! # Real files
//!
//! - Lines that are cut off, not UTF-8, or JSON but no object are skipped, counted and reported with
//!   their number. The lines around them are read. If a JSON *document* breaks off, the records
//!   before the break are delivered.
//! - Inputs that are packed by gzip or zstd are unpacked while they are read, whatever their name. If an archive
//!   breaks off, the records before the break are delivered, and the problem names the byte.
//! - What programs print as JSON Lines may stand in a log, among other lines and behind times. If the first line
//!   of an input is no JSON, lines without a record are left out.
//! - Byte order marks, CRLF and blank lines are ignored. Half a surrogate pair becomes U+FFFD.
//! - Call ids may be missing, or the same for several calls. Results are paired in order, by id and
//!   worker, among the latest 1024 calls. A result that fits no open call is dropped.
//! - Claude Code spreads one answer over several lines, and other writers of its format repeat
//!   blocks. Lines of one answer are one turn, and a repeated block is one call.
//! - Records are written twice: Gemini CLI adds calls and results to a record by writing it again,
//!   and Codex and mini-swe-agent keep copies of the run beside it. A call counts once.
//! - Codex, Gemini CLI and Copilot CLI put a random id, a time or a process's number into results.
//!   These parts are left out of [`Outcome::text`], because no two results would be equal otherwise.
//! - Notes of this project's hooks and proxy are left out as well, in the words that each agent puts
//!   around them. A call that they refused is [`refused`](Outcome::refused), and has not failed.
//! - The tokens of an answer are repeated on each of its lines (Claude Code), written again with their
//!   record (Gemini CLI), or totals that grow (Codex, `OpenHands`). An answer is counted once. Tokens
//!   from a cache are part of the input in some formats, and apart in others: [`Tokens`] has them apart.
//! - Tokens and times that are broken are left out, and cost no record. Only in native traces are they
//!   reported. Figures that are all 0 were not filled in, and are left out as well.
//! - A pi session is a tree. Only the branch that leads to its last entry is delivered.
//! - The words of browser-use about an action are the same on each page. Equal results on different pages are
//!   different, and so are those on pages of which the file has no picture.
//! - Subagents in the file of their parent are workers of their own.
//! - An Inspect log has many samples, each a run of its own. Their call ids recur.
//! - Traces of OpenTelemetry mix many sessions, and each becomes a run. Most SDKs leave out arguments and
//!   results by default. Such calls have [`Args::Absent`], and are judged by their tools and failures.
//! - Trace stores export the newest record first, or in any order. The times say which came first.
//! - Native traces may be concatenated: a header in mid-file begins another run.
//!
//! An assistant's message right before a call belongs to that call's turn. Any other is
//! [`text_only`](Message::text_only). So a message is held back until its worker's next event, and may come
//! behind the [time](Event::Time) of that event.
//!
//! # Limits
//!
//! A record has at most [`LINE_BYTES_MAX`] bytes. A pi session of up to as many bytes is kept in memory, and
//! spans of OpenTelemetry up to the [limits](otlp::Limits) of their module. All problems are counted, and the first
//! [`PROBLEMS_MAX`] are kept. The format is recognised in the first 64 KiB, or in the first 16 MiB if long texts
//! come first. At most [`WORKERS_MAX`] workers are followed at a time. An archive is read up to 1032 times its
//! size, which is the most that gzip can reach, and at least up to 64 MiB; a window of zstd may have 128 MiB. An
//! archive in an archive is read only if it is a `.eval` log.
//!
//! # Adding a format
//!
//! A format is one file in `src/formats`. The other modules know no single format.
//!
//! 1. Write `src/formats/my_agent.rs` with an `impl Format { pub const MY_AGENT: Self = … }`. The
//!    constant holds a `Definition`: the name, the error for an input without a record, the layouts,
//!    whether results flag failures, the arguments that the model rewords, a function that recognises
//!    an object, and one that reads an input. `openai.rs` is a short example of a document, and `native.rs` of JSON Lines.
//! 2. Add `mod my_agent;` and `Self::MY_AGENT` to `src/formats.rs`. In JSON Lines, the first object
//!    with a firm clue decides. If several formats claim one object, the strongest clue wins, and
//!    among equal clues the first format in the list.
//! 3. `recognise` gets one object of the beginning and its `Place`: a line, a whole document, or
//!    an element of an array or of a document's `messages`. Members behind the beginning are missing, and long
//!    texts may be cut.
//!    A zip archive is a document with the name of its first `member`; `packed::members` reads it. Markdown is one
//!    with its first `heading`.
//!    Return a `Clue` with the keys that it found: `Clue::mark` for a key that no other format has,
//!    `Clue::record` for a complete record, `Clue::hint` for likely keys, and `Clue::fallback` for keys
//!    that several formats share. A clue that is `tentative` holds only if no later line has a firm
//!    one. A clue is `printed` if a program prints such lines, which may then stand in a log. If one line can be a whole document, `is_document` says so.
//! 4. `read` passes lines (`lines::replay`) or elements (`document::replay`) to a function for one
//!    record. That function parses the record with `field::object`, whose `Raw` fields borrow from
//!    the input, and calls the `Recorder`:
//!    - `recognise` for every record that surely belongs to the format, `session` for the name of
//!      the run, and `begin` if another run begins;
//!    - `call` for a call, then `expect` with its id as text, if it has one. (`pairing.issue` also takes a
//!      digest of the content, which matters only to `mirrors`.) `Step::Same` says that the call
//!      belongs to the same answer of the model as the call before. `together` gives the steps of a
//!      list of calls. If the format has no id of turns,
//!      `Turn::call` of `Recorder::turn` has the step: the same if a call came and no result since;
//!    - `answer` for a result with the id of its call. It takes out notes of this project; if the agent
//!      puts other words around them, add these to `notes.rs`. A result with more to say takes the index
//!      from `pairing.answer` and goes to `outcome`;
//!    - `time` for the time of each record, right after `recognise`, with `time::time` to read it;
//!    - `usage` for the tokens of an answer, if the file allows before its calls. `usage_of` takes the id of
//!      an answer that is written several times, and `usage_up_to` a running total. The fields are read
//!      with `costs::count`, so that a broken figure makes the tokens absent. `Tokens::of` and
//!      `Tokens::of_parts` take the names of the fields, and `Tokens::of_openai` and
//!      `Tokens::of_anthropic` read the usual shapes;
//!    - `say` for the agent's words, or `speak` if they may come behind their calls, `message` for those of others, and `settle` before a message
//!      that begins a turn. A call needs no `settle`: it takes the agent's words before it.
//!
//!    Return `Ok(())` for a record that does not matter, and a `ProblemKind` for one that cannot be
//!    read. The others are still delivered.
//! 5. Write `tests/formats/transcripts/my_agent.txt` with one small case for each trap of the format,
//!    its tokens and its times (`transcripts.rs` says how), and a line with all that it has into
//!    `costs.txt`. Add examples with their reasons to `recognised.txt`, an error to
//!    `transcripts/misfits.txt`, and a document to `documents.txt`, or lines that are recognised one by
//!    one to `lines.txt`. Real files that are at hand belong into `real_files.rs`, with another count
//!    of their tokens.
//! 6. If the format was refused by name, remove its clue from `src/foreign.rs`. Add a row to the
//!    table above, a line to the README of the project and of the command line, and the format's keys
//!    to `fuzz/words.dict`. Its `--from` takes the new name from the list; one snapshot of its help
//!    shows all names.

mod clue;
mod costs;
mod detect;
mod document;
mod event;
mod field;
mod foreign;
mod formats;
mod lines;
mod log;
mod members;
mod notes;
pub mod otlp;
mod outline;
mod packed;
mod pairing;
mod partial;
mod prefix;
mod problem;
mod pull;
mod recorder;
mod spans;
mod stream;
mod time;
mod tool_result;

use std::io::{BufRead, BufReader};

pub use event::{Args, Begin, Call, Event, Message, Outcome, Role, Tokens, Usage};
pub use formats::opencode::opencode_tool;
pub use formats::{Format, UnknownFormat};
pub use notes::error_without_notes;
pub use problem::{Problem, ProblemKind};
pub use tool_result::{ToolResult, text_of};

use detect::Detection;
use outline::outline;
use packed::Packing;
use prefix::Replay;
use recorder::Recorder;

/// The longest line, or element of a document, that is read.
///
/// A record holds at most a screenshot or two as base64, some MiB each. A longer line belongs to
/// another kind of file, and reading it would need as much memory.
pub const LINE_BYTES_MAX: usize = 64 << 20;

/// The most workers of an input that are followed at a time. A swarm in one file has fewer.
///
/// If there are more, the one that was idle for longest is forgotten, and counts as another worker if
/// it returns. [`Trace::forgotten`] counts them.
pub const WORKERS_MAX: usize = 100_000;

/// The number of problems that a [`Trace`] keeps: enough to see what is wrong with a file.
pub const PROBLEMS_MAX: usize = 16;

/// The number of calls with a message of this project that a [`Trace`] keeps.
pub const NOTES_MAX: usize = 1024;

/// The bytes of an [outline](outline::outline) in which a format is looked for.
const OUTLINE_BYTES_MAX: usize = 256 * 1024;

/// A summary of an input that was read.
///
/// ```
/// use unstuck_trace::{Format, read};
///
/// let file = br#"{"type":"call","tool":"bash","result":"no","is_error":true}
/// not JSON"#;
/// let trace = read(&file[..], None, &mut |_| {})?;
/// assert_eq!((trace.format, trace.calls, trace.errors), (Format::NATIVE, 1, Some(1)));
/// assert_eq!((trace.skipped, trace.problems[0].line), (1, Some(2)));
/// # Ok::<(), unstuck_trace::Problem>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The format: named by the caller, or recognised.
    pub format: Format,
    /// The keys by which the format was recognised, or a note that the caller named it.
    pub reason: &'static str,
    /// The first run's name, if the file has one.
    pub session: Option<String>,
    /// The number of runs: one, and one more for each [`Event::Begin`].
    pub runs: usize,
    /// The number of calls that were delivered.
    pub calls: usize,
    /// The number of calls whose arguments the recording left out ([`Args::Absent`]), or that hold a
    /// value which a program has hidden, such as `<redacted>`. They are judged by their tools and
    /// failures alone.
    pub without_args: usize,
    /// The number of workers that issued calls, added up over all runs.
    pub workers: usize,
    /// The number of workers that were forgotten, because there were more than [`WORKERS_MAX`].
    pub forgotten: usize,
    /// The number of calls that failed. `None` if the format has no flag for failures, for example
    /// OpenAI's, or if the file could have flagged failures and never did, as Codex's can. A failure
    /// that a file reports after the result is counted here, but is not in [`Outcome::failed`].
    pub errors: Option<usize>,
    /// The tokens of all answers, added up. `None` if the file has none.
    pub tokens: Option<Tokens>,
    /// The earliest time of a record, in milliseconds since 1970-01-01 00:00 UTC. `None` if the file has no
    /// times.
    pub begin: Option<u64>,
    /// The latest time of a record, like `begin`.
    pub end: Option<u64>,
    /// The calls at which the file has a message of this project, by [`Call::index`] in rising order: the call that was
    /// refused, or about the latest one before a note. The first [`NOTES_MAX`] of them.
    pub notes: Vec<usize>,
    /// The number of lines or elements that could not be read, wholly or in part.
    pub skipped: usize,
    /// The first [`PROBLEMS_MAX`] of them.
    pub problems: Vec<Problem>,
}

/// Reads one transcript and delivers its events to `sink`, in the order of the file.
///
/// Without `from` the format is recognised by the beginning. The time is linear in the input, and
/// the memory is that of the longest record (see the [limits](crate#limits)).
///
/// # Errors
///
/// Returns an error if the input is empty, of another format, or fails before its first record. A
/// trace that was read in part is `Ok` and lists its problems.
pub fn read(
    input: impl BufRead,
    from: Option<Format>,
    sink: &mut dyn FnMut(Event<'_>),
) -> Result<Trace, Problem> {
    let mut input = Replay::new(input);
    match Packing::of(input.prefix()) {
        Some(packing) => read_text(Replay::new(packing.unpack(&mut input)), from, sink),
        None => read_text(input, from, sink),
    }
}

fn read_text(
    mut input: Replay<impl BufRead>,
    from: Option<Format>,
    sink: &mut dyn FnMut(Event<'_>),
) -> Result<Trace, Problem> {
    let Detection { format, layout, reason, is_log, .. } = choose(&mut input, from)?;
    let mut recorder = Recorder::new(format, sink);
    if is_log {
        format.read(&mut BufReader::new(log::Records::new(input)), layout, &mut recorder);
    } else {
        format.read(&mut input, layout, &mut recorder);
    }
    recorder.finish(reason)
}

/// Decides on the format. If long texts hide it, more of the input is read ahead.
fn choose<R: BufRead>(input: &mut Replay<R>, from: Option<Format>) -> Result<Detection, Problem> {
    let look = |text: &[u8], is_complete: bool| match from {
        Some(_) if text.trim_ascii().is_empty() && is_complete => Err(ProblemKind::Empty),
        Some(format) => Ok(detect::named(format, text)),
        None => detect::format(text, is_complete),
    };
    let mut chosen = look(input.prefix(), input.is_complete());
    if !input.is_complete() && may_be_hidden(&chosen, input.prefix()) {
        while input.read_on() {
            let outline = outline(input.prefix());
            let better = look(&outline, input.is_complete());
            let is_sure = better.as_ref().is_ok_and(|detection| detection.is_sure);
            chosen = better.or(chosen);
            if is_sure || outline.len() > OUTLINE_BYTES_MAX {
                break;
            }
        }
    }
    chosen.map_err(|kind| match input.error() {
        Some(error) => ProblemKind::io(error).of_input(),
        None => kind.of_input(),
    })
}

/// Returns whether better evidence may stand behind the beginning of an input: if there is none in it, or if long
/// texts fill most of it.
fn may_be_hidden(chosen: &Result<Detection, ProblemKind>, prefix: &[u8]) -> bool {
    match chosen {
        Err(kind) => *kind == ProblemKind::Unrecognized,
        Ok(detection) if detection.is_sure => false,
        Ok(_) => outline(prefix).len() < prefix.len() / 4,
    }
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
