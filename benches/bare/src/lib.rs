//! The work of the programs that show the size of the engine, its dependencies, and what it costs.
//!
//! A linked program contains the code that the engine needs at run time, and hardly any other code. So
//! its sections show the size of a part, and its symbols show whether the engine can panic or allocate.

#![no_std]

pub mod entries;
mod work;

use unstuck_core::Detector;
use unstuck_text::{SimilarCalls, Worker};

pub use work::{Host, Work};

/// The measured types, each with its size in bytes.
pub const SIZES: [(&str, usize); 5] = [
    ("Detector<20>", size_of::<Detector<'_, 20>>()),
    ("Detector<20> and SimilarCalls", size_of::<(Detector<'_, 20>, SimilarCalls)>()),
    ("Worker<20>", size_of::<Worker<'_, 20>>()),
    ("Detector<20, 1>", size_of::<Detector<'_, 20, 1>>()),
    ("checkpoint of <20>, at most", Detector::<20>::CHECKPOINT_MAX),
];

// The arguments of calls, and their results: texts of a fixed length, each with a unique number.
include!(concat!(env!("OUT_DIR"), "/texts.rs"));
