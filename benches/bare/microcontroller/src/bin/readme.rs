//! The example for microcontrollers in the README of the repository: a worker, and the text of nudges.

#![no_std]
#![no_main]

use core::fmt::Write as _;
use core::hint::black_box;

use unstuck_microcontroller::{Nowhere, arguments, result};
use unstuck_text::{Preset, Worker};

fn main() {
    let preset = Preset::BALANCED;
    let Ok(mut worker) = Worker::<20>::new(preset.policy, preset.recipe) else { return };
    let tool = black_box("read_sensor");
    let asked = worker.announce(tool, arguments());
    let after = if asked.is_blocked() {
        worker.vetoed(asked.ticket)
    } else {
        worker.outcome(asked.ticket, tool, result(), true)
    };
    let verdict = asked.verdict.or_stronger(after);
    if let Some(finding) = verdict.finding {
        let _ = black_box(write!(Nowhere, "{}", finding.nudge(verdict.action, tool)));
    }
    let _ = black_box(verdict);
}

unstuck_microcontroller::program!(main);
