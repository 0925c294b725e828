//! The command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use unstuck_core::Action;
use unstuck_text::{PRESETS, Preset};
use unstuck_trace::Format;

use crate::agents::Agent;
pub(crate) use crate::agents::options::{
    Doctor, Install, ReportFormat, Scope, SessionFormat, Status, Uninstall,
};
use crate::calibrate::fit::Rate;
use crate::config;
use crate::exit::Exit;
use crate::read::jobs::{JOBS_MAX, one_for_each_core};
use crate::replay::Wanted;
use crate::start_over::StartOver;
pub(crate) use crate::swarm::options::{Clear, Swarm, SwarmCommand, Watch};

/// Finds loops of agents that call tools: in recorded runs, and while they go on.
#[derive(Parser)]
#[command(name = "unstuck", version, max_term_width = 100)]
#[command(after_help = format!("Exit codes of scan: {EXIT_CODES}"))]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "0 nothing found, 1 a finding, 3 an input that could not be read (the others \
                          are still reported), 4 a bad configuration, or an output that could not \
                          be written, 64 a usage error.";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Read recorded runs and print the loops that are in them
    Scan(Scan),
    /// Let a coding agent call unstuck at each tool call, to find loops as they happen
    Install(Install),
    /// Undo install, and leave all else in the agent's settings as it is
    Uninstall(Uninstall),
    /// Tell whether what is installed works, by running it, and where its state is
    Doctor(Doctor),
    /// Print the sessions that are watched, and what was found in them
    Status(Status),
    /// Stand between an MCP client and a server, and keep the model from calling its tools in loops
    Mcp(Mcp),
    /// Keep what an agent did to a work tree of git, and put the tree back to where its run began
    StartOver(StartOver),
    /// Watch a swarm whose workers count their calls on one server, or forget what was counted
    Swarm(Swarm),
    /// Answer an event of a coding agent, which calls this as its hook
    Hook(Hook),
    /// Replay labelled runs and print how well each policy does
    Eval(Eval),
    /// Fit how many repetitions the rules of a policy ask for to labelled runs, or to healthy ones
    Tune(Tune),
    /// Print the policies that can be chosen by name
    Presets(Presets),
    /// Print the fingerprints and the canonical text of JSON documents, which tell why two are, or
    /// are not, the same
    Json(Json),
    /// Print the script by which a shell completes this command line
    Completions(Completions),
    /// Print the manual page; unstuck man | man -l - shows it
    Man(Man),
}

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
    /// The policy to judge by
    #[arg(long, value_name = "NAME", default_value = PRESETS[0].policy.name(), value_parser = preset_names())]
    preset: String,
    /// The policy to judge by, from a file like what presets --format toml prints
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    config: Option<PathBuf>,
    /// Leave alone the loops that this file names by their ids, one a line
    #[arg(long, value_name = "FILE")]
    pub(crate) feedback: Option<PathBuf>,
    /// Show every call of this one loop, by its id or the first 4 digits of that or more, and how
    /// near each rule was; for people alone
    #[arg(long, value_name = "LOOP")]
    pub(crate) explain: Option<Wanted>,
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

    /// The policy that was named, or described in a file.
    pub(crate) fn preset(&self) -> Result<&'static Preset, Exit> {
        self.config.as_deref().map_or_else(|| Ok(preset(&self.preset)), config::load)
    }

    /// How many inputs to read at a time.
    pub(crate) fn jobs(&self) -> usize {
        self.jobs.map_or_else(one_for_each_core, usize::from)
    }

    /// The mildest action to fail on; none for `never`.
    pub(crate) fn fail_on(&self) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.name() == self.fail_on)
    }
}

const FIGURES: &str = "Early: loops before which something was found; they count as missed. Lag: the \
                       median number of calls from where a supervisor would step in to where a \
                       loop was found. Saved: how many calls the loops still went on for after \
                       that, in all.";

