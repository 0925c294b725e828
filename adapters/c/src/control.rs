//! Feedback of the host, and questions to a detector.

use unstuck_core::LoopId;

use crate::events::answered;
use crate::memory::{self, Output};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage::{self, unstuck_t};
use crate::verdict::{
    VerdictBits, unstuck_call_t, unstuck_nearness_t, unstuck_statistics_t, unstuck_verdict_t,
};

/// Forgets all calls, turns, scores and loops, because a new run begins. Sequence numbers continue, and
/// user messages, feedback and statistics stay. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_clear(detector: *mut unstuck_t) -> unstuck_status_t {
    // SAFETY: the header requires it.
    status::of(unsafe { storage::find(detector) }.map(|handle| handle.detector.clear()))
}

/// Reports progress that no result shows. It belongs to the oldest call that waits, or else to the next
/// one. Report it before the outcome of the call that made the progress. Errors: UNSTUCK_NULL,
/// UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_progress(detector: *mut unstuck_t) -> unstuck_status_t {
    // SAFETY: the header requires it.
    status::of(unsafe { storage::find(detector) }.map(|handle| handle.detector.progress()))
}

/// Takes the latest calls back, because the provider of the model failed and sends them again. Their
/// sequence numbers are given again.
///
/// taken: receives the number of calls that were taken back. Calls that have left the window stay. Errors:
/// UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_retry(
    detector: *mut unstuck_t,
    calls: usize,
    taken: *mut usize,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    unsafe { answered(detector, taken, |handle| Ok(handle.detector.retry(calls))) }
}

/// Reports that the finding of verdict was wrong. From now on its rule needs one more repetition of calls
/// of that tool, and makes no finding of the same kind about that loop.
///
/// verdict: a verdict of this detector since it was initialised or restored. Errors: UNSTUCK_NULL,
/// UNSTUCK_NO_DETECTOR, UNSTUCK_NO_FINDING; UNSTUCK_VALUE if a field has a value that no verdict has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_false_positive(
    detector: *mut unstuck_t,
    verdict: *const unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    let opened = unsafe {
        storage::find(detector)
            .and_then(|handle| Ok((handle, memory::read(verdict.cast::<VerdictBits>())?)))
    };
    status::of(opened.and_then(|(handle, verdict)| {
        let seed = handle.seed.ok_or(Status::UNSTUCK_NO_FINDING)?;
        handle.detector.false_positive(&verdict.finding(seed, &handle.policy.policy)?);
        Ok(())
    }))
}

/// Reports that loop_id is not a loop. The detector does not find it again while it is among the eight
/// loops that were silenced last. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_silence(
    detector: *mut unstuck_t,
    loop_id: u64,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    let handle = unsafe { storage::find(detector) };
    status::of(handle.map(|handle| handle.detector.silence(LoopId::from_bits(loop_id))))
}

/// Writes the detector's counts since it was created to statistics. Errors: UNSTUCK_NULL,
/// UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_statistics(
    detector: *mut unstuck_t,
    statistics: *mut unstuck_statistics_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    unsafe { answered(detector, statistics, |handle| Ok(handle.detector.statistics().into())) }
}

/// Writes the verdict that an announcement of call would get now to verdict. The detector does not change.
/// Takes the size of the detector on the stack.
///
/// Errors: the errors of unstuck_announce(), and UNSTUCK_NOT_FULL if the detector's window is not a full
/// one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_peek(
    detector: *mut unstuck_t,
    call: *const unstuck_call_t,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    let opened = unsafe {
        storage::find_full(detector)
            .and_then(|handle| Ok((handle, Output::new(verdict)?, memory::read(call)?.call()?)))
    };
    status::of(opened.map(|(mut handle, output, call)| {
        let verdict = handle.detector.peek(call);
        handle.remember(&verdict);
        output.put(verdict.into());
    }))
}

/// Writes the rule that is nearest to a finding to nearness, by its share of the calls that a finding
/// needs. From two thirds on it is useful as an early warning. Writes zeros if there was no call yet.
///
/// Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR; UNSTUCK_NOT_FULL if the detector's window is not a full one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_nearest(
    detector: *mut unstuck_t,
    nearness: *mut unstuck_nearness_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    let opened = unsafe {
        storage::find_full(detector).and_then(|handle| Ok((handle, Output::new(nearness)?)))
    };
    status::of(opened.map(|(handle, output)| output.put(handle.detector.nearest().into())))
}
