//! Options that choose a policy, for several commands, and the options of `unstuck presets`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use unstuck_report::config::{self, Config};
use unstuck_text::{PRESETS, Preset};

use crate::exit::Exit;
use crate::policy;

/// The options that choose the policy of a command.
#[derive(Args, Debug, PartialEq, Eq)]
pub(crate) struct PolicyOptions {
    /// The policy to judge by
    #[arg(long, value_name = "NAME", default_value = PRESETS[0].policy.name(), value_parser = preset_names())]
    preset: String,
    /// The policy to judge by, from a file in the format of presets --format toml
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    pub(crate) config: Option<PathBuf>,
}

impl Default for PolicyOptions {
    /// Returns the options of a command line that names no policy.
    fn default() -> Self {
        Self { preset: PRESETS[0].policy.name().to_owned(), config: None }
    }
}

impl PolicyOptions {
    /// Returns the policy that was named, or loads it from its file.
    pub(crate) fn preset(&self) -> Result<&'static Preset, Exit> {
        self.config.as_deref().map_or_else(|| Ok(preset(&self.preset)), policy::load)
    }

    /// Returns the policy that was named, or loads it from its file with the rest of what stands there.
    pub(crate) fn config(&self) -> Result<Config, Exit> {
        let named = || Config::of(preset(&self.preset));
        self.config.as_deref().map_or_else(|| Ok(named()), policy::load_config)
    }
}

#[derive(Args)]
pub(crate) struct Presets {
    /// Print only this policy
    #[arg(value_name = "NAME", value_parser = preset_names())]
    name: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t = PolicyFormat::Human)]
    pub(crate) format: PolicyFormat,
}

impl Presets {
    pub(crate) fn preset(&self) -> Option<&'static Preset> {
        self.name.as_deref().map(preset)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyFormat {
    /// For people
    Human,
    /// The input format of --config, for the default preset if none is named
    Toml,
}

/// Returns the policy of a `name` that the parser has accepted.
pub(crate) fn preset(name: &str) -> &'static Preset {
    config::named(name).unwrap_or(&PRESETS[0])
}

/// Returns the names that the parser accepts.
pub(crate) fn preset_names() -> Vec<&'static str> {
    config::names().collect()
}
