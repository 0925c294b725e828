//! opencode: a plugin in its folder of configurations.

use super::hooks::Hooks;
use super::host::{Ends, Home, Host, Quirks, Wire};
use super::plugin::{Plugin, diagnose, wire};

/// The plugin, which Kilo Code loads, too: it is a fork.
pub(super) const PLUGIN: Plugin = Plugin::new(include_str!("opencode/plugin.js"));

pub(super) const HOST: Host = Host {
    name: "opencode",
    title: "opencode",
    home: Home::Config("opencode"),
    folder: ".opencode",
    file: "plugin/unstuck.js",
    hooks: Hooks::plugin(PLUGIN),
    advice: "Sessions that begin from now on are watched.",
    sample: wire::SAMPLE,
    wire: Wire { decode: wire::decode, encode: wire::encode },
    ends: Ends::Turns,
    quirks: Quirks::NONE,
    transcripts: None,
    diagnose,
};
