//! Loop detection for agents that call tools.
#![no_std]
#![forbid(unsafe_code)]

mod digest;
pub use digest::Digest;
