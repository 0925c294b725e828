//! The engine, the fingerprint of raw arguments, and the digest of a result with all masks.

#![no_std]
#![no_main]

use core::hint::black_box;

use unstuck_core::{Call, Detector, Outcome, Tool, presets};
use unstuck_json::fingerprint;
use unstuck_microcontroller::{arguments, result};
use unstuck_text::Masks;

fn main() {
    let (Ok(mut detector), Ok(args)) =
        (Detector::<20>::new(&presets::BALANCED), fingerprint(arguments().as_bytes()))
    else {
        return;
    };
    let announced = detector.announce(Call::new(black_box(Tool::new(0)), args));
    let masked = Masks::ALL.digest(result().as_bytes());
    let outcome = Outcome::ok(masked.result).near(masked.near);
    let _ = black_box((announced, detector.outcome(announced.id, outcome)));
}

unstuck_microcontroller::program!(main);
