//! Every function of the engine, and a planted panic and allocation. A check that does not find them
//! is broken.

#![no_std]
#![no_main]

use core::ffi::{c_int, c_void};
use core::hint::black_box;

use unstuck_bare::entries::every_entry;

#[expect(unsafe_code, reason = "the C library is declared; asking for memory is safe")]
unsafe extern "C" {
    safe fn malloc(size: usize) -> *mut c_void;
}

fn plant(count: c_int) {
    every_entry(count);
    black_box(malloc(1));
    // Panics if there is a fourth argument.
    black_box([0; 5][usize::try_from(count).unwrap_or(0)]);
}

unstuck_bare::program!(plant);
