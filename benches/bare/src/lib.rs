//! The engine as programs without `std` call it, to see what it brings with it.
//!
//! What the engine needs at run time is in the linked program, and hardly anything else is. So the
//! symbols of the program tell whether the engine can panic or allocate; `cargo xtask test` reads
//! them. That means something only if the compiler does not know what the engine is given, or it
//! would leave out all that this does not need: everything is made from the number of the
//! program's arguments.

#![no_std]

mod checkpoints;
mod control;
mod erased;
mod events;
mod input;
mod policies;
mod replies;
mod texts;
mod words;

use core::ffi::c_int;
use core::hint::black_box;
use core::panic::PanicInfo;

use unstuck_core::{Action, Announced, Call, Detector, Digest, Outcome, Policy, presets};

use checkpoints::save_and_restore;
use erased::tell_any;
use events::tell;
use input::Input;
use policies::with_policy;
use words::show;

#[expect(unsafe_code, reason = "the C library is declared; ending the program is safe")]
#[link(name = "c")]
unsafe extern "C" {
    /// Ends the program by a signal.
    safe fn abort() -> !;
}

/// Where every panic would end. A program that does not refer to `abort` has none.
#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    abort()
}

/// Calls every entry of the engine, by every preset and by a policy of its own making, in ways
/// that `count` decides.
pub fn every_entry(count: c_int) {
    let input = &mut Input::new(count);
    for preset in presets::ALL {
        in_every_size(preset, input);
    }
    with_policy(input, in_every_size);
}

/// The smallest, the usual and the largest window, one open call and eight; and sizes that are no
/// powers of two, of which the compiler proves less.
fn in_every_size(policy: &Policy<'_>, input: &mut Input) {
    watch::<1, 1>(policy, input);
    watch::<20, 8>(policy, input);
    watch::<64, 8>(policy, input);
    watch::<33, 5>(policy, input);
}

/// Tells a detector all that there is to tell, or shows why it cannot be made.
fn watch<const W: usize, const OPEN: usize>(policy: &Policy<'_>, input: &mut Input) {
    match Detector::<W, OPEN>::new(policy) {
        Ok(mut detector) => {
            tell(&mut detector, input);
            tell_any(&mut detector, input);
            save_and_restore(&detector, input);
        }
        Err(error) => show(format_args!("{error}")),
    }
}

/// What a small host does: announces calls, runs or blocks them, and tells the agent why.
pub fn small_host(count: c_int) {
    let mut input = Input::new(count);
    let Ok(mut detector) = Detector::<20>::new(&presets::BALANCED) else { return };
    while input.flag() {
        let call = Call::new(input.tool(), input.digest());
        let Announced { id, verdict, .. } = detector.announce(call);
        let after = if verdict.action >= Action::Block {
            detector.vetoed(id)
        } else {
            detector.outcome(id, Outcome::ok(Digest::of(input.text().as_bytes())))
        };
        let verdict = black_box(verdict.or_stronger(after));
        if let Some(finding) = verdict.finding {
            show(format_args!("{}", finding.nudge(verdict.action, input.text())));
        }
    }
}
