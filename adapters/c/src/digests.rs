//! Digests of names, JSON and texts, for programs that announce calls as digests.

use core::ffi::c_char;

use unstuck_core::{Digest, Tool};
use unstuck_json::fingerprint;
use unstuck_text::{Masks, is_silent};

use crate::memory::{self, Output};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};

/// Returns a number for the tool with this UTF-8 name: 32 bits of a hash. With ten tools, two share a
/// number with a probability of one in a hundred million. Numbers of your own work as well. Returns 0 for
/// NULL and for a name that is not UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_tool(name: *const c_char) -> u32 {
    // SAFETY: the header requires it.
    unsafe { memory::text(name) }.map_or(0, |name| Tool::named(name).id())
}

/// Returns the digest of length bytes by 64-bit FNV-1a and an avalanche. Equal bytes have equal digests. An
/// attacker who chooses the bytes can make two digests collide. For NULL it returns the digest of no bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_digest(bytes: *const c_char, length: usize) -> u64 {
    // SAFETY: the header requires it.
    Digest::of(unsafe { memory::bytes(bytes, length) }.unwrap_or_default()).bits()
}

/// Returns the digest of two digests in this order.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_mix(first: u64, second: u64) -> u64 {
    Digest::new(first).mix(Digest::new(second)).bits()
}

/// Writes the fingerprint of one JSON value of length bytes to digest. It does not depend on the order of
/// members, white space, or the spelling of numbers and strings.
///
/// Takes about 2 KiB of stack. Errors: UNSTUCK_NULL; UNSTUCK_NOT_JSON, also for bytes that are not UTF-8 and
/// for more than 128 levels of nesting.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_json_fingerprint(
    json: *const c_char,
    length: usize,
    digest: *mut u64,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    let given =
        unsafe { memory::bytes(json, length).and_then(|json| Ok((json, Output::new(digest)?))) };
    status::of(given.and_then(|(json, digest)| {
        digest.put(fingerprint(json).map_err(|_| Status::UNSTUCK_NOT_JSON)?.bits());
        Ok(())
    }))
}

/// Writes the digests of a result of length bytes, for unstuck_outcome_t. result leaves out volatile text
/// (clock times, durations, ids, addresses, temporary paths, colours), and near_result also all numbers.
///
/// Any bytes may be given. Errors: UNSTUCK_NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_text_digest(
    text: *const c_char,
    length: usize,
    result: *mut u64,
    near_result: *mut u64,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    let given = unsafe {
        memory::bytes(text, length)
            .and_then(|text| Ok((text, Output::new(result)?, Output::new(near_result)?)))
    };
    status::of(given.map(|(text, result, near)| {
        let masked = Masks::ALL.digest(text);
        result.put(masked.result.bits());
        near.put(masked.near.bits());
    }))
}

/// Returns 1 if a result of length bytes only says that the call returned ("", "ok", "{}"), for
/// unstuck_outcome_t. Otherwise returns 0, also for NULL with a length and for bytes that are not UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_text_is_silent(text: *const c_char, length: usize) -> u8 {
    // SAFETY: the header requires it.
    let text = unsafe { memory::bytes(text, length) }.ok();
    let text = text.and_then(|text| core::str::from_utf8(text).ok());
    text.is_some_and(is_silent).into()
}
