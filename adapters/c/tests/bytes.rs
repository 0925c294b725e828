//! Whatever bytes come from C, there is a status, and nothing else happens.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use proptest::prelude::*;
use unstuck_c::control::{unstuck_clear, unstuck_false_positive};
use unstuck_c::detector::{UNSTUCK_SIZE_20, unstuck_init_20};
use unstuck_c::events::{unstuck_announce, unstuck_outcome};
use unstuck_c::policy::unstuck_balanced;
use unstuck_c::said::unstuck_nudge;
use unstuck_c::status::unstuck_status_t as Status;
use unstuck_c::storage::unstuck_t;
use unstuck_c::verdict::{
    unstuck_announced_t, unstuck_call_id_t, unstuck_call_t, unstuck_outcome_t, unstuck_verdict_t,
};

/// Storage as a program declares it.
#[repr(align(8))]
struct Storage([u8; UNSTUCK_SIZE_20]);

/// A value of integers that are all zero.
fn zeros<T>() -> T {
    // SAFETY: what it is used for is made of integers, and of enumerations that have a zero.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

fn begun(storage: &mut Storage) -> *mut unstuck_t {
    let mut detector = null_mut();
    let place: *mut c_void = storage.0.as_mut_ptr().cast();
    // SAFETY: all of it is there.
    let status =
        unsafe { unstuck_init_20(place, UNSTUCK_SIZE_20, unstuck_balanced(), &raw mut detector) };
    assert_eq!(status, Status::UNSTUCK_OK);
    detector
}

/// Three equal calls with equal results, and the verdict on the last.
fn found(detector: *mut unstuck_t) -> unstuck_verdict_t {
    let (call, outcome) = (zeros::<unstuck_call_t>(), zeros::<unstuck_outcome_t>());
    let mut announced: unstuck_announced_t = zeros();
    let mut verdict: unstuck_verdict_t = zeros();
    for _ in 0..3 {
        // SAFETY: all of it is there.
        let (asked, told) = unsafe {
            let asked = unstuck_announce(detector, &raw const call, &raw mut announced);
            let (id, outcome) = (&raw const announced.call, &raw const outcome);
            (asked, unstuck_outcome(detector, id, outcome, &raw mut verdict))
        };
        assert_eq!((asked, told), (Status::UNSTUCK_OK, Status::UNSTUCK_OK));
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
        // SAFETY: the bytes are there; that they are no detector is what is tried.
        prop_assert_eq!(unsafe { unstuck_clear(detector) }, Status::UNSTUCK_NO_DETECTOR);
    }

    #[test]
    fn a_verdict_of_any_bytes_is_taken_or_refused(bytes in any::<[u8; 32]>(), at in 0..40_usize) {
        let mut storage = Storage([0; UNSTUCK_SIZE_20]);
        let detector = begun(&mut storage);
        let verdict = found(detector);
        // In the place of a verdict, as C may: there is no telling what its enumerations hold.
        let mut room = [0_u8; size_of::<unstuck_verdict_t>()];
        let mut buffer = [0_u8; 64];
        // SAFETY: both are so long; the functions ask for no alignment.
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
    fn a_call_of_any_name_is_known_or_refused(bytes in any::<[u8; 16]>()) {
        let mut storage = Storage([0; UNSTUCK_SIZE_20]);
        let detector = begun(&mut storage);
        let (id, outcome) = (unstuck_call_id_t { bytes }, zeros::<unstuck_outcome_t>());
        let mut verdict: unstuck_verdict_t = zeros();
        // SAFETY: all of it is there.
        let status = unsafe {
            unstuck_outcome(detector, &raw const id, &raw const outcome, &raw mut verdict)
        };
        prop_assert!([Status::UNSTUCK_OK, Status::UNSTUCK_NO_CALL].contains(&status));
        prop_assert_eq!(verdict.has_finding, 0);
    }
}
