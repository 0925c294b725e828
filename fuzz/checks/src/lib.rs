//! Claims about any bytes, each as a function that panics on bytes that break it.
//!
//! A fuzz target only calls such a function. So an input that a fuzzer found can be run again without the
//! fuzzer: by the test `replay`, or in a debugger.

pub mod canary;
#[cfg(feature = "canonicalizer")]
pub mod canonicalize;
pub mod checkpoint;
pub mod engine;
pub mod fingerprint;
pub mod gossip;
pub mod guard;
pub mod text;
pub mod trace;

mod canonical;
mod documents;
mod members;
#[path = "../../../core/tests/oracle/model.rs"]
mod model;
#[path = "../../../core/tests/oracle/pair.rs"]
mod pair;
mod rules;
mod stream;
#[path = "../../../adapters/json/tests/properties/tree.rs"]
mod tree;
