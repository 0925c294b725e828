//! What few programs ask of a detector: one function for each window, so that a program is linked with
//! what it names.

use unstuck_core::{Finding, Verdict};

use crate::memory::{self, Place};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage::{self, unstuck_t};
use crate::verdict::{unstuck_call_id_t, unstuck_call_t, unstuck_nearness_t, unstuck_verdict_t};

/// A call that waits for its outcome will not be run: as if it had never been announced, but for its
/// number. The verdict is the strongest on the calls that settle with that. For a call that somebody
/// refused there is unstuck_vetoed(). For a detector of a window of 8.
///
/// Errors: those of unstuck_outcome(), and UNSTUCK_WINDOW if the detector is of another window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_cancel_8(
    detector: *mut unstuck_t,
    call: *const unstuck_call_id_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { cancel::<8>(detector, call, verdict) })
}

/// The latest calls are taken back: the provider of the model failed, and sends them again. Their
/// numbers are given again. For a detector of a window of 8.
///
/// taken: receives how many were; those that have left the window stay. Errors: UNSTUCK_NULL,
/// UNSTUCK_NO_DETECTOR; UNSTUCK_WINDOW if the detector is of another window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_retry_8(
    detector: *mut unstuck_t,
    calls: usize,
    taken: *mut usize,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { retry::<8>(detector, calls, taken) })
}

/// What the verdict on call would be if it were announced now. Changes nothing. Takes the size of the
/// detector on the stack. For a detector of a window of 8.
///
/// Errors: those of unstuck_announce(), and UNSTUCK_WINDOW if the detector is of another window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_peek_8(
    detector: *mut unstuck_t,
    call: *const unstuck_call_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { peek::<8>(detector, call, verdict) })
}

/// The rule that is nearest to a finding, by the share of the calls that it takes: an early warning,
/// if it is heard from two thirds on. All zeros where nothing was seen yet. For a detector of a window
/// of 8.
///
/// Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR; UNSTUCK_WINDOW if the detector is of another window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_nearest_8(
    detector: *mut unstuck_t,
    nearness: *mut unstuck_nearness_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { nearest::<8>(detector, nearness) })
}

/// A call that waits for its outcome will not be run: as if it had never been announced, but for its
/// number. The verdict is the strongest on the calls that settle with that. For a call that somebody
/// refused there is unstuck_vetoed(). For a detector of a window of 20.
///
/// Errors: those of unstuck_outcome(), and UNSTUCK_WINDOW if the detector is of another window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_cancel_20(
    detector: *mut unstuck_t,
    call: *const unstuck_call_id_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { cancel::<20>(detector, call, verdict) })
}

/// The latest calls are taken back: the provider of the model failed, and sends them again. Their
/// numbers are given again. For a detector of a window of 20.
///
/// taken: receives how many were; those that have left the window stay. Errors: UNSTUCK_NULL,
/// UNSTUCK_NO_DETECTOR; UNSTUCK_WINDOW if the detector is of another window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_retry_20(
    detector: *mut unstuck_t,
    calls: usize,
    taken: *mut usize,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { retry::<20>(detector, calls, taken) })
}

/// What the verdict on call would be if it were announced now. Changes nothing. Takes the size of the
/// detector on the stack. For a detector of a window of 20.
///
/// Errors: those of unstuck_announce(), and UNSTUCK_WINDOW if the detector is of another window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_peek_20(
    detector: *mut unstuck_t,
    call: *const unstuck_call_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { peek::<20>(detector, call, verdict) })
}

/// The rule that is nearest to a finding, by the share of the calls that it takes: an early warning,
/// if it is heard from two thirds on. All zeros where nothing was seen yet. For a detector of a window
/// of 20.
///
/// Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR; UNSTUCK_WINDOW if the detector is of another window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_nearest_20(
    detector: *mut unstuck_t,
    nearness: *mut unstuck_nearness_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { nearest::<20>(detector, nearness) })
}

