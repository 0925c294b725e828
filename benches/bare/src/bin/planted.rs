//! Every entry of the engine, and behind them a panic and an allocation that were planted:
//! whoever looks for such and does not find them here is blind.

#![no_std]
#![no_main]

use core::ffi::{c_char, c_int, c_void};
use core::hint::black_box;

use unstuck_bare::every_entry;

#[expect(unsafe_code, reason = "the C library is declared; asking for memory is safe")]
unsafe extern "C" {
    safe fn malloc(size: usize) -> *mut c_void;
}

/// What the C library calls first.
#[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, _arguments: *const *const c_char) -> c_int {
    every_entry(count);
    black_box(malloc(1));
    // A fourth argument is one too many.
    [0; 5][usize::try_from(count).unwrap_or(0)]
}
