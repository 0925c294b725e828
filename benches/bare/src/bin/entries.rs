//! Every function of the engine, in a program that must contain no panic and no allocator.

#![no_std]
#![no_main]

use core::ffi::{c_char, c_int};

use unstuck_bare::every_entry;

/// The entry point for the C library.
#[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, _arguments: *const *const c_char) -> c_int {
    every_entry(count);
    0
}
