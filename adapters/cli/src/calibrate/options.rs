//! The options of `unstuck eval` and `unstuck tune`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use unstuck_report::config;
use unstuck_report::cost::Price;
use unstuck_text::{PRESETS, Preset};

use super::tune::Rate;
use crate::exit::Exit;
use crate::policy;
use crate::policy::options::{preset, preset_names};

const FIGURES: &str = "Early: runs with a finding before the loop began; they count as missed. \
                       Lag: the median number of calls from where a supervisor would step in to \
                       the finding. Saved: the total number of calls for which loops continued \
                       after they were found.";

#[derive(Args)]
#[command(after_help = FIGURES)]
pub(crate) struct Eval {
    /// The labels: JSON Lines that say for each file whether there is a loop, where it begins and
    /// where it ends
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: PathBuf,
    /// The folder that the labels' files are in
    #[arg(value_name = "ROOT")]
    pub(crate) root: PathBuf,
    /// The policy to judge by, or all that have a name; can be repeated. With a single policy, the
    /// runs that it judged wrong are listed [default: the presets]
    #[arg(long, value_name = "NAME", value_parser = preset_names_or_all())]
    preset: Vec<String>,
    /// A policy to judge by, from a file in the format of presets --format toml
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Print the scores for each source, the first folder of a run's file [default policy:
    /// balanced]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) by: Option<By>,
    /// Print 95 % confidence intervals, by resampling the runs; with --by source, the row for all
    /// runs resamples whole sources
    #[arg(long)]
    pub(crate) intervals: bool,
    /// List the runs that each policy judged wrong, with the evidence for each finding and the
    /// nearest rule of each missed loop. Only with --format human
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = TableFormat::Human)]
    pub(crate) format: TableFormat,
}

impl Eval {
    /// Returns the policies that were named, and those from files.
    pub(crate) fn policies(&self) -> Result<Vec<&'static Preset>, Exit> {
        let mut policies: Vec<&'static Preset> = match (&self.preset[..], &self.config[..]) {
            ([], []) if self.by.is_some() => vec![&PRESETS[0]],
            ([], []) => PRESETS.iter().collect(),
            (names, _) if names.iter().any(|name| name == ALL) => {
                config::names().map(preset).collect()
            }
            (names, _) => names.iter().map(|name| preset(name)).collect(),
        };
        for path in &self.config {
            policies.push(policy::load(path)?);
        }
        Ok(policies)
    }

    /// Returns whether the runs that a policy judged wrong are listed.
    pub(crate) fn lists_wrong_runs(&self) -> bool {
        let is_one = match (&self.preset[..], &self.config[..]) {
            ([name], []) => name != ALL,
            ([], [_]) => true,
            _ => false,
        };
        self.verbose || is_one
    }
}

const FITS: &str = "The number of accused runs is printed as well: for the policy as it is, and \
                    for the fit. A random half of the runs is judged by the fit to the other half.";

#[derive(Args)]
#[command(after_help = FITS)]
pub(crate) struct Tune {
    /// Runs that are known to be healthy: files, folders, or - for standard input. Every rule about
    /// calls becomes as patient as these runs require
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    pub(crate) healthy: Vec<PathBuf>,
    /// The policy to start with
    #[arg(long, value_name = "NAME", default_value = PRESETS[0].policy.name(), value_parser = preset_names())]
    preset: String,
    /// The policy to start with, from a file in the format of presets --format toml
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    pub(crate) config: Option<PathBuf>,
    /// Print a limit of what a run may spend instead of a policy: at most the percentage --false-alarms of healthy
    /// runs spends more. It bounds the length of runs, and says nothing about loops
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["preset", "config"])]
    pub(crate) limit: Option<LimitOf>,
    /// The prices of a million tokens in US dollars, for --limit dollars, for example
    /// input=3,cached=0.3,output=15
    #[arg(long, value_name = "PRICE", requires = "limit", required_if_eq("limit", "dollars"))]
    pub(crate) price: Option<Price>,
    /// The percentage of healthy runs that may be accused, or spend more than the limit
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = Rate::of_text)]
    pub(crate) false_alarms: Rate,
    /// Write the policy to this file and the scores to standard output; without it, the policy goes
    /// to standard output and the scores to standard error
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl Tune {
    /// Returns the policy to start with, and the tables of its file for single tools and calls.
    pub(crate) fn preset(&self) -> Result<(&'static Preset, String), Exit> {
        self.config.as_deref().map_or_else(
            || {
                Ok((
                    preset(&self.preset),
                    config::text(&self.preset).map_or_else(String::new, policy::other_tables),
                ))
            },
            policy::load_whole,
        )
    }
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LimitOf {
    /// Calls of tools
    Calls,
    /// Tokens that the model read or wrote, also from a cache
    Tokens,
    /// US dollars; needs --price
    Dollars,
    /// The time from the first record to the last one
    Minutes,
}

/// The groups of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// The first folder of a run's file
    Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// For people
    Human,
    /// One JSON object a line for each policy, or each of its sources
    Jsonl,
}

/// The name for all policies that have a name.
const ALL: &str = "all";

fn preset_names_or_all() -> Vec<&'static str> {
    config::names().chain([ALL]).collect()
}
