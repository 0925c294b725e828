//! Detectors in storage of the caller.

use core::ffi::c_void;

use crate::memory::Output;
use crate::policy::unstuck_policy_t;
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage::unstuck_t;
use crate::window::{self, unstuck_window_t};

/// Puts a new detector into storage.
///
/// storage: size bytes, aligned to UNSTUCK_ALIGN, for example UNSTUCK_SIZE_20 bytes for
/// unstuck_window_20(). It belongs to the detector from now on and must not be moved. There is nothing to
/// free, and the old contents do not matter. window: the number of calls that the detector holds. policy:
/// must not change while the detector is in use. detector: receives the address of the detector, which is
/// the address of storage. Takes the size of the detector on the stack.
///
/// Errors: UNSTUCK_NULL, UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED, UNSTUCK_NO_WINDOW,
/// UNSTUCK_NO_POLICY; UNSTUCK_WINDOW if the policy looks back further than the window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_init(
    storage: *mut c_void,
    size: usize,
    window: *const unstuck_window_t,
    policy: *const unstuck_policy_t,
    detector: *mut *mut unstuck_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    status::of(unsafe { init(storage, size, window, policy, detector) })
}

/// # Safety
///
/// As for [`unstuck_init`].
unsafe fn init(
    storage: *mut c_void,
    size: usize,
    window: *const unstuck_window_t,
    policy: *const unstuck_policy_t,
    detector: *mut *mut unstuck_t,
) -> Result<(), Status> {
    // SAFETY: the caller guarantees it.
    unsafe {
        let (window, detector) = (window::at(window)?, Output::new(detector)?);
        (window.init)(window, storage, size, policy)?;
        detector.put(storage.cast());
    }
    Ok(())
}
