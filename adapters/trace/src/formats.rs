//! The formats that are read: the modules that read them, and their table.
//!
//! The crate's documentation explains how to [add a format](crate#adding-a-format).

mod acp;
mod aider;
mod anthropic;
mod atif;
mod autogen;
mod browser_use;
mod claude_code;
mod cline;
mod codex;
mod codex_exec;
mod copilot;
mod cursor;
mod gemini;
mod gemini_stream;
mod inspect;
mod langchain;
mod langfuse;
mod langsmith;
mod managed_agents;
mod mini_swe_agent;
mod native;
mod openai;
mod openai_responses;
pub(crate) mod opencode;
mod openhands;
mod otlp;
mod phoenix;
mod pi;
mod prelude;
mod pydantic_ai;
mod smolagents;
mod swe_agent;

use core::fmt;
use core::hash::{Hash, Hasher};
use core::str::FromStr;
use std::io::BufRead;

use self::Failures::{Flagged, Never, Sometimes};
use self::Layouts::{Document, Either, Lines};
use self::Read::{Each, Paid, Whole};
use crate::clue::Fields;
use crate::detect::Layout;
use crate::document::Lists::{self, All, First};
use crate::document::Source;
use crate::event::Tokens;
use crate::field::Raw;
use crate::object::Object;
use crate::otlp::RESOURCES;
use crate::problem::Done;
use crate::recorder::Recorder;

