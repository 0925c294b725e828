//! The common parts of the programs for a Cortex-M3 under QEMU: the stack paint, and the exits.

#![no_std]

mod paint;
mod state;

use core::fmt::Display;
use core::panic::PanicInfo;

use cortex_m_semihosting::debug::{self, EXIT_FAILURE, EXIT_SUCCESS};
use cortex_m_semihosting::hprintln;

pub use paint::depth;
pub use state::State;

/// Ends the program with success.
pub fn done() -> ! {
    debug::exit(EXIT_SUCCESS);
    halt()
}

/// Ends the program with failure.
pub fn failed(why: impl Display) -> ! {
    hprintln!("{why}");
    debug::exit(EXIT_FAILURE);
    halt()
}

/// The panic handler. No panic is expected, and a panic makes the program fail.
#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    failed(info)
}

/// Loops if no debugger is attached.
fn halt() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
