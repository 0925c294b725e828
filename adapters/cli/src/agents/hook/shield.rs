//! A panic becomes an error: some agents take the exit code of one for a verdict on the call.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

/// What `work` gives; if it panics, where. Nothing is printed.
pub(super) fn shielded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static PLACE: Mutex<String> = Mutex::new(String::new());
    let before = panic::take_hook();
    // The message is left out: it may hold what was in the payload.
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
    fn pitfall_02_a_panic_is_an_error_that_says_where() {
        assert_eq!(shielded(|| 7), Ok(7));
        let place = shielded(|| [1, 2][std::hint::black_box(2)]).expect_err("a panic");
        assert!(place.starts_with("adapters/cli/src/agents/hook/shield.rs:"), "{place}");
    }
}
