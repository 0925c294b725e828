//! Windows: the code for detectors that hold 8, 20 or 64 calls.
//!
//! Each window is returned by a function of its own, so a program is linked only with the windows that it
//! names.

use core::ffi::c_void;

use unstuck_core::{Detector, OPEN_MAX};

use crate::policy::{self, unstuck_policy_t};
use crate::status::unstuck_status_t as Status;
use crate::storage::{self, Events, Head, Inspect, Slot};

/// The number of calls that a detector holds, with the code for it. A full window also has the code for
/// unstuck_peek(), unstuck_nearest(), unstuck_save() and unstuck_restore(), about 22 KB on a Cortex-M3.
#[derive(Debug)]
pub struct unstuck_window_t {
    magic: usize,
    /// The size of a detector in bytes.
    pub(crate) size: usize,
    pub(crate) init: Init,
    pub(crate) events: unsafe fn(*mut Head) -> *mut dyn Events,
    pub(crate) full: Option<Full>,
}

/// Puts a new detector into storage.
type Init = unsafe fn(
    &'static unstuck_window_t,
    *mut c_void,
    usize,
    *const unstuck_policy_t,
) -> Result<(), Status>;

/// Puts the detector of a checkpoint into storage.
type Restore = unsafe fn(
    &'static unstuck_window_t,
    *mut c_void,
    usize,
    *const unstuck_policy_t,
    &[u8],
) -> Result<(), Status>;

/// The additional code of a full window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full {
    pub(crate) inspect: unsafe fn(*mut Head) -> *mut dyn Inspect,
    pub(crate) restore: Restore,
}

/// The alignment of every storage, in bytes.
pub const UNSTUCK_ALIGN: usize = 8;

/// The size in bytes of a detector that holds the latest 8 calls.
pub const UNSTUCK_SIZE_8: usize = 1152;

/// The size in bytes of a detector that holds the latest 20 calls.
pub const UNSTUCK_SIZE_20: usize = 1520;

/// The size in bytes of a detector that holds the latest 64 calls.
pub const UNSTUCK_SIZE_64: usize = 2832;

/// The number of calls that may wait for their outcomes. If there are more, the oldest is given up.
pub const UNSTUCK_OPEN_MAX: usize = 8;

const _: () = assert!(UNSTUCK_OPEN_MAX == OPEN_MAX);
const _: () = assert!(enough::<8>(UNSTUCK_SIZE_8));
const _: () = assert!(enough::<20>(UNSTUCK_SIZE_20));
const _: () = assert!(enough::<64>(UNSTUCK_SIZE_64));

/// Returns whether a detector of window `W` fits into `bytes` bytes with the alignment of the header.
const fn enough<const W: usize>(bytes: usize) -> bool {
    size_of::<Slot<W>>() <= bytes && align_of::<Slot<W>>() <= UNSTUCK_ALIGN
}

/// Marks a window of this library.
const MAGIC: usize = 0x7573_6b77;

impl unstuck_window_t {
    const fn of<const W: usize>() -> Self {
        Self {
            magic: MAGIC,
            size: size_of::<Slot<W>>(),
            init: init::<W>,
            events: storage::events::<W>,
            full: None,
        }
    }

    const fn full_of<const W: usize>() -> Self {
        let full = Full { inspect: storage::inspect::<W>, restore: restore::<W> };
        Self { full: Some(full), ..Self::of::<W>() }
    }
}

/// # Safety
///
/// As for [`storage::put`].
unsafe fn init<const W: usize>(
    window: &'static unstuck_window_t,
    storage: *mut c_void,
    size: usize,
    policy: *const unstuck_policy_t,
) -> Result<(), Status> {
    // SAFETY: the caller guarantees it.
    unsafe {
        storage::put::<W>(window, storage, size, policy, |policy| {
            Detector::new(&policy.policy).map_err(policy::status)
        })
    }
}

