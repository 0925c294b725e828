//! Loop detection for agents that call tools.
//!
//! An agent that lets a language model call tools can get stuck: it repeats one call, alternates
//! between two, runs tests that keep failing in the same way, or talks without acting. This engine
//! watches digests of the calls and their outcomes. At the call where a competent supervisor would
//! step in, it returns the kind of loop, the calls that prove it, and the action to take.
//!
//! It uses no allocator, no clock, no I/O and no unsafe code. A record takes time linear in the
//! window when it is announced and when it settles. All memory is reserved from the start.
//!
//! # Watching calls
//!
//! Announce each call before it runs, and report its outcome after:
//!
//! ```
//! use unstuck_core::{Action, Call, Detector, Digest, Outcome, Tool, presets};
//!
//! let mut detector: Detector<'_, 20> = Detector::new(&presets::BALANCED)?;
//! let call = Call::new(Tool::named("read_file"), Digest::of(br#"{"path":"a.rs"}"#));
//!
//! let announced = detector.announce(call);
//! assert!(announced.verdict.action < Action::Block, "so the host runs the call");
//! let verdict = detector.outcome(announced.id, Outcome::ok(Digest::of(b"fn main() {}")));
//! assert_eq!(verdict.action, Action::Proceed);
//! # Ok::<(), unstuck_core::PolicyError>(())
//! ```
//!
//! # Reading a finding
//!
//! ```
//! # use unstuck_core::{Action, Call, Detector, Digest, Outcome, Tool, Verdict, presets};
//! # let mut detector: Detector<'_, 20> = Detector::new(&presets::BALANCED)?;
//! # let call = Call::new(Tool::named("read_file"), Digest::of(br#"{"path":"a.rs"}"#));
//! # let mut verdict = Verdict::PROCEED;
//! # for _ in 0..3 {
//! #     let announced = detector.announce(call);
//! #     verdict = detector.outcome(announced.id, Outcome::ok(Digest::of(b"fn main() {}")));
//! # }
//! // The third time in a row with the same result:
//! let finding = verdict.finding.expect("three in a row are a finding");
//! assert_eq!(finding.rule_name(detector.policy()), "same-effect");
//! assert_eq!(finding.calls().collect::<Vec<_>>(), [0, 1, 2]);
//! assert_eq!(
//!     finding.nudge(verdict.action, "read_file").to_string(),
//!     "You have made the same `read_file` call 3 times in a row, and the result is the same \
//!      each time. Once more will not change that: use what you have, try another tool, or say what \
//!      blocks you.",
//! );
//! # Ok::<(), unstuck_core::PolicyError>(())
//! ```
//!
//! # Choosing rules
//!
//! [`presets`] has policies for most needs. A [`Policy`] of your own is a list of [`Rule`]s,
//! which is checked when the policy is made.
//!
//! # On a microcontroller
//!
//! A detector is one value without a pointer to itself. It may live in a `static` or on the stack,
//! and `size_of` is all the memory that it takes.
//!
//! **The window.** Use the window of the preset, which is 20 for [`presets::BALANCED`]. A shorter
//! window does not hold the longer cycles and recurrences, and [`Detector::new`] refuses it. To save
//! memory, write a policy whose rules fit into a window of 8. A longer window finds nothing more,
//! because a rule looks back only as far as it says.
//!
//! **Memory.** With 64-bit pointers a detector takes 512 bytes, 30 for each record of the window, and
//! 42 for each call that may be open. A planner that waits for each answer needs one open call:
//! `Detector<'_, 20, 1>` has 1,152 bytes, and `Detector<'_, 20>` has 1,440. `cargo xtask footprint`
//! measures the sizes of data and code on the processors themselves.
//!
//! **Without a clock.** The engine never asks for the time. It counts calls. A call that is announced
//! without a step begins a new one, and open calls are then given up. Calls that are issued together
//! need the same [step](Call::step), which may be any number that changes.
//!
//! **Across a reset.** `Detector::save` (feature `postcard`) writes a checkpoint of at most
//! `CHECKPOINT_MAX` bytes, with a version and a checksum. `restore` refuses bytes that were cut short
//! or damaged, and a policy with other rules. Keep two pages and write them in turns, so that one
//! page is whole whenever the power fails. Save as often as the memory endures, because a reset loses
//! the calls since. A robot whose loop ends in a brownout each time is found only if they are saved.
//!
//! **Outcomes from sensors.** Two digests are equal or different. Round a reading to the precision
//! that matters before you hash it, and leave out values that always change. A reading that moves
//! towards the goal is progress if the same call reads it. If other calls read it, call
//! [`Detector::progress`], or give the remaining distance as a [score](Outcome::score). A command that
//! only says "done" is [silent](Outcome::silent), and proves nothing between different commands.
//!
//! # What this crate does not do
//!
//! It makes no digests of JSON or text, which is the task of the adapters. It knows no transcript
//! format, runs and stops no tool, and keeps no text. If both the arguments and the results vary,
//! their structure does not separate a stuck agent from a working one, and the engine reports nothing.

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
// The engine must not panic, overflow silently, or lose bits.
#![deny(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unreachable,
    clippy::unwrap_used
)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::as_conversions,
        reason = "a test that panics has failed, as it should"
    )
)]

#[cfg(test)]
extern crate std;

#[cfg(feature = "serde")]
mod checkpoint;
mod control;
mod cycle;
mod detector;
mod digest;
mod erased;
mod evidence;
mod feedback;
mod history;
mod judge;
mod ladder;
mod loops;
mod mask;
mod nearness;
mod nudge;
mod patience;
mod pattern;
mod policy;
mod policy_error;
pub mod presets;
mod queue;
mod record;
mod rule;
mod selection;
mod talk;
mod verdict;
mod window;

#[cfg(feature = "serde")]
pub use checkpoint::{CheckpointError, VERSION as CHECKPOINT_VERSION};
pub use cycle::{RepeatFinder, RepeatedText};
pub use detector::{Announced, Detector, OPEN_MAX, Statistics};
pub use digest::Digest;
pub use erased::AnyDetector;
pub use feedback::{RAISE_MAX, RAISED_MAX, SILENCED_MAX};
pub use ladder::{Action, Basis, Ladder, RUNAWAY_MIN, RUNGS_MAX, Rung};
pub use loops::LOOPS_MAX;
pub use mask::WINDOW_MAX;
pub use nearness::Nearness;
pub use nudge::Nudge;
pub use policy::{Phase, Policy, TOOL_RULES_MAX, ToolRule};
pub use policy_error::{PolicyError, PolicyErrorKind, PolicyName};
pub use record::{Call, CallId, Outcome, Tag, TagSet, Tool};
pub use rule::{
    Args, Force, Outcomes, Pattern, Progress, RULES_MAX, RUNS_MAX, Results, Rule, STREAK_MAX,
    Select, Silence, TEXT_RULES_MAX, TextRule, Texts,
};
pub use talk::{MESSAGES_MAX, Turn};
pub use verdict::{Failure, Finding, Kind, LoopId, ParseLoopIdError, RuleIndex, Verdict};
