//! The command line: every command of the program. The options of a command stand in its wing.

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::agents::hook::options::Hook;
use crate::agents::options::{Doctor, Install, Status, Uninstall};
use crate::calibrate::options::{Eval, Tune};
use crate::config::options::Presets;
use crate::json::options::Json;
use crate::mcp::options::Mcp;
use crate::scan::options::{EXIT_CODES, Scan};
use crate::start_over::StartOver;
use crate::swarm::options::Swarm;

/// Finds loops of agents that call tools: in recorded runs, and while they go on.
#[derive(Parser)]
#[command(name = "unstuck", version, max_term_width = 100)]
#[command(after_help = format!("Exit codes of scan: {EXIT_CODES}"))]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

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
                assert_eq!(plain, parsed);
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
