//! Detectors as bytes, and back: one pair of functions for each window, so that a program is linked
//! with what it names.

use core::ffi::{c_char, c_void};

use unstuck_core::Detector;

use crate::memory::{self, Place};
use crate::policy::unstuck_policy_t;
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage::{self, unstuck_t};

/// How many bytes are enough for every checkpoint of a detector of a window of 8.
pub const UNSTUCK_CHECKPOINT_8: usize = 1668;

/// How many bytes are enough for every checkpoint of a detector of a window of 20.
pub const UNSTUCK_CHECKPOINT_20: usize = 2244;

/// How many bytes are enough for every checkpoint of a detector of a window of 64.
pub const UNSTUCK_CHECKPOINT_64: usize = 4356;

const _: () = assert!(UNSTUCK_CHECKPOINT_8 == Detector::<8>::CHECKPOINT_MAX);
const _: () = assert!(UNSTUCK_CHECKPOINT_20 == Detector::<20>::CHECKPOINT_MAX);
const _: () = assert!(UNSTUCK_CHECKPOINT_64 == Detector::<64>::CHECKPOINT_MAX);

/// Writes everything that a detector of a window of 20 knows, but for the policy, into a buffer of
/// size bytes: to go on from after a reset.
///
/// length: receives how many were written; UNSTUCK_CHECKPOINT_20 are always enough. Takes some KiB of
/// stack. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR, UNSTUCK_BUFFER_SHORT; UNSTUCK_WINDOW if the
/// detector is of another window. Where there is an error the buffer may hold anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_save_20(
    detector: *mut unstuck_t,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { save::<20>(detector, buffer, size, length) })
}

/// Puts the detector into storage that unstuck_save_20() wrote, to go on as if nothing had happened.
/// Storage, policy and detector are as for unstuck_init_20().
///
/// checkpoint: length bytes; any may be given. Names of calls that were given before it was written
/// stay good, and verdicts do not. Takes some KiB of stack. Errors: those of unstuck_init_20(), and
/// UNSTUCK_CHECKPOINT_DAMAGED, UNSTUCK_CHECKPOINT_VERSION, UNSTUCK_CHECKPOINT_POLICY; then the storage
/// is as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_restore_20(
    storage: *mut c_void,
    size: usize,
    policy: *const unstuck_policy_t,
    checkpoint: *const c_char,
    length: usize,
    detector: *mut *mut unstuck_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { restore::<20>(storage, size, policy, checkpoint, length, detector) })
}

/// Writes everything that a detector of a window of 8 knows, but for the policy, into a buffer of
/// size bytes: to go on from after a reset. As unstuck_save_20().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_save_8(
    detector: *mut unstuck_t,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { save::<8>(detector, buffer, size, length) })
}

/// Puts the detector into storage that unstuck_save_8() wrote, to go on as if nothing had happened.
/// As unstuck_restore_20().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_restore_8(
    storage: *mut c_void,
    size: usize,
    policy: *const unstuck_policy_t,
    checkpoint: *const c_char,
    length: usize,
    detector: *mut *mut unstuck_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { restore::<8>(storage, size, policy, checkpoint, length, detector) })
}

/// Writes everything that a detector of a window of 64 knows, but for the policy, into a buffer of
/// size bytes: to go on from after a reset. As unstuck_save_20().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_save_64(
    detector: *mut unstuck_t,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { save::<64>(detector, buffer, size, length) })
}

/// Puts the detector into storage that unstuck_save_64() wrote, to go on as if nothing had happened.
/// As unstuck_restore_20().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_restore_64(
    storage: *mut c_void,
    size: usize,
    policy: *const unstuck_policy_t,
    checkpoint: *const c_char,
    length: usize,
    detector: *mut *mut unstuck_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { restore::<64>(storage, size, policy, checkpoint, length, detector) })
}

/// # Safety
///
/// As for [`unstuck_save_20`].
unsafe fn save<const W: usize>(
    detector: *mut unstuck_t,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> Result<(), Status> {
    // SAFETY: the caller says so.
    let (found, buffer, length) = unsafe {
        (storage::find_of::<W>(detector)?, memory::room(buffer, size)?, Place::new(length)?)
    };
    length.put(found.detector.save(buffer)?.len());
    Ok(())
}

/// # Safety
///
/// As for [`unstuck_restore_20`].
unsafe fn restore<const W: usize>(
    storage: *mut c_void,
    size: usize,
    policy: *const unstuck_policy_t,
    checkpoint: *const c_char,
    length: usize,
    detector: *mut *mut unstuck_t,
) -> Result<(), Status> {
    // SAFETY: the caller says so.
    unsafe {
        let (detector, bytes) = (Place::new(detector)?, memory::bytes(checkpoint, length)?);
        detector.put(storage::put::<W>(storage, size, policy, |policy| {
            Ok(Detector::restore(&policy.policy, bytes)?)
        })?);
    }
    Ok(())
}
