//! Nothing, to see what a program has without anything of ours.

#![no_std]
#![no_main]

use unstuck_cortex_m::halt;

/// Where the linker begins.
#[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    halt()
}
