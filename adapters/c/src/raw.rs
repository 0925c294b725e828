//! Calls, outcomes, turns and messages as a host has them: names, JSON and texts.
//!
//! The recipe of the detector's policy makes the digests.

use core::ffi::{c_char, c_void};
use core::str;

use unstuck_core::{Call, Digest, Outcome, Tool, Turn};
use unstuck_text::{Recipe, SimilarCalls};

use crate::events::{announced_by, judged};
use crate::memory::{self, Output};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage::{self, unstuck_t};
use crate::verdict::{unstuck_announced_t, unstuck_call_id_t, unstuck_verdict_t};

/// The groups of similar calls of one worker's run, in storage of the caller.
#[derive(Debug)]
pub struct unstuck_similar_t {
    stamp: usize,
    calls: SimilarCalls,
}

/// The size in bytes of the storage for similar calls.
pub const UNSTUCK_SIMILAR_SIZE: usize = 2320;

/// The same size in this build.
pub(crate) const SIZE: usize = size_of::<unstuck_similar_t>();

const _: () = assert!(SIZE <= UNSTUCK_SIMILAR_SIZE);
const _: () = assert!(align_of::<unstuck_similar_t>() <= crate::window::UNSTUCK_ALIGN);

/// Marks similar calls of this library, mixed with their address.
const MAGIC: usize = 0x7573_6b67;

/// Puts an empty set of similar calls into storage of size bytes, aligned to UNSTUCK_ALIGN.
/// UNSTUCK_SIMILAR_SIZE bytes are enough. Also empties an existing set, for example when a new run begins.
///
/// similar: receives the address of the set, which is the address of storage. Errors: UNSTUCK_NULL,
/// UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_similar_init(
    storage: *mut c_void,
    size: usize,
    similar: *mut *mut unstuck_similar_t,
) -> unstuck_status_t {
    let fits = storage::fits::<unstuck_similar_t>(storage, size);
    // SAFETY: the header requires it.
    let output = fits.and_then(|()| unsafe { Output::new(similar) });
    status::of(output.map(|output| {
        let place: *mut unstuck_similar_t = storage.cast();
        let empty = unstuck_similar_t { stamp: place.addr() ^ MAGIC, calls: SimilarCalls::new() };
        // SAFETY: it fits, and C lets us write there.
        unsafe { place.write(empty) };
        output.put(place);
    }))
}

/// Returns the similar calls at `place`, or `None` for NULL.
///
/// # Safety
///
/// `place` is NULL, or points at storage that C may read and write, and that no other code uses while the
/// result lives.
unsafe fn similar_at<'c>(
    place: *mut unstuck_similar_t,
) -> Result<Option<&'c mut SimilarCalls>, Status> {
    if place.is_null() {
        return Ok(None);
    }
    // SAFETY: any bytes are such a number.
    if !place.is_aligned() || unsafe { (&raw const (*place).stamp).read() } != place.addr() ^ MAGIC
    {
        return Err(Status::UNSTUCK_NO_SIMILAR);
    }
    // SAFETY: the stamp shows that similar calls are there.
    Ok(Some(unsafe { &mut (*place).calls }))
}

/// Announces a call of tool with the arguments args, length bytes of JSON. Arguments that are not JSON are
/// compared as bytes. Like unstuck_announce(), with digests and a tag made from the arguments.
///
/// similar: finds calls with similar words. With NULL only equal calls are similar, unless the policy's
/// recipe says otherwise. tool: UTF-8. step: the step, or NULL for a step of its own; calls that the agent
/// issued together share a step. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR, UNSTUCK_NO_SIMILAR;
/// UNSTUCK_NOT_UTF8 for the name of the tool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_announce_json(
    detector: *mut unstuck_t,
    similar: *mut unstuck_similar_t,
    tool: *const c_char,
    args: *const c_char,
    length: usize,
    step: *const u64,
    announced: *mut unstuck_announced_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    unsafe {
        announced_by(detector, announced, |handle| {
            let (tool, args) = (memory::text(tool)?, memory::bytes(args, length)?);
            let step = if step.is_null() { None } else { Some(memory::read(step)?) };
            let call = call(&handle.policy.recipe, similar_at(similar)?, tool, args);
            Ok(handle.detector.announce(step.map_or(call, |step| call.step(step))))
        })
    }
}

/// Reports the result of call, length bytes of text that tool returned. Like unstuck_outcome(), with
/// digests made from the text.
///
/// failed: nonzero if the host knows that the call failed. The default policy
/// also reads failures and the number of failing tests from results, except of tools that read or write.
/// A text that is not UTF-8 is compared as bytes. Errors: the errors of unstuck_outcome(), and
/// UNSTUCK_NOT_UTF8 for the name of the tool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_outcome_text(
    detector: *mut unstuck_t,
    call: *const unstuck_call_id_t,
    tool: *const c_char,
    text: *const c_char,
    length: usize,
    failed: u8,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    unsafe {
        judged(detector, verdict, |handle| {
            let (id, tool) = (memory::read(call)?.id()?, memory::text(tool)?);
            let text = memory::bytes(text, length)?;
            let outcome = outcome(&handle.policy.recipe, tool, text, failed != 0);
            Ok(handle.detector.outcome(id, outcome))
        })
    }
}

/// Reports a turn of the agent without a tool call, with length bytes of text. Like unstuck_turn(). Errors:
/// UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_turn_text(
    detector: *mut unstuck_t,
    text: *const c_char,
    length: usize,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    unsafe {
        judged(detector, verdict, |handle| {
            let text = memory::bytes(text, length)?;
            let turn = str::from_utf8(text).map(|text| handle.policy.recipe.turn(text));
            let turn = turn.unwrap_or_else(|_| Turn::new(Digest::of(text)));
            Ok(handle.detector.text_turn(turn))
        })
    }
}

/// Reports a message of the user, length bytes of text. Like unstuck_user_message(). Errors: UNSTUCK_NULL,
/// UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_user_message_text(
    detector: *mut unstuck_t,
    text: *const c_char,
    length: usize,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    unsafe {
        judged(detector, verdict, |handle| {
            let text = memory::bytes(text, length)?;
            let message = str::from_utf8(text).map(|text| handle.policy.recipe.message(text));
            Ok(handle.detector.user_message(message.unwrap_or_else(|_| Digest::of(text))))
        })
    }
}

fn call(recipe: &Recipe, similar: Option<&mut SimilarCalls>, tool: &str, args: &[u8]) -> Call {
    match (str::from_utf8(args), similar) {
        (Ok(args), Some(similar)) => recipe.call_among(similar, tool, args),
        (Ok(args), None) => recipe.call(tool, args),
        (Err(_), _) => Call::new(Tool::named(tool), Digest::of(args)),
    }
}

fn outcome(recipe: &Recipe, tool: &str, text: &[u8], failed: bool) -> Outcome {
    match str::from_utf8(text) {
        Ok(text) => recipe.outcome(tool, text, failed),
        Err(_) if failed => Outcome::failed(Digest::of(text)),
        Err(_) => Outcome::ok(Digest::of(text)),
    }
}
