//! Detectors as bytes, to continue after a reset.

use core::ffi::{c_char, c_void};

use unstuck_core::Detector;

use crate::memory::{self, Output};
use crate::policy::unstuck_policy_t;
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage::{self, unstuck_t};
use crate::window::{self, unstuck_window_t};

/// The largest size in bytes of a checkpoint of a detector that holds 8 calls.
pub const UNSTUCK_CHECKPOINT_8: usize = 1694;

/// The largest size in bytes of a checkpoint of a detector that holds 20 calls.
pub const UNSTUCK_CHECKPOINT_20: usize = 2270;

/// The largest size in bytes of a checkpoint of a detector that holds 64 calls.
pub const UNSTUCK_CHECKPOINT_64: usize = 4382;

const _: () = assert!(UNSTUCK_CHECKPOINT_8 == Detector::<8>::CHECKPOINT_MAX);
const _: () = assert!(UNSTUCK_CHECKPOINT_20 == Detector::<20>::CHECKPOINT_MAX);
const _: () = assert!(UNSTUCK_CHECKPOINT_64 == Detector::<64>::CHECKPOINT_MAX);

/// Writes the whole state of a detector except its policy into a buffer of size bytes, for
/// unstuck_restore() after a reset.
///
/// length: receives the number of bytes that were written, for example at most UNSTUCK_CHECKPOINT_20 for a
/// window of 20. Takes some KiB of stack. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR, UNSTUCK_BUFFER_SHORT;
/// UNSTUCK_NOT_FULL if the detector's window is not a full one. After an error the buffer may hold
/// anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_save(
    detector: *mut unstuck_t,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    status::of(unsafe { save(detector, buffer, size, length) })
}

/// Puts the detector into storage that unstuck_save() wrote, to continue as if nothing had happened.
/// Storage, policy and detector are the same as for unstuck_init(). The window is a full one, of
/// the same or another number of calls.
///
/// checkpoint: length bytes; any bytes may be given. Ids of calls from before the save stay valid, and
/// verdicts do not. Takes some KiB of stack. Errors: the errors of unstuck_init(), UNSTUCK_NOT_FULL,
/// UNSTUCK_CHECKPOINT_DAMAGED, UNSTUCK_CHECKPOINT_VERSION, UNSTUCK_CHECKPOINT_POLICY. After an error the
/// storage is unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_restore(
    storage: *mut c_void,
    size: usize,
    window: *const unstuck_window_t,
    policy: *const unstuck_policy_t,
    checkpoint: *const c_char,
    length: usize,
    detector: *mut *mut unstuck_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    status::of(unsafe { restore(storage, size, window, policy, checkpoint, length, detector) })
}

/// # Safety
///
/// As for [`unstuck_save`].
unsafe fn save(
    detector: *mut unstuck_t,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> Result<(), Status> {
    // SAFETY: the caller guarantees it.
    let (inspected, buffer, length) = unsafe {
        (storage::find_full(detector)?, memory::room(buffer, size)?, Output::new(length)?)
    };
    length.put(inspected.detector.save(buffer)?);
    Ok(())
}

/// # Safety
///
/// As for [`unstuck_restore`].
unsafe fn restore(
    storage: *mut c_void,
    size: usize,
    window: *const unstuck_window_t,
    policy: *const unstuck_policy_t,
    checkpoint: *const c_char,
    length: usize,
    detector: *mut *mut unstuck_t,
) -> Result<(), Status> {
    // SAFETY: the caller guarantees it.
    unsafe {
        let (window, detector) = (window::at(window)?, Output::new(detector)?);
        let bytes = memory::bytes(checkpoint, length)?;
        let full = window.full.ok_or(Status::UNSTUCK_NOT_FULL)?;
        (full.restore)(window, storage, size, policy, bytes)?;
        detector.put(storage.cast());
    }
    Ok(())
}
