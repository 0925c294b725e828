//! `unstuck scan`: reads recorded runs and prints the loops in them.

mod baseline;
mod command;
mod csv;
mod explain;
pub(crate) mod feedback;
mod github;
mod human;
pub(crate) mod judge;
mod junit;
mod machine;
mod markdown;
pub(crate) mod options;
mod page;
#[cfg(feature = "fleet")]
mod parquet;
pub(crate) mod parts;
mod relative;
mod sarif;
mod spool;
mod svg;
pub(crate) mod targets;
mod unread;
mod writer;

pub(crate) use command::run;
