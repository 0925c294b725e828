//! Output for people and programs: text that is safe to show, JSON, and the streams that it goes to.

#[cfg(feature = "program")]
pub(crate) mod columns;
#[cfg(feature = "program")]
pub(crate) mod evidence;
pub(crate) mod json;
pub(crate) mod recurring;
pub(crate) mod redact;
pub(crate) mod shown;
#[cfg(feature = "program")]
mod terminal;

#[cfg(feature = "program")]
pub(crate) use terminal::{Closed, Output, Reader, complain, misused, remark, show, usage};