/// A transcript format that [`read`](crate::read) understands.
///
/// ```
/// use unstuck_trace::Format;
///
/// let format: Format = "claude-code".parse()?;
/// assert_eq!(format, Format::CLAUDE_CODE);
/// assert_eq!(format.to_string(), "claude-code");
/// # Ok::<(), unstuck_trace::UnknownFormat>(())
/// ```
#[derive(Clone, Copy)]
pub struct Format(pub(crate) &'static Definition);

/// The list in which most documents have their messages.
const MESSAGES: Lists = First(&["messages"]);

/// The table of formats. What is known of their objects stands in `formats.txt`.
impl Format {
    /// This project's own JSON Lines.
    pub const NATIVE: Self = Self(&row("native", Flagged, Lines, Whole(native::read)));
    /// Claude Code sessions: JSON Lines, the web export with `loglines`, or an array of the SDK's messages.
    pub const CLAUDE_CODE: Self =
        Self(&row("claude-code", Flagged, Either(First(&["loglines"])), Whole(claude_code::read)));
    /// Codex rollouts: JSON Lines.
    pub const CODEX: Self = Self(&row("codex", Sometimes, Lines, Whole(codex::read)));
    /// The printed JSON Lines of `codex exec`.
    pub const CODEX_EXEC: Self = Self(&row("codex-exec", Flagged, Lines, Whole(codex_exec::read)));
    /// OpenAI chat messages: a JSON array, or an object with `messages`.
    pub const OPENAI: Self =
        Self(&row("openai", Never, Document(MESSAGES), Paid(openai::replay, Tokens::of_openai)));
    /// OpenAI Responses items: a request, a response, an array, or JSON Lines of them.
    pub const OPENAI_RESPONSES: Self = Self(&row(
        "openai-responses",
        Sometimes,
        Either(All(&["input", "output", "messages"])),
        Paid(openai_responses::replay, Tokens::of_openai),
    ));
    /// Anthropic messages: the body of a request, or the array of its messages.
    pub const ANTHROPIC: Self = Self(&row(
        "anthropic",
        Flagged,
        Document(MESSAGES),
        Paid(anthropic::replay, Tokens::of_anthropic),
    ));
    /// Events of Claude Managed Agents.
    pub const MANAGED_AGENTS: Self = Self(&row(
        "managed-agents",
        Flagged,
        Either(First(&["data"])),
        Each(managed_agents::replay),
    ));
    /// Gemini CLI chats: JSON Lines, or a JSON document before 2026.
    pub const GEMINI: Self = Self(&row("gemini", Flagged, Either(MESSAGES), Whole(gemini::read)));
    /// The printed JSON Lines of Gemini CLI.
    pub const GEMINI_STREAM: Self =
        Self(&row("gemini-stream", Flagged, Lines, Each(gemini_stream::replay)));
    /// Qwen Code sessions: JSON Lines.
    pub const QWEN: Self = Self(&row("qwen", Flagged, Lines, Whole(gemini::read)));
    /// GitHub Copilot CLI sessions: JSON Lines.
    pub const COPILOT: Self = Self(&row("copilot", Flagged, Lines, Whole(copilot::read)));
    /// The printed JSON Lines of Cursor's command line.
    pub const CURSOR: Self = Self(&row("cursor", Flagged, Lines, Each(cursor::replay)));
    /// The messages of a task of Cline or Roo Code.
    pub const CLINE: Self =
        Self(&row("cline", Sometimes, Document(First(&[])), Whole(cline::read)));
    /// A task of Cline or Roo Code as the editor shows it.
    pub const CLINE_UI: Self =
        Self(&row("cline-ui", Sometimes, Document(First(&[])), Whole(cline::ui::read)));
    /// The history of aider's chats.
    pub const AIDER: Self = Self(&row("aider", Sometimes, Lines, Whole(aider::read)));
    /// opencode sessions: an export, or the printed JSON Lines.
    pub const OPENCODE: Self =
        Self(&row("opencode", Flagged, Either(MESSAGES), Whole(opencode::read)));
    /// pi sessions: JSON Lines.
    pub const PI: Self = Self(&row("pi", Flagged, Lines, Whole(pi::read)));
    /// SWE-agent trajectories: a JSON document.
    pub const SWE_AGENT: Self = Self(&row(
        "swe-agent",
        Never,
        Document(First(&["trajectory", "history"])),
        Paid(swe_agent::replay, swe_agent::tokens),
    ));
    /// mini-swe-agent trajectories: a JSON document.
    pub const MINI_SWE_AGENT: Self =
        Self(&row("mini-swe-agent", Flagged, Document(MESSAGES), Each(mini_swe_agent::replay)));
    /// `OpenHands` events: JSON Lines, an array, or the history of an episode.
    pub const OPENHANDS: Self = Self(&row(
        "openhands",
        Flagged,
        Either(First(&["history", "events"])),
        Whole(openhands::read),
    ));
    /// ATIF trajectories, as Harbor writes them for its agents.
    pub const ATIF: Self = Self(&row(
        "atif",
        Sometimes,
        Document(All(&["steps", "subagent_trajectories"])),
        Each(atif::replay),
    ));
    /// Histories of browser-use.
    pub const BROWSER_USE: Self = Self(&row(
        "browser-use",
        Flagged,
        Document(First(&["history"])),
        Each(browser_use::replay),
    ));
    /// Memory of smolagents: an array of steps, or an object with `steps`.
    pub const SMOLAGENTS: Self = Self(&row(
        "smolagents",
        Flagged,
        Document(First(&["steps", "messages"])),
        Each(smolagents::replay),
    ));
    /// Messages and events of `AutoGen`.
    pub const AUTOGEN: Self =
        Self(&row("autogen", Sometimes, Either(MESSAGES), Whole(autogen::read)));
    /// Messages of `LangChain` and `LangGraph`, alone or in a state.
    pub const LANGCHAIN: Self =
        Self(&row("langchain", Sometimes, Either(MESSAGES), Whole(langchain::read)));
    /// Messages of Pydantic AI: an array of requests and responses with `parts`.
    pub const PYDANTIC_AI: Self =
        Self(&row("pydantic-ai", Flagged, Document(MESSAGES), Each(pydantic_ai::replay)));
    /// Logs of Inspect: `.eval` archives, JSON documents, and lists of events.
    pub const INSPECT: Self =
        Self(&row("inspect", Flagged, Document(All(&["samples", "events"])), Whole(inspect::read)));
    /// Updates of the Agent Client Protocol, one a line.
    pub const ACP: Self = Self(&row("acp", Flagged, Lines, Whole(acp::read)));
    /// Spans of OpenTelemetry, in OTLP's JSON.
    pub const OTLP: Self = Self(&row("otlp", Flagged, Either(All(RESOURCES)), Whole(otlp::read)));
    /// Spans that Arize Phoenix exports.
    pub const PHOENIX: Self =
        Self(&row("phoenix", Flagged, Either(First(&["data", "spans"])), Whole(phoenix::read)));
    /// Traces that Langfuse exports.
    pub const LANGFUSE: Self = Self(&row(
        "langfuse",
        Flagged,
        Either(First(&["observations", "data"])),
        Whole(langfuse::read),
    ));
    /// Runs that `LangSmith` exports.
    pub const LANGSMITH: Self = Self(&row(
        "langsmith",
        Flagged,
        Either(All(&["runs", "child_runs"])),
        Whole(langsmith::read),
    ));

    /// Every format, in the order in which messages list them. If two formats have equally good
    /// reasons to claim an input, it belongs to the first.
    pub const ALL: &'static [Self] = &[
        Self::NATIVE,
        Self::CLAUDE_CODE,
        Self::CODEX,
        Self::CODEX_EXEC,
        Self::OPENAI,
        Self::OPENAI_RESPONSES,
        Self::ANTHROPIC,
        Self::MANAGED_AGENTS,
        Self::GEMINI,
        Self::GEMINI_STREAM,
        Self::QWEN,
        Self::COPILOT,
        Self::CURSOR,
        Self::CLINE,
        Self::CLINE_UI,
        Self::AIDER,
        Self::OPENCODE,
        Self::PI,
        Self::SWE_AGENT,
        Self::MINI_SWE_AGENT,
        Self::OPENHANDS,
        Self::ATIF,
        Self::BROWSER_USE,
        Self::SMOLAGENTS,
        Self::AUTOGEN,
        Self::LANGCHAIN,
        Self::PYDANTIC_AI,
        Self::INSPECT,
        Self::ACP,
        Self::OTLP,
        Self::PHOENIX,
        Self::LANGFUSE,
        Self::LANGSMITH,
    ];
}

