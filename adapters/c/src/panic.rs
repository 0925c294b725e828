//! Where a panic would end. A program that does not refer to it has none.

use core::panic::PanicInfo;

#[cfg(not(target_os = "none"))]
#[link(name = "c")]
unsafe extern "C" {
    /// Ends the program by a signal.
    safe fn abort() -> !;
}

#[cfg(target_os = "none")]
fn abort() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    abort()
}
