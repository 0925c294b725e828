//! What every program for a microcontroller needs: where it begins, and an end for panics.
//!
//! The programs are linked to be measured, not to run: they lack the vectors that a processor
//! starts from, and so hold nothing but what they call.

#![no_std]

use core::fmt::{self, Write};
use core::hint::black_box;
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

/// Makes a function of no arguments what the linker begins with.
#[macro_export]
macro_rules! program {
    ($main:path) => {
        /// Where the linker begins.
        #[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
        #[unsafe(no_mangle)]
        extern "C" fn _start() -> ! {
            $main();
            $crate::halt()
        }
    };
}

/// The arguments of a call, of which the compiler knows nothing.
#[must_use]
#[inline]
pub fn arguments() -> &'static str {
    black_box("{}")
}

/// The result of a call, of which the compiler knows nothing.
#[must_use]
#[inline]
pub fn result() -> &'static str {
    black_box("ok")
}

/// Takes words, and shows them to nobody.
pub struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}
