//! Loop detection for agents that call tools.
//!
//! An agent that lets a language model call tools can get stuck: the same call again and
//! again, two calls in turns, tests that keep failing alike, talk without action. This engine
//! watches digests of the calls and their outcomes and says, at the call where a competent
//! supervisor would step in, what kind of loop it is, which calls prove it, and what to do.
//!
//! It uses no allocator, no clock, no I/O and no unsafe code. A record takes time linear in the
//! window when it is announced and when it settles, and memory that was there from the start.
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
//! # Ok::<(), unstuck_core::PolicyError<'_>>(())
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
//! # Ok::<(), unstuck_core::PolicyError<'_>>(())
//! ```
//!
//! # Choosing rules
//!
//! [`presets`] has policies for most needs; a [`Policy`] of your own is a list of [`Rule`]s,
//! checked when it is made.
//!
//! # On a microcontroller
//!
//! A detector is one value without a pointer to itself: it may sit in a `static` or on the stack,
//! and `size_of` is all the memory that it takes.
//!
//! **The window.** Take the preset's, which is 20 for [`presets::BALANCED`]: a shorter one does not
//! hold the longer cycles and recurrences, and [`Detector::new`] refuses it. For less memory write
//! a policy whose rules fit into a window of 8. A longer window finds nothing more by itself: a rule
//! sees as far back as it says.
//!
//! **Memory.** With pointers of 64 bits: 720 bytes, 27 for each record of the window, and 40 for each
//! call that may be open. A planner that waits for each answer needs one open call, and
//! `Detector<'_, 20, 1>` is 1,296 bytes where `Detector<'_, 20>` is 1,576. `cargo xtask footprint` has the
//! sizes on the processor itself, and of the code.
//!
//! **Without a clock.** Nothing here asks for the time. Calls are counted, and a call that is announced
//! without a step begins one: whatever is still open is then given up. Where several calls are issued
//! together give them one [step](Call::step), which may be any number that changes.
//!
//! **Across a reset.** `Detector::save` (feature `postcard`) writes a checkpoint of at most
//! `CHECKPOINT_MAX` bytes, with a version and a sum over it; `restore` refuses what was cut short or
//! damaged, and a policy with other rules. Keep two pages and write them in turns, so that one is
//! whole whenever the power fails. Save as often as the memory bears: the calls since are lost with
//! a reset, and a robot whose loop ends in a brownout each time is found only if they are not.
//!
//! **Outcomes from sensors.** A digest is equal or it is not: round a reading to what matters before
//! it is hashed, and leave out what always changes. A reading that moves towards the goal is
//! progress by itself where the same call reads it; where other calls do, say
//! [`Detector::progress`], or give the distance that is left as a [score](Outcome::score). A command that only
//! says "done" is [silent](Outcome::silent): it proves nothing between different commands.
//!
//! # What this crate does not do
//!
//! It makes no digests of JSON or text (adapters do), knows no transcript format, runs and
//! stops nothing, and keeps no text. Where both the arguments and the results vary, nothing
//! structural tells a stuck agent from a working one, and it does not pretend to.

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
// Nothing here may panic, wrap unseen, or lose bits.
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
mod detector;
mod digest;
mod erased;
mod evidence;
mod feedback;
mod history;
mod hit;
mod judge;
mod ladder;
mod loops;
mod mask;
mod nearness;
mod nudge;
mod patterns;
mod policy;
mod policy_error;
pub mod presets;
mod proof;
mod queue;
mod recent;
mod record;
mod repeated_text;
mod rule;
mod selection;
mod statistics;
mod talk;
mod tools;
mod track;
mod verdict;
mod window;

#[cfg(feature = "serde")]
pub use checkpoint::{CheckpointError, VERSION as CHECKPOINT_VERSION};
pub use detector::{Announced, Detector, OPEN_MAX};
pub use digest::Digest;
pub use erased::AnyDetector;
pub use feedback::{RAISE_MAX, RAISED_MAX, SILENCED_MAX};
pub use ladder::{Action, Basis, Ladder, RUNAWAY_MIN, RUNGS_MAX, Rung};
pub use loops::LOOPS_MAX;
pub use mask::WINDOW_MAX;
pub use nearness::Nearness;
pub use nudge::Nudge;
pub use policy::Policy;
pub use policy_error::{PolicyError, PolicyErrorKind};
pub use record::{Call, CallId, Outcome, Tag, TagSet, Tool};
pub use repeated_text::{RepeatFinder, RepeatedText, Turn};
pub use rule::{
    Args, Force, Outcomes, Pattern, Progress, RULES_MAX, RUNS_MAX, Results, Rule, Select, Silence,
    TEXT_RULES_MAX, TextRule, Texts,
};
pub use statistics::Statistics;
pub use talk::MESSAGES_MAX;
pub use tools::{Phase, TOOL_RULES_MAX, ToolRule};
pub use verdict::{Finding, Kind, LoopId, ParseLoopIdError, RuleIndex, Verdict};
