//! Any bytes from C give a status, and have no other effect.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use proptest::prelude::*;
use unstuck_c::control::{unstuck_clear, unstuck_false_positive};
use unstuck_c::detector::unstuck_init;
use unstuck_c::events::{unstuck_announce, unstuck_outcome};
use unstuck_c::nudge::unstuck_nudge;
use unstuck_c::policy::unstuck_balanced;
use unstuck_c::status::unstuck_status_t as Status;
use unstuck_c::storage::unstuck_t;
use unstuck_c::verdict::{
    unstuck_announced_t, unstuck_call_id_t, unstuck_call_t, unstuck_outcome_t, unstuck_verdict_t,
};
use unstuck_c::window::{UNSTUCK_SIZE_20, unstuck_window_20, unstuck_window_t};

/// Storage as a program declares it.
#[repr(align(8))]
struct Storage([u8; UNSTUCK_SIZE_20]);

/// A value of integers that are all zero.
fn zeros<T>() -> T {
    // SAFETY: the types here are made of integers, and of enumerations that have a zero.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

fn initialised(storage: &mut Storage) -> *mut unstuck_t {
    let mut detector = null_mut();
    let place: *mut c_void = storage.0.as_mut_ptr().cast();
    let (window, policy) = (unstuck_window_20(), unstuck_balanced());
    // SAFETY: the storage, the window and the policy exist.
    let status = unsafe { unstuck_init(place, UNSTUCK_SIZE_20, window, policy, &raw mut detector) };
    assert_eq!(status, Status::UNSTUCK_OK);
    detector
}

/// Makes three equal calls with equal results. Returns the verdict on the last.
fn verdict_on_loop(detector: *mut unstuck_t) -> unstuck_verdict_t {
    let (call, outcome) = (zeros::<unstuck_call_t>(), zeros::<unstuck_outcome_t>());
    let mut announced: unstuck_announced_t = zeros();
    let mut verdict: unstuck_verdict_t = zeros();
    for _ in 0..3 {
        // SAFETY: all pointers are to existing values.
        let (asked, reported) = unsafe {
            let asked = unstuck_announce(detector, &raw const call, &raw mut announced);
            let (id, outcome) = (&raw const announced.call, &raw const outcome);
            (asked, unstuck_outcome(detector, id, outcome, &raw mut verdict))
        };
        assert_eq!((asked, reported), (Status::UNSTUCK_OK, Status::UNSTUCK_OK));
    }
    assert_eq!(verdict.has_finding, 1);
    verdict
}

proptest! {
    #[test]
    fn no_bytes_pass_for_a_detector(byte in any::<u8>(), at in 0..UNSTUCK_SIZE_20, bit in 0..8) {
        let mut storage = Storage([byte; UNSTUCK_SIZE_20]);
        storage.0[at] ^= 1_u8 << bit;
        let detector: *mut unstuck_t = storage.0.as_mut_ptr().cast();
        // SAFETY: the bytes exist. The test is that they are not a detector.
        prop_assert_eq!(unsafe { unstuck_clear(detector) }, Status::UNSTUCK_NO_DETECTOR);
    }

    #[test]
    fn no_bytes_pass_for_a_window(bytes in any::<[u8; 128]>()) {
        let room = bytes.map(u64::from);
        let window: *const unstuck_window_t = room.as_ptr().cast();
        let (mut storage, mut detector) = (Storage([0; UNSTUCK_SIZE_20]), null_mut());
        let place: *mut c_void = storage.0.as_mut_ptr().cast();
        let policy = unstuck_balanced();
        // SAFETY: the bytes exist. The test is that they are not a window.
        let status =
            unsafe { unstuck_init(place, UNSTUCK_SIZE_20, window, policy, &raw mut detector) };
        prop_assert_eq!(status, Status::UNSTUCK_NO_WINDOW);
    }

    #[test]
    fn a_verdict_of_any_bytes_is_taken_or_refused(bytes in any::<[u8; 32]>(), at in 0..40_usize) {
        let mut storage = Storage([0; UNSTUCK_SIZE_20]);
        let detector = initialised(&mut storage);
        let verdict = verdict_on_loop(detector);
        // C may pass a verdict whose enumerations have any values.
        let mut room = [0_u8; size_of::<unstuck_verdict_t>()];
        let mut buffer = [0_u8; 64];
        // SAFETY: both are long enough, and the functions need no alignment.
        let (length, status) = unsafe {
            room.as_mut_ptr().cast::<unstuck_verdict_t>().write_unaligned(verdict);
            for (place, byte) in room.iter_mut().skip(at).zip(bytes) {
                *place = byte;
            }
            let (verdict, text) = (room.as_ptr().cast(), buffer.as_mut_ptr().cast::<c_char>());
            let length = unstuck_nudge(detector, verdict, c"t".as_ptr(), text, buffer.len());
            (length, unstuck_false_positive(detector, verdict))
        };
        let known = [Status::UNSTUCK_OK, Status::UNSTUCK_VALUE, Status::UNSTUCK_NO_FINDING];
        prop_assert!(known.contains(&status));
        prop_assert!(buffer.contains(&0));
        prop_assert!(length > 0 || status != Status::UNSTUCK_OK || room[0] > 5);
    }

    #[test]
    fn a_call_id_of_any_bytes_is_known_or_refused(bytes in any::<[u8; 16]>()) {
        let mut storage = Storage([0; UNSTUCK_SIZE_20]);
        let detector = initialised(&mut storage);
        let (id, outcome) = (unstuck_call_id_t { bytes }, zeros::<unstuck_outcome_t>());
        let mut verdict: unstuck_verdict_t = zeros();
        // SAFETY: all pointers are to existing values.
        let status = unsafe {
            unstuck_outcome(detector, &raw const id, &raw const outcome, &raw mut verdict)
        };
        prop_assert!([Status::UNSTUCK_OK, Status::UNSTUCK_NO_CALL].contains(&status));
        prop_assert_eq!(verdict.has_finding, 0);
    }
}
