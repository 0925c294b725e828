//! The parts of the engine whose code is measured on microcontrollers, with input that the compiler
//! cannot predict.
//!
//! Each program is this file, and none uses the library. Functions of a library would be optimised
//! otherwise, and its instances of the engine would be shared.

#![no_std]
#![no_main]

use core::fmt::{self, Write};
use core::hint::black_box;

use unstuck_core::{Call, Detector, Digest, Outcome, Tool, Verdict, presets};
use unstuck_json::fingerprint;
use unstuck_text::{Masks, Preset, Recipe, SimilarCalls, Worker};

/// The part that this program has.
const PART: fn() = match env!("CARGO_BIN_NAME").as_bytes() {
    b"empty" => || (),
    b"engine" => engine,
    b"json" => json,
    b"masked" => masked,
    b"recipe" => recipe,
    b"groups" => groups,
    b"readme" => readme,
    b"nudge" => nudge,
    b"checkpoint" => checkpoint,
    _ => panic!("a program without a part"),
};

/// The start of the program, which is measured and not run: it lacks the vector table that a processor
/// starts from, so it contains only the code of the part.
#[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    PART();
    halt()
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    halt()
}

/// Judges a call and its outcome as digests, by every rule of the default policy.
fn engine() {
    if let Ok(mut detector) = Detector::<20>::new(&presets::BALANCED) {
        let _ = judge(&mut detector);
    }
}

/// Judges a call with the fingerprint of raw arguments.
fn json() {
    let (Ok(mut detector), Ok(args)) =
        (Detector::<20>::new(&presets::BALANCED), fingerprint(arguments().as_bytes()))
    else {
        return;
    };
    let announced = detector.announce(Call::new(black_box(Tool::new(0)), args));
    let verdict = detector.outcome(announced.id, black_box(Outcome::ok(Digest::new(0))));
    let _ = black_box((announced, verdict));
}

/// Judges the same with the digest of a result with all masks.
fn masked() {
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

/// Judges a call by the default recipe: digests, the kind of tool, and failed or silent results.
fn recipe() {
    if let Ok(mut detector) = Detector::<20>::new(&presets::BALANCED) {
        let (tool, recipe) = (black_box("read_sensor"), Recipe::BALANCED);
        let announced = detector.announce(recipe.call(tool, arguments()));
        let outcome = recipe.outcome(tool, result(), false);
        let _ = black_box((announced, detector.outcome(announced.id, outcome)));
    }
}

/// Judges the same with the record of similar calls.
fn groups() {
    if let Ok(mut detector) = Detector::<20>::new(&presets::BALANCED) {
        let (tool, recipe, mut groups) =
            (black_box("read_sensor"), Recipe::BALANCED, SimilarCalls::new());
        let call = recipe.call_among(black_box(&mut groups), tool, arguments());
        let announced = detector.announce(call);
        let outcome = recipe.outcome(tool, result(), false);
        let _ = black_box((announced, detector.outcome(announced.id, outcome)));
    }
}

/// Runs the example in the README of `unstuck-text`: a worker, and the text of nudges.
fn readme() {
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
    let is_news = verdict.fresh || asked.is_blocked();
    if let Some(finding) = verdict.finding.filter(|_| is_news) {
        let _ = black_box(write!(Nowhere, "{}", finding.nudge(verdict.action, tool)));
    }
    let _ = black_box(verdict);
}

/// Judges a call as digests, and writes the text of a finding for the agent.
fn nudge() {
    if let Ok(mut detector) = Detector::<20>::new(&presets::BALANCED) {
        let verdict = judge(&mut detector);
        if let Some(finding) = verdict.finding {
            let nudge = finding.nudge(verdict.action, black_box("read_sensor"));
            let _ = black_box(write!(Nowhere, "{nudge}"));
        }
    }
}

/// Restores the engine from bytes, judges a call, and saves the engine.
fn checkpoint() {
    let mut page = [0; Detector::<20>::CHECKPOINT_MAX];
    if let Ok(mut detector) = Detector::<20>::restore(&presets::BALANCED, black_box(&page)) {
        let _ = judge(&mut detector);
        let _ = black_box(detector.save(&mut page));
    }
}

/// Judges a call and its outcome as digests.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call of it would be a part of what is measured")]
fn judge(detector: &mut Detector<'_, 20>) -> Verdict {
    let announced = detector.announce(black_box(Call::new(Tool::new(0), Digest::new(0))));
    let verdict = detector.outcome(announced.id, black_box(Outcome::ok(Digest::new(0))));
    let _ = black_box((announced, verdict));
    verdict
}

#[inline]
fn arguments() -> &'static str {
    black_box("{}")
}

#[inline]
fn result() -> &'static str {
    black_box("ok")
}

/// The end of every program.
fn halt() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// A writer that discards text.
struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}
