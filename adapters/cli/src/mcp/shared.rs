//! What the two directions share, and what becomes of it when it fails.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

use super::watch::{Link, NAME};
use crate::output::remark;

/// What both directions share. It outlives a failure of its own: whatever happens, messages pass.
pub(crate) struct Shared(Mutex<Option<Link>>);

impl Shared {
    pub(crate) const fn new(watch: Link) -> Self {
        Self(Mutex::new(Some(watch)))
    }

    /// What `judge` says; none after a failure.
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
    fn after_a_failure_nothing_is_judged_any_more() {
        let shared = Shared::new(Link::new(Guard::new()));
        assert_eq!(shared.judged(|_| 1), Some(1));
        assert_eq!(shared.judged(|_| panic!("a bug")), None::<()>);
        assert_eq!(shared.judged(|_| 1), None);
    }
}
