//! The engine, and the digests of raw arguments and of a masked result.

#![no_std]
#![no_main]

#[macro_use]
#[path = "../parts.rs"]
mod parts;

program!(masked);
