//! The formats: the name of each, and what is known of its inputs. The readers are in [`crate::formats`].

use core::fmt;
use core::str::FromStr;

use memchr::memmem::Finder;

use self::Failures::{Flagged, Never, Sometimes};
use self::Layouts::{Document, Either, Lines};
use self::Lists::{All, First};

/// The tests by which an object is recognised, and the errors. The head of the file describes its rows.
const TABLE: &str = include_str!("formats.txt");

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
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Format(pub(crate) &'static Definition);

/// The list in which most documents have their messages.
const MESSAGES: Lists = First(&["messages"]);

/// The lists of resources in a request of OTLP, in the two spellings of its JSON.
pub(crate) const RESOURCES: &[&str] = &["resourceSpans", "resource_spans"];

/// The table of formats. What is known of their objects stands in `formats.txt`.
impl Format {
    /// This project's own JSON Lines.
    pub const NATIVE: Self = Self(&row("native", Flagged, Lines));
    /// Claude Code sessions: JSON Lines, the web export with `loglines`, or an array of the SDK's messages.
    pub const CLAUDE_CODE: Self = Self(&row("claude-code", Flagged, Either(First(&["loglines"]))));
    /// Codex rollouts: JSON Lines.
    pub const CODEX: Self = Self(&row("codex", Sometimes, Lines));
    /// The printed JSON Lines of `codex exec`.
    pub const CODEX_EXEC: Self = Self(&row("codex-exec", Flagged, Lines));
    /// OpenAI chat messages: a JSON array, or an object with `messages`.
    pub const OPENAI: Self = Self(&row("openai", Never, Document(MESSAGES)));
    /// OpenAI Responses items: a request, a response, an array, or JSON Lines of them.
    pub const OPENAI_RESPONSES: Self =
        Self(&row("openai-responses", Sometimes, Either(All(&["input", "output", "messages"]))));
    /// Anthropic messages: the body of a request, or the array of its messages.
    pub const ANTHROPIC: Self = Self(&row("anthropic", Flagged, Document(MESSAGES)));
    /// Events of Claude Managed Agents.
    pub const MANAGED_AGENTS: Self =
        Self(&row("managed-agents", Flagged, Either(First(&["data"]))));
    /// Gemini CLI chats: JSON Lines, or a JSON document before 2026.
    pub const GEMINI: Self = Self(&row("gemini", Flagged, Either(MESSAGES)));
    /// The printed JSON Lines of Gemini CLI.
    pub const GEMINI_STREAM: Self = Self(&row("gemini-stream", Flagged, Lines));
    /// Qwen Code sessions: JSON Lines.
    pub const QWEN: Self = Self(&row("qwen", Flagged, Lines));
    /// GitHub Copilot CLI sessions: JSON Lines.
    pub const COPILOT: Self = Self(&row("copilot", Flagged, Lines));
    /// The printed JSON Lines of Cursor's command line.
    pub const CURSOR: Self = Self(&row("cursor", Flagged, Lines));
    /// The messages of a task of Cline or Roo Code.
    pub const CLINE: Self = Self(&row("cline", Sometimes, Document(First(&[]))));
    /// A task of Cline or Roo Code as the editor shows it.
    pub const CLINE_UI: Self = Self(&row("cline-ui", Sometimes, Document(First(&[]))));
    /// The history of aider's chats.
    pub const AIDER: Self = Self(&row("aider", Sometimes, Lines));
    /// opencode sessions: an export, or the printed JSON Lines.
    pub const OPENCODE: Self = Self(&row("opencode", Flagged, Either(MESSAGES)));
    /// pi sessions: JSON Lines.
    pub const PI: Self = Self(&row("pi", Flagged, Lines));
    /// SWE-agent trajectories: a JSON document.
    pub const SWE_AGENT: Self =
        Self(&row("swe-agent", Never, Document(First(&["trajectory", "history"]))));
    /// mini-swe-agent trajectories: a JSON document.
    pub const MINI_SWE_AGENT: Self = Self(&row("mini-swe-agent", Flagged, Document(MESSAGES)));
    /// `OpenHands` events: JSON Lines, an array, or the history of an episode.
    pub const OPENHANDS: Self =
        Self(&row("openhands", Flagged, Either(First(&["history", "events"]))));
    /// ATIF trajectories, as Harbor writes them for its agents.
    pub const ATIF: Self =
        Self(&row("atif", Sometimes, Document(All(&["steps", "subagent_trajectories"]))));
    /// Histories of browser-use.
    pub const BROWSER_USE: Self = Self(&row("browser-use", Flagged, Document(First(&["history"]))));
    /// Memory of smolagents: an array of steps, or an object with `steps`.
    pub const SMOLAGENTS: Self =
        Self(&row("smolagents", Flagged, Document(First(&["steps", "messages"]))));
    /// Messages and events of `AutoGen`.
    pub const AUTOGEN: Self = Self(&row("autogen", Sometimes, Either(MESSAGES)));
    /// Messages of `LangChain` and `LangGraph`, alone or in a state.
    pub const LANGCHAIN: Self = Self(&row("langchain", Sometimes, Either(MESSAGES)));
    /// Messages of Pydantic AI: an array of requests and responses with `parts`.
    pub const PYDANTIC_AI: Self = Self(&row("pydantic-ai", Flagged, Document(MESSAGES)));
    /// Logs of Inspect: `.eval` archives, JSON documents, and lists of events.
    pub const INSPECT: Self = Self(&row("inspect", Flagged, Document(All(&["samples", "events"]))));
    /// Updates of the Agent Client Protocol, one a line.
    pub const ACP: Self = Self(&row("acp", Flagged, Lines));
    /// Spans of OpenTelemetry, in OTLP's JSON.
    pub const OTLP: Self = Self(&row("otlp", Flagged, Either(All(RESOURCES))));
    /// Spans that Arize Phoenix exports.
    pub const PHOENIX: Self = Self(&row("phoenix", Flagged, Either(First(&["data", "spans"]))));
    /// Traces that Langfuse exports.
    pub const LANGFUSE: Self =
        Self(&row("langfuse", Flagged, Either(First(&["observations", "data"]))));
    /// Runs that `LangSmith` exports.
    pub const LANGSMITH: Self =
        Self(&row("langsmith", Flagged, Either(All(&["runs", "child_runs"]))));

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

    /// Returns the format's name on the command line and in reports, for example `claude-code`.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns every name, for a sentence: "native, claude-code, codex, …".
    pub(crate) fn names() -> String {
        let names: Vec<_> = Self::ALL.iter().map(|format| format.name()).collect();
        names.join(", ")
    }
}

/// A row of the table of formats.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Definition {
    /// The format's name on the command line and in reports.
    name: &'static str,
    pub(crate) failures: Failures,
    pub(crate) layouts: Layouts,
}

