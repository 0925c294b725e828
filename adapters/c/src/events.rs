//! Calls, outcomes, turns and messages, as digests.

use crate::memory::{self, Output};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage::{self, Events, Handle, unstuck_t};
use crate::verdict::{
    turn, unstuck_announced_t, unstuck_call_id_t, unstuck_call_t, unstuck_outcome_t,
    unstuck_verdict_t,
};
use unstuck_core::{Announced, Digest, Verdict};

/// Announces a call before it runs, and judges it by the rules that need no outcome. A call that continues
/// a loop whose ladder has reached UNSTUCK_BLOCK is blocked.
///
/// Calls that still wait for an outcome when a later step begins settle as unreported. Errors:
/// UNSTUCK_NULL, UNSTUCK_NO_DETECTOR; UNSTUCK_VALUE if the tag is not one of unstuck_tag_t.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_announce(
    detector: *mut unstuck_t,
    call: *const unstuck_call_t,
    announced: *mut unstuck_announced_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    unsafe {
        announced_by(detector, announced, |handle| {
            Ok(handle.detector.announce(memory::read(call)?.call()?))
        })
    }
}

/// Reports the outcome of a call. Judges every call that settles with it, in the order in which the calls
/// were announced. The verdict is the strongest.
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
    // SAFETY: the header requires it.
    unsafe {
        judged(detector, verdict, |handle| {
            let (id, outcome) = (memory::read(call)?.id()?, memory::read(outcome)?.outcome());
            Ok(handle.detector.outcome(id, outcome))
        })
    }
}

/// Reports that a call was blocked and did not run. It still counts as an attempt, and matches any result.
/// The verdict and the errors are the same as for unstuck_outcome().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_vetoed(
    detector: *mut unstuck_t,
    call: *const unstuck_call_id_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    unsafe {
        judged(detector, verdict, |handle| Ok(handle.detector.vetoed(memory::read(call)?.id()?)))
    }
}

/// Withdraws a call that waits for its outcome and will not run, as if it had never been announced. Its
/// sequence number is not reused. The verdict is the strongest on the calls that settle with it. Use
/// unstuck_vetoed() for a call that was refused. The errors are the same as for unstuck_outcome().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_cancel(
    detector: *mut unstuck_t,
    call: *const unstuck_call_id_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    unsafe {
        judged(detector, verdict, |handle| Ok(handle.detector.cancel(memory::read(call)?.id()?)))
    }
}

/// Reports that no more outcomes will come. Waiting calls settle as unreported. The verdict is the
/// strongest. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_finish(
    detector: *mut unstuck_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    unsafe { judged(detector, verdict, |handle| Ok(handle.detector.finish())) }
}

/// Reports a turn of the agent without a tool call. text is the digest of its text.
///
/// laps: the number of equal parts in a row at the end of the text; 0 or 1 if nothing repeats. period: the
/// number of words in each part. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_turn(
    detector: *mut unstuck_t,
    text: u64,
    period: u8,
    laps: u16,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    unsafe {
        judged(detector, verdict, |handle| Ok(handle.detector.text_turn(turn(text, period, laps))))
    }
}

/// Reports a message of the user. message is its digest. A new message starts everything afresh. A message
/// that was seen before (for example an automatic "please continue") does not. A rule about prompts may
/// find that it comes again and again with no call between. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_user_message(
    detector: *mut unstuck_t,
    message: u64,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    unsafe {
        judged(detector, verdict, |handle| Ok(handle.detector.user_message(Digest::new(message))))
    }
}

/// Reports `event` to the detector, and writes the verdict to `output`.
///
/// # Safety
///
/// The header's requirements for both pointers.
pub(crate) unsafe fn judged(
    detector: *mut unstuck_t,
    output: *mut unstuck_verdict_t,
    event: impl FnOnce(&mut Handle<'_, dyn Events>) -> Result<Verdict, Status>,
) -> Status {
    // SAFETY: the caller guarantees it.
    unsafe {
        answered(detector, output, |handle| {
            let verdict = event(handle)?;
            handle.remember(&verdict);
            Ok(verdict.into())
        })
    }
}

/// Announces a call to the detector by `event`, and writes the answer to `output`.
///
/// # Safety
///
/// The header's requirements for both pointers.
pub(crate) unsafe fn announced_by(
    detector: *mut unstuck_t,
    output: *mut unstuck_announced_t,
    event: impl FnOnce(&mut Handle<'_, dyn Events>) -> Result<Announced, Status>,
) -> Status {
    // SAFETY: the caller guarantees it.
    unsafe {
        answered(detector, output, |handle| {
            let announced = event(handle)?;
            handle.remember(&announced.settled);
            handle.remember(&announced.verdict);
            Ok(announced.into())
        })
    }
}

/// Asks the detector by `ask`, and writes the answer to `output`.
///
/// # Safety
///
/// The header's requirements for both pointers.
pub(crate) unsafe fn answered<T>(
    detector: *mut unstuck_t,
    output: *mut T,
    ask: impl FnOnce(&mut Handle<'_, dyn Events>) -> Result<T, Status>,
) -> Status {
    // SAFETY: the caller guarantees it.
    let opened =
        unsafe { storage::find(detector).and_then(|handle| Ok((handle, Output::new(output)?))) };
    status::of(opened.and_then(|(mut handle, output)| {
        output.put(ask(&mut handle)?);
        Ok(())
    }))
}
