//! The work of the programs that show the size of the engine, its dependencies, and what it costs.
//!
//! A linked program contains the code that the engine needs at run time, and hardly any other code. So
//! its sections show the size of a part, and its symbols show whether the engine can panic or allocate.

#![no_std]

pub mod entries;
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
