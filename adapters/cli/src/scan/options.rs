//! The options of `unstuck scan`.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use unstuck_core::Action;
use unstuck_trace::Format;

use crate::config::options::PolicyOptions;
use crate::exit::Exit;
use crate::read::jobs::{JOBS_MAX, one_for_each_core};
use crate::replay::LoopPrefix;

pub(crate) const EXIT_CODES: &str = "0 nothing found, 1 a finding, 3 an input that could not be read (the others \
                          are still reported), 4 a bad configuration, or an output that could not \
                          be written, 64 a usage error.";

#[derive(Args)]
#[command(after_help = format!("Exit codes: {EXIT_CODES}"))]
pub(crate) struct Scan {
    /// Files, folders (read recursively), or - for standard input; if there is none, the sessions
    /// of Claude Code, Codex and Gemini CLI in their usual places
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The format of the input; auto looks at each file
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = from_names())]
    from: String,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    /// Leave alone the loops that this file names by their ids, one a line
    #[arg(long, value_name = "FILE")]
    pub(crate) feedback: Option<PathBuf>,
    /// Show every call of this one loop, by its id or the first 4 digits of that or more, and how
    /// near each rule was; for people alone
    #[arg(long, value_name = "LOOP")]
    pub(crate) explain: Option<LoopPrefix>,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
    /// The mildest action that makes the exit code 1
    #[arg(long, value_name = "ACTION", default_value = "nudge", value_parser = fail_on_names())]
    fail_on: String,
    /// How many inputs to read at a time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(JOBS_MAX)))]
    jobs: Option<u16>,
    /// Say of each input how its format was told, and which loops of --feedback are in none
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl Scan {
    /// The format that was named; none for `auto`.
    pub(crate) fn from(&self) -> Option<Format> {
        self.from.parse().ok()
    }

    /// How many inputs to read at a time.
    pub(crate) fn jobs(&self) -> usize {
        self.jobs.map_or_else(one_for_each_core, usize::from)
    }

    /// The mildest action to fail on; none for `never`.
    pub(crate) fn fail_on(&self) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.name() == self.fail_on)
    }

    /// Prints `what` as a usage error of this command.
    pub(crate) fn misused(what: String) -> Exit {
        let command = clap::Command::new("scan").bin_name("unstuck scan");
        // Printing can only fail if the reader has left; the exit code still tells.
        let _ = Self::augment_args(command).error(ErrorKind::MissingRequiredArgument, what).print();
        Exit::Usage
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people
    Human,
    /// One JSON document
    Json,
    /// One JSON object a line for each run
    Jsonl,
}

fn from_names() -> Vec<&'static str> {
    ["auto"].into_iter().chain(Format::ALL.iter().map(|format| format.name())).collect()
}

fn fail_on_names() -> Vec<&'static str> {
    let actions = Action::ALL.into_iter().filter(|action| *action > Action::Proceed);
    actions.map(Action::name).chain(["never"]).collect()
}
