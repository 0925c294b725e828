//! The status that functions return, and its messages.

use core::ffi::c_char;

use unstuck_core::CheckpointError;

use crate::memory::{padded, text_at};

/// The status of a call of this library. If it is not UNSTUCK_OK, nothing has happened, and no result was
/// written.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_status_t {
    /// Success.
    UNSTUCK_OK = 0,
    /// A pointer is NULL but must not be.
    UNSTUCK_NULL = 1,
    /// The storage is too short.
    UNSTUCK_STORAGE_SHORT = 2,
    /// The storage is not aligned to UNSTUCK_ALIGN bytes.
    UNSTUCK_STORAGE_MISALIGNED = 3,
    /// The storage holds no detector: it was never initialised, was moved, or was overwritten.
    UNSTUCK_NO_DETECTOR = 4,
    /// The pointer is not a policy, or the policy was moved.
    UNSTUCK_NO_POLICY = 5,
    /// The storage holds no similar calls: it was never initialised, was moved, or was overwritten.
    UNSTUCK_NO_SIMILAR = 6,
    /// The policy looks back over more calls than the window holds.
    UNSTUCK_WINDOW = 7,
    /// A number is outside its enumeration or its range.
    UNSTUCK_VALUE = 8,
    /// The id of a call does not come from this library.
    UNSTUCK_NO_CALL = 9,
    /// The verdict has no finding, or the detector never returned one.
    UNSTUCK_NO_FINDING = 10,
    /// The rules cannot work.
    UNSTUCK_RULES = 11,
    /// A name is not UTF-8.
    UNSTUCK_NOT_UTF8 = 12,
    /// The bytes are not one JSON value.
    UNSTUCK_NOT_JSON = 13,
    /// The buffer is too short.
    UNSTUCK_BUFFER_SHORT = 14,
    /// The bytes are not a checkpoint, or a damaged one.
    UNSTUCK_CHECKPOINT_DAMAGED = 15,
    /// The checkpoint was written in another version of its format.
    UNSTUCK_CHECKPOINT_VERSION = 16,
    /// The checkpoint was written under other rules.
    UNSTUCK_CHECKPOINT_POLICY = 17,
    /// The pointer is not a window.
    UNSTUCK_NO_WINDOW = 18,
    /// The function needs a detector with a full window, for example unstuck_full_window_20().
    UNSTUCK_NOT_FULL = 19,
}

use unstuck_status_t as Status;

/// The message of each status: the error and its remedy.
static MESSAGES: [[u8; 96]; 20] = [
    padded("done"),
    padded("a pointer is NULL but must not be"),
    padded("the storage is too short: a window of 20 calls needs UNSTUCK_SIZE_20 bytes"),
    padded("the storage is not aligned: declare it with alignas(UNSTUCK_ALIGN)"),
    padded("the storage holds no detector: call unstuck_init() first, and do not move it"),
    padded("the pointer is not a policy: use unstuck_balanced() or another preset"),
    padded("the storage holds no similar calls: call unstuck_similar_init(), and do not move it"),
    padded("the policy looks back further than the window: use a larger window"),
    padded("a number is outside its enumeration or its range"),
    padded("the id is not of a call: pass the id that unstuck_announce() gave"),
    padded("there is no finding: pass a verdict whose has_finding is 1"),
    padded("the rules cannot work: compare them with the limits of each field in the header"),
    padded("a name is not UTF-8"),
    padded("the bytes are not one JSON value"),
    padded("the buffer is too short: a window of 20 calls needs UNSTUCK_CHECKPOINT_20 bytes"),
    padded("the bytes are not a checkpoint, or a damaged one: begin with a new detector"),
    padded("the checkpoint has another version: begin with a new detector"),
    padded("the checkpoint was written under other rules: restore it with those, or begin anew"),
    padded("the pointer is not a window: use unstuck_window_20() or another window"),
    padded(
        "the function needs a full window: initialise with unstuck_full_window_20(), for example",
    ),
];

/// Returns the meaning of a status in English, for a log. Do not free it. Returns NULL for a number outside
/// unstuck_status_t.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_status_message(status: i32) -> *const c_char {
    text_at(&MESSAGES, usize::try_from(status).unwrap_or(usize::MAX))
}

/// Returns the status of `done`.
pub(crate) fn of(done: Result<(), Status>) -> Status {
    done.err().unwrap_or(Status::UNSTUCK_OK)
}

impl From<CheckpointError> for Status {
    fn from(error: CheckpointError) -> Self {
        match error {
            CheckpointError::BufferTooShort { .. } => Self::UNSTUCK_BUFFER_SHORT,
            CheckpointError::Version { .. } => Self::UNSTUCK_CHECKPOINT_VERSION,
            CheckpointError::OtherPolicy => Self::UNSTUCK_CHECKPOINT_POLICY,
            CheckpointError::PolicyDoesNotFit => Self::UNSTUCK_WINDOW,
            _ => Self::UNSTUCK_CHECKPOINT_DAMAGED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_message_of_its_own() {
        assert_eq!(Status::UNSTUCK_NOT_FULL as usize + 1, MESSAGES.len());
        for (place, message) in MESSAGES.iter().enumerate() {
            assert_ne!(message[0], 0);
            assert!(!MESSAGES[..place].contains(message), "{message:?}");
        }
        for number in [-1, 20, i32::MAX, i32::MIN] {
            assert!(unstuck_status_message(number).is_null());
        }
    }
}