const fn row(name: &'static str, failures: Failures, layouts: Layouts) -> Definition {
    Definition { name, failures, layouts }
}

/// The information of a format about failed calls. It decides if
/// [`Trace::errors`](crate::Trace::errors) is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Failures {
    /// Every result says whether the call failed. A result without a flag succeeded.
    Flagged,
    /// Only some results say so. Failures are known if the file flags at least one result: see
    /// [`Recorder::flags_failures`](crate::recorder::Recorder::flags_failures).
    Sometimes,
    /// No result says so.
    Never,
}

/// The layouts in which a format occurs, with the lists of records of its documents.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Layouts {
    /// Only JSON Lines.
    Lines,
    /// Only a JSON document.
    Document(Lists),
    /// JSON Lines or a document. The ends of the first lines decide.
    Either(Lists),
}

/// The way in which an input is cut into records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One record a line.
    Lines,
    /// One JSON document with a list of records.
    Document,
}

/// The keys of a document's lists of records.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Lists {
    /// The first list that is not empty holds the whole run. The others repeat it.
    First(&'static [&'static str]),
    /// The lists hold the run one after the other.
    All(&'static [&'static str]),
}

impl Lists {
    pub(crate) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::First(keys) | Self::All(keys) => keys,
        }
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

/// Returns the error for an input without a record of the format.
pub(crate) fn missing(format: Format) -> &'static str {
    let error = |columns: Vec<&'static str>| match columns[..] {
        [name, "missing", error] if name == format.name() => Some(error),
        _ => None,
    };
    columns().find_map(error).unwrap_or("no record of the format")
}

/// Returns the columns of each row of the table.
pub(crate) fn columns() -> impl Iterator<Item = Vec<&'static str>> {
    // `str::split` takes longer to prepare the search of a text than this does to end it.
    let separator = Finder::new(" | ");
    let rows = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(move |row| {
        let mut columns = Vec::with_capacity(5);
        let mut rest = row;
        while let Some(at) = separator.find(rest.as_bytes()) {
            columns.push(&rest[..at]);
            rest = &rest[at + separator.needle().len()..];
        }
        columns.push(rest);
        columns
    })
}

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
