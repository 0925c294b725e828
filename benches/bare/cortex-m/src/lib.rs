//! What every program for a Cortex-M needs: an end for panics.
//!
//! The programs are linked to be measured, not to run: they lack the vectors that a processor
//! starts from, and so hold nothing but what they call.

#![no_std]

use core::panic::PanicInfo;

/// Where every panic would end.
#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    halt()
}

/// The end of every program.
pub fn halt() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
