//! The command line with all commands. The options of a command are in its own module.

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::agents::doctor::Doctor;
use crate::agents::hook::Hook;
use crate::agents::install::{Install, Uninstall};
use crate::agents::notify::Tell;
use crate::calibrate::options::{Eval, Tune};
use crate::json::Json;
use crate::lacking::marked;
#[cfg(not(feature = "fleet"))]
use crate::lacking::{Lacking as Swarm, Lacking as Watch};
use crate::mcp::Mcp;
use crate::policy::options::Presets;
use crate::scan::options::{EXIT_CODES, Scan};
use crate::sessions::{Report, Status};
use crate::start_over::StartOver;
#[cfg(feature = "fleet")]
use crate::swarm::options::Swarm;
use crate::view::View;
#[cfg(feature = "fleet")]
use crate::watch::options::Watch;

/// Finds loops of agents that call tools, in recorded runs and while an agent works.
#[derive(Parser)]
#[command(name = "unstuck", version, max_term_width = 100)]
#[command(after_help = format!("Exit codes of scan: {EXIT_CODES}"))]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Read recorded runs and print the loops in them
    Scan(Scan),
    /// Show recorded runs and running sessions in the terminal
    View(View),
    /// Make a coding agent call unstuck at each tool call, to find loops as they happen
    Install(Install),
    /// Undo install and leave the rest of the agent's settings unchanged
    Uninstall(Uninstall),
    /// Check the installation: run each hook once and show where its state is stored
    Doctor(Doctor),
    /// Print the watched sessions and their findings
    Status(Status),
    /// Print what was found in the last days, also in sessions that have ended
    Report(Report),
    /// Proxy an MCP server and stop repeated tool calls
    Mcp(Mcp),
    /// Save what an agent did to a git work tree and restore the start of its run
    StartOver(StartOver),
    #[command(about = marked("Receive spans from OpenTelemetry and print the loops in them as they happen"))]
    Watch(Watch),
    #[command(about = marked("Show or clear the calls that the workers of a swarm count on a server"))]
    Swarm(Swarm),
    /// Tell a person of a loop, as hooks with --notify do
    Notify(Tell),
    /// Answer an event of a coding agent, which runs this command as its hook
    Hook(Hook),
    /// Replay labelled runs and print the scores of each policy
    Eval(Eval),
    /// Make a policy as patient as healthy runs require
    Tune(Tune),
    /// Print the policies that have a name
    Presets(Presets),
    /// Print the fingerprints and the canonical text of JSON documents, to see why two are, or are
    /// not, the same
    Json(Json),
    /// Print the completions of this command line for a shell
    Completions(Completions),
    /// Print the manual page; to read it: unstuck man | man -l -
    Man(Man),
}

#[derive(Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Args)]
pub(crate) struct Man {
    /// Print the page of this command only
    #[arg(value_name = "COMMAND", value_parser = command_names())]
    pub(crate) command: Option<String>,
}

/// Returns the commands that have a page. A list, because building the whole command line takes time.
fn command_names() -> Vec<&'static str> {
    const NAMES: &str = "scan view install uninstall doctor status report mcp start-over watch swarm notify hook eval \
                         tune presets json completions man";
    NAMES.split(' ').collect()
}

#[cfg(all(test, feature = "fleet"))]
mod operations;

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
    fn the_quick_parse_of_a_hook_agrees_with_the_parser() {
        for agent in Agent::ALL {
            let swarm = "redis://h:1/0?swarm=a";
            for rest in [
                &[][..],
                &["--observe"],
                &["--swarm", swarm],
                &["--observe", "--swarm", swarm],
                &["--swarm", swarm, "--observe"],
                &["--notify", "desktop"],
                &["--notify", "https://a/b", "--notify-at", "warn", "--notify", "desktop"],
            ] {
                let words = [&["unstuck", "hook", agent.name()], rest].concat();
                let plain = Hook::plain(words.iter().map(Into::into)).expect("a plain hook");
                let parsed = Arguments::try_parse_from(&words).map(|parsed| parsed.command);
                let Ok(Command::Hook(parsed)) = parsed else { panic!("{words:?}") };
                assert_eq!(plain, parsed);
            }
        }
        for line in [
            "unstuck",
            "unstuck hook",
            "unstuck hook nobody",
            "unstuck scan codex",
            "unstuck hook codex --help",
            "unstuck hook codex --preset nudge",
            "unstuck hook codex --observe --observe",
            "unstuck hook codex --swarm",
            "unstuck hook codex --swarm --observe",
            "unstuck hook codex --swarm a --swarm b",
            "unstuck hook codex --swarm=a",
            "unstuck hook codex --notify",
            "unstuck hook codex --notify --observe",
            "unstuck hook codex --notify desktop --notify-at often",
            "unstuck hook codex --notify desktop --notify-at warn --notify-at block",
        ] {
            assert!(Hook::plain(line.split(' ').map(Into::into)).is_none(), "{line}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
