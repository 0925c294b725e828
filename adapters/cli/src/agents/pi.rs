//! pi: an extension in the folder of its agent.

use unstuck_trace::Format;

use super::host::{Home, Host, Transcripts};
use super::plugin::{self, Plugin};

pub(super) const HOST: Host = Host {
    home: Home::Within("PI_CODING_AGENT_DIR", ".pi/agent"),
    folder: ".pi",
    file: "extensions/unstuck.js",
    advice: "Sessions that begin from now on are watched. pi loads the extensions of a project only if it \
             trusts the project.",
    transcripts: Some(Transcripts::jsonl(Format::PI, "sessions")),
    ..plugin::host("pi", "pi", Plugin::new(include_str!("pi/extension.js")))
};
