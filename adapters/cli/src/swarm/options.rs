//! The options of `unstuck swarm`.

use std::ffi::OsStr;
use std::time::Duration;

use clap::builder::{StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Error, Subcommand, ValueEnum};
use unstuck_swarm::redis::{SECRET_MIN, Settings};
use unstuck_swarm::{CALLS_MAX, Rule, WORKERS_MAX, Window};

const SWARMS: &str = "The workers of a swarm are hooks with --swarm, and other hosts that count \
                      on the same server. All of them, and this command, need the same secret in \
                      UNSTUCK_SWARM_SECRET: at least 16 random bytes, for example from openssl \
                      rand -hex 16. If the server asks for a password, set \
                      UNSTUCK_SWARM_PASSWORD to it; in an address, others may see it.";

const EXIT_CODES: &str = "Exit codes: 0 no loop, 1 a loop (only with --once), 3 the server could \
                          not be asked, 4 no secret or an output that could not be written, 64 a \
                          usage error.";

#[derive(Args)]
#[command(after_help = SWARMS)]
pub(crate) struct Swarm {
    #[command(subcommand)]
    pub(crate) command: SwarmCommand,
}

#[derive(Subcommand)]
pub(crate) enum SwarmCommand {
    /// Show the most frequent calls of the swarm, and update them
    Watch(Watch),
    /// Clear all counts
    Clear(Clear),
}

/// The option that names the swarm.
#[derive(Args)]
pub(crate) struct Address {
    /// The server and the swarm, as redis://host:port?swarm=name; rediss:// asks for TLS
    #[arg(long, value_name = "URL", value_parser = Server)]
    pub(crate) swarm: String,
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Watch {
    #[command(flatten)]
    pub(crate) address: Address,
    /// The time between two updates
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    interval: u32,
    /// Show the calls once; the exit code is 1 if there is a loop
    #[arg(long)]
    pub(crate) once: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = LookFormat::Human)]
    format: LookFormat,
    /// The old spelling of --format jsonl
    #[arg(long, hide = true, conflicts_with = "format")]
    json: bool,
    /// The number of calls to show
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    #[command(flatten)]
    rule: RuleOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LookFormat {
    /// For people
    Human,
    /// One JSON object a line for each call and update
    Jsonl,
}

/// The options for the rule of the workers, which judges the calls that are shown.
#[derive(Args)]
#[command(next_help_heading = "The rule of the workers")]
struct RuleOptions {
    /// The number of equal calls that make a loop [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=i64::from(CALLS_MAX)))]
    calls: Option<u32>,
    /// The fewest workers that make these calls [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(WORKERS_MAX)))]
    workers: Option<u32>,
    /// The time in which they make them [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=DAYS_MAX))]
    window: Option<u32>,
}

/// The longest window in seconds: 30 days.
const DAYS_MAX: i64 = 30 * 24 * 3600;

impl Watch {
    /// Returns whether the output is for programs.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.json || self.format == LookFormat::Jsonl
    }

    pub(crate) fn interval(&self) -> Duration {
        Duration::from_secs(self.interval.into())
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit.into()
    }

    /// Returns the rule of the workers: the default one, with the given options.
    pub(crate) fn rule(&self) -> Rule {
        let RuleOptions { calls, workers, window } = self.rule;
        let rule = Rule::default();
        let rule = calls.map_or(rule.clone(), |calls| rule.calls(calls));
        let rule = workers.map_or(rule.clone(), |workers| rule.workers(workers));
        let span = |seconds: u32| Window::Time { span: u64::from(seconds) * 1000 };
        window.map_or(rule.clone(), |seconds| rule.window(span(seconds)))
    }
}

#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 all counts were cleared, 3 the server could not be asked, 4 no \
                  secret, 64 a usage error."
)]
pub(crate) struct Clear {
    #[command(flatten)]
    pub(crate) address: Address,
}

/// Reads the URL of a swarm. Errors do not repeat it, because it may contain a password.
#[derive(Clone)]
pub(crate) struct Server;

impl TypedValueParser for Server {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        let url = StringValueParser::new().parse_ref(command, arg, value)?;
        // The secret is not known yet, and reading a URL does not need it.
        match Settings::parse(&url, &[0; SECRET_MIN]) {
            Ok(_) => Ok(url),
            Err(error) => {
                let why = format!("{error}\n");
                Err(Error::raw(ErrorKind::ValueValidation, why).with_cmd(command))
            }
        }
    }
}