/// Returns a test of an object that `formats.txt` names.
pub(crate) fn test(name: &str) -> Option<fn(&Fields) -> bool> {
    Some(match name {
        "aider_heading" => aider::is_chat,
        "autogen_type" => autogen::is_message,
        "cline_text" => cline::is_own,
        "item" => openai_responses::is_item,
        "item_text" => openai_responses::has_item_text,
        "mini_swe_message" => mini_swe_agent::is_own,
        "observation" => langfuse::is_observation,
        "phoenix_span" => phoenix::is_span,
        "sdk_events" => openhands::begins_with_sdk,
        _ => return None,
    })
}

/// A row of the table of formats.
pub(crate) struct Definition {
    /// The format's name on the command line and in reports.
    name: &'static str,
    pub(crate) failures: Failures,
    pub(crate) layouts: Layouts,
    read: Read,
}

const fn row(name: &'static str, failures: Failures, layouts: Layouts, read: Read) -> Definition {
    Definition { name, failures, layouts, read }
}

/// The information of a format about failed calls. It decides if
/// [`Trace::errors`](crate::Trace::errors) is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failures {
    /// Every result says whether the call failed. A result without a flag succeeded.
    Flagged,
    /// Only some results say so. Failures are known if the file flags at least one result: see
    /// [`Recorder::flags_failures`].
    Sometimes,
    /// No result says so.
    Never,
}

/// The layouts in which a format occurs, with the lists of records of its documents.
#[derive(Clone, Copy)]
pub(crate) enum Layouts {
    /// Only JSON Lines.
    Lines,
    /// Only a JSON document.
    Document(Lists),
    /// JSON Lines or a document. The ends of the first lines decide.
    Either(Lists),
}

/// A function that replays the records of an input.
enum Read {
    /// Replays a record, whatever the records before it.
    Each(fn(&Object<'_>, &mut Recorder<'_>) -> Done),
    /// Replays a record like `Each`, and reads the tokens beside the records of a document.
    Paid(fn(&Object<'_>, &mut Recorder<'_>) -> Done, fn(Raw<'_>) -> Option<Tokens>),
    /// Replays all records.
    Whole(fn(Source<'_>, &mut Recorder<'_>)),
}

impl Format {
    /// Returns the format's name on the command line and in reports, for example `claude-code`.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Reads an input whose first records are laid out like this, and hands its records to the recorder.
    pub(crate) fn read(self, input: &mut dyn BufRead, layout: Layout, recorder: &mut Recorder<'_>) {
        // Lines may be recognised as a format of documents. They are a document that breaks off.
        let (layout, lists) = match self.0.layouts {
            Lines => (Layout::Lines, First(&[])),
            Document(lists) => (Layout::Document, lists),
            Either(lists) => (layout, lists),
        };
        let source = Source { input, layout, lists };
        match self.0.read {
            Each(each) => source.replay(recorder, &mut { each }),
            Paid(each, usage) => source.replay_with_usage(usage, recorder, &mut { each }),
            Whole(read) => read(source, recorder),
        }
    }

    /// Returns every name, for a sentence: "native, claude-code, codex, …".
    pub(crate) fn names() -> String {
        let names: Vec<_> = Self::ALL.iter().map(|format| format.name()).collect();
        names.join(", ")
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl Hash for Format {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Format({})", self.name())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let mut formats = Self::ALL.iter();
        let found = formats.find(|format| format.name() == name);
        found.copied().ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// A name that is not the name of a [`Format`]. Its message lists the known names.
///
/// ```
/// use unstuck_trace::{Format, UnknownFormat};
///
/// let error = "claude".parse::<Format>();
/// assert_eq!(error, Err(UnknownFormat("claude".to_owned())));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFormat(pub String);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "unknown format {:?}: expected one of {}", self.0, Format::names())
    }
}

impl core::error::Error for UnknownFormat {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_parse_to_their_format() {
        for &format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let message = "claude".parse::<Format>().map_err(|error| error.to_string());
        let names = Format::names();
        assert!(names.starts_with("native, claude-code, codex, "));
        assert_eq!(message, Err(format!("unknown format \"claude\": expected one of {names}")));
    }
}
