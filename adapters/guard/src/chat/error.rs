//! The reasons why a run ended before the model was done.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;

use crate::chat::Entry;
use crate::decision::{Evidence, Message};
use crate::recovery::RecoveryError;

/// The report on a run that the guard has stopped, because it went round in circles. The guard has
/// forgotten the run, and the next one begins afresh.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopDetected {
    /// The evidence.
    pub evidence: Evidence,
    /// The evidence in words, for a person.
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

/// The reason why a run ended before the model was done. `E` is the error of the host's own functions,
/// which a [`Run`](crate::Run) does not call.
#[derive(Debug)]
#[non_exhaustive]
pub enum ChatError<E = Infallible> {
    /// The guard stopped the run.
    Loop(Box<LoopDetected>),
    /// The model was asked as often as it may be.
    Turns {
        /// The number of times.
        max: u32,
        /// The conversation until then.
        transcript: Vec<Entry>,
    },
    /// The run was to start over, and could not.
    Recovery {
        /// The error of the recovery.
        error: RecoveryError,
        /// The reason to start over.
        stuck: Box<LoopDetected>,
    },
    /// The host could not reach the model or a tool.
    Host(E),
}

impl ChatError {
    /// Converts the error of a run into one of a host that has errors of its own.
    pub(super) fn widen<E>(self) -> ChatError<E> {
        match self {
            Self::Loop(stuck) => ChatError::Loop(stuck),
            Self::Turns { max, transcript } => ChatError::Turns { max, transcript },
            Self::Recovery { error, stuck } => ChatError::Recovery { error, stuck },
            Self::Host(never) => match never {},
        }
    }
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
