//! The engine with the default recipe and the record of similar calls.

#![no_std]
#![no_main]

#[macro_use]
#[path = "../parts.rs"]
mod parts;

program!(groups);
