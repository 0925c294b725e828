//! A small host, to see how much code it gets with the engine.

#![no_std]
#![no_main]

use core::ffi::{c_char, c_int};

use unstuck_bare::small_host;

/// What the C library calls first.
#[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, _arguments: *const *const c_char) -> c_int {
    small_host(count);
    0
}
