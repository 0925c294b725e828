//! The part of the command line that is about agents while they work.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::agents::Agent;
use crate::agents::host::{Home, Host, Scope};
use crate::config;
use crate::config::options::preset_names;
use crate::exit::Exit;
use crate::output::complain;
use crate::swarm::options::Server;

/// The text below the options of `install` and `uninstall`.
fn places() -> String {
    let places = Agent::ALL.iter().map(|agent| place(agent.host()));
    format!(
        "Settings files:\n{}\n\nIn a project they are in the folder of the same name beside .git. \
         Before a file is changed, it is copied to a file beside it whose name ends with \
         .unstuck-backup, unless nothing changes but what install put there.",
        places.collect::<Vec<_>>().join("\n")
    )
}

/// A line on the user's settings file of an agent.
fn place(host: &Host) -> String {
    let Host { title, folder, file, .. } = host;
    let moved = match host.home {
        Home::Folder(variable) => format!("${variable}/{file}"),
        Home::Parent(variable) => format!("${variable}/{folder}/{file}"),
    };
    format!("  {title:<12} ~/{folder}/{file} or {moved}")
}

const MOVED: &str = "The absolute path of this program goes into the settings: where it is moved, \
                     install it again.";

#[derive(Args)]
#[command(after_help = format!("{}\n\n{MOVED}", places()))]
pub(crate) struct Install {
    /// The agent to be watched
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agent: Agent,
    /// Whose settings to change
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    /// Only note what is found, and never speak to the agent
    #[arg(long)]
    observe: bool,
    /// The policy to judge by
    #[arg(long, value_name = "NAME", value_parser = preset_names())]
    preset: Option<String>,
    /// The policy to judge by, from a file like what presets --format toml prints
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    config: Option<PathBuf>,
    /// The swarm that the agent is one of, as redis://host:port?swarm=name. The agent is to have
    /// the secret of the swarm in its environment: see unstuck swarm --help
    #[arg(long, value_name = "URL", value_parser = Server)]
    swarm: Option<String>,
    #[command(flatten)]
    pub(crate) change: Change,
}

impl Install {
    /// The options that the agent is to give to `unstuck hook`.
    pub(crate) fn options(&self) -> Result<Vec<String>, Exit> {
        let mut options = Vec::new();
        if self.observe {
            options.push("--observe".to_owned());
        }
        if let Some(preset) = &self.preset {
            options.extend(["--preset".to_owned(), preset.clone()]);
        }
        if let Some(path) = &self.config {
            config::load(path)?;
            options.extend(["--config".to_owned(), absolute(path)?]);
        }
        if let Some(url) = &self.swarm {
            options.extend(["--swarm".to_owned(), url.clone()]);
        }
        Ok(options)
    }
}

#[derive(Args)]
#[command(after_help = places())]
pub(crate) struct Uninstall {
    /// The agent to be left alone
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agent: Agent,
    /// Whose settings to change
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    #[command(flatten)]
    pub(crate) change: Change,
}

#[derive(Args)]
pub(crate) struct Change {
    /// Print what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

const HEALTH: &str = "Exit codes: 0 all that is installed works, 1 something does not, 4 the output \
                      could not be written, 64 a usage error.";

#[derive(Args)]
#[command(after_help = HEALTH)]
pub(crate) struct Doctor {
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    pub(crate) format: ReportFormat,
}

#[derive(Args)]
pub(crate) struct Status {
    /// Those of more than a day ago, too
    #[arg(long)]
    pub(crate) all: bool,
    /// How to print them
    #[arg(long, value_enum, default_value_t = SessionFormat::Human)]
    pub(crate) format: SessionFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people
    Human,
    /// One JSON document
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SessionFormat {
    /// For people
    Human,
    /// One JSON object a line for each session
    Jsonl,
}

/// The path from the root, by which a program in another folder finds the same file.
fn absolute(path: &Path) -> Result<String, Exit> {
    let absolute = std::path::absolute(path).map_err(|error| error.to_string());
    let text = absolute
        .and_then(|path| path.into_os_string().into_string().map_err(|_| "not UTF-8".to_owned()));
    text.map_err(|why| {
        complain(&path.display().to_string(), &why);
        Exit::Setup
    })
}
