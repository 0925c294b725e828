//! `unstuck scan`: reads recorded runs and prints the loops in them.

pub(crate) mod command;
pub(crate) mod feedback;
pub(crate) mod judge;
pub(crate) mod options;
pub(crate) mod targets;

pub(crate) use command::run;
