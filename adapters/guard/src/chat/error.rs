//! Why a run ended before the model was done.

use std::error::Error;
use std::fmt;

use crate::chat::Entry;
use crate::decision::{Found, Message};
use crate::recovery::RecoveryError;

/// The run was stopped: it went round in circles, and did not get out. The guard has forgotten it,
/// and the next run begins afresh.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopDetected {
    /// The evidence.
    pub found: Found,
    /// What it is, in words, for whoever reads of it.
    pub message: Message,
    /// The conversation until then.
    pub transcript: Vec<Entry>,
}

impl fmt::Display for LoopDetected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stuck: {}", self.message)
    }
}

impl Error for LoopDetected {}

/// Why a run ended before the model was done. `E` is the error of the host's own functions.
#[derive(Debug)]
#[non_exhaustive]
pub enum ChatError<E> {
    /// The guard stopped it.
    Loop(Box<LoopDetected>),
    /// The model was asked as often as it may be.
    Turns {
        /// How often that was.
        max: u32,
        /// The conversation until then.
        transcript: Vec<Entry>,
    },
    /// It was to start over, and could not.
    Recovery {
        /// Why not.
        error: RecoveryError,
        /// Why it was to.
        stuck: Box<LoopDetected>,
    },
    /// The model or a tool could not be reached.
    Host(E),
}

impl<E: fmt::Display> fmt::Display for ChatError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loop(stuck) => stuck.fmt(f),
            Self::Turns { max, .. } => {
                write!(f, "the model was asked {max} times and is not done")
            }
            Self::Recovery { error, .. } => error.fmt(f),
            Self::Host(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for ChatError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Loop(stuck) => Some(&**stuck),
            Self::Turns { .. } => None,
            Self::Recovery { error, .. } => Some(error),
            Self::Host(error) => Some(error),
        }
    }
}
