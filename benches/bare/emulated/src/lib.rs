//! What the programs for a Cortex-M3 under QEMU have in common: the paint on the stack, and their ends.

#![no_std]

mod paint;
mod state;

use core::fmt::Display;
use core::panic::PanicInfo;

use cortex_m_semihosting::debug::{self, EXIT_FAILURE, EXIT_SUCCESS};
use cortex_m_semihosting::hprintln;

pub use paint::depth;
pub use state::State;

/// The end of a program that did what it was to do.
pub fn done() -> ! {
    debug::exit(EXIT_SUCCESS);
    halt()
}

/// The end of a program that did not.
pub fn failed(why: impl Display) -> ! {
    hprintln!("{why}");
    debug::exit(EXIT_FAILURE);
    halt()
}

/// Where every panic would end: none is expected, and none stays unseen.
#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    failed(info)
}

/// Where no debugger listens.
fn halt() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
