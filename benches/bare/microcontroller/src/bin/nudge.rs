//! The engine, and the text of a finding for the agent.

#![no_std]
#![no_main]

use core::fmt::Write as _;
use core::hint::black_box;

use unstuck_core::{Call, Detector, Digest, Outcome, Tool, presets};
use unstuck_microcontroller::Nowhere;

fn main() {
    if let Ok(mut detector) = Detector::<20>::new(&presets::BALANCED) {
        let announced = detector.announce(black_box(Call::new(Tool::new(0), Digest::new(0))));
        let verdict = detector.outcome(announced.id, black_box(Outcome::ok(Digest::new(0))));
        if let Some(finding) = verdict.finding {
            let nudge = finding.nudge(verdict.action, black_box("read_sensor"));
            let _ = black_box(write!(Nowhere, "{nudge}"));
        }
        let _ = black_box((announced, verdict));
    }
}

unstuck_microcontroller::program!(main);
