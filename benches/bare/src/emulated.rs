//! The exits of the programs for a Cortex-M3 under QEMU.

use core::fmt::Display;
use core::panic::PanicInfo;

// It has the critical sections that semihosting needs.
use cortex_m as _;
use cortex_m_semihosting::debug::{self, EXIT_FAILURE, EXIT_SUCCESS, ExitStatus};
use cortex_m_semihosting::hprintln;

/// Ends the program with success.
pub(crate) fn done() -> ! {
    exit(EXIT_SUCCESS)
}

/// Ends the program with failure.
pub(crate) fn failed(why: impl Display) -> ! {
    hprintln!("{why}");
    exit(EXIT_FAILURE)
}

/// Ends the program, or loops if no debugger is attached.
fn exit(status: ExitStatus) -> ! {
    debug::exit(status);
    loop {
        core::hint::spin_loop();
    }
}

/// The panic handler. No panic is expected, and a panic makes the program fail.
#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    failed(info)
}
