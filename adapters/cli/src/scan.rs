//! `unstuck scan`: reads recorded runs and prints the loops in them.

pub(crate) mod command;
mod effect;
pub(crate) mod feedback;
mod format;
pub(crate) mod judge;
pub(crate) mod options;
pub(crate) mod targets;
mod unread;

pub(crate) use command::run;
