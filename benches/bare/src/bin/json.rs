//! The engine, and the fingerprint of raw arguments.

#![no_std]
#![no_main]

#[macro_use]
#[path = "../parts.rs"]
mod parts;

program!(json);
