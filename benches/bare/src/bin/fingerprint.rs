//! The fingerprint of JSON, without the engine.

#![no_std]
#![no_main]

#[macro_use]
#[path = "../parts.rs"]
mod parts;

program!(fingerprint_alone);
