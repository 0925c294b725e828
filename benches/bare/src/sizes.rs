//! Sizes of values in memory.

use unstuck_core::Detector;
use unstuck_text::{SimilarCalls, Worker};

/// The measured types, each with its size in bytes.
pub const SIZES: [(&str, usize); 5] = [
    ("Detector<20>", size_of::<Detector<'_, 20>>()),
    ("Detector<20> and SimilarCalls", size_of::<(Detector<'_, 20>, SimilarCalls)>()),
    ("Worker<20>", size_of::<Worker<'_, 20>>()),
    ("Detector<20, 1>", size_of::<Detector<'_, 20, 1>>()),
    ("checkpoint of <20>, at most", Detector::<20>::CHECKPOINT_MAX),
];