#[derive(Args)]
#[command(after_help = FIGURES)]
pub(crate) struct Eval {
    /// The labels: JSON Lines that say of each file whether there is a loop, and from where to where
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: PathBuf,
    /// The folder that the labels' files are in
    #[arg(value_name = "ROOT")]
    pub(crate) root: PathBuf,
    /// Judge by this policy, or by all that have a name; may be given several times. Of one alone,
    /// the runs that it judged wrong are listed [default: the presets]
    #[arg(long, value_name = "NAME", value_parser = preset_names_or_all())]
    preset: Vec<String>,
    /// Likewise, by the policy in a file like what presets --format toml prints
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Print the figures for the runs of each source, the first folder of their files [default
    /// policy: balanced]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) by: Option<By>,
    /// Print, for the runs of each source, how well the policy does when it is fitted to the runs of
    /// all other sources, beside how well it does as it is [default policy: balanced]
    #[arg(long, conflicts_with_all = ["by", "intervals", "verbose"])]
    pub(crate) leave_one_source_out: bool,
    /// Print intervals of 95 % for the figures, by resampling the runs; with --by source, the row of
    /// all runs resamples whole sources
    #[arg(long)]
    pub(crate) intervals: bool,
    /// List the runs that each policy judged wrong, with what its findings rest on and how near it
    /// came to the loops that it missed; for people alone
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = TableFormat::Human)]
    pub(crate) format: TableFormat,
}

impl Eval {
    /// The policies that were named, and those described in files.
    pub(crate) fn policies(&self) -> Result<Vec<&'static Preset>, Exit> {
        let is_by_source = self.by.is_some() || self.leave_one_source_out;
        let mut policies: Vec<&'static Preset> = match (&self.preset[..], &self.config[..]) {
            ([], []) if is_by_source => vec![&PRESETS[0]],
            ([], []) => PRESETS.iter().collect(),
            (names, _) if names.iter().any(|name| name == ALL) => {
                config::names().map(preset).collect()
            }
            (names, _) => names.iter().map(|name| preset(name)).collect(),
        };
        for path in &self.config {
            policies.push(config::load(path)?);
        }
        Ok(policies)
    }

    /// Whether the runs that a policy judged wrong are listed.
    pub(crate) fn lists_wrong_runs(&self) -> bool {
        let is_one = match (&self.preset[..], &self.config[..]) {
            ([name], []) => name != ALL,
            ([], [_]) => true,
            _ => false,
        };
        self.verbose || is_one
    }
}

const FITS: &str = "What it costs is printed beside: how well the policy does as it is, fitted, and on \
                    runs that it was not fitted to. Labelled runs: each source, the first folder of \
                    their files, is judged by a fit to the others. Healthy runs: one half, by chance, \
                    is judged by what the other half asks for.";

const TUNES: &str = "unstuck tune [OPTIONS] --labels <FILE> <ROOT>\n       \
                     unstuck tune [OPTIONS] --healthy <PATH>...";

#[derive(Args)]
#[command(after_help = FITS, override_usage = TUNES)]
pub(crate) struct Tune {
    /// Fit to labelled runs: JSON Lines that say of each file below ROOT whether there is a loop. The
    /// highest F1 counts
    #[arg(long, value_name = "FILE", requires = "root", required_unless_present = "healthy")]
    labels: Option<PathBuf>,
    /// The folder that the labels' files are in
    #[arg(value_name = "ROOT", requires = "labels")]
    root: Option<PathBuf>,
    /// Fit to runs that are known to be healthy: files, folders, or - for standard input. Every rule
    /// about calls becomes as patient as these ask for
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "labels")]
    healthy: Vec<PathBuf>,
    /// The policy to begin with
    #[arg(long, value_name = "NAME", default_value = PRESETS[0].policy.name(), value_parser = preset_names())]
    preset: String,
    /// Likewise, from a file like what presets --format toml prints
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    pub(crate) config: Option<PathBuf>,
    /// How many of a hundred healthy runs may be accused [default: 3; of --healthy, 1]
    #[arg(long, value_name = "PERCENT")]
    false_alarms: Option<Rate>,
    /// Write the policy to this file, and what it costs to standard output; else they go to standard
    /// output and standard error
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What a policy is fitted to.
pub(crate) enum Material<'a> {
    Labelled { labels: &'a Path, root: &'a Path },
    Healthy(&'a [PathBuf]),
}

