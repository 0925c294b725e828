//! The entry point and the panic handler of every program for a microcontroller.
//!
//! The programs are linked to be measured, not to run. They lack the vector table that a processor
//! starts from, so they contain only the code that they call.

#![no_std]

use core::fmt::{self, Write};
use core::hint::black_box;
use core::panic::PanicInfo;

/// The panic handler.
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

/// Makes a function without arguments the entry point.
#[macro_export]
macro_rules! program {
    ($main:path) => {
        /// The entry point for the linker.
        #[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
        #[unsafe(no_mangle)]
        extern "C" fn _start() -> ! {
            $main();
            $crate::halt()
        }
    };
}

/// Returns the arguments of a call, which the compiler cannot predict.
#[must_use]
#[inline]
pub fn arguments() -> &'static str {
    black_box("{}")
}

/// Returns the result of a call, which the compiler cannot predict.
#[must_use]
#[inline]
pub fn result() -> &'static str {
    black_box("ok")
}

/// A writer that discards text.
pub struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}
