//! The fingerprint of JSON of which the compiler knows nothing.

#![no_std]
#![no_main]

use core::hint::black_box;

use unstuck_cortex_m::halt;
use unstuck_json::fingerprint;

/// Where the linker begins.
#[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    let json: &[u8] = black_box(b"{}");
    let _ = black_box(fingerprint(json));
    halt()
}
