//! The steps of `cargo xtask test`, which `xtask/steps.toml` lists: what each checks, the tools that it needs, and its
//! commands.

use std::sync::LazyLock;

use clap::builder::PossibleValuesParser;
use serde::Deserialize;

use crate::machine::{self, is_ci};
use crate::step::{Done, failed};
use crate::steps;

/// A step of `cargo xtask test`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) part: Part,
    /// What [`machine::tools`] checks before the step begins.
    #[serde(default)]
    pub(crate) tools: String,
    /// Lines for [`command`](crate::step::command), one after the other. A step that is more than commands has none.
    #[serde(default)]
    pub(crate) commands: Vec<String>,
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

/// What `xtask/steps.toml` holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    step: Vec<Check>,
}

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

#[cfg(test)]
mod tests {
    use super::*;

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
