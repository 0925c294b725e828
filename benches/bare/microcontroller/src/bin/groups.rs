//! The engine with the default recipe and the record of similar calls.

#![no_std]
#![no_main]

use core::hint::black_box;

use unstuck_core::{Detector, presets};
use unstuck_microcontroller::{arguments, result};
use unstuck_text::{Recipe, SimilarCalls};

fn main() {
    if let Ok(mut detector) = Detector::<20>::new(&presets::BALANCED) {
        let (tool, recipe, mut groups) =
            (black_box("read_sensor"), Recipe::BALANCED, SimilarCalls::new());
        let call = recipe.call_among(black_box(&mut groups), tool, arguments());
        let announced = detector.announce(call);
        let outcome = recipe.outcome(tool, result(), false);
        let _ = black_box((announced, detector.outcome(announced.id, outcome)));
    }
}

unstuck_microcontroller::program!(main);
