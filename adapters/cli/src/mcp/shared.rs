//! The state that the two directions share.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

use super::watch::{Link, NAME};
use crate::output::remark;

/// The shared state of both directions. After an internal error, messages pass unwatched.
pub(crate) struct Shared(Mutex<Option<Link>>);

impl Shared {
    pub(crate) const fn new(watch: Link) -> Self {
        Self(Mutex::new(Some(watch)))
    }

    /// Returns the result of `judge`, or `None` after an internal error.
    pub(crate) fn judged<T>(&self, judge: impl FnOnce(&mut Link) -> T) -> Option<T> {
        let mut watch = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let watching = watch.as_mut()?;
        let judged = panic::catch_unwind(AssertUnwindSafe(|| judge(watching))).ok();
        if judged.is_none() {
            *watch = None;
            remark(NAME, "an internal error; from here on everything passes unwatched");
        }
        judged
    }
}

#[cfg(test)]
mod tests {
    use unstuck::Guard;

    use super::*;

    #[test]
    fn after_an_internal_error_nothing_is_judged() {
        let shared = Shared::new(Link::new(Guard::new()));
        assert_eq!(shared.judged(|_| 1), Some(1));
        assert_eq!(shared.judged(|_| panic!("a bug")), None::<()>);
        assert_eq!(shared.judged(|_| 1), None);
    }
}
