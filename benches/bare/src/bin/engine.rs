//! A call and its outcome as digests.

#![no_std]
#![no_main]

#[macro_use]
#[path = "../parts.rs"]
mod parts;

program!(engine);
