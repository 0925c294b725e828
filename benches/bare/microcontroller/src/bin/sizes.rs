//! Sizes of values on this target, in a static that `cargo xtask footprint` reads.

#![no_std]
#![no_main]

use unstuck_events::{SIZES as OF_VALUES, Size};

/// The sizes with their names.
#[used]
#[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
#[unsafe(no_mangle)]
static SIZES: [Size; OF_VALUES.len()] = OF_VALUES;

fn main() {}

unstuck_microcontroller::program!(main);
