//! Benchmarks of the engine, of fingerprints, of texts, of hooks and of swarms.
//!
//! `cargo xtask bench NAME` builds the program with the profile `dist`, runs one benchmark and prints
//! its report. `cargo xtask bench --help` lists the benchmarks.
//!
//! # How it measures
//!
//! Absolute times drift, because other programs run and the clock rate changes. So all contenders
//! take turns in one process, and each gets the same stream in every round. A report contains the
//! median time over the rounds, and the median of the ratio *within* a round to the first contender.
//! The module [`rounds`] implements this. Criterion and Divan finish one benchmark before they start
//! the next, so they compare a machine at two different times.
//!
//! Instructions do not drift. The module [`instructions`] counts them with valgrind, once over `n`
//! turns and once over twice as many. The difference does not contain the start of the program.
//!
//! Every contender returns an answer, so that the compiler cannot remove its work. A detector returns
//! the number of calls that it flags. The number must be the same in every round, and 0 if all calls
//! are new. A reader of JSON returns a digest, which must be the same for the same documents in another
//! spelling. A reader of texts returns the sum of its digests.
//!
//! # Fairness
//!
//! Each detector gets the same raw arguments and results, in the way that its documentation describes,
//! and computes a verdict. Each has a window of 20 calls if it has a window, and flags the third equal
//! call. The other detectors do less: they do not find cycles, and only `loop-guardrail` reads results.

pub mod contender;
pub mod documents;
pub mod endurance;
pub mod engine;
pub mod false_alarms;
pub mod hook;
pub mod instructions;
pub mod json;
pub mod real_calls;
pub mod real_text;
pub mod regex_masks;
pub mod report;
pub mod rounds;
pub mod scan;
pub mod stream;
pub mod swarm;
pub mod swarm_redis;
pub mod text;
pub mod texts;
