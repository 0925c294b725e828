//! The options of `unstuck scan`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use clap::{Args, ValueEnum};
use unstuck_core::Action;
use unstuck_report::config;
use unstuck_report::cost::Price;
use unstuck_report::html::IncludeArgs;
use unstuck_report::parts::FullReport;
use unstuck_report::replay::LoopPrefix;
use unstuck_trace::Format;

use crate::exit::Exit;
use crate::output::misused;
use crate::policy::options::PolicyOptions;
use crate::read::jobs::{JOBS_MAX, one_for_each_core};
use crate::scan::targets::{Target, Targets};

pub(crate) const EXIT_CODES: &str = "0 nothing found, 1 a finding (also if another input could not be \
                                     read), 3 nothing found, but an input could not be read, or \
                                     only in part, 4 a bad configuration, or an output that could \
                                     not be written, 64 a usage error.";

const COLOURS: &str = "When to use colours on standard output and standard error; auto means on a terminal, \
                       and follows NO_COLOR, CLICOLOR and CLICOLOR_FORCE";

#[derive(Args)]
#[command(after_help = format!("Exit codes: {EXIT_CODES}"))]
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
pub(crate) struct Scan {
    /// Files, folders (read recursively), or - for standard input. Without any, standard input if it is a
    /// pipe or a file with data, or else the sessions of the agents on this machine
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The format of the inputs; auto detects it for each file
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = from_names())]
    from: String,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    /// Ignore the loops that this file lists, one id a line, or at least its first four digits
    #[arg(long, value_name = "FILE")]
    pub(crate) feedback: Option<PathBuf>,
    /// Show every call of one loop and how near each rule was. LOOP is an id or its first
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
    /// Compare with this file, which a former scan wrote with --format jsonl, once or several times: each
    /// loop is new, there again, or gone
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Print no loops, but what each of these policies would have done in the runs, and what the runs spent after
    /// that: policies by name or as a FILE.toml, and steps:N for a plain limit of N calls, for example
    /// balanced,openhands,steps:60. Only with --format human, jsonl, markdown, html and svg
    #[arg(long, value_name = "POLICY,...", value_delimiter = ',', conflicts_with_all = NOT_COMPARED.split(' '))]
    pub(crate) compare: Vec<CandidateName>,
    /// The runs that are known to be good: one path a line, or labels of eval, where a run without a loop is
    /// good. Without it, the runs that ended with passing tests or a commit. Only with --compare
    #[arg(long, value_name = "FILE", requires = "compare")]
    pub(crate) good: Option<PathBuf>,
    /// Show what the agent did after each finding, in the formats human, json, jsonl and html: whether it left the
    /// loop, and how soon. See report --help
    #[arg(long, conflicts_with_all = ["compare", "explain", "quiet"])]
    pub(crate) effect: bool,
    /// The mildest action that makes the exit code 1; new for any loop that is not in --baseline
    #[arg(long, value_name = "ACTION", default_value = "nudge", value_parser = fail_on_names())]
    fail_on: String,
    /// How many inputs to read at a time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(JOBS_MAX)))]
    jobs: Option<u16>,
    /// Print only the digest: how many runs are stuck, what recurs in them, and the ten that spent most
    /// after the first finding. Without it, the digest of more than 20 runs comes before them. Only with
    /// --format human
    #[arg(long, conflicts_with = "explain")]
    pub(crate) summary: bool,
    /// Leave out the other runs
    #[arg(long, value_name = "WHICH", conflicts_with = "explain")]
    pub(crate) only: Option<Only>,
    /// The order of the runs
    #[arg(long, value_name = "ORDER", default_value_t = Sort::Path, value_enum)]
    pub(crate) sort: Sort,
    /// Only the files of folders, and the usual sessions, that were changed in this time: a number and m, h,
    /// d or w for minutes, hours, days or weeks, for example 1d
    #[arg(long, value_name = "AGE")]
    since: Option<Age>,
    /// Print no report and no remark on the terminal; the exit code and the errors remain
    #[arg(short, long, conflicts_with_all = ["explain", "verbose"])]
    pub(crate) quiet: bool,
    #[arg(long, value_name = "WHEN", default_value_t = Colour::Auto, value_enum, help = COLOURS)]
    pub(crate) color: Colour,
    /// Print how the format of each input was recognised, each input that could not be read, and
    /// which loops of --feedback no input contains
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// The options that have no meaning with `--compare`.
const NOT_COMPARED: &str = "preset config feedback explain include_args baseline fail_on summary only sort quiet \
                            verbose";

/// The runs that are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    /// The runs with a finding
    Stuck,
}

/// The order of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// As the inputs are named, and folders by the names of their files
    Path,
    /// The runs that spent most after the first finding first. Only with --format human
    Cost,
    /// The files that were changed last first
    Time,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

