//! The steps of `cargo xtask test`, which `xtask/steps.toml` lists: what each checks, the tools that it needs, and its
//! commands.

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

/// The name of a step that has no commands, and its function.
type Function = (&'static str, fn() -> Done);

/// The functions, in the order of their steps.
const FUNCTIONS: [Function; 11] = [
    ("tidy", tidy::run),
    ("python", python::check),
    ("footprint", footprint::check),
    ("js", javascript::check),
    ("agents", agents::check),
    ("c", c::check),
    ("firmware", firmware::check),
    ("fuzzing", fuzz::briefly),
    ("no_std", steps::no_std),
    ("bare", bare::check),
    ("mcp", mcp::check),
];

/// What `xtask/steps.toml` holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    step: Vec<Check>,
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
    let file: File = toml::from_str(include_str!("../steps.toml"))
        .unwrap_or_else(|error| panic!("steps.toml: {error}"));
    file.step
});

impl Check {
    /// Checks the tools, and then runs the work in this process.
    pub(crate) fn run(&self) -> Done {
        machine::tools(&self.tools, self.part != Part::Default && is_ci())?;
        match FUNCTIONS.iter().find(|(name, _)| *name == self.name) {
            Some((_, work)) => work(),
            None if self.commands.is_empty() => {
                failed(format!("the step `{}` has neither commands nor a function", self.name))
            }
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
        let without = CHECKS.iter().filter(|check| check.commands.is_empty());
        let without = without.map(|check| &*check.name).collect::<Vec<_>>();
        assert_eq!(FUNCTIONS.map(|(name, _)| name), *without);
    }

    #[test]
    fn a_step_without_work_fails() {
        let step = "name = 'unknown'\nabout = ''\npart = 'default'";
        let step: Check = toml::from_str(step).expect("a step");
        let why = step.run().expect_err("it has no work").to_string();
        assert_eq!(why, "the step `unknown` has neither commands nor a function");
    }

    #[test]
    fn a_file_has_steps_and_nothing_else() {
        let step = "name = 'a'\nabout = ''\npart = 'default'";
        let read = |heading: &str| toml::from_str::<File>(&format!("{heading}\n{step}"));
        assert_eq!(read("[[step]]").expect("a step").step.len(), 1);
        assert!(read("[[steps]]").is_err());
        assert!(read("[[step]]\nname = 'b'\nabout = ''\npart = 'default'\n[[setp]]").is_err());
        assert!(toml::from_str::<File>("").is_err());
    }
}
