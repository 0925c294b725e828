//! Kilo Code: the plugin of opencode, of which it is a fork, in a folder of its own.

use super::hooks::Hooks;
use super::host::{Ends, Home, Host, Quirks, Wire};
use super::opencode::PLUGIN;
use super::plugin::{diagnose, wire};

pub(super) const HOST: Host = Host {
    name: "kilo",
    title: "Kilo Code",
    home: Home::Config("kilo"),
    folder: ".kilo",
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
