//! `unstuck`: finds loops of agents that call tools, in recorded runs and while an agent works.
//!
//! `fleet` adds what several machines need.
//!
//! Exit codes: 0 nothing found, 1 a finding, 3 nothing found but an input could not be read, 4 a bad
//! configuration or an output that could not be written, 64 a usage error. Never 2, because coding agents read 2 as
//! "block". `unstuck hook`, which agents call, always exits with 0. `unstuck mcp` exits with the
//! code of the server. The help of `unstuck start-over` and `unstuck swarm` lists their codes.

mod agents;
mod args;
mod calibrate;
#[cfg(test)]
mod cases;
mod exit;
mod frame;
#[cfg(test)]
mod guarded;
mod json;
mod lacking;
mod mcp;
mod output;
mod policy;
mod private;
mod program;
mod read;
mod scan;
mod sessions;
mod setup;
mod start_over;
#[cfg(feature = "fleet")]
mod swarm;
mod time;
mod view;
#[cfg(feature = "fleet")]
mod watch;
#[cfg(feature = "fleet")]
mod webhook;

pub use crate::program::{is_transcript, run, transcripts};
