//! Calls, outcomes, turns and messages as an agent's host has them: names, JSON and texts.
//!
//! The digests are made by the recipe of the detector's policy.

use core::ffi::{c_char, c_void};
use core::str;

use unstuck_core::{Call, Digest, Outcome, Tool, Turn};
use unstuck_text::{Recipe, SimilarCalls};

use crate::events::{announced_by, judged};
use crate::memory::{self, Place};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage::{self, unstuck_t};
use crate::verdict::{unstuck_announced_t, unstuck_call_id_t, unstuck_verdict_t};

/// The calls of one worker's run that are alike, in storage of the caller's.
#[derive(Debug)]
pub struct unstuck_groups_t {
    stamp: usize,
    groups: SimilarCalls,
}

/// How many bytes groups take.
pub const UNSTUCK_GROUPS_SIZE: usize = 2256;

/// How many bytes they take in this build.
pub(crate) const SIZE: usize = size_of::<unstuck_groups_t>();

const _: () = assert!(SIZE <= UNSTUCK_GROUPS_SIZE);
const _: () = assert!(align_of::<unstuck_groups_t>() <= crate::detector::UNSTUCK_ALIGN);

/// What stands for groups of this library, beside their address.
const MAGIC: usize = 0x7573_6b67;

/// Puts empty groups into storage: size bytes, of which UNSTUCK_GROUPS_SIZE are enough, aligned to
/// UNSTUCK_ALIGN. Also empties those that are there: a new run begins.
///
/// groups: receives the address of the groups, which is that of storage. Errors: UNSTUCK_NULL,
/// UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_groups_init(
    storage: *mut c_void,
    size: usize,
    groups: *mut *mut unstuck_groups_t,
) -> unstuck_status_t {
    let fits = storage::fits::<unstuck_groups_t>(storage, size);
    // SAFETY: as the header asks of every pointer.
    let given = fits.and_then(|()| unsafe { Place::new(groups) });
    status::of(given.map(|groups| {
        let place: *mut unstuck_groups_t = storage.cast();
        let empty = unstuck_groups_t { stamp: place.addr() ^ MAGIC, groups: SimilarCalls::new() };
        // SAFETY: it fits, and C lets us write there.
        unsafe { place.write(empty) };
        groups.put(place);
    }))
}

/// The groups at `place`; none for NULL.
///
/// # Safety
///
/// `place` is NULL, or points at storage that C may read and write, and that nobody else uses while
/// the result lives.
unsafe fn groups_at<'c>(
    place: *mut unstuck_groups_t,
) -> Result<Option<&'c mut SimilarCalls>, Status> {
    if place.is_null() {
        return Ok(None);
    }
    // SAFETY: any bytes are such a number.
    if !place.is_aligned() || unsafe { (&raw const (*place).stamp).read() } != place.addr() ^ MAGIC
    {
        return Err(Status::UNSTUCK_NO_GROUPS);
    }
    // SAFETY: the stamp tells that groups were put there.
    Ok(Some(unsafe { &mut (*place).groups }))
}

/// The agent asks for tool with the arguments args: length bytes of JSON; what is not JSON is taken
/// as it stands. As unstuck_announce(), with digests and a tag made from them.
///
/// groups: to find calls that are alike by their words; NULL to hold only equal ones alike, as far as
/// the policy's recipe says nothing else. tool: UTF-8. step: the step, or NULL for one of its own:
/// calls that the agent issued together share one. Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR,
/// UNSTUCK_NO_GROUPS, UNSTUCK_NOT_UTF8 for the name of the tool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_announce_json(
    detector: *mut unstuck_t,
    groups: *mut unstuck_groups_t,
    tool: *const c_char,
    args: *const c_char,
    length: usize,
    step: *const u64,
    announced: *mut unstuck_announced_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    unsafe {
        announced_by(detector, announced, |found| {
            let (tool, args) = (memory::text(tool)?, memory::bytes(args, length)?);
            let step = if step.is_null() { None } else { Some(memory::read(step)?) };
            let made = call(&found.policy.recipe, groups_at(groups)?, tool, args);
            Ok(found.watch.announce(step.map_or(made, |step| made.step(step))))
        })
    }
}

/// A result has come for call, of tool: length bytes of text. As unstuck_outcome(), with digests made
/// from it.
///
/// failed: whether the host knows that the call failed: 0 for no, anything else for yes; the default
/// policy also reads failures, and how many tests fail, from results of tools that do not read or
/// write. Of what is not UTF-8 only the bytes are compared. Errors: those of unstuck_outcome(), and
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
    // SAFETY: as the header asks of every pointer.
    unsafe {
        judged(detector, verdict, |found| {
            let (id, tool) = (memory::read(call)?.id()?, memory::text(tool)?);
            let text = memory::bytes(text, length)?;
            let outcome = outcome(&found.policy.recipe, tool, text, failed != 0);
            Ok(found.watch.outcome(id, outcome))
        })
    }
}

/// The agent took a turn without calling a tool, and said so much: length bytes of text. As
/// unstuck_turn(). Errors: UNSTUCK_NULL, UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_turn_text(
    detector: *mut unstuck_t,
    text: *const c_char,
    length: usize,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    unsafe {
        judged(detector, verdict, |found| {
            let text = memory::bytes(text, length)?;
            let turn = str::from_utf8(text).map(|text| found.policy.recipe.turn(text));
            Ok(found.watch.text_turn(turn.unwrap_or_else(|_| Turn::new(Digest::of(text)))))
        })
    }
}

/// The user says so much: length bytes of text. As unstuck_user_message(). Errors: UNSTUCK_NULL,
/// UNSTUCK_NO_DETECTOR.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_user_message_text(
    detector: *mut unstuck_t,
    text: *const c_char,
    length: usize,
    verdict: *mut unstuck_verdict_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
    unsafe {
        judged(detector, verdict, |found| {
            let text = memory::bytes(text, length)?;
            let message = str::from_utf8(text).map(|text| found.policy.recipe.message(text));
            Ok(found.watch.user_message(message.unwrap_or_else(|_| Digest::of(text))))
        })
    }
}

fn call(recipe: &Recipe, groups: Option<&mut SimilarCalls>, tool: &str, args: &[u8]) -> Call {
    match (str::from_utf8(args), groups) {
        (Ok(args), Some(groups)) => recipe.call_among(groups, tool, args),
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
