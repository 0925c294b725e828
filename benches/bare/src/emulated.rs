//! Programs for a Cortex-M3 under QEMU: each prints figures, a line each.

#![no_std]
#![no_main]

mod instructions;
mod stack;

use core::fmt::Display;
use core::panic::PanicInfo;

// It has the critical sections that semihosting needs.
use cortex_m as _;
use cortex_m_rt::entry;
use cortex_m_semihosting::debug::{self, EXIT_FAILURE, EXIT_SUCCESS, ExitStatus};
use cortex_m_semihosting::hprintln;
use unstuck_bare::SIZES;

/// The work of this program.
const PRINT: fn() = match env!("CARGO_BIN_NAME").as_bytes() {
    b"instructions" => instructions::print,
    b"sizes" => || SIZES.iter().for_each(|(name, bytes)| hprintln!("{name}\t{bytes}")),
    b"stack" => stack::print,
    _ => panic!("a program without work"),
};

#[entry]
fn main() -> ! {
    PRINT();
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
