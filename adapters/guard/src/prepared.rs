//! Calls and results whose text is read before the guard that judges them is at hand.

use std::sync::Arc;

use unstuck_core::{Call, Digest, Outcome, Tag};
use unstuck_text::{Answer, Digester, ReadAnswer, ReadCall, Recipe};

use crate::asked::Asked;
use crate::calls::shown;
use crate::payload::Payload;

/// The digests of a call.
#[derive(Clone, Debug)]
pub(crate) struct PreparedCall {
    recipe: Recipe,
    raw: Digest,
    read: ReadCall,
}

impl PreparedCall {
    /// Returns the digest of the raw call.
    pub(crate) const fn raw(&self) -> Digest {
        self.raw
    }

    /// Returns the call, as if there were no earlier ones, if it was read by `recipe`.
    pub(crate) fn alone(&self, recipe: &Recipe) -> Option<Call> {
        (self.recipe == *recipe).then(|| self.read.alone())
    }

    /// Returns the call after comparing it with earlier ones, if it was read by the recipe of `digester`.
    pub(crate) fn among<const WORDS: usize>(&self, digester: &mut Digester<WORDS>) -> Option<Call> {
        (self.recipe == digester.recipe).then(|| digester.join(&self.read))
    }
}

/// The digests of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreparedResult {
    recipe: Recipe,
    /// The circumstances on which the outcome depends beside the text.
    tool: String,
    kind: Tag,
    failed: bool,
    read: ReadAnswer,
    lines: Vec<u64>,
}

impl PreparedResult {
    /// Returns the outcome, if the result was read as this `answer` by the recipe of `digester`.
    pub(crate) fn among<const WORDS: usize>(
        &self,
        digester: &mut Digester<WORDS>,
        answer: &Answer<'_>,
    ) -> Option<Outcome> {
        let is_same = self.recipe == digester.recipe
            && (&*self.tool, self.kind, self.failed) == (answer.tool, answer.kind, answer.failed)
            && answer.said.is_none();
        is_same.then(|| digester.compare(&self.read, self.lines.iter().copied()))
    }
}

impl Asked<'_> {
    /// Reads the arguments now. A guard with this recipe does not read them again, so that a host that
    /// shares the guard's state with other threads or processes locks it for a shorter time. It changes no
    /// decision.
    ///
    /// ```
    /// use unstuck::{Asked, Guard, Payload, Preset};
    ///
    /// let (recipe, log) = (Preset::BALANCED.recipe, "warning: unused\n".repeat(10_000));
    /// let asked = Asked::new("bash", r#"{"command":"make"}"#).read_ahead(&recipe);
    /// let result = Payload::from(&log).read_ahead(&recipe, &asked, false);
    /// // Only from here on, others have to wait.
    /// let mut guard = Guard::new();
    /// let ticket = guard.announce(&asked).ticket();
    /// let _ = guard.after(ticket, result, false);
    /// ```
    pub fn read_ahead(mut self, recipe: &Recipe) -> Self {
        let read = recipe.read_call(self.tool, self.args.as_str());
        self.prepared = Some(Arc::new(PreparedCall { recipe: *recipe, raw: self.digest(), read }));
        self
    }
}

