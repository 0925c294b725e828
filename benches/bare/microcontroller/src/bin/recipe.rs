//! The engine with the default recipe: digests, the kind of tool, and failed or silent results.

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
