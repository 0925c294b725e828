//! What values take in memory here, as the values of a constant.

#![no_std]
#![no_main]

use unstuck_core::{Announced, Call, Detector, Finding, Outcome, Statistics, Verdict};
use unstuck_text::Groups;

/// As `cargo xtask footprint` reads them, in this order.
#[used]
#[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
#[unsafe(no_mangle)]
static SIZES: [usize; 10] = [
    size_of::<Detector<'_, 8>>(),
    size_of::<Detector<'_, 20>>(),
    size_of::<Detector<'_, 64>>(),
    size_of::<Groups>(),
    size_of::<Announced>(),
    size_of::<Verdict>(),
    size_of::<Finding>(),
    size_of::<Call>(),
    size_of::<Outcome>(),
    size_of::<Statistics>(),
];

fn main() {}

unstuck_microcontroller::program!(main);
