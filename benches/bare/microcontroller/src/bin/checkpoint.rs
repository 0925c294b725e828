//! The engine, saved to bytes, and restored from bytes that the compiler cannot predict.

#![no_std]
#![no_main]

use core::hint::black_box;

use unstuck_core::{Call, Detector, Digest, Outcome, Tool, presets};

fn main() {
    let mut page = [0; Detector::<20>::CHECKPOINT_MAX];
    if let Ok(mut detector) = Detector::<20>::restore(&presets::BALANCED, black_box(&page)) {
        let announced = detector.announce(black_box(Call::new(Tool::new(0), Digest::new(0))));
        let verdict = detector.outcome(announced.id, black_box(Outcome::ok(Digest::new(0))));
        let _ = black_box((announced, verdict));
        let _ = black_box(detector.save(&mut page));
    }
}

unstuck_microcontroller::program!(main);
