//! Calls, outcomes, turns and messages, as digests.

use crate::memory::{self, Place};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage::{self, Found, unstuck_t};
use crate::verdict::{
    turn, unstuck_announced_t, unstuck_call_id_t, unstuck_call_t, unstuck_outcome_t,
    unstuck_verdict_t,
};
use unstuck_core::{Announced, Digest, Verdict};

/// The agent asks for call. Judges it by the rules that need no outcome, before it runs; a call that
/// continues a loop whose ladder has reached UNSTUCK_BLOCK is blocked.
///
/// Calls that still wait when a later step begins settle as unreported. Errors: UNSTUCK_NULL,
/// UNSTUCK_NO_DETECTOR; UNSTUCK_VALUE for a tag that is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_announce(
    detector: *mut unstuck_t,
    call: *const unstuck_call_t,
    announced: *mut unstuck_announced_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    unsafe {
        announced_by(detector, announced, |found| {
            Ok(found.watch.announce(memory::read(call)?.call()?))
        })
    }
}

/// The outcome of a call has come. Judges every call that settles with it: they settle in the order
/// in which they were announced. The verdict is the strongest.
///
/// An outcome that comes late, twice, or for an exempt call changes nothing. Errors: UNSTUCK_NULL,
/// UNSTUCK_NO_DETECTOR, UNSTUCK_NO_CALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_outcome(
    detector: *mut unstuck_t,
    call: *const unstuck_call_id_t,
    outcome: *const unstuck_outcome_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    unsafe {
        judged(detector, verdict, |found| {
            let (id, outcome) = (memory::read(call)?.id()?, memory::read(outcome)?.outcome());
            Ok(found.watch.outcome(id, outcome))
        })
    }
}

/// The call was not run, since somebody blocked it. It still counts as an attempt, and stands for any
/// result. The verdict and the errors are as those of unstuck_outcome().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_vetoed(
    detector: *mut unstuck_t,
    call: *const unstuck_call_id_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    unsafe { judged(detector, verdict, |found| Ok(found.watch.vetoed(memory::read(call)?.id()?))) }
}

/// No more outcomes will come: what waits settles as unreported. The verdict is the strongest.
/// Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_finish(
    detector: *mut unstuck_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    unsafe { judged(detector, verdict, |found| Ok(found.watch.finish())) }
}

/// The agent took a turn without calling a tool, and said what text stands for.
///
/// laps: how often the end of the text says the same in a row; 0 or 1 where nothing repeats.
/// period: of how many words. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_turn(
    detector: *mut unstuck_t,
    text: u64,
    period: u8,
    laps: u16,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    unsafe {
        judged(detector, verdict, |found| Ok(found.watch.text_turn(turn(text, period, laps))))
    }
}

/// The user says what message stands for. A new instruction starts everything afresh; one seen before
/// (an automatic "please continue") is none, and a rule about prompts may find that it comes again and
/// again with no call between. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_user_message(
    detector: *mut unstuck_t,
    message: u64,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    unsafe { judged(detector, verdict, |found| Ok(found.watch.user_message(Digest::new(message)))) }
}

/// Tells `detector` what `event` is, and `place` what the verdict is.
///
/// # Safety
///
/// As the header asks of both.
pub(crate) unsafe fn judged(
    detector: *mut unstuck_t,
    place: *mut unstuck_verdict_t,
    event: impl FnOnce(&mut Found<'_>) -> Result<Verdict, Status>,
) -> Status {
    // SAFETY: the caller says so.
    let opened = unsafe { storage::find(detector) }.and_then(|found| {
        // SAFETY: the caller says so.
        Ok((found, unsafe { Place::new(place)? }))
    });
    status::of(opened.and_then(|(mut found, place)| {
        let verdict = event(&mut found)?;
        remember(&mut found, &verdict);
        place.put(verdict.into());
        Ok(())
    }))
}

/// Tells `detector` of the call that `event` announces, and `place` what came of it.
///
/// # Safety
///
/// As the header asks of both.
pub(crate) unsafe fn announced_by(
    detector: *mut unstuck_t,
    place: *mut unstuck_announced_t,
    event: impl FnOnce(&mut Found<'_>) -> Result<Announced, Status>,
) -> Status {
    // SAFETY: the caller says so.
    let opened = unsafe { storage::find(detector) }.and_then(|found| {
        // SAFETY: the caller says so.
        Ok((found, unsafe { Place::new(place)? }))
    });
    status::of(opened.and_then(|(mut found, place)| {
        let announced = event(&mut found)?;
        remember(&mut found, &announced.settled);
        remember(&mut found, &announced.verdict);
        place.put(announced.into());
        Ok(())
    }))
}

/// Keeps the finding of `verdict`, if it has one: others are made in its form.
fn remember(found: &mut Found<'_>, verdict: &Verdict) {
    if verdict.finding.is_some() {
        *found.seed = verdict.finding;
    }
}
