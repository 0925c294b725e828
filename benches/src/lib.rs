//! How fast the engine is, beside a plain detector and the published ones, and how fast the
//! fingerprint of JSON, beside canonical text and a hash of it; and how fast texts are read.
//!
//! `cargo xtask bench engine`, and `json`, `text` or `hook` in its place, build in release, run
//! everything and print one table.
//!
//! # How it measures
//!
//! Ratios count, and times drift: other programs run, clocks rise and fall. So all contenders
//! take turns in one process, each is given the same stream in every round, and what is printed
//! is the median over the rounds of the time, and of the ratio *within* a round to the first
//! of them. That is the whole of [`rounds`]. Criterion and Divan finish one benchmark before they
//! begin the next, and so compare two minutes of a machine rather than two programs.
//!
//! Instructions do not drift. [`instructions`] counts them with valgrind, over `n` turns and over
//! twice as many: what it takes to start falls away in the difference.
//!
//! Every contender's answer is the number of calls that it finds fault with. It must be the same in
//! every round, and none where all calls are new, so that no work can be optimised away.
//!
//! What reads JSON answers with its digest, which must be the same for the same documents spelled
//! otherwise; what reads texts, with the sum of its digests.
//!
//! # What is fair
//!
//! Each detector is fed as its documentation says, from the same raw arguments and results to
//! whatever it gives for a verdict; all have a window of 20 calls where they have one, and find
//! fault from the third equal call on. The others do less: none knows cycles, and but for
//! `loop-guardrail` none looks at results.

pub mod contender;
pub mod documents;
pub mod endurance;
pub mod hook;
pub mod innocents;
pub mod instructions;
pub mod json;
pub mod json_report;
pub mod program;
pub mod report;
pub mod rounds;
pub mod scan;
pub mod stream;
pub mod swarm;
pub mod swarm_redis;
pub mod swarm_redis_report;
pub mod swarm_report;
mod table;
pub mod text;
pub mod text_report;
pub mod texts;
