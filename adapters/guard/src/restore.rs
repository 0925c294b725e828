//! A guard as bytes, and back.
//!
//! What is written begins with a byte for the version and ends with eight that sum up the rest;
//! between them stands what `postcard` makes of one struct.

use std::fmt;

use serde::{Deserialize, Serialize};
use unstuck_core::{CheckpointError, Digest};
use unstuck_text::{Lines, SimilarCalls};

use crate::calls::{Calls, Names};
use crate::ended::Ended;
use crate::guard::{Engine, Guard, Refusals};
use crate::heard::Heard;
use crate::steps::Steps;

/// The version of the format that this crate writes, and the only one that it reads.
pub const CHECKPOINT_VERSION: u8 = 3;

/// The length of the sum at the end.
const SUM: usize = size_of::<u64>();

/// Why bytes are no checkpoint of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The bytes are no checkpoint, or one that was cut short or damaged.
    Malformed,
    /// The checkpoint was written in another version of the format.
    Version {
        /// Its version.
        found: u8,
    },
    /// The engine cannot go on from it.
    Engine(CheckpointError),
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => {
                f.write_str("these bytes are no checkpoint of a guard: begin with a new one")
            }
            Self::Version { found } => write!(
                f,
                "the checkpoint has version {found}, but this guard reads {CHECKPOINT_VERSION}: \
                 begin with a new one"
            ),
            Self::Engine(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RestoreError {}

/// A guard as it is written.
#[derive(Serialize, Deserialize)]
struct State<'a> {
    engine: &'a [u8],
    groups: SimilarCalls,
    lines: Lines,
    calls: Calls,
    names: Names,
    steps: Steps,
    refusals: Refusals,
    heard: Heard,
    ended: Ended,
}

impl Guard {
    /// Everything that the guard knows of its worker, for [`Builder::restore`]: mostly 1 to 8 KiB, and
    /// never 48, whatever the names of the tools. It holds digests and the names of tools, no arguments
    /// and no results.
    ///
    /// [`Builder::restore`]: crate::Builder::restore
    pub fn save(&self) -> Vec<u8> {
        let mut buffer = [0; Engine::CHECKPOINT_MAX];
        let seen = &*self.seen;
        // The buffer is as long as any checkpoint.
        let engine = seen.engine.save(&mut buffer).map_or(&[][..], |written| &*written);
        let state = State {
            engine,
            groups: seen.groups.clone(),
            lines: seen.lines.clone(),
            calls: seen.calls.clone(),
            names: seen.names.clone(),
            steps: seen.steps.clone(),
            refusals: seen.refusals,
            heard: seen.heard.clone(),
            ended: seen.ended.clone(),
        };
        let bytes = vec![CHECKPOINT_VERSION];
        // Memory is all that this can want.
        let mut bytes = postcard::to_extend(&state, bytes).unwrap_or_default();
        let sum = Digest::of(&bytes).bits();
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// The guard that wrote `bytes`, with the setup of this one.
    pub(crate) fn restored(mut self, bytes: &[u8]) -> Result<Self, RestoreError> {
        let state = State::read(bytes)?;
        let seen = &mut *self.seen;
        seen.engine = Engine::restore(self.setup.preset.policy, state.engine)
            .map_err(RestoreError::Engine)?;
        let State { groups, lines, calls, names, steps, refusals, heard, ended, .. } = state;
        (seen.groups, seen.lines, seen.calls, seen.names) = (groups, lines, calls, names);
        (seen.steps, seen.refusals) = (steps, refusals);
        (seen.heard, seen.ended) = (heard, ended);
        Ok(self)
    }
}

impl<'a> State<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, RestoreError> {
        match bytes {
            [CHECKPOINT_VERSION, ..] => {}
            [found, ..] => return Err(RestoreError::Version { found: *found }),
            [] => return Err(RestoreError::Malformed),
        }
        let (whole, sum) = bytes.split_last_chunk::<SUM>().ok_or(RestoreError::Malformed)?;
        if Digest::of(whole).bits() != u64::from_le_bytes(*sum) {
            return Err(RestoreError::Malformed);
        }
        let state = whole.get(1..).unwrap_or_default();
        let (state, rest): (Self, _) =
            postcard::take_from_bytes(state).map_err(|_| RestoreError::Malformed)?;
        let fits = state.calls.fits() && state.names.fits() && state.steps.fits();
        let fits = fits && state.heard.fits() && state.ended.fits() && rest.is_empty();
        if fits { Ok(state) } else { Err(RestoreError::Malformed) }
    }
}
