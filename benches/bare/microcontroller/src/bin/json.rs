//! The engine, and the fingerprint of raw arguments for its call.

#![no_std]
#![no_main]

use core::hint::black_box;

use unstuck_core::{Call, Detector, Digest, Outcome, Tool, presets};
use unstuck_json::fingerprint;
use unstuck_microcontroller::arguments;

fn main() {
    let (Ok(mut detector), Ok(args)) =
        (Detector::<20>::new(&presets::BALANCED), fingerprint(arguments().as_bytes()))
    else {
        return;
    };
    let announced = detector.announce(Call::new(black_box(Tool::new(0)), args));
    let verdict = detector.outcome(announced.id, black_box(Outcome::ok(Digest::new(0))));
    let _ = black_box((announced, verdict));
}

unstuck_microcontroller::program!(main);
