//! The options of `unstuck scan`.

use std::path::PathBuf;

use clap::Args;
use unstuck_core::Action;
use unstuck_trace::Format;

use crate::config::options::PolicyOptions;
use crate::exit::Exit;
use crate::output::misused;
use crate::read::jobs::{JOBS_MAX, one_for_each_core};
use crate::replay::LoopPrefix;
use crate::scan::cost::Price;
use crate::scan::html::IncludeArgs;
use crate::scan::targets::Targets;

pub(crate) const EXIT_CODES: &str = "0 nothing found, 1 a finding, 3 an input that could not be read, or only in part (the others \
                          are still reported), 4 a bad configuration, or an output that could not \
                          be written, 64 a usage error.";

#[derive(Args)]
#[command(after_help = format!("Exit codes: {EXIT_CODES}"))]
pub(crate) struct Scan {
    /// Files, folders (read recursively), or - for standard input. Without any, the sessions of
    /// Claude Code, Codex and Gemini CLI in their usual places
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The format of the inputs; auto detects it for each file
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = from_names())]
    from: String,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    /// Ignore the loops that this file lists, one id a line
    #[arg(long, value_name = "FILE")]
    pub(crate) feedback: Option<PathBuf>,
    /// Show every call of one loop and how near each rule was. LOOP is an id or its first 4 or more
    /// digits. Only with --format human and svg
    #[arg(long, value_name = "LOOP")]
    pub(crate) explain: Option<LoopPrefix>,
    #[command(flatten)]
    pub(crate) targets: Targets,
    /// How much of arguments and results --format html shows
    #[arg(long, value_name = "PART", value_enum, default_value_t = IncludeArgs::Short)]
    pub(crate) include_args: IncludeArgs,
    /// The prices of a million tokens in US dollars, for example input=3,cached=0.3,output=15. Shows what
    /// runs cost, if their files have tokens
    #[arg(long, value_name = "PRICE")]
    pub(crate) price: Option<Price>,
    /// The mildest action that makes the exit code 1
    #[arg(long, value_name = "ACTION", default_value = "nudge", value_parser = fail_on_names())]
    fail_on: String,
    /// How many inputs to read at a time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(JOBS_MAX)))]
    jobs: Option<u16>,
    /// Print how the format of each input was recognised, and which loops of --feedback no input
    /// contains
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl Scan {
    /// Returns the format that was named, or `None` for `auto`.
    pub(crate) fn from(&self) -> Option<Format> {
        self.from.parse().ok()
    }

    /// Returns the number of inputs to read at a time.
    pub(crate) fn jobs(&self) -> usize {
        self.jobs.map_or_else(one_for_each_core, usize::from)
    }

    /// Returns the mildest action to fail on, or `None` for `never`.
    pub(crate) fn fail_on(&self) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.name() == self.fail_on)
    }

    /// Prints `what` as a usage error of this command.
    pub(crate) fn misused(what: String) -> Exit {
        misused::<Self>("scan", what)
    }
}

pub(crate) fn from_names() -> Vec<&'static str> {
    ["auto"].into_iter().chain(Format::ALL.iter().map(|format| format.name())).collect()
}

fn fail_on_names() -> Vec<&'static str> {
    let actions = Action::ALL.into_iter().filter(|action| *action > Action::Proceed);
    actions.map(Action::name).chain(["never"]).collect()
}
