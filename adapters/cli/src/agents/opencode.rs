//! opencode: a plugin in its folder of configurations.

use super::hooks::{Form, Hooks, Shape, Timeout};
use super::host::{Ends, Home, Host, Quirks, Wire};
use super::plugin::{Plugin, diagnose, wire};

/// The plugin, which Kilo Code loads, too: it is a fork.
pub(super) const PLUGIN: Plugin = Plugin::new(include_str!("opencode/plugin.js"));

pub(super) const HOST: Host = Host {
    name: "opencode",
    title: "opencode",
    home: Home::Config("opencode"),
    folder: ".opencode",
    project_folder: None,
    file: "plugin/unstuck.js",
    hooks: Hooks {
        events: &[],
        shape: Shape::Grouped,
        form: Form::Plugin(PLUGIN),
        timeout: Timeout::Milliseconds(5000),
        label: None,
    },
    needs: None,
    advice: "Sessions that begin from now on are watched.",
    sample: wire::SAMPLE,
    wire: Wire { decode: wire::decode, encode: wire::encode },
    ends: Ends::Turns,
    quirks: Quirks::NONE,
    transcripts: None,
    diagnose,
};