impl Payload<'_> {
    /// Reads the text now, as the result of the call `asked`; see [`Asked::read_ahead`]. `failed` is what
    /// the host will report to [`Guard::after`](crate::Guard::after).
    #[must_use]
    pub fn read_ahead(mut self, recipe: &Recipe, asked: &Asked<'_>, failed: bool) -> Self {
        let call = asked.prepared.as_ref().and_then(|prepared| prepared.alone(recipe));
        let call = call.unwrap_or_else(|| recipe.call(asked.tool, asked.args.as_str()));
        let (tool, kind, mut lines) = (shown(asked.tool), call.kind(), Vec::new());
        let answer = Answer { kind, ..Answer::new(&tool, self.as_str(), failed) };
        let read = recipe.read_answer(&answer, |line| lines.push(line));
        let prepared = PreparedResult { recipe: *recipe, tool, kind, failed, read, lines };
        self.prepared = Some(Arc::new(prepared));
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::declared::Declaration;
    use crate::guard::Guard;

    const CALLS: [(&str, &str); 6] = [
        ("bash", r#"{"command":"cargo test"}"#),
        ("bash", r#"{"command":"cargo test -q"}"#),
        ("read", r#"{"path":"src/main.rs"}"#),
        ("grep", r#"{"pattern":"fn main"}"#),
        ("an odd name", "no JSON"),
        ("write", r#"{"path":"a","content":"b"}"#),
    ];

    const RESULTS: [&str; 6] = [
        "",
        "1 failed",
        "No matches found",
        "let a = 1; // one\nlet b = 2; // two",
        "let b = 2; // two\nlet a = 1; // one",
        "No such file or directory",
    ];

    proptest! {
        #[test]
        fn reading_ahead_changes_no_decision(
            events in vec((0..CALLS.len(), 0..RESULTS.len(), 0..12_u8), 0..40),
            preset in 0..3_usize,
        ) {
            let preset = ["balanced", "nudge", "start_over"][preset];
            let builder = || Guard::builder().named(preset).expect("a preset");
            let (mut late, mut at_once) =
                (builder().build().expect("a guard"), builder().build().expect("a guard"));
            let recipe = builder().build().expect("a guard").setup.preset.recipe;
            for &(call, result, how) in &events {
                let (tool, args) = CALLS[call];
                let (asked, failed) = (Asked::new(tool, args), how % 2 == 0);
                let ahead = asked.clone().read_ahead(&recipe);
                let read = Payload::from(RESULTS[result]).read_ahead(&recipe, &ahead, failed);
                if how == 3 {
                    let exempt = Declaration::new().key(["path"]);
                    late.declare(tool, exempt.clone());
                    at_once.declare(tool, exempt);
                }
                let decisions = if how == 1 {
                    (late.finished(&ahead, read, failed), at_once.finished(&asked, RESULTS[result], failed))
                } else {
                    let (one, other) = (late.announce(&ahead), at_once.announce(&asked));
                    prop_assert_eq!(format!("{one:?}"), format!("{other:?}"));
                    // A host may report another thing than what it read.
                    let failed = failed != (how == 5);
                    (late.after(one.ticket(), read, failed), at_once.after(other.ticket(), RESULTS[result], failed))
                };
                prop_assert_eq!(format!("{:?}", decisions.0), format!("{:?}", decisions.1));
                prop_assert_eq!(late.save(), at_once.save());
            }
        }
    }

    /// The guard is handed other texts than those that were read: it does not read them.
    #[test]
    fn a_text_that_was_read_is_not_read_again() {
        let recipe = Guard::new().setup.preset.recipe;
        let (tool, args) = CALLS[2];
        let ahead = Asked::new(tool, args).read_ahead(&recipe);
        let result = Payload::from(RESULTS[3]).read_ahead(&recipe, &ahead, false);
        let (mut guard, mut expected) = (Guard::new(), Guard::new());
        for _ in 0..4 {
            let asked = Asked { args: "unread".into(), ..ahead.clone() };
            let mut unread = Payload::from("unread");
            unread.prepared.clone_from(&result.prepared);
            let (one, other) = (guard.announce(&asked), expected.before(tool, args));
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
            let peeked = [guard.peek(&asked), expected.peek(&ahead)].map(|one| format!("{one:?}"));
            assert_eq!(peeked[0], peeked[1]);
            assert_eq!(guard.open_call(&asked), other.ticket());
            let (one, other) = (
                guard.after(one.ticket(), unread, false),
                expected.after(other.ticket(), RESULTS[3], false),
            );
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
        }
        assert_eq!(guard.save(), expected.save());
    }
}
