//! Nothing, whose size is subtracted from the others.

#![no_std]
#![no_main]

#[macro_use]
#[path = "../parts.rs"]
mod parts;

program!(empty);
