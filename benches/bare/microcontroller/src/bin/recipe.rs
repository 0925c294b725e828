//! The engine, and the default recipe for its digests: also what kind of tool it is, and whether
//! the result tells of a failure or says nothing.

#![no_std]
#![no_main]

use core::hint::black_box;

use unstuck_core::{Detector, presets};
use unstuck_microcontroller::{arguments, result};
use unstuck_text::Recipe;

fn main() {
    if let Ok(mut detector) = Detector::<20>::new(&presets::BALANCED) {
        let (tool, recipe) = (black_box("read_sensor"), Recipe::BALANCED);
        let announced = detector.announce(recipe.call(tool, arguments()));
        let outcome = recipe.outcome(tool, result(), false);
        let _ = black_box((announced, detector.outcome(announced.id, outcome)));
    }
}

unstuck_microcontroller::program!(main);