impl Tune {
    pub(crate) fn material(&self) -> Material<'_> {
        match (&self.labels, &self.root) {
            (Some(labels), Some(root)) => Material::Labelled { labels, root },
            // The parser lets neither pass without the other.
            _ => Material::Healthy(&self.healthy),
        }
    }

    /// The policy that was named or described in a file, and what its file says beside the rules.
    pub(crate) fn preset(&self) -> Result<(&'static Preset, String), Exit> {
        self.config.as_deref().map_or_else(
            || {
                Ok((
                    preset(&self.preset),
                    config::text(&self.preset).map_or_else(String::new, config::beside_rules),
                ))
            },
            config::load_whole,
        )
    }

    /// How many healthy runs may be accused.
    pub(crate) fn false_alarms(&self) -> Rate {
        self.false_alarms.unwrap_or(match self.material() {
            Material::Labelled { .. } => Rate::DEFAULT,
            Material::Healthy(_) => Rate::percent(1),
        })
    }
}

#[derive(Args)]
pub(crate) struct Presets {
    /// Only this one
    #[arg(value_name = "NAME", value_parser = preset_names())]
    name: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = PolicyFormat::Human)]
    pub(crate) format: PolicyFormat,
}

impl Presets {
    pub(crate) fn preset(&self) -> Option<&'static Preset> {
        self.name.as_deref().map(preset)
    }
}

#[derive(Args)]
pub(crate) struct Json {
    /// A file, or - for standard input, that holds one document, or one a line
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = DocumentFormat::Human)]
    pub(crate) format: DocumentFormat,
}

const HOOK: &str = "Reads the event as JSON on standard input. Prints what the agent is to know, or \
                    nothing. Whatever goes wrong, the agent goes on: the exit code is 0, and \
                    hook.log in the state folder has a line. That folder is $UNSTUCK_STATE_DIR, else \
                    unstuck in $XDG_STATE_HOME or in ~/.local/state. UNSTUCK=off in the environment \
                    turns it off.\n\n\
                    To try it out by hand, where silence means: go on:\n  \
                    echo '{\"session_id\":\"s\",\"hook_event_name\":\"PreToolUse\",\
                    \"tool_name\":\"Bash\",\n  \
                    \"tool_input\":{\"command\":\"ls\"},\"tool_use_id\":\"1\"}' \
                    | unstuck hook claude-code";

#[derive(Args)]
#[command(after_help = HOOK)]
pub(crate) struct Hook {
    /// The agent that calls
    #[arg(value_name = "AGENT", value_enum)]
    pub(crate) agent: Agent,
    /// Only keep what is found, and say nothing to the agent
    #[arg(long)]
    pub(crate) observe: bool,
    /// The policy to judge by
    #[arg(long, value_name = "NAME", default_value = PRESETS[0].policy.name(), value_parser = preset_names())]
    preset: String,
    /// The policy to judge by, from a file like what presets --format toml prints
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    config: Option<PathBuf>,
    /// The swarm that the agent is one of, as redis://host:port?swarm=name. Without the secret
    /// of the swarm in the environment it is judged alone: see unstuck swarm --help
    #[arg(long, value_name = "URL")]
    pub(crate) swarm: Option<String>,
}

impl Hook {
    /// What agents call, read without the parser: that takes as long as all that is done then. Any
    /// other command line is the parser's.
    pub(crate) fn plain(words: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut words = words.into_iter().skip(1);
        let agent = match (words.next()?.to_str()?, words.next()?.to_str()?) {
            ("hook", name) => Agent::ALL.into_iter().find(|agent| agent.name() == name)?,
            _ => return None,
        };
        let preset = PRESETS[0].policy.name().to_owned();
        let mut hook = Self { agent, observe: false, preset, config: None, swarm: None };
        while let Some(word) = words.next() {
            match word.to_str()? {
                "--observe" if !hook.observe => hook.observe = true,
                "--swarm" if hook.swarm.is_none() => hook.swarm = Some(value(words.next()?)?),
                _ => return None,
            }
        }
        Some(hook)
    }

    /// The policy that was named, or described in a file.
    pub(crate) fn preset(&self) -> Result<&'static Preset, Exit> {
        self.config.as_deref().map_or_else(|| Ok(preset(&self.preset)), config::load)
    }
}

/// The value of an option; what begins with a dash may be another.
fn value(word: OsString) -> Option<String> {
    word.into_string().ok().filter(|word| !word.is_empty() && !word.starts_with('-'))
}

const PROXIES: &str = "Where a client's configuration has the command of a server, put unstuck mcp -- before \
                       it. A call that continues a loop is answered with an error that says so, and \
                       never reaches the server; a warning is added to the result that earned it; \
                       all else passes byte for byte. With UNSTUCK=off in the environment everything \
                       does.\n\n\
                       Exit codes: that of the server, 128 and its number for a signal; 127 if the \
                       server is not found, 126 if it cannot be started; 4 a bad configuration, 64 a \
                       usage error.";