impl From<Colour> for anstream::ColorChoice {
    fn from(colour: Colour) -> Self {
        match colour {
            Colour::Auto => Self::Auto,
            Colour::Always => Self::Always,
            Colour::Never => Self::Never,
        }
    }
}

/// The age of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Age(Duration);

impl FromStr for Age {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected a number and m, h, d or w, for example 90m or 1d";
        let unit = text.chars().next_back().ok_or(EXPECTED)?;
        let seconds: u64 = match unit {
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return Err(EXPECTED),
        };
        let number =
            text.get(..text.len() - 1).filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
        let number: u64 = number.and_then(|number| number.parse().ok()).ok_or(EXPECTED)?;
        number
            .checked_mul(seconds)
            .map(|seconds| Self(Duration::from_secs(seconds)))
            .ok_or(EXPECTED)
    }
}

impl Scan {
    /// Colours standard output and standard error as `--color` says.
    pub(crate) fn set_colours(&self) {
        anstream::ColorChoice::from(self.color).write_global();
    }

    /// Returns the time before which files of folders are left out. A time before all clocks leaves out none.
    pub(crate) fn since(&self) -> Option<SystemTime> {
        SystemTime::now().checked_sub(self.since?.0)
    }

    /// Returns the format that was named, or `None` for `auto`.
    pub(crate) fn from(&self) -> Option<Format> {
        self.from.parse().ok()
    }

    /// Returns the outputs: all targets, or only the files if standard output is to be quiet.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(|target| !self.quiet || target.path.is_some())
    }

    /// Returns the number of inputs to read at a time.
    pub(crate) fn jobs(&self) -> usize {
        self.jobs.map_or_else(one_for_each_core, usize::from)
    }

    /// Returns the mildest action to fail on, or `None` for `never` and `new`.
    fn fail_on(&self) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.name() == self.fail_on)
    }

    /// Returns whether only loops that the baseline does not have make the exit code 1.
    pub(super) fn fails_on_new(&self) -> bool {
        self.fail_on == NEW
    }

    /// Returns whether the loops of a run make the exit code 1.
    pub(super) fn fails(&self, report: &FullReport) -> bool {
        if self.fails_on_new() {
            return report.has_new_loop();
        }
        self.fail_on().is_some_and(|least| report.judged.worst >= least)
    }

    /// Prints `what` as a usage error of this command.
    pub(crate) fn misused(what: String) -> Exit {
        misused::<Self>("scan", what)
    }
}

/// The value of `--fail-on` for loops that the baseline does not have.
const NEW: &str = "new";

pub(crate) fn from_names() -> Vec<&'static str> {
    ["auto"].into_iter().chain(Format::ALL.iter().map(|format| format.name())).collect()
}

fn fail_on_names() -> Vec<&'static str> {
    let actions = Action::ALL.into_iter().filter(|action| *action > Action::Proceed);
    actions.map(Action::name).chain([NEW, "never"]).collect()
}

/// The beginning of the name of a limit of steps.
pub(crate) const STEPS: &str = "steps:";

/// A policy or a limit, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CandidateName {
    /// A policy that has a name.
    Policy(String),
    /// A policy in a file.
    File(PathBuf),
    /// A limit of the calls of a run.
    Steps(NonZeroU32),
}

impl FromStr for CandidateName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(number) = text.strip_prefix(STEPS) {
            return number.parse().map(Self::Steps).map_err(|_| {
                format!("a limit of steps is a number of calls from 1 on, for example {STEPS}60")
            });
        }
        if config::names().any(|name| name == text) {
            return Ok(Self::Policy(text.to_owned()));
        }
        if Path::new(text).extension().is_some_and(|extension| extension == "toml") {
            return Ok(Self::File(text.into()));
        }
        let names: Vec<_> = config::names().collect();
        let names = names.join(", ");
        Err(format!("no policy has this name; expected {STEPS}N, a FILE.toml, or one of {names}"))
    }
}

impl CandidateName {
    /// Returns the file that is read for it, if there is one.
    pub(crate) const fn file(&self) -> Option<&PathBuf> {
        if let Self::File(path) = self { Some(path) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_a_unit() {
        for (text, seconds) in
            [("90m", 5400), ("2h", 7200), ("1d", 86_400), ("2w", 1_209_600), ("0m", 0)]
        {
            assert_eq!(text.parse(), Ok(Age(Duration::from_secs(seconds))), "{text}");
        }
        for text in
            ["", "1", "d", "1s", "1 d", "+1d", "-1d", "1.5d", "1dd", "1é", "99999999999999999999w"]
        {
            assert!(text.parse::<Age>().is_err(), "{text}");
        }
    }
}
