//! opencode: a plugin in its folder of configurations.

use super::host::{Home, Host};
use super::plugin::{self, Plugin};

/// The plugin, which Kilo Code loads, too: it is a fork.
pub(super) const PLUGIN: Plugin = Plugin::new(include_str!("opencode/plugin.js"));

pub(super) const HOST: Host = Host {
    home: Home::Config("opencode"),
    folder: ".opencode",
    file: "plugin/unstuck.js",
    ..plugin::host("opencode", "opencode", PLUGIN)
};
