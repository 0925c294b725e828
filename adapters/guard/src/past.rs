//! What the guard remembers of the texts of the latest calls, to tell a cause.

#[cfg(not(feature = "clues"))]
use std::sync::Arc;

use unstuck_text::Unescaped;
#[cfg(feature = "clues")]
use unstuck_text::{LoopCause, PastCall, PastCalls};

use crate::decision::Cause;

/// The latest calls, each under its number of the engine. Without the feature `clues` there are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    #[cfg(feature = "clues")]
    calls: PastCalls,
}

#[cfg(feature = "clues")]
impl Past {
    pub(crate) fn announce(&mut self, seq: u64, tool: &str, args: &str) {
        self.calls.announce(seq, tool, args);
    }

    pub(crate) fn answer(&mut self, seq: u64, answer: &str, failed: bool) {
        self.calls.answer(seq, answer, failed);
    }

    pub(crate) fn clear(&mut self) {
        self.calls.clear();
    }

    /// Returns the cause of a loop whose latest call is `seq`, and has this `answer`.
    pub(crate) fn cause(&self, seq: u64, answer: &str, failed: bool) -> Option<Cause> {
        // The state may have been restored since the call was announced.
        let alone = PastCall { tool: "", args: "", answer, failed };
        let known = self.calls.back_from(seq);
        let is_known = known.clone().next().is_some();
        let calls = known.chain((!is_known).then_some(alone));
        LoopCause::of(answer, calls, &mut Unescaped::default()).map(Cause::from)
    }
}

#[cfg(not(feature = "clues"))]
#[expect(clippy::unused_self, reason = "there is nothing to remember")]
impl Past {
    pub(crate) const fn announce(&self, _: u64, _: &str, _: &str) {}

    pub(crate) const fn answer(&self, _: u64, _: &str, _: bool) {}

    pub(crate) const fn clear(&self) {}

    /// Returns the cause of a loop whose latest call has this `answer`.
    pub(crate) fn cause(&self, _: u64, answer: &str, failed: bool) -> Option<Cause> {
        let mut memory = Unescaped::default();
        let cause =
            if failed { unstuck_text::Cause::of(answer, &mut memory)? } else { return None };
        Some(Cause { kind: cause.kind, subject: cause.subject.map(Arc::from) })
    }
}
