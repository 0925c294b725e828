//! The sessions of coding agents on this machine: what hooks know of them, and the transcripts that agents write.
//!
//! `unstuck status` and `unstuck report` show what hooks know, which is in `agents/state`. It holds no arguments and no
//! results, so none are shown. `unstuck view` and `unstuck scan` read the transcripts, which hold all.

mod effect;
pub(crate) mod report;
pub(crate) mod status;
pub(crate) mod transcripts;

use anstyle::{AnsiColor, Style};
use clap::{Args, ValueEnum};
use unstuck_core::LoopId;

use crate::agents::state::Folder;
use crate::exit::Exit;
use crate::output::{Reader, fail, filled, print};

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const FOUND: Style = AnsiColor::Red.on_default().bold();

/// The indentation of further lines on a loop.
const INDENT: &str = "                    ";

/// Returns the lines on the loop with this id, for people.
fn loop_lines(id: LoopId, text: &str) -> String {
    let lines = filled(text, INDENT);
    format!("  {FOUND}{id}{FOUND:#}  {}", lines.trim_start())
}

/// Returns the folder with what hooks know, if there is a place for one.
///
/// # Errors
///
/// If it cannot be read, which has been printed. Hooks cannot use such a folder either.
fn folder() -> Result<Option<Folder>, Exit> {
    let folder = Folder::find();
    match folder.as_ref().map_or(Ok(()), Folder::check) {
        Ok(()) => Ok(folder),
        Err(error) => {
            let path = folder.map(|folder| folder.path().display().to_string()).unwrap_or_default();
            Err(fail(Exit::Setup, &path, &format!("the sessions cannot be read: {error}")))
        }
    }
}

const JOURNAL: &str = "Hooks add a line to findings.jsonl in the state folder for each finding and for each \
                       session that ends. The file holds no arguments and no results. At 1 MiB its older \
                       half is dropped.\n\n\
                       --effect counts the notes and refusals of loops. Within 2: the loop was left, which \
                       means that 5 calls or more followed without it, and at most 2 calls after the note went \
                       on with it. Later: it was left after more. Never: the loop was found again, or the run \
                       ended in it. Ended: the run ended right after the note, so that nobody can tell. The \
                       share, with its 95 % interval by Wilson, is of the notes of which that is known. In \
                       jsonl the member effect is left, later, never, ended, or null for a session whose end \
                       is not known.";

#[derive(Args)]
#[command(after_help = JOURNAL)]
pub(crate) struct Report {
    /// The number of days to report on, each of 24 hours until now
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub(crate) days: u32,
    /// Show what agents did after each note: whether they left the loop, and how soon
    #[arg(long)]
    pub(crate) effect: bool,
    /// The format of the report. jsonl has a line for each finding
    #[arg(long, value_enum, default_value_t = SessionFormat::Human)]
    pub(crate) format: SessionFormat,
}

const LINE: &str = "For the status line of Claude Code, let statusLine in its settings.json be of the type command, or \
                    add to your own script:\n  unstuck status --line\n\n\
                    Freed loops are those that were not found again in five calls or more, after the agent was told. \
                    Saved calls are those that were refused.";

#[derive(Args)]
#[command(after_help = LINE)]
pub(crate) struct Status {
    /// Print one line on the session whose id is in the JSON on standard input, for an agent's status line
    #[arg(long, conflicts_with_all = ["all", "format"])]
    pub(crate) line: bool,
    /// Include sessions whose last event is more than a day old
    #[arg(long)]
    pub(crate) all: bool,
    /// The format of the list
    #[arg(long, value_enum, default_value_t = SessionFormat::Human)]
    pub(crate) format: SessionFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SessionFormat {
    /// For people
    Human,
    /// One JSON object a line
    Jsonl,
}

impl SessionFormat {
    /// Prints the text for people, or the lines for programs.
    fn print(self, human: impl FnOnce() -> String, lines: impl Iterator<Item = String>) -> Exit {
        match self {
            Self::Human => print(Reader::Person, &human(), Exit::Clean),
            Self::Jsonl => print(Reader::Program, &lines.collect::<String>(), Exit::Clean),
        }
    }
}
