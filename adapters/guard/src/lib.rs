//! Notices when an agent that calls tools is stuck, and gets it out.
//!
//! A model that calls tools makes the same call again and again, swings between two, meets one error
//! in ten variants, or only talks; and the budget burns. A [`Guard`] is asked before each call and
//! told after it, and says at the call where a competent supervisor would step in what to do:
//! nudge, warn, block, start over, stop.
//!
//! ```
//! use unstuck::Guard;
//!
//! # fn run(_: &str) -> (String, bool) { (String::from("no such file"), true) }
//! # let mut transcript: Vec<String> = Vec::new();
//! let mut guard = Guard::new();
//! # for _ in 0..3 {
//! // For every call that the model asks for:
//! let before = guard.before("read_file", r#"{"path":"src/mian.rs"}"#);
//! let answer = if before.is_blocked() {
//!     before.refusal()
//! } else {
//!     let (result, failed) = run("src/mian.rs");
//!     guard.after(before.ticket(), &result, failed).annotate(result).into_owned()
//! };
//! # transcript.push(answer);
//! # }
//! # assert!(transcript.last().unwrap().contains("\n\n[unstuck] You have made the same `read_file`"));
//! ```
//!
//! # What comes of a verdict
//!
//! | [`Action`] | what a host does |
//! |---|---|
//! | `Proceed` | nothing |
//! | `Nudge`, `Warn` | shows the model the result [annotated](Decision::annotate), or sends it [`Message::note`] |
//! | `Block` | does not run the call, and sends [`Decision::refusal`] in place of a result |
//! | `StartOver` | takes back what was done, by a [`Recovery`], and begins the conversation anew |
//! | `Stop` | ends the run and tells a person |
//!
//! A host without a loop of its own has [`Chat`], which does all that.
//!
//! # What this crate does not do
//!
//! It calls no model and runs no tool but by the host's own functions. It keeps no arguments and no results, only digests of them,
//! and shows the model none. Where both arguments and results vary, nothing structural tells a stuck
//! agent from a working one, and it does not pretend to.
//!
//! # Features
//!
//! | feature | for |
//! |---|---|
//! | `json` | arguments and results as values of `serde_json`, or as anything that can be serialised; messages in the providers' formats |
//! | `swarm` | calls that many workers make together, on a `SwarmStore` |
//! | `metrics` | counts and times by the crate `metrics` |
//! | `tracing` | events by the crate `tracing` |
//!
//! None of them changes a verdict by itself.

#![forbid(unsafe_code)]

mod aware;
mod builder;
mod calls;
mod chat;
mod decision;
mod declared;
mod ended;
mod guard;
mod heard;
mod payload;
mod recovery;
mod restore;
mod ruling;
mod steps;
#[cfg(feature = "swarm")]
mod swarm;
mod telemetry;
#[cfg(feature = "json")]
mod wire;

pub use aware::{SYSTEM_NOTE, TOOL_NOTE};
pub use builder::{BuildError, Builder, SWITCH, is_off};
pub use chat::{
    CALLS_MAX, Chat, ChatError, Entry, LoopDetected, Reply, START_OVERS_MAX, TURNS_MAX, ToolCall,
    ToolOutput,
};
pub use decision::{Decision, Found, Message, SIGN, Ticket};
pub use declared::{DECLARED_MAX, Declaration, KEY_MAX};
pub use guard::{Asked, BLOCKS_MAX, Guard};
pub use payload::Payload;
pub use recovery::{GitError, GitWorkTree, Kept, Recovery, RecoveryError, Undone, WentBack};
pub use restore::{CHECKPOINT_VERSION, RestoreError};
pub use ruling::Ruling;
pub use unstuck_core::{Action, Finding, Kind, LoopId, Policy, Statistics, Tag, Tool, ToolRule};
#[cfg(feature = "swarm")]
pub use unstuck_swarm::SwarmStore;
pub use unstuck_text::{Effect, Mask, Masks, OwnTool, Preset, Recipe};

/// The examples of the READMEs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../swarm/README.md")]
struct Readme;
