//! The work of the programs that show the size of the engine, its dependencies, and what it costs.
//!
//! A linked program contains the code that the engine needs at run time, and hardly any other code. So
//! its sections show the size of a part, and its symbols show whether the engine can panic or allocate.

#![no_std]

pub mod entries;
mod sizes;
mod work;

pub use sizes::SIZES;
pub use work::{Host, Work};

// The arguments of calls, and their results: texts of a fixed length, each with a unique number.
include!(concat!(env!("OUT_DIR"), "/texts.rs"));
