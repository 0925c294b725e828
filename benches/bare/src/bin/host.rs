//! A small host, which shows the size of the engine's code in it.

#![no_std]
#![no_main]

use core::ffi::{c_char, c_int};

use unstuck_bare::small_host;

/// The entry point for the C library.
#[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, _arguments: *const *const c_char) -> c_int {
    small_host(count);
    0
}