#[derive(Args)]
#[command(after_help = PROXIES)]
pub(crate) struct Mcp {
    /// The server and its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
    /// The policy to judge by
    #[arg(long, value_name = "NAME", default_value = PRESETS[0].policy.name(), value_parser = preset_names())]
    preset: String,
    /// The policy to judge by, from a file like what presets --format toml prints
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    config: Option<PathBuf>,
    /// Say on standard error what would be done, and do nothing
    #[arg(long)]
    pub(crate) observe: bool,
}

impl Mcp {
    /// The policy that was named, or described in a file.
    pub(crate) fn preset(&self) -> Result<&'static Preset, Exit> {
        self.config.as_deref().map_or_else(|| Ok(preset(&self.preset)), config::load)
    }
}

#[derive(Args)]
pub(crate) struct Completions {
    /// The shell that is to complete it
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Args)]
pub(crate) struct Man {
    /// The page of this command alone
    #[arg(value_name = "COMMAND", value_parser = command_names())]
    pub(crate) command: Option<String>,
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

/// What the figures are broken down by.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentFormat {
    /// For people
    Human,
    /// One JSON object a line for each document
    Jsonl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyFormat {
    /// For people
    Human,
    /// What --config reads; of the default preset if none is named
    Toml,
}

/// The preset that the parser let pass.
fn preset(name: &str) -> &'static Preset {
    config::named(name).unwrap_or(&PRESETS[0])
}

pub(crate) fn preset_names() -> Vec<&'static str> {
    config::names().collect()
}

/// What stands for every policy that has a name.
const ALL: &str = "all";

fn preset_names_or_all() -> Vec<&'static str> {
    config::names().chain([ALL]).collect()
}

/// The commands that have a page of their own, without building the command line once more to ask.
const fn command_names() -> [&'static str; 15] {
    [
        "scan",
        "install",
        "uninstall",
        "doctor",
        "status",
        "mcp",
        "start-over",
        "swarm",
        "hook",
        "eval",
        "tune",
        "presets",
        "json",
        "completions",
        "man",
    ]
}

fn from_names() -> Vec<&'static str> {
    ["auto"].into_iter().chain(Format::ALL.iter().map(|format| format.name())).collect()
}

fn fail_on_names() -> Vec<&'static str> {
    let actions = Action::ALL.into_iter().filter(|action| *action > Action::Proceed);
    actions.map(Action::name).chain(["never"]).collect()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::{Arguments, Command, Hook, command_names};
    use crate::agents::Agent;

    #[test]
    fn every_command_has_a_page() {
        let arguments = Arguments::command();
        let commands = arguments.get_subcommands().map(clap::Command::get_name);
        assert!(commands.eq(command_names()));
    }

    #[test]
    fn what_agents_call_is_read_as_the_parser_reads_it() {
        let read = |hook: &Hook| {
            let Hook { agent, observe, preset, config, swarm } = hook;
            (*agent, *observe, preset.clone(), config.clone(), swarm.clone())
        };
        for agent in Agent::ALL {
            let swarm = "redis://h:1/0?swarm=a";
            for rest in [
                &[][..],
                &["--observe"],
                &["--swarm", swarm],
                &["--observe", "--swarm", swarm],
                &["--swarm", swarm, "--observe"],
            ] {
                let words = [&["unstuck", "hook", agent.name()], rest].concat();
                let plain = Hook::plain(words.iter().map(Into::into)).expect("a plain hook");
                let parsed = Arguments::try_parse_from(&words).map(|parsed| parsed.command);
                let Ok(Command::Hook(parsed)) = parsed else { panic!("{words:?}") };
                assert_eq!(read(&plain), read(&parsed));
            }
        }
        for line in [
            "unstuck",
            "unstuck hook",
            "unstuck hook cursor",
            "unstuck scan codex",
            "unstuck hook codex --help",
            "unstuck hook codex --preset nudge",
            "unstuck hook codex --observe --observe",
            "unstuck hook codex --swarm",
            "unstuck hook codex --swarm --observe",
            "unstuck hook codex --swarm a --swarm b",
            "unstuck hook codex --swarm=a",
        ] {
            assert!(Hook::plain(line.split(' ').map(Into::into)).is_none(), "{line}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
