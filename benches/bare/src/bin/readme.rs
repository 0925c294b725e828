//! The example for microcontrollers in the repository's README.

#![no_std]
#![no_main]

#[macro_use]
#[path = "../parts.rs"]
mod parts;

program!(readme);