/// A call that waits for its outcome will not be run: as if it had never been announced, but for its
/// number. The verdict is the strongest on the calls that settle with that. For a call that somebody
/// refused there is unstuck_vetoed(). For a detector of a window of 64.
///
/// Errors: those of unstuck_outcome(), and UNSTUCK_WINDOW if the detector is of another window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_cancel_64(
    detector: *mut unstuck_t,
    call: *const unstuck_call_id_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { cancel::<64>(detector, call, verdict) })
}

/// The latest calls are taken back: the provider of the model failed, and sends them again. Their
/// numbers are given again. For a detector of a window of 64.
///
/// taken: receives how many were; those that have left the window stay. Errors: UNSTUCK_NULL,
/// UNSTUCK_NO_DETECTOR; UNSTUCK_WINDOW if the detector is of another window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_retry_64(
    detector: *mut unstuck_t,
    calls: usize,
    taken: *mut usize,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { retry::<64>(detector, calls, taken) })
}

/// What the verdict on call would be if it were announced now. Changes nothing. Takes the size of the
/// detector on the stack. For a detector of a window of 64.
///
/// Errors: those of unstuck_announce(), and UNSTUCK_WINDOW if the detector is of another window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_peek_64(
    detector: *mut unstuck_t,
    call: *const unstuck_call_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { peek::<64>(detector, call, verdict) })
}

/// The rule that is nearest to a finding, by the share of the calls that it takes: an early warning,
/// if it is heard from two thirds on. All zeros where nothing was seen yet. For a detector of a window
/// of 64.
///
/// Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR; UNSTUCK_WINDOW if the detector is of another window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_nearest_64(
    detector: *mut unstuck_t,
    nearness: *mut unstuck_nearness_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { nearest::<64>(detector, nearness) })
}

/// # Safety
///
/// As for [`unstuck_cancel_20`].
unsafe fn cancel<const W: usize>(
    detector: *mut unstuck_t,
    call: *const unstuck_call_id_t,
    verdict: *mut unstuck_verdict_t,
) -> Result<(), Status> {
    // SAFETY: the caller says so.
    let (found, place, call) = unsafe {
        (storage::find_of::<W>(detector)?, Place::new(verdict)?, memory::read(call)?.id()?)
    };
    let verdict = found.detector.cancel(call);
    told(found.seed, place, verdict);
    Ok(())
}

/// # Safety
///
/// As for [`unstuck_retry_20`].
unsafe fn retry<const W: usize>(
    detector: *mut unstuck_t,
    calls: usize,
    taken: *mut usize,
) -> Result<(), Status> {
    // SAFETY: the caller says so.
    let (found, taken) = unsafe { (storage::find_of::<W>(detector)?, Place::new(taken)?) };
    taken.put(found.detector.retry(calls));
    Ok(())
}

/// # Safety
///
/// As for [`unstuck_peek_20`].
unsafe fn peek<const W: usize>(
    detector: *mut unstuck_t,
    call: *const unstuck_call_t,
    verdict: *mut unstuck_verdict_t,
) -> Result<(), Status> {
    // SAFETY: the caller says so.
    let (found, place, call) = unsafe {
        (storage::find_of::<W>(detector)?, Place::new(verdict)?, memory::read(call)?.call()?)
    };
    let verdict = found.detector.peek(call);
    told(found.seed, place, verdict);
    Ok(())
}

/// # Safety
///
/// As for [`unstuck_nearest_20`].
unsafe fn nearest<const W: usize>(
    detector: *mut unstuck_t,
    nearness: *mut unstuck_nearness_t,
) -> Result<(), Status> {
    // SAFETY: the caller says so.
    let (found, nearness) = unsafe { (storage::find_of::<W>(detector)?, Place::new(nearness)?) };
    nearness.put(found.detector.nearest().into());
    Ok(())
}

/// Tells C of `verdict`, and keeps its finding: others are made in its form.
fn told(seed: &mut Option<Finding>, place: Place<unstuck_verdict_t>, verdict: Verdict) {
    if verdict.finding.is_some() {
        *seed = verdict.finding;
    }
    place.put(verdict.into());
}
