//! `unstuck scan`: reads recorded runs and prints the loops in them.

#[cfg(feature = "program")]
mod baseline;
#[cfg(feature = "program")]
mod command;
pub(crate) mod cost;
#[cfg(feature = "program")]
mod csv;
pub(crate) mod draw;
#[cfg(feature = "program")]
mod evidence;
#[cfg(feature = "program")]
mod explain;
#[cfg(feature = "program")]
pub(crate) mod feedback;
#[cfg(feature = "program")]
mod github;
pub(crate) mod groups;
pub(crate) mod html;
#[cfg(feature = "program")]
mod human;
#[cfg(feature = "program")]
pub(crate) mod judge;
#[cfg(feature = "program")]
mod junit;
pub(crate) mod loops;
pub(crate) mod machine;
#[cfg(feature = "program")]
mod markdown;
#[cfg(feature = "program")]
pub(crate) mod options;
#[cfg(feature = "fleet")]
mod parquet;
#[cfg(feature = "program")]
pub(crate) mod parts;
pub(crate) mod report;
pub(crate) mod rows;
#[cfg(feature = "program")]
mod sarif;
#[cfg(feature = "program")]
mod spool;
#[cfg(feature = "program")]
mod svg;
mod table;
#[cfg(feature = "program")]
pub(crate) mod targets;
#[cfg(feature = "program")]
mod unread;
pub(crate) mod words;
#[cfg(feature = "program")]
mod writer;

#[cfg(feature = "program")]
pub(crate) use command::run;
