//! A robot's agent loop. LED 1 lights when the loop detector ends the run.

#![no_std]
#![no_main]

use core::fmt::{self, Write as _};
use core::panic::PanicInfo;
use core::ptr;

use cortex_m_rt::entry;
use unstuck_core::{Action, PolicyError};
use unstuck_text::{Failures, Preset, Recipe, Worker};

/// The registers of port P0 that make pins outputs and that pull them low.
const P0_DIRSET: usize = 0x5000_0518;
const P0_OUTCLR: usize = 0x5000_050C;

/// The pin of LED 1, which lights while the pin is low.
const LED: u32 = 1 << 13;

#[entry]
fn main() -> ! {
    let _ = agent();
    light();
    loop {
        cortex_m::asm::wfi();
    }
}

/// Runs the planner's calls until the detector ends the run.
fn agent() -> Result<(), PolicyError> {
    let preset = Preset::BALANCED;
    // The host knows which calls failed, so no code that reads failures from texts is linked.
    let recipe = Recipe { failures: Failures::Told, ..preset.recipe };
    let mut worker: Worker<'_, 20, 1> = Worker::new(preset.policy, recipe)?;
    loop {
        let (tool, args) = ask();
        let asked = worker.announce(tool, args);
        let after = if asked.is_blocked() {
            worker.vetoed(asked.ticket)
        } else {
            let (result, failed) = run(tool, args);
            worker.outcome(asked.ticket, tool, result, failed)
        };
        let verdict = asked.verdict.or_stronger(after);
        if let Some(finding) = verdict.finding {
            // Formatting fails only if the planner's buffer is full.
            let _ = write!(Planner, "{}", finding.nudge(verdict.action, tool));
        }
        if verdict.action >= Action::StartOver {
            return Ok(());
        }
    }
}

/// Returns the next call of the model: a tool and its arguments as JSON. Replace it by your planner.
fn ask() -> (&'static str, &'static str) {
    ("read_sensor", r#"{"joint":3}"#)
}

/// Runs a call. Returns its result and whether it failed. Replace it by your tools.
fn run(_tool: &str, _args: &str) -> (&'static str, bool) {
    ("no signal", true)
}

/// The input of the planner. Replace it by your connection to the model.
struct Planner;

impl fmt::Write for Planner {
    fn write_str(&mut self, _text: &str) -> fmt::Result {
        Ok(())
    }
}

/// Lights LED 1.
fn light() {
    for register in [P0_OUTCLR, P0_DIRSET] {
        // SAFETY: these are registers of the nRF52840, and writing ones changes only the named pin.
        unsafe { ptr::with_exposed_provenance_mut::<u32>(register).write_volatile(LED) }
    }
}

/// Stops the robot with the LED on.
#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    light();
    loop {
        cortex_m::asm::wfi();
    }
}
