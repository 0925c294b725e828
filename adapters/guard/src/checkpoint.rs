//! A guard as bytes, and back.
//!
//! The bytes begin with the version and end with a checksum of eight bytes. Between them stands one
//! struct, as `postcard` writes it. The engine inside keeps its own frame, because its errors (such as a
//! checkpoint of another policy) are lost when `serde` reads it as a part of the struct.

use std::fmt;

use serde::{Deserialize, Serialize};
use unstuck_core::{CheckpointError, LoopId};
use unstuck_json::Hash64 as _;
use unstuck_text::{Lines, SimilarCalls};

use crate::asked::HASH;
use crate::budget::Account;
use crate::calls::{Calls, Names};
use crate::decision::Cause;
use crate::guard::{Blocks, Engine, Guard, Tally};
use crate::steps::Steps;
use crate::stopped_calls::StoppedCalls;
use crate::swarm_memory::SwarmMemory;

/// The version of the format that this crate writes, and the only one that it reads.
pub const CHECKPOINT_VERSION: u8 = 8;

/// The length of the checksum at the end.
const SUM: usize = size_of::<u64>();

/// The reason why bytes are no checkpoint of a guard.
///
/// ```
/// use unstuck::{BuildError, Guard, RestoreError};
///
/// let error = Guard::builder().restore(b"").expect_err("no bytes");
/// assert!(matches!(error, BuildError::Restore(RestoreError::Malformed)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The bytes are no checkpoint, or one that was cut short or damaged.
    Malformed,
    /// The checkpoint was written in another version of the format.
    Version {
        /// The version of the checkpoint.
        found: u8,
    },
    /// The engine cannot go on from its part of the checkpoint.
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

/// The fields of a checkpoint.
#[derive(Serialize, Deserialize)]
struct SavedGuard<'a> {
    #[serde(borrow, with = "serde_bytes")]
    engine: &'a [u8],
    similar: SimilarCalls,
    lines: Lines,
    calls: Calls,
    names: Names,
    steps: Steps,
    blocks: Blocks,
    cause: Option<(LoopId, Cause)>,
    stopped: StoppedCalls,
    swarm: SwarmMemory,
    tally: Tally,
    escalations: u8,
    account: Option<Box<Account>>,
}

impl Guard {
    /// Returns the state of the worker for [`Builder::restore`]: mostly 1 to 8 KiB, and at most 48, however
    /// long the names of the tools are. It holds digests and the names of tools, no arguments and no
    /// results.
    ///
    /// [`Builder::restore`]: crate::Builder::restore
    pub fn save(&self) -> Vec<u8> {
        let mut buffer = [0; Engine::CHECKPOINT_MAX];
        let state = &*self.state;
        // The buffer is as long as any checkpoint.
        let engine = state.worker.detector.save(&mut buffer).map_or(&[][..], |written| &*written);
        let saved = SavedGuard {
            engine,
            similar: state.worker.digester.similar.clone(),
            lines: state.worker.digester.lines.clone(),
            calls: state.calls.clone(),
            names: state.names.clone(),
            steps: state.steps.clone(),
            blocks: state.blocks,
            cause: state.cause.clone(),
            stopped: state.stopped.clone(),
            swarm: state.swarm.clone(),
            tally: state.tally.clone(),
            escalations: state.escalations,
            account: state.account.clone(),
        };
        let bytes = vec![CHECKPOINT_VERSION];
        // Writing to a vector fails only if memory runs out.
        let mut bytes = postcard::to_extend(&saved, bytes).unwrap_or_default();
        let sum = HASH.hash(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// Returns the guard that wrote `bytes`, with the setup of this one.
    pub(crate) fn restored(mut self, bytes: &[u8]) -> Result<Self, RestoreError> {
        let saved = SavedGuard::read(bytes)?;
        let state = &mut *self.state;
        state.worker.detector = Engine::restore(self.setup.preset.policy, saved.engine)
            .map_err(RestoreError::Engine)?;
        (state.worker.digester.similar, state.worker.digester.lines) = (saved.similar, saved.lines);
        (state.calls, state.names, state.steps) = (saved.calls, saved.names, saved.steps);
        (state.blocks, state.cause, state.stopped) = (saved.blocks, saved.cause, saved.stopped);
        (state.swarm, state.tally) = (saved.swarm, saved.tally);
        state.escalations = saved.escalations;
        if let Some(account) = Account::restored(saved.account, self.setup.budget) {
            state.account = Some(account);
        }
        Ok(self)
    }
}

impl<'a> SavedGuard<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, RestoreError> {
        match bytes {
            [CHECKPOINT_VERSION, ..] => {}
            [found, ..] => return Err(RestoreError::Version { found: *found }),
            [] => return Err(RestoreError::Malformed),
        }
        let (whole, sum) = bytes.split_last_chunk::<SUM>().ok_or(RestoreError::Malformed)?;
        if HASH.hash(whole) != u64::from_le_bytes(*sum) {
            return Err(RestoreError::Malformed);
        }
        let state = whole.get(1..).unwrap_or_default();
        let (state, rest): (Self, _) =
            postcard::take_from_bytes(state).map_err(|_| RestoreError::Malformed)?;
        let fits = state.calls.fits() && state.names.fits() && state.stopped.fits();
        let fits = fits && state.swarm.fits() && state.tally.fits() && rest.is_empty();
        if fits { Ok(state) } else { Err(RestoreError::Malformed) }
    }
}
