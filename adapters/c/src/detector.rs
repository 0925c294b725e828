//! Detectors of three windows: how large they are, and how they begin.

use core::ffi::c_void;

use unstuck_core::{Detector, OPEN_MAX};

use crate::memory::Place;
use crate::policy::{self, unstuck_policy_t};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage::{self, Slot, unstuck_t};

/// What every storage is aligned to, in bytes.
pub const UNSTUCK_ALIGN: usize = 8;

/// How many bytes a detector takes that holds the latest 8 calls.
pub const UNSTUCK_SIZE_8: usize = 1328;

/// How many bytes a detector takes that holds the latest 20 calls.
pub const UNSTUCK_SIZE_20: usize = 1648;

/// How many bytes a detector takes that holds the latest 64 calls.
pub const UNSTUCK_SIZE_64: usize = 2848;

/// How many calls may wait for their outcomes at once. Of more, the oldest is given up.
pub const UNSTUCK_OPEN_MAX: usize = 8;

const _: () = assert!(UNSTUCK_OPEN_MAX == OPEN_MAX);
const _: () = assert!(enough::<8>(UNSTUCK_SIZE_8));
const _: () = assert!(enough::<20>(UNSTUCK_SIZE_20));
const _: () = assert!(enough::<64>(UNSTUCK_SIZE_64));

/// Whether a detector of window `W` fits into so many bytes, where it is aligned as the header says.
const fn enough<const W: usize>(bytes: usize) -> bool {
    size_of::<Slot<W>>() <= bytes && align_of::<Slot<W>>() <= UNSTUCK_ALIGN
}

/// How many bytes a detector of a window of 8 takes in this build: UNSTUCK_SIZE_8 at most.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_sizeof_8() -> usize {
    size_of::<Slot<8>>()
}

/// How many bytes a detector of a window of 20 takes in this build: UNSTUCK_SIZE_20 at most.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_sizeof_20() -> usize {
    size_of::<Slot<20>>()
}

/// How many bytes a detector of a window of 64 takes in this build: UNSTUCK_SIZE_64 at most.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_sizeof_64() -> usize {
    size_of::<Slot<64>>()
}

/// What a detector is aligned to in this build, in bytes: UNSTUCK_ALIGN at most.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_alignof() -> usize {
    align_of::<Slot<64>>()
}

/// Puts a new detector into storage, that holds the latest 8 calls. The presets look back further:
/// this is for policies of your own.
///
/// As unstuck_init_20(), with UNSTUCK_SIZE_8 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_init_8(
    storage: *mut c_void,
    size: usize,
    policy: *const unstuck_policy_t,
    detector: *mut *mut unstuck_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { init::<8>(storage, size, policy, detector) })
}

/// Puts a new detector into storage, that holds the latest 20 calls: enough for every preset.
///
/// storage: size bytes, of which UNSTUCK_SIZE_20 are enough, aligned to UNSTUCK_ALIGN. It belongs to
/// the detector from now on and must not be moved; there is nothing to free, and what it held before
/// does not matter. policy: must stay as it is for as long. detector: receives the address of the
/// detector, which is that of storage. Takes the size of the detector on the stack.
///
/// Errors: UNSTUCK_NULL, UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED, UNSTUCK_NO_POLICY;
/// UNSTUCK_WINDOW if the policy looks back further.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_init_20(
    storage: *mut c_void,
    size: usize,
    policy: *const unstuck_policy_t,
    detector: *mut *mut unstuck_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { init::<20>(storage, size, policy, detector) })
}

/// Puts a new detector into storage, that holds the latest 64 calls: for policies of your own.
///
/// As unstuck_init_20(), with UNSTUCK_SIZE_64 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_init_64(
    storage: *mut c_void,
    size: usize,
    policy: *const unstuck_policy_t,
    detector: *mut *mut unstuck_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    status::of(unsafe { init::<64>(storage, size, policy, detector) })
}

/// # Safety
///
/// As for [`unstuck_init_20`].
unsafe fn init<const W: usize>(
    storage: *mut c_void,
    size: usize,
    policy: *const unstuck_policy_t,
    detector: *mut *mut unstuck_t,
) -> Result<(), Status> {
    // SAFETY: the caller says so.
    unsafe {
        let detector = Place::new(detector)?;
        detector.put(storage::put::<W>(storage, size, policy, |policy| {
            Detector::new(&policy.policy).map_err(policy::flaw)
        })?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As far as the sizes are for pointers of 64 bits; with narrower ones everything takes less.
    #[test]
    fn the_header_gives_away_no_memory() {
        let own = crate::policy::SIZE;
        for (name, told, real) in [
            ("UNSTUCK_POLICY_HEAD", crate::policy::UNSTUCK_POLICY_HEAD, own),
            ("UNSTUCK_GROUPS_SIZE", crate::raw::UNSTUCK_GROUPS_SIZE, crate::raw::SIZE),
            ("UNSTUCK_SIZE_8", UNSTUCK_SIZE_8, unstuck_sizeof_8()),
            ("UNSTUCK_SIZE_20", UNSTUCK_SIZE_20, unstuck_sizeof_20()),
            ("UNSTUCK_SIZE_64", UNSTUCK_SIZE_64, unstuck_sizeof_64()),
        ] {
            let right = real.next_multiple_of(16);
            assert_eq!(told, right, "{name} is to be {right}: write it beside what it is of");
        }
    }
}
