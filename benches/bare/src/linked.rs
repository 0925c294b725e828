//! Programs for this machine whose symbols are checked: every function of the engine, and the same
//! with a planted panic and allocation.

#![no_std]
#![no_main]

use core::ffi::{c_int, c_void};
use core::hint::black_box;

use unstuck_bare::entries::every_entry;

/// The work of this program, which takes the number of the program's arguments.
const WORK: fn(c_int) = match env!("CARGO_BIN_NAME").as_bytes() {
    b"entries" => every_entry,
    b"planted" => planted,
    _ => panic!("a program without work"),
};

#[expect(unsafe_code, reason = "the C library is declared; ending or asking for memory is safe")]
#[link(name = "c")]
unsafe extern "C" {
    safe fn abort() -> !;
    safe fn malloc(size: usize) -> *mut c_void;
}

/// A check that finds neither the panic nor the allocation is broken.
fn planted(count: c_int) {
    every_entry(count);
    black_box(malloc(1));
    // Panics if there is a fourth argument.
    black_box([0; 5][usize::try_from(count).unwrap_or(0)]);
}

/// The panic handler. A program that does not refer to `abort` cannot panic.
#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    abort()
}

#[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, _: *const *const u8) -> c_int {
    WORK(count);
    0
}
