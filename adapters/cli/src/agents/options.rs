//! The options of `install`, `uninstall` and `doctor`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use unstuck_core::{Action, Policy};
use unstuck_text::PRESETS;

use crate::agents::Agent;
use crate::agents::host::{Host, Scope};
use crate::agents::notify::Notify;
use crate::exit::Exit;
#[cfg(not(feature = "fleet"))]
use crate::lacking::Server;
use crate::lacking::marked;
use crate::output::fail;
use crate::policy;
use crate::policy::options::{preset as policy_named, preset_names};
#[cfg(feature = "fleet")]
use crate::swarm::options::Server;

/// The text below the options of `install` and `uninstall`.
fn places() -> String {
    let places = Agent::ALL.iter().map(|agent| place(agent.host()));
    format!(
        "Settings files:\n{}\n\nIn a project they are in the folder of that name beside .git, such as \
         .codex, .opencode or .pi, and those of GitHub Copilot CLI in .github. Before a file is changed, \
         it is copied to a file beside it whose name ends with .unstuck-backup, unless nothing changes \
         but what install put there.",
        places.collect::<Vec<_>>().join("\n")
    )
}

/// A line on the user's settings file of an agent.
fn place(host: &Host) -> String {
    let (Host { title, file, .. }, (moved, usual)) = (host, host.place());
    let moved = moved.map(|(variable, inside)| match inside {
        "" => format!(" or ${variable}/{file}"),
        inside => format!(" or ${variable}/{inside}/{file}"),
    });
    format!("  {title:<18} ~/{usual}/{file}{}", moved.unwrap_or_default())
}

const MOVED: &str = "The settings name this program by its absolute path. If you move it, run install \
                     again.";

const SWARM: &str = "The swarm that the agent belongs to, as redis://host:port?swarm=name. The agent needs the \
                     swarm's secret in its environment: see unstuck swarm --help";

#[derive(Args)]
#[command(after_help = format!("{}\n\n{MOVED}", places()))]
pub(crate) struct Install {
    /// The agent to watch
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agent: Agent,
    /// The settings to change
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    /// Only record findings, and never answer the agent
    #[arg(long)]
    observe: bool,
    /// Ask the person at the agent before a loop's first refusal (Claude Code)
    #[arg(long, conflicts_with = "observe")]
    ask: bool,
    /// Save the work tree of git at the first prompt of a session, and go back to it where the policy starts over
    #[arg(long, conflicts_with = "observe")]
    start_over: bool,
    #[command(flatten)]
    notify: Notify,
    /// The policy, by name
    #[arg(long, value_name = "NAME", value_parser = preset_names())]
    preset: Option<String>,
    /// The policy, from a file like the output of presets --format toml
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    config: Option<PathBuf>,
    #[arg(long, value_name = "URL", value_parser = Server, help = marked(SWARM))]
    swarm: Option<String>,
    #[command(flatten)]
    pub(crate) change: Change,
}

impl Install {
    /// Returns whether the agent belongs to a swarm.
    #[cfg(feature = "fleet")]
    pub(crate) const fn has_swarm(&self) -> bool {
        self.swarm.is_some()
    }

    /// Returns the options for `unstuck hook` in the agent's settings.
    pub(crate) fn options(&self) -> Result<Vec<String>, Exit> {
        let mut options = Vec::new();
        if self.observe {
            options.push("--observe".to_owned());
        }
        if self.ask {
            let host = self.agent.host();
            if host.is_attended.is_none() {
                let why = "no answer of its hooks asks a person: install without --ask";
                return Err(fail(Exit::Usage, host.title, why));
            }
            options.push("--ask".to_owned());
        }
        self.notify.check()?;
        options.extend(self.notify.words());
        let policy = match (&self.config, &self.preset) {
            (Some(path), _) => policy::load(path)?,
            (None, name) => name.as_deref().map_or(&PRESETS[0], policy_named),
        };
        if self.start_over {
            if !starts_over(policy.policy) {
                let why = "this policy never starts over: add --preset start_over, or a policy file \
                           with a rung of that action";
                return Err(fail(Exit::Usage, "--start-over", why));
            }
            options.push("--start-over".to_owned());
        }
        if let Some(preset) = &self.preset {
            options.extend(["--preset".to_owned(), preset.clone()]);
        }
        if let Some(path) = &self.config {
            options.extend(["--config".to_owned(), absolute(path)?]);
        }
        if let Some(url) = &self.swarm {
            options.extend(["--swarm".to_owned(), url.clone()]);
        }
        Ok(options)
    }
}

/// Returns whether a rule of the policy has a rung to start over.
fn starts_over(policy: &Policy<'_>) -> bool {
    let ladders = policy.rules().iter().map(|rule| rule.ladder);
    let mut rungs = ladders.flat_map(|ladder| ladder.rungs);
    rungs.any(|rung| rung.action == Action::StartOver)
}

#[derive(Args)]
#[command(after_help = places())]
pub(crate) struct Uninstall {
    /// The agent to stop watching
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agent: Agent,
    /// The settings to change
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    #[command(flatten)]
    pub(crate) change: Change,
}

#[derive(Args)]
pub(crate) struct Change {
    /// Print the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
}

const HEALTH: &str = "Problems are: a hook that fails or is missing, a hook of another version or that the \
                      agent does not trust or has switched off, a second installation, and a state folder \
                      that hooks cannot write to or that other users can.\n\n\
                      Exit codes: 0 everything that is installed works, 1 something does not, 4 the \
                      output could not be written, 64 a usage error.";

#[derive(Args)]
#[command(after_help = HEALTH)]
pub(crate) struct Doctor {
    /// The agent to check [default: all; those without settings are in one line]
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agent: Option<Agent>,
    /// The format of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    pub(crate) format: ReportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people
    Human,
    /// One JSON document
    Json,
}

/// Returns the absolute path of a file, which is valid in any folder.
fn absolute(path: &Path) -> Result<String, Exit> {
    let absolute = std::path::absolute(path).map_err(|error| error.to_string());
    let text = absolute
        .and_then(|path| path.into_os_string().into_string().map_err(|_| "not UTF-8".to_owned()));
    text.map_err(|why| fail(Exit::Setup, &path.display().to_string(), &why))
}
