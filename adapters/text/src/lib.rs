//! Arguments and results as text: tags, silence, likeness, reports, and the recipes of the presets.
//!
//! The engine compares digests. This crate makes them from what an agent's host has at hand: a tool's name,
//! its arguments as JSON, and a result as text. A [`Preset`] is a policy of the engine together with the
//! [`Recipe`] for its digests. A [`Worker`] watches one agent by them:
//!
//! ```
//! use unstuck_core::Action;
//! use unstuck_text::{Preset, Worker};
//!
//! let preset = Preset::BALANCED;
//! let mut worker: Worker<'_, 20> = Worker::new(preset.policy, preset.recipe)?;
//! let mut last = Action::Proceed;
//! for args in [r#"{"path":"a.rs","limit":10}"#, r#"{"limit":1e1,"path":"a.rs"}"#].repeat(2) {
//!     let asked = worker.announce("read_file", args);
//!     last = worker.outcome(asked.ticket, "read_file", "fn main() {}", false).action;
//! }
//! assert_eq!(last, Action::Nudge, "equal calls, although they are spelled in two ways");
//! # Ok::<(), unstuck_core::PolicyError>(())
//! ```
//!
//! # What this crate does not do
//!
//! It runs no command, and looks at no more of one than tells what kind of command it is. It knows
//! no language: two texts that say the same in other words are two texts.
//!
//! # How an answer is read
//!
//! Each step hands the next one less text, and each has one place for what it knows:
//!
//! | step | file | to add something |
//! |---|---|---|
//! | what a host wraps around the answer is taken off | `envelope.rs` | a *wrapper*: a row of the table of its shape, and a text in `tests/answers/envelopes.txt` |
//! | volatile lines at the ends are left out, and the rest becomes digests | `mask.rs` | a *mask*: a variant of [`Mask`] in `mask/kind.rs`, a branch of `mask/number.rs` or `mask/pieces.rs` that recognises it, the words beside it in `words/numbers.toml`, lines of `tests/masks/cases.txt` for what goes and for what stays |
//! | the lines at the ends are looked up once | `body.rs` | nothing: all readers take their lines from it |
//! | readers ask whether the call failed, waits, found nothing or says nothing | `report/`, `pending.rs`, `nothing.rs`, `silence.rs` | a *word*: in lower case, in the list of its idea in `words/`. A list whose filter would pass the word over does not compile. Lines of `tests/answers` show its effect. A runner of tests is a file in `report/`, and texts in `tests/report/suites.txt` |
//! | if a loop fails, the [`Cause`] is looked for | `cause.rs` | a *cause*: a name, sentences and phrases in `words/cause.toml`, a row of `SIGNS`, a variant of [`CauseKind`], and a text in `tests/answers/causes.txt` |
//! | earlier calls may add to it | `clue.rs` | a *clue*: a branch of `Cause::clue`, a name and a sentence in [`ClueKind`], and calls in its tests |
//!
//! Look at `unstuck eval` before and after on all runs that you have, and at the test `noise` of the program: neither
//! may change where you did not mean it.
//!
//! All of an answer is gone through four times, each time many bytes at once: for terminal controls, for its raw digest, for
//! what a mask may begin at, and, of a tool that runs commands, for keywords of reports. All other readers look at the
//! ends, at short answers, or at lines with a keyword. The four take one in fourteen instructions of a real call, so they
//! are not one walk that hands each line to all readers: it could save no more, and every reader would depend on it.
//!
//! # Features
//!
//! | feature | for | needs |
//! |---|---|---|
//! | `alloc` | the lines of an output that has escapes inside of a JSON object | `alloc` |
//! | `serde` | checkpoints with [`SimilarCalls`], [`Lines`] and [`Ticket`] | nothing |
//! | `similarity` | the module [`similarity`](mod@similarity): how similar two results are | `std` |
//!
//! `alloc` changes the digests of these outputs. No other feature changes a digest.

#![cfg_attr(not(any(test, feature = "similarity")), no_std)]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod body;
mod cause;
#[cfg(feature = "serde")]
mod checkpoint;
mod clue;
mod command;
mod declaration;
mod echo;
mod envelope;
mod find;
mod grams;
mod lexer;
mod likeness;
mod lines;
mod list;
mod mask;
mod members;
mod names;
mod nothing;
#[cfg(feature = "alloc")]
mod past_calls;
mod pending;
mod phrases;
mod recipe;
mod report;
mod said;
mod signature;
mod silence;
mod similar_calls;
#[cfg(feature = "similarity")]
pub mod similarity;
#[cfg(test)]
mod tables;
mod tags;
mod tokens;
mod words;
mod worker;

pub use cause::{Cause, CauseKind};
pub use clue::{Clue, ClueKind, LoopCause, PastCall};
pub use declaration::{Effect, ToolDeclaration};
pub use envelope::{Envelope, Unescaped, is_notification};
pub use likeness::PRIMARY_KEYS;
pub use lines::{LINE_WORDS, Lines};
pub use mask::{Counter, CounterError, Mask, Masked, Masker, Masks, Shown};
pub use nothing::finds_nothing;
#[cfg(feature = "alloc")]
pub use past_calls::PastCalls;
pub use pending::is_pending;
pub use recipe::{
    Answer, Failures, Likeness, Near, PRESETS, Preset, ReadAnswer, ReadCall, Recipe, ResultPart,
};
pub use report::{Report, complaint, is_refusal, report};
pub use silence::{is_placeholder, is_silent};
pub use similar_calls::{GROUPS_MAX, SimilarCalls};
#[cfg(feature = "similarity")]
pub use similarity::similarity;
pub use tags::tag;
pub use worker::{Announcement, Digester, Ticket, Worker};

/// The examples of the README.
#[cfg(all(doctest, feature = "similarity"))]
#[doc = include_str!("../README.md")]
mod readme {}
