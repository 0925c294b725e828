//! What the host knows that no call says, and what it asks of a detector.

use unstuck_core::LoopId;

use crate::memory::{self, Place};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage::{self, unstuck_t};
use crate::verdict::{VerdictBits, unstuck_statistics_t, unstuck_verdict_t};

/// Forgets all calls, turns, scores and loops: a new run begins. Sequence numbers go on, and user
/// messages, feedback and statistics stay. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_clear(detector: *mut unstuck_t) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { storage::find(detector) }.map(|found| found.watch.clear()))
}

/// The host knows that something moved, whatever the answers say: the oldest call that waits, or else
/// the next one, is progress. Say so before the outcome of the call that moved it. Errors:
/// UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_progress(detector: *mut unstuck_t) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { storage::find(detector) }.map(|found| found.watch.progress()))
}

/// The finding of verdict was wrong: its rule asks for one repetition more of that tool, and the same
/// kind of finding is not made of that loop again.
///
/// verdict: one of this detector, made since it was initialised or restored. Errors: UNSTUCK_NULL,
/// UNSTUCK_NO_DETECTOR, UNSTUCK_NO_FINDING; UNSTUCK_VALUE if a field holds what no verdict does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_false_positive(
    detector: *mut unstuck_t,
    verdict: *const unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    let opened = unsafe {
        storage::find(detector)
            .and_then(|found| Ok((found, memory::read(verdict.cast::<VerdictBits>())?)))
    };
    status::of(opened.and_then(|(found, verdict)| {
        let seed = found.seed.ok_or(Status::UNSTUCK_NO_FINDING)?;
        found.watch.false_positive(&verdict.finding(seed, &found.policy.policy)?);
        Ok(())
    }))
}

/// The loop loop_id is none: it is not found again, as long as it is among the eight silenced last.
/// Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_silence(
    detector: *mut unstuck_t,
    loop_id: u64,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    let found = unsafe { storage::find(detector) };
    status::of(found.map(|found| found.watch.silence(LoopId::from_bits(loop_id))))
}

/// What the detector has seen and said since it was made. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_statistics(
    detector: *mut unstuck_t,
    statistics: *mut unstuck_statistics_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    let opened =
        unsafe { storage::find(detector).and_then(|found| Ok((found, Place::new(statistics)?))) };
    status::of(opened.map(|(found, statistics)| statistics.put(found.watch.statistics().into())))
}
