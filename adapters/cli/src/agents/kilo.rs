//! Kilo Code: the plugin of opencode, of which it is a fork, in a folder of its own.

use super::host::{Home, Host};
use super::{opencode, plugin};

pub(super) const HOST: Host = Host {
    home: Home::Config("kilo"),
    folder: ".kilo",
    file: "plugin/unstuck.js",
    ..plugin::host("kilo", "Kilo Code", opencode::PLUGIN)
};
