//! Arguments and results as text: tags, silence, likeness, reports, and the recipes of the presets.
//!
//! The engine compares digests; this crate makes them from what an agent's host has at hand: a
//! tool's name, its arguments as JSON, and a result as text. A [`Preset`] is a policy of the
//! engine together with the [`Recipe`] for its digests:
//!
//! ```
//! use unstuck_core::{Action, Detector};
//! use unstuck_text::Preset;
//!
//! let preset = Preset::named("balanced").expect("the default preset");
//! let mut detector: Detector<'_, 20> = Detector::new(preset.policy)?;
//! let mut last = Action::Proceed;
//! for args in [r#"{"path":"a.rs","limit":10}"#, r#"{"limit":1e1,"path":"a.rs"}"#].repeat(2) {
//!     let announced = detector.announce(preset.recipe.call("read_file", args));
//!     let outcome = preset.recipe.outcome("read_file", "fn main() {}", false);
//!     last = detector.outcome(announced.id, outcome).action;
//! }
//! assert_eq!(last, Action::Nudge, "four times the same, however it was spelled");
//! # Ok::<(), unstuck_core::PolicyError<'_>>(())
//! ```
//!
//! # What this crate does not do
//!
//! It runs no command, and looks at no more of one than tells what kind of command it is. It knows
//! no language: two texts that say the same in other words are two texts.
//!
//! # Features
//!
//! | feature | for | needs |
//! |---|---|---|
//! | `serde` | keeping [`SimilarCalls`] in a checkpoint | nothing |
//! | `similarity` | the similarity of two results, in percent | `std` |
//!
//! Neither changes a digest.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "similarity")]
extern crate std;

#[cfg(feature = "serde")]
mod checkpoint;
mod command;
mod echo;
mod find;
mod grams;
mod likeness;
mod lines;
mod mask;
mod members;
mod names;
mod nothing;
mod own;
mod pending;
mod recipe;
mod report;
mod signature;
mod silence;
mod similar_calls;
#[cfg(feature = "similarity")]
mod similarity;
mod tags;
mod tokens;
mod words;

pub use likeness::PRIMARY_KEYS;
pub use lines::Lines;
pub use mask::{Counter, CounterError, Mask, Masked, Masker, Masks, Shown};
pub use nothing::finds_nothing;
pub use own::{Effect, OwnTool};
pub use pending::is_pending;
pub use recipe::{Answer, Failures, Likeness, Near, PRESETS, Preset, Recipe, ResultPart};
pub use report::{Report, complaint, is_refusal, opens_with_complaint, report};
pub use silence::{is_placeholder, is_silent};
pub use similar_calls::{GROUPS_MAX, SimilarCalls};
#[cfg(feature = "similarity")]
pub use similarity::similarity;
pub use tags::tag;
