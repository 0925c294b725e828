//! The formats that are read, one module each, and their list.
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
mod qwen;
mod smolagents;
mod swe_agent;

use core::fmt;
use core::hash::{Hash, Hasher};
use core::str::FromStr;
use std::io::BufRead;

use crate::clue::{Clue, Fields, Place};
use crate::detect::Layout;
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

impl Format {
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

/// Everything that the crate knows about a format. Each format's module defines one.
pub(crate) struct Definition {
    /// The format's name on the command line and in reports.
    pub(crate) name: &'static str,
    /// The error if the caller named this format and the input has no record of it: what is missing,
    /// and what a record looks like.
    pub(crate) no_record: &'static str,
    pub(crate) failures: Failures,
    pub(crate) layouts: Layouts,
    /// Returns a clue if the object belongs to the format.
    pub(crate) recognise: fn(Place, &Fields) -> Option<Clue>,
    /// Reads an input in one of the format's layouts, and hands its records to the recorder.
    pub(crate) read: fn(&mut dyn BufRead, Layout, &mut Recorder<'_>),
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

/// The layouts in which a format occurs. The function returns whether an object alone on a line is a whole document of
/// the format, and not one of several records.
#[derive(Clone, Copy)]
pub(crate) enum Layouts {
    /// Only JSON Lines.
    Lines,
    /// Only a JSON document.
    Document(fn(&Fields) -> bool),
    /// JSON Lines or a document. The ends of the first lines decide.
    Either(fn(&Fields) -> bool),
}

impl Format {
    pub(crate) const fn new(definition: &'static Definition) -> Self {
        Self(definition)
    }

    /// Returns the format's name on the command line and in reports, for example `claude-code`.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    pub(crate) fn is_document(self, fields: &Fields) -> bool {
        match self.0.layouts {
            Layouts::Lines => false,
            Layouts::Document(is_document) | Layouts::Either(is_document) => is_document(fields),
        }
    }

    pub(crate) fn read(self, input: &mut dyn BufRead, layout: Layout, recorder: &mut Recorder<'_>) {
        // Lines may be recognised as a format of documents. They are a document that breaks off.
        let layout = match self.0.layouts {
            Layouts::Lines => Layout::Lines,
            Layouts::Document(_) => Layout::Document,
            Layouts::Either(_) => layout,
        };
        (self.0.read)(input, layout, recorder);
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