/// # Safety
///
/// As for [`storage::put`].
unsafe fn restore<const W: usize>(
    window: &'static unstuck_window_t,
    storage: *mut c_void,
    size: usize,
    policy: *const unstuck_policy_t,
    checkpoint: &[u8],
) -> Result<(), Status> {
    // SAFETY: the caller guarantees it.
    unsafe {
        storage::put::<W>(window, storage, size, policy, |policy| {
            Ok(Detector::restore(&policy.policy, checkpoint)?)
        })
    }
}

/// Returns the window at `window`.
///
/// # Safety
///
/// `window` is NULL, or points at as many bytes as a window has, which C may read and which do not change.
pub(crate) unsafe fn at(
    window: *const unstuck_window_t,
) -> Result<&'static unstuck_window_t, Status> {
    if window.is_null() {
        return Err(Status::UNSTUCK_NULL);
    }
    // SAFETY: any bytes are a number, and the pointer is aligned.
    if !window.is_aligned() || unsafe { (&raw const (*window).magic).read() } != MAGIC {
        return Err(Status::UNSTUCK_NO_WINDOW);
    }
    // SAFETY: the number marks a window.
    Ok(unsafe { &*window })
}

static WINDOW_8: unstuck_window_t = unstuck_window_t::of::<8>();
static WINDOW_20: unstuck_window_t = unstuck_window_t::of::<20>();
static WINDOW_64: unstuck_window_t = unstuck_window_t::of::<64>();
static FULL_8: unstuck_window_t = unstuck_window_t::full_of::<8>();
static FULL_20: unstuck_window_t = unstuck_window_t::full_of::<20>();
static FULL_64: unstuck_window_t = unstuck_window_t::full_of::<64>();

/// Returns the window of the latest 8 calls. It is too short for the presets, and is meant for policies of
/// your own.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_window_8() -> *const unstuck_window_t {
    &raw const WINDOW_8
}

/// Returns the window of the latest 20 calls. It is long enough for every preset.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_window_20() -> *const unstuck_window_t {
    &raw const WINDOW_20
}

/// Returns the window of the latest 64 calls, for policies of your own.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_window_64() -> *const unstuck_window_t {
    &raw const WINDOW_64
}

/// Returns the full window of the latest 8 calls.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_full_window_8() -> *const unstuck_window_t {
    &raw const FULL_8
}

/// Returns the full window of the latest 20 calls.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_full_window_20() -> *const unstuck_window_t {
    &raw const FULL_20
}

/// Returns the full window of the latest 64 calls.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_full_window_64() -> *const unstuck_window_t {
    &raw const FULL_64
}

/// Returns the size in bytes of a detector of this window in this build, for example at most
/// UNSTUCK_SIZE_20 for unstuck_window_20(). Returns 0 for a pointer that is not a window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_sizeof(window: *const unstuck_window_t) -> usize {
    // SAFETY: the header requires it.
    unsafe { at(window) }.map_or(0, |window| window.size)
}

/// Returns the alignment of a detector in this build, in bytes. It is at most UNSTUCK_ALIGN.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_alignof() -> usize {
    align_of::<Slot<64>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The constants are exact for pointers of 64 bits. With narrower pointers everything takes less.
    #[test]
    fn the_header_wastes_no_memory() {
        let own = crate::policy::SIZE;
        for (name, constant, size) in [
            ("UNSTUCK_POLICY_HEAD", crate::policy::UNSTUCK_POLICY_HEAD, own),
            ("UNSTUCK_SIMILAR_SIZE", crate::raw::UNSTUCK_SIMILAR_SIZE, crate::raw::SIZE),
            ("UNSTUCK_SIZE_8", UNSTUCK_SIZE_8, WINDOW_8.size),
            ("UNSTUCK_SIZE_20", UNSTUCK_SIZE_20, FULL_20.size),
            ("UNSTUCK_SIZE_64", UNSTUCK_SIZE_64, FULL_64.size),
        ] {
            let right = size.next_multiple_of(16);
            assert_eq!(constant, right, "set {name} to {right}");
        }
    }
}
