//! The work of the programs that show the size of the engine, its dependencies, and what it costs.
//!
//! A linked program contains the code that the engine needs at run time, and hardly any other code. So
//! its sections show the size of a part, and its symbols show whether the engine can panic or allocate.

#![no_std]

pub mod entries;
pub mod parts;
mod sizes;
mod texts;
mod work;

pub use sizes::SIZES;
pub use texts::{ARGUMENTS, RESULTS};
pub use work::{Host, Work};

/// Makes a program for this machine of a function that takes the number of the program's arguments. A
/// program that does not refer to `abort` cannot panic.
#[macro_export]
macro_rules! program {
    ($run:path) => {
        #[expect(unsafe_code, reason = "the C library is declared; ending the program is safe")]
        #[link(name = "c")]
        unsafe extern "C" {
            safe fn abort() -> !;
        }

        #[panic_handler]
        fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
            abort()
        }

        #[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
        #[unsafe(no_mangle)]
        extern "C" fn main(count: core::ffi::c_int, _: *const *const u8) -> core::ffi::c_int {
            $run(count);
            0
        }
    };
}

/// Makes a program for a microcontroller of one of [`parts`]. The program is measured and not run: it
/// lacks the vector table that a processor starts from, so it contains only the code of the part.
#[macro_export]
macro_rules! part {
    ($part:ident) => {
        #[panic_handler]
        fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
            $crate::parts::halt()
        }

        #[expect(unsafe_code, reason = "it is found by its name, and nothing else has that")]
        #[unsafe(no_mangle)]
        extern "C" fn _start() -> ! {
            $crate::parts::$part();
            $crate::parts::halt()
        }
    };
}
