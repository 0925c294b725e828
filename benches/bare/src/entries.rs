//! Every function of the engine, called with input that the compiler cannot predict.
//!
//! Otherwise it would remove code that this input does not need, and the symbols of the program would
//! prove nothing. So all input depends on the number of the program's arguments.

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

use unstuck_core::{Action, Announced, Call, Detector, Digest, Outcome, Policy, presets};

use checkpoints::save_and_restore;
use erased::tell_any;
use events::tell;
use input::Input;
use policies::with_policy;
use words::show;

/// Calls every function of the engine, with every preset and with policies of its own. `count`
/// determines the input.
pub fn every_entry(count: c_int) {
    let input = &mut Input::new(count);
    for preset in presets::ALL {
        in_every_size(preset, input);
    }
    with_policy(input, in_every_size);
}

/// The smallest, the usual and the largest window, with one and with eight open calls. Some sizes are
/// not powers of two, because the compiler proves less about these.
fn in_every_size(policy: &Policy<'_>, input: &mut Input) {
    watch::<1, 1>(policy, input);
    watch::<20, 8>(policy, input);
    watch::<64, 8>(policy, input);
    watch::<33, 5>(policy, input);
}

/// Sends a detector every kind of event, or shows why it cannot be made.
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

/// Does the work of a small host: announces calls, runs or blocks them, and writes the reason.
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
