//! A call and its outcome as digests, judged by every rule of the default policy.

#![no_std]
#![no_main]

use core::hint::black_box;

use unstuck_core::{Call, Detector, Digest, Outcome, Tool, presets};

fn main() {
    if let Ok(mut detector) = Detector::<20>::new(&presets::BALANCED) {
        let announced = detector.announce(black_box(Call::new(Tool::new(0), Digest::new(0))));
        let verdict = detector.outcome(announced.id, black_box(Outcome::ok(Digest::new(0))));
        let _ = black_box((announced, verdict));
    }
}

unstuck_microcontroller::program!(main);
