//! Sizes of values in memory.

use unstuck_core::{
    Announced, AnyDetector, Call, CallId, Detector, Digest, Finding, Outcome, Policy, Rule,
    Statistics, Verdict,
};
use unstuck_text::{SimilarCalls, Worker};

/// The longest name, in bytes.
const NAME_MAX: usize = 32;

/// The size of a type. Its layout is fixed, so another program can read it from memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The name, padded with zeros.
    name: [u8; NAME_MAX],
    /// The size in bytes.
    bytes: u32,
}

impl Size {
    const fn of<T>(name: &str) -> Self {
        let bytes = size_of::<T>().to_le_bytes();
        let mut size = Self { name: [0; NAME_MAX], bytes: 0 };
        size.bytes = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let (from, _) = name.as_bytes().split_at(name.len());
        let (to, _) = size.name.split_at_mut(name.len());
        to.copy_from_slice(from);
        size
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(NAME_MAX);
        str::from_utf8(self.name.get(..end).unwrap_or_default()).unwrap_or_default()
    }

    /// Returns the size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }
}

/// A detector with the record of similar calls that a host may keep beside it.
type WithGroups<const W: usize> = (Detector<'static, W>, SimilarCalls);

/// The measured types.
pub const SIZES: [Size; 19] = [
    Size::of::<Detector<'_, 8>>("Detector<8>"),
    Size::of::<Detector<'_, 20>>("Detector<20>"),
    Size::of::<Detector<'_, 64>>("Detector<64>"),
    Size::of::<WithGroups<8>>("Detector<8> and SimilarCalls"),
    Size::of::<WithGroups<20>>("Detector<20> and SimilarCalls"),
    Size::of::<WithGroups<64>>("Detector<64> and SimilarCalls"),
    Size::of::<Worker<'_, 20>>("Worker<20>"),
    Size::of::<Detector<'_, 20, 1>>("Detector<20, 1>"),
    Size::of::<[u8; Detector::<20>::CHECKPOINT_MAX]>("checkpoint of <20>, at most"),
    Size::of::<&dyn AnyDetector<'_>>("&dyn AnyDetector"),
    Size::of::<Announced>("Announced"),
    Size::of::<Verdict>("Verdict"),
    Size::of::<Finding>("Finding"),
    Size::of::<Call>("Call"),
    Size::of::<CallId>("CallId"),
    Size::of::<Outcome>("Outcome"),
    Size::of::<Statistics>("Statistics"),
    Size::of::<Policy<'_>>("Policy"),
    Size::of::<Rule<'_>>("Rule"),
];

const _: () = assert!(size_of::<Digest>() == 8, "every other size is made of these");
