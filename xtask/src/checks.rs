//! The steps of `cargo xtask test`, which `xtask/steps.toml` lists: what each checks, the tools that it needs, and its
//! commands.

use std::collections::BTreeMap;
use std::env;
use std::sync::LazyLock;

use clap::builder::PossibleValuesParser;
use serde::Deserialize;

use crate::machine::{self, is_ci};
use crate::step::{Done, command, failed};
use crate::steps::{self, FEATURES, FLEET};
use crate::{agents, bare, c, firmware, footprint, fuzz, javascript, mcp, python, tidy};

/// A step of `cargo xtask test`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) part: Part,
    /// What [`machine::tools`] checks before the step begins.
    #[serde(default)]
    tools: String,
    /// Lines for [`command`], one after the other. A step that is more than commands has none.
    #[serde(default)]
    commands: Vec<String>,
}

/// The command that runs a step, and where the step builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// The default command. It needs Rust and git only, and installs nothing.
    Default,
    /// `--rest`, in the common target folder, or with programs that are built there.
    Rest,
    /// `--rest`, with a target folder of its own, so that the step runs beside the others.
    RestApart,
}

/// Returns the function of a step that has no commands.
fn function(name: &str) -> Option<fn() -> Done> {
    Some(match name {
        "tidy" => tidy::run,
        "python" => python::check,
        "footprint" => footprint::check,
        "js" => javascript::check,
        "agents" => agents::check,
        "c" => c::check,
        "firmware" => firmware::check,
        "fuzzing" => fuzz::briefly,
        "no_std" => steps::no_std,
        "bare" => bare::check,
        "mcp" => mcp::check,
        _ => return None,
    })
}

/// The packages whose features do not disturb each other. The others ask `syn` for more, with which every library that
/// derives something would be compiled anew.
const ALL: &str =
    "--workspace --exclude unstuck-python --exclude unstuck-wasm --features {features},{fleet}";

/// The variable that makes long tests run whole. The greater its number, the longer they take.
const EFFORT: &str = "UNSTUCK_EXHAUSTIVE";

/// The modules of tests that the default command leaves out, and what their tests need.
pub(crate) const NEEDS: [(&str, &str); 5] = [
    ("needs_minutes", "`UNSTUCK_EXHAUSTIVE=2`, half a minute and more each"),
    ("needs_mount", "a user who may mount file systems"),
    ("needs_node", "node"),
    ("needs_script", "script of util-linux"),
    ("needs_time", "seconds to minutes each"),
];

/// Every step, in the order in which they run.
pub(crate) static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| {
    let mut tables: BTreeMap<String, Vec<Check>> = toml::from_str(include_str!("../steps.toml"))
        .unwrap_or_else(|error| panic!("steps.toml: {error}"));
    tables.remove("step").unwrap_or_default()
});

impl Check {
    /// Checks the tools, and then runs the work in this process.
    pub(crate) fn run(&self) -> Done {
        machine::tools(&self.tools, self.part != Part::Default && is_ci())?;
        match function(&self.name) {
            Some(work) => work(),
            None => self.commands.iter().try_for_each(|line| command(&filled(line))),
        }
    }
}

/// The names of all steps, for a command line.
pub(crate) fn names() -> PossibleValuesParser {
    steps::possible(CHECKS.iter().map(|check| (&*check.name, &*check.about)))
}

/// Returns the step of this name.
pub(crate) fn named(name: &str) -> Done<&'static Check> {
    let found = CHECKS.iter().find(|check| check.name == name);
    found.map_or_else(|| failed(format!("there is no step `{name}`")), Ok)
}

/// Checks the tools of a step for the command that does the same. It fills the folders itself.
pub(crate) fn ready(name: &str) -> Done {
    let tools = named(name)?.tools.split(' ').filter(|tool| !tool.starts_with("target/"));
    machine::tools(&tools.collect::<Vec<_>>().join(" "), is_ci())
}

/// Returns a command with its variables and lists of features filled in.
fn filled(line: &str) -> String {
    // Unset, the tests take their samples. The weekly job sets it.
    let effort = env::var(EFFORT).unwrap_or_default();
    let whole = if effort.is_empty() { String::new() } else { format!("{EFFORT}={effort} ") };
    let line = line.replace("{linted}", steps::linted()).replace("{all}", ALL);
    let line = line.replace("{root}", &machine::root().display().to_string());
    let line = line.replace("{whole}", &whole);
    let line = line.replace("{skip}", if effort == "2" { "" } else { " -- --skip needs_minutes" });
    line.replace("{features}", FEATURES).replace("{fleet}", FLEET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_commands_or_a_function() {
        for check in &*CHECKS {
            assert_ne!(function(&check.name).is_some(), !check.commands.is_empty(), "{check:?}");
        }
    }
}
