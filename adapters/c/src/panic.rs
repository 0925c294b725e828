//! The panic handler. It is linked only if some code can panic.

use core::panic::PanicInfo;

#[cfg(not(target_os = "none"))]
#[link(name = "c")]
unsafe extern "C" {
    /// Ends the program with a signal.
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
