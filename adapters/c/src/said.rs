//! What the agent is told: words about a verdict, in a buffer of the caller's.

use core::ffi::c_char;

use unstuck_core::Finding;

use crate::memory::{self, Line};
use crate::status::unstuck_status_t as Status;
use crate::storage::{self, unstuck_t};
use crate::verdict::{VerdictBits, unstuck_verdict_t};
use crate::words;

/// Enough for every nudge about a tool whose name has 64 bytes at most, its NUL included.
pub const UNSTUCK_NUDGE_MAX: usize = 384;

/// Writes a short English message for the agent that is stuck into a buffer of size bytes, as
/// snprintf() would: as much as fits, always with a NUL, and never a part of a character (UTF-8).
///
/// verdict: one of this detector, made since it was initialised or restored. tool: the name of the
/// tool that verdict->finding.tool stands for, UTF-8; NULL for one without a name. The message names
/// it and numbers, and echoes neither arguments nor results.
///
/// Returns its length without the NUL, however much was written; 0 where there is nothing to say:
/// without a finding, without a detector, with a field that no verdict holds, or a name that is not
/// UTF-8. The buffer may be NULL where size is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_nudge(
    detector: *mut unstuck_t,
    verdict: *const unstuck_verdict_t,
    tool: *const c_char,
    buffer: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: as the header asks of every pointer.
    let Ok(buffer) = (unsafe { memory::room(buffer, size) }) else { return 0 };
    let line = Line::new(buffer);
    // SAFETY: as the header asks of every pointer.
    unsafe { nudge(detector, verdict, tool, line) }.unwrap_or(0)
}

/// # Safety
///
/// As for [`unstuck_nudge`].
unsafe fn nudge(
    detector: *mut unstuck_t,
    verdict: *const unstuck_verdict_t,
    tool: *const c_char,
    line: Line<'_>,
) -> Result<usize, Status> {
    // SAFETY: the caller says so.
    let (found, verdict, tool) = unsafe {
        let tool = if tool.is_null() { "tool" } else { memory::text(tool)? };
        (storage::find(detector)?, memory::read(verdict.cast::<VerdictBits>())?, tool)
    };
    let seed: Finding = found.seed.ok_or(Status::UNSTUCK_NO_FINDING)?;
    let (finding, action) =
        (verdict.finding(seed, &found.policy.policy)?, words::action(verdict.action)?);
    Ok(line.write(finding.nudge(action, tool)))
}
