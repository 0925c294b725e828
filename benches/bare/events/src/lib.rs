//! What a host does at a call, and what it keeps meanwhile: the same on every machine.

#![no_std]

mod host;
mod sizes;
mod texts;

pub use host::{Host, Work};
pub use sizes::{SIZES, Size};
pub use texts::{ARGUMENTS, RESULTS};
