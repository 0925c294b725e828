//! Digests of names, JSON and texts, for those who announce calls by digests.

use core::ffi::c_char;

use unstuck_core::{Digest, Tool};
use unstuck_json::fingerprint;
use unstuck_text::{Masks, is_silent};

use crate::memory::{self, Place};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};

/// The tool called name, which is UTF-8 and ends with a NUL: 32 bits of a hash. Two of ten tools share
/// one with a probability of one in a hundred million; numbers of your own are as good. 0 for NULL and
/// for what is not UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_tool(name: *const c_char) -> u32 {
    // SAFETY: as the header asks of every pointer.
    unsafe { memory::text(name) }.map_or(0, |name| Tool::named(name).id())
}

/// The digest of length bytes, by 64-bit FNV-1a and an avalanche: equal bytes have equal digests. Who
/// chooses the bytes can make two collide. That of no bytes for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_digest(bytes: *const c_char, length: usize) -> u64 {
    // SAFETY: as the header asks of every pointer.
    Digest::of(unsafe { memory::bytes(bytes, length) }.unwrap_or_default()).bits()
}

/// The digest of two digests, in this order.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_mix(first: u64, second: u64) -> u64 {
    Digest::new(first).mix(Digest::new(second)).bits()
}

/// The fingerprint of one JSON value of length bytes: one meaning, one digest, whatever the order of
/// members, the white space and the spelling of numbers and strings.
///
/// Takes some 2 KiB of stack. Errors: UNSTUCK_NULL; UNSTUCK_NOT_JSON, also for what is not UTF-8 or
/// nests beyond 128 levels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_json_fingerprint(
    json: *const c_char,
    length: usize,
    digest: *mut u64,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    let given =
        unsafe { memory::bytes(json, length).and_then(|json| Ok((json, Place::new(digest)?))) };
    status::of(given.and_then(|(json, digest)| {
        digest.put(fingerprint(json).map_err(|_| Status::UNSTUCK_NOT_JSON)?.bits());
        Ok(())
    }))
}

/// The digests of a result of length bytes, for unstuck_outcome_t: result without what is volatile
/// (clock times, durations, ids, addresses, temporary paths, colours), near_result without any number.
///
/// Any bytes may be given. Errors: UNSTUCK_NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_text_digest(
    text: *const c_char,
    length: usize,
    result: *mut u64,
    near_result: *mut u64,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    let given = unsafe {
        memory::bytes(text, length)
            .and_then(|text| Ok((text, Place::new(result)?, Place::new(near_result)?)))
    };
    status::of(given.map(|(text, result, near)| {
        let masked = Masks::ALL.digest(text);
        result.put(masked.result.bits());
        near.put(masked.near.bits());
    }))
}

/// 1 if a result of length bytes says nothing but that the call came back ("", "ok", "{}"), for
/// unstuck_outcome_t, else 0; also for NULL with a length, and for what is not UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_text_is_silent(text: *const c_char, length: usize) -> u8 {
    // SAFETY: as the header asks of every pointer.
    let text = unsafe { memory::bytes(text, length) }.ok();
    let text = text.and_then(|text| core::str::from_utf8(text).ok());
    text.is_some_and(is_silent).into()
}
