//! What `unstuck hook` keeps from one run to the next: a file for each worker of each session.
//!
//! A file is read and written in place, under an exclusive lock of its own. What a kill or a full
//! disk leaves of it is told by its checksum, and its session begins anew.

mod envelope;
mod file;
mod folder;
mod log;
mod old;
mod rest;
mod session;

pub(crate) use envelope::Damage;
pub(crate) use file::Trouble;
pub(crate) use folder::Folder;
pub(crate) use log::LOG;
pub(crate) use session::{Key, Noted, Session};
