//! Notices when an agent that calls tools is stuck, and gets it out.
//!
//! A model that calls tools may make the same call again and again, swing between two calls, meet one
//! error in ten variants, or only talk, while the budget burns. A [`Guard`] judges each call before it runs
//! and each result. At the call where a competent supervisor would step in, it returns an action: nudge,
//! warn, block, start over or stop.
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
//! # Actions
//!
//! | [`Action`] | the host |
//! |---|---|
//! | `Proceed` | goes on |
//! | `Nudge`, `Warn` | shows the model the result [annotated](Decision::annotate), or sends it [`Message::note`] |
//! | `Block` | does not run the call, and sends [`Decision::refusal`] in place of a result |
//! | `StartOver` | undoes the work by a [`Recovery`], and begins the conversation anew |
//! | `Stop` | ends the run and tells a person |
//!
//! With [`Builder::escalate`], the first decision to block a loop also [escalates](Decision::escalates): the host lets a
//! stronger model, or a person, take the next turn with [`Decision::question`]. [`Guard::silence`] and [`Guard::stop`]
//! take in what they say.
//!
//! A host that edits the model's context may remove the calls that only [repeat](Guard::repeated).
//!
//! [`Chat`] does all of this for a host without a loop of its own. An async host drives a [`Run`] step by
//! step.
//!
//! # Limits
//!
//! The crate itself calls no model and runs no tool. It judges by digests of arguments and results. It remembers
//! parts of the text of the latest 12 calls to tell a [`Cause`], of which it repeats at most two words to the model; no
//! checkpoint holds them. If both arguments and results vary, no structure tells
//! a stuck agent from a working one, and the guard finds nothing.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `budgets`, on by default | limits of what an agent may spend |
//! | `clues`, on by default | what earlier calls add to a [`Cause`], for 4 KB of memory |
//! | `wordings`, on by default | messages that do not name the tool of the repeated call |
//! | `json` | arguments and results as values of `serde_json`, or as anything that can be serialised; messages in the providers' formats |
//! | `metrics` | counts and times by the crate `metrics` |
//! | `tracing` | events by the crate `tracing` |
//!
//! No feature changes a verdict.

#![forbid(unsafe_code)]

mod asked;
#[cfg_attr(not(feature = "budgets"), path = "budget/none.rs")]
mod budget;
mod builder;
mod calls;
mod chat;
mod checkpoint;
mod control;
mod decision;
mod declared;
mod guard;
mod known;
mod past;
mod payload;
mod prepared;
mod recovery;
mod steps;
mod stopped_calls;
mod swarm;
mod swarm_memory;
mod telemetry;
#[cfg(feature = "json")]
mod wire;
mod wording;

pub use asked::Asked;
#[cfg(feature = "budgets")]
pub use budget::{Account, AtLimit, Budget, Limits, Share, Spent};
pub use builder::{BuildError, Builder, Ruling, SWITCH, is_off};
pub use chat::{
    CALLS_MAX, Chat, ChatError, Entry, LoopDetected, Next, Reply, Run, START_OVERS_MAX, TURNS_MAX,
    ToolCall,
};
pub use checkpoint::{CHECKPOINT_VERSION, RestoreError};
#[cfg(feature = "clues")]
pub use decision::Clue;
pub use decision::{BLOCKS_MAX, Cause, Decision, Evidence, Message, SIGN, Ticket};
pub use declared::{DECLARED_MAX, Declaration, KEY_MAX};
pub use guard::Guard;
pub use payload::{Payload, ToolOutput};
pub use recovery::{GitError, GitWorkTree, Recovery, RecoveryError, SavedState, Undone, WentBack};
pub use unstuck_core::{
    Action, Finding, Kind, LoopId, Nearness, Policy, Statistics, Tag, Tool, ToolRule,
};
pub use unstuck_swarm::SwarmStore;
#[cfg(feature = "clues")]
pub use unstuck_text::ClueKind;
pub use unstuck_text::{CauseKind, Effect, Mask, Masks, Preset, Recipe, ToolDeclaration};
pub use wording::{SYSTEM_NOTE, TOOL_NOTE, Wording};

/// The examples of the READMEs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../swarm/README.md")]
struct Readme;
