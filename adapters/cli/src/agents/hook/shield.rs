//! Catching panics and signals: some agents take the exit code of a crash for a verdict on the call.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

/// Makes the signals harmless that a process gets because of its limits. A write beyond the limit of a file's
/// size is an error from now on. A lack of memory, which ends in `SIGABRT`, and of time end the process with 0.
#[cfg(unix)]
pub(super) fn ignore_limits() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGABRT, SIGXCPU, SIGXFSZ};
    use signal_hook::flag;

    // Without the handlers the hook works as well, within the limits.
    let _ = flag::register(SIGXFSZ, Arc::default());
    for signal in [SIGABRT, SIGXCPU] {
        let _ = flag::register_conditional_shutdown(signal, 0, Arc::new(AtomicBool::new(true)));
    }
}

/// Does nothing: this system has no such signals.
#[cfg(not(unix))]
pub(super) fn ignore_limits() {}

/// Runs `work` and returns its result, or the place of its panic. Nothing is printed.
pub(super) fn shielded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static PLACE: Mutex<String> = Mutex::new(String::new());
    let before = panic::take_hook();
    // The message is left out, because it may quote the payload.
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, ToString::to_string);
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(before);
    done.map_err(|_| PLACE.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

#[cfg(test)]
mod tests {
    use super::shielded;

    #[test]
    fn pitfall_02_a_panic_becomes_an_error_with_its_place() {
        assert_eq!(shielded(|| 7), Ok(7));
        let place = shielded(|| [1, 2][std::hint::black_box(2)]).expect_err("a panic");
        assert!(place.starts_with("adapters/cli/src/agents/hook/shield.rs:"), "{place}");
    }
}
