//! The streams that output goes to, and how it fits into a terminal.

pub(crate) mod columns;
pub(crate) mod effect;
pub(crate) mod evidence;
mod terminal;

pub(crate) use terminal::{Closed, Output, Reader, complain, misused, print, remark, show, usage};
