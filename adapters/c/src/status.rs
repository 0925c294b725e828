//! What can go wrong between C and the engine, and how a person reads of it.

use core::ffi::c_char;

use unstuck_core::CheckpointError;

use crate::memory::{row_of, text_of};

/// What came of a call of this library. Where it is not UNSTUCK_OK, nothing has happened, and
/// nothing was written to where results go.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_status_t {
    /// It was done.
    UNSTUCK_OK = 0,
    /// A pointer is NULL that must not be.
    UNSTUCK_NULL = 1,
    /// The storage is too short.
    UNSTUCK_STORAGE_SHORT = 2,
    /// The storage is not aligned to UNSTUCK_ALIGN bytes.
    UNSTUCK_STORAGE_MISALIGNED = 3,
    /// The storage holds no detector: it was never initialised, was moved or overwritten.
    UNSTUCK_NO_DETECTOR = 4,
    /// What is given as a policy is none, or was moved.
    UNSTUCK_NO_POLICY = 5,
    /// The storage holds no groups: it was never initialised, was moved or overwritten.
    UNSTUCK_NO_GROUPS = 6,
    /// The policy looks back over more calls than the detector holds, or the detector is of another
    /// window than the function.
    UNSTUCK_WINDOW = 7,
    /// A number is none of its enumeration, or out of its range.
    UNSTUCK_VALUE = 8,
    /// What is given as the name of a call is none that this library gave.
    UNSTUCK_NO_CALL = 9,
    /// The verdict has no finding, or the detector never made one.
    UNSTUCK_NO_FINDING = 10,
    /// The rules cannot work as they are.
    UNSTUCK_RULES = 11,
    /// A name is not UTF-8.
    UNSTUCK_NOT_UTF8 = 12,
    /// The bytes are not one JSON value.
    UNSTUCK_NOT_JSON = 13,
    /// The buffer is too short for what is to be written.
    UNSTUCK_BUFFER_SHORT = 14,
    /// The bytes are no checkpoint, or one that was damaged.
    UNSTUCK_CHECKPOINT_DAMAGED = 15,
    /// The checkpoint was written in another version of its format.
    UNSTUCK_CHECKPOINT_VERSION = 16,
    /// The checkpoint was written under other rules.
    UNSTUCK_CHECKPOINT_POLICY = 17,
}

use unstuck_status_t as Status;

/// What a status tells a person, and what would be right, in English.
static MESSAGES: [[u8; 96]; 18] = [
    text_of("done"),
    text_of("a pointer is NULL that must not be"),
    text_of("the storage is too short: UNSTUCK_SIZE_20 and its like are enough"),
    text_of("the storage is not aligned: declare it with alignas(UNSTUCK_ALIGN)"),
    text_of(
        "the storage holds no detector: call unstuck_init_20() or its like first, and do not move it",
    ),
    text_of("that is no policy: take one of unstuck_balanced() and its like"),
    text_of("the storage holds no groups: call unstuck_groups_init() first, and do not move it"),
    text_of(
        "the policy or the function is for another window: take a larger detector, or its function",
    ),
    text_of("a number is none of its enumeration, or out of its range"),
    text_of("this names no call: hand on what unstuck_announce() gave"),
    text_of("there is no finding: ask only of verdicts that have one"),
    text_of("the rules cannot work: compare them with what the header says of each field"),
    text_of("a name is not UTF-8"),
    text_of("the bytes are not one JSON value"),
    text_of("the buffer is too short: UNSTUCK_CHECKPOINT_20 and its like are enough"),
    text_of("the checkpoint is damaged, or none: begin with a new detector"),
    text_of("the checkpoint has another version: begin with a new detector"),
    text_of("the checkpoint was written under other rules: restore it with those, or begin anew"),
];

/// What a status means, in English, for a log.
///
/// Never freed. NULL for a number that is none of unstuck_status_t.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_status_message(status: i32) -> *const c_char {
    row_of(&MESSAGES, usize::try_from(status).unwrap_or(usize::MAX))
}

/// The status that tells of `done`.
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
        assert_eq!(Status::UNSTUCK_CHECKPOINT_POLICY as usize + 1, MESSAGES.len());
        for (place, message) in MESSAGES.iter().enumerate() {
            assert_ne!(message[0], 0);
            assert!(!MESSAGES[..place].contains(message), "{message:?}");
        }
        for number in [-1, 18, i32::MAX, i32::MIN] {
            assert!(unstuck_status_message(number).is_null());
        }
    }
}
