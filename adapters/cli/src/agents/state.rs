//! The state that `unstuck hook` keeps between two runs: one file for each worker of each session.
//!
//! A file is read and rewritten in place under an exclusive lock. If a kill or a full disk leaves it
//! incomplete, its checksum is wrong and the session begins anew.
//!
//! A rename would replace the file that others wait to lock. So a kill can tear a write, which costs a session its
//! history. The checkpoints of the engine and of the guard inside have checksums of their own, because both are
//! also read alone.

mod file;
mod folder;
mod journal;
#[cfg(feature = "fleet")]
mod pause;
mod session;

/// The file with the pause after a swarm server failed to answer.
const PAUSES: &str = "swarm.rest";

pub(crate) use file::{Damage, StateFile, Trouble};
pub(crate) use folder::Folder;
#[cfg(feature = "fleet")]
pub(crate) use folder::digest;
pub(crate) use journal::{Entry, JOURNAL, LOG, Line, What};
pub(crate) use session::{FindingRecord, Key, LoopRecord, Said, Session, Told};
