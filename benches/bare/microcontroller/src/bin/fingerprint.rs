//! The fingerprint of JSON that the compiler cannot predict, without the engine.

#![no_std]
#![no_main]

use core::hint::black_box;

use unstuck_json::fingerprint;
use unstuck_microcontroller::arguments;

fn main() {
    let _ = black_box(fingerprint(arguments().as_bytes()));
}

unstuck_microcontroller::program!(main);
