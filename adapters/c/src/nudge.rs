//! Messages to the agent about a verdict, in a buffer of the caller.

use core::ffi::c_char;

use unstuck_core::Finding;

use crate::memory::{self, TextBuffer};
use crate::status::unstuck_status_t as Status;
use crate::storage::{self, unstuck_t};
use crate::verdict::{VerdictBits, unstuck_verdict_t};
use crate::words;

/// The size in bytes of the longest nudge with its NUL, for a tool name of at most 64 bytes.
pub const UNSTUCK_NUDGE_MAX: usize = 384;

/// Writes a short English message for the stuck agent into a buffer of size bytes, like snprintf(): as
/// much as fits, always with a NUL, and only whole UTF-8 characters.
///
/// verdict: a verdict of this detector since it was initialised or restored. tool: the UTF-8 name of the
/// tool verdict->finding.tool, or NULL if it has no name. The message contains the name and numbers, but
/// neither arguments nor results.
///
/// Returns the length of the whole message without the NUL. Returns 0 if there is no message: without a
/// finding, without a detector, if a field has a value that no verdict has, or if the name is not UTF-8.
/// The buffer may be NULL if size is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_nudge(
    detector: *mut unstuck_t,
    verdict: *const unstuck_verdict_t,
    tool: *const c_char,
    buffer: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: the header requires it.
    let Ok(buffer) = (unsafe { memory::room(buffer, size) }) else { return 0 };
    let output = TextBuffer::new(buffer);
    // SAFETY: the header requires it.
    unsafe { nudge(detector, verdict, tool, output) }.unwrap_or(0)
}

/// # Safety
///
/// As for [`unstuck_nudge`].
unsafe fn nudge(
    detector: *mut unstuck_t,
    verdict: *const unstuck_verdict_t,
    tool: *const c_char,
    output: TextBuffer<'_>,
) -> Result<usize, Status> {
    // SAFETY: the caller guarantees it.
    let (handle, verdict, tool) = unsafe {
        let tool = if tool.is_null() { "tool" } else { memory::text(tool)? };
        (storage::find(detector)?, memory::read(verdict.cast::<VerdictBits>())?, tool)
    };
    let seed: Finding = handle.seed.ok_or(Status::UNSTUCK_NO_FINDING)?;
    let (finding, action) =
        (verdict.finding(seed, &handle.policy.policy)?, words::action(verdict.action)?);
    Ok(output.write(finding.nudge(action, tool)))
}
