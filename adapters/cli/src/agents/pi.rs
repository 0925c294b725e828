//! pi: an extension in the folder of its agent.

use unstuck_trace::Format;

use super::hooks::Hooks;
use super::host::{Ends, Home, Host, Quirks, Transcripts, Wire};
use super::plugin::{Plugin, diagnose, wire};

pub(super) const HOST: Host = Host {
    name: "pi",
    title: "pi",
    home: Home::Within("PI_CODING_AGENT_DIR", ".pi/agent"),
    folder: ".pi",
    file: "extensions/unstuck.js",
    hooks: Hooks::plugin(Plugin::new(include_str!("pi/extension.js"))),
    advice: "Sessions that begin from now on are watched. pi loads the extensions of a project only if it \
             trusts the project.",
    sample: wire::SAMPLE,
    wire: Wire { decode: wire::decode, encode: wire::encode },
    ends: Ends::Turns,
    quirks: Quirks::NONE,
    transcripts: Some(Transcripts {
        format: Format::PI,
        folder: "sessions",
        within: None,
        extensions: &["jsonl"],
    }),
    diagnose,
};
