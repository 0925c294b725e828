//! The work of a host for a call, and its memory, for measurements on every machine.

#![no_std]

mod host;
mod sizes;
mod texts;

pub use host::{Host, Work};
pub use sizes::{SIZES, Size};
pub use texts::{ARGUMENTS, RESULTS};
