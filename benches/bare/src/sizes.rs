//! Sizes of values in memory.

use unstuck_core::{
    Announced, AnyDetector, Call, CallId, Detector, Finding, Outcome, Policy, Rule, Statistics,
    Verdict,
};
use unstuck_text::{SimilarCalls, Worker};

/// A detector with the record of similar calls that a host may keep beside it.
type WithGroups<const W: usize> = (Detector<'static, W>, SimilarCalls);

/// The measured types, each with its size in bytes.
pub const SIZES: [(&str, usize); 19] = [
    ("Detector<8>", size_of::<Detector<'_, 8>>()),
    ("Detector<20>", size_of::<Detector<'_, 20>>()),
    ("Detector<64>", size_of::<Detector<'_, 64>>()),
    ("Detector<8> and SimilarCalls", size_of::<WithGroups<8>>()),
    ("Detector<20> and SimilarCalls", size_of::<WithGroups<20>>()),
    ("Detector<64> and SimilarCalls", size_of::<WithGroups<64>>()),
    ("Worker<20>", size_of::<Worker<'_, 20>>()),
    ("Detector<20, 1>", size_of::<Detector<'_, 20, 1>>()),
    ("checkpoint of <20>, at most", Detector::<20>::CHECKPOINT_MAX),
    ("&dyn AnyDetector", size_of::<&dyn AnyDetector<'_>>()),
    ("Announced", size_of::<Announced>()),
    ("Verdict", size_of::<Verdict>()),
    ("Finding", size_of::<Finding>()),
    ("Call", size_of::<Call>()),
    ("CallId", size_of::<CallId>()),
    ("Outcome", size_of::<Outcome>()),
    ("Statistics", size_of::<Statistics>()),
    ("Policy", size_of::<Policy<'_>>()),
    ("Rule", size_of::<Rule<'_>>()),
];
