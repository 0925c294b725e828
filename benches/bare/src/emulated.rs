//! The exits of the programs for a Cortex-M3 under QEMU.

use core::fmt::Display;
use core::panic::PanicInfo;

use cortex_m_semihosting::debug::{self, EXIT_FAILURE, EXIT_SUCCESS};
use cortex_m_semihosting::hprintln;
use unstuck_bare::parts::halt;

/// Ends the program with success.
pub(crate) fn done() -> ! {
    debug::exit(EXIT_SUCCESS);
    halt()
}

/// Ends the program with failure.
pub(crate) fn failed(why: impl Display) -> ! {
    hprintln!("{why}");
    debug::exit(EXIT_FAILURE);
    halt()
}

/// The panic handler. No panic is expected, and a panic makes the program fail.
#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    failed(info)
}
