//! Caches of the latest calls and the latest short results, so that equal ones are not read again: an agent in a loop makes
//! the same call and gets the same answer each time. A saved state does not contain them.

use std::collections::VecDeque;
use std::fmt;

use unstuck_core::{Call, Digest, Outcome, Tag, Tool};
use unstuck_text::{Digester, ReadCall};

/// The number of calls that are remembered, which is enough for a few calls in turns.
const CALLS_MAX: usize = 4;

/// What was read of the latest calls, by the digests of the raw calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownCalls {
    calls: [Option<(Digest, ReadCall)>; CALLS_MAX],
    /// The place of the oldest call.
    oldest: usize,
}

impl KnownCalls {
    /// Makes the call of `tool` with `args`, whose raw digest is `raw`, by `digester`. O(length of `args`), and O(1) for a
    /// known call.
    pub(crate) fn call<const WORDS: usize>(
        &mut self,
        digester: &mut Digester<WORDS>,
        raw: Digest,
        (tool, args): (&str, &str),
    ) -> Call {
        let known = self.calls.iter().flatten().find(|(known, _)| *known == raw);
        if let Some((_, read)) = known {
            return digester.join(read);
        }
        let read = digester.recipe.read_call(tool, args);
        let call = digester.join(&read);
        if let Some(place) = self.calls.get_mut(self.oldest) {
            *place = Some((raw, read));
        }
        self.oldest = (self.oldest + 1) % CALLS_MAX;
        call
    }
}

/// The number of results that are remembered, which is enough for a few calls in turns.
const RESULTS_MAX: usize = 4;

/// The longest result that is remembered, in bytes. Nearly all that come again are shorter.
const LENGTH_MAX: usize = 512;

/// What the outcome of a result depends on beside its text: the tool, the kind of the call, and whether the host reports a
/// failure.
type Circumstances = (Tool, Tag, bool);

/// The latest short results, the oldest first. Once there are four, nothing is allocated.
#[derive(Clone, Default)]
pub(crate) struct KnownResults(VecDeque<KnownResult>);

#[derive(Clone)]
struct KnownResult {
    circumstances: Circumstances,
    text: String,
    outcome: Outcome,
}

impl fmt::Debug for KnownResults {
    /// Writes the number of results, and not their texts, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KnownResults").field(&self.0.len()).finish()
    }
}

impl KnownResults {
    /// Returns the outcome of `text` if it is known in the same `circumstances`, or else the one that `read` returns. That
    /// is remembered, unless the text is long. O(length of `text`).
    pub(crate) fn outcome(
        &mut self,
        circumstances: Circumstances,
        text: &str,
        read: impl FnOnce() -> Outcome,
    ) -> Outcome {
        let is_it = |it: &&KnownResult| it.text == text && it.circumstances == circumstances;
        if let Some(known) = self.0.iter().rev().find(is_it) {
            return known.outcome;
        }
        let outcome = read();
        if text.len() <= LENGTH_MAX {
            self.add(circumstances, text, outcome);
        }
        outcome
    }

    /// Adds a result. Forgets the oldest one if there are too many.
    fn add(&mut self, circumstances: Circumstances, text: &str, outcome: Outcome) {
        let is_full = self.0.len() >= RESULTS_MAX;
        let oldest = if is_full { self.0.pop_front() } else { None };
        let mut room = oldest.map_or_else(|| String::with_capacity(LENGTH_MAX), |it| it.text);
        room.clear();
        room.push_str(text);
        self.0.push_back(KnownResult { circumstances, text: room, outcome });
    }
}

#[cfg(test)]
mod tests {
    use unstuck_core::{Digest, Outcome, Tag, Tool};
    use unstuck_text::{Digester, Recipe};

    use super::{CALLS_MAX, KnownCalls, KnownResults, LENGTH_MAX, RESULTS_MAX};

    #[test]
    fn a_known_call_is_the_one_that_reading_makes() {
        let (mut known, mut digester) =
            (KnownCalls::default(), Digester::<0>::new(Recipe::BALANCED));
        let mut plain = digester.clone();
        let mut is_known = 0;
        // Variants that join each other's groups, in an order without a period.
        for n in 0..400_usize {
            let args = format!("{{\"query\":\"red {} door\"}}", "big ".repeat(n * n % 7));
            let raw = Digest::of(args.as_bytes());
            is_known += usize::from(known.calls.iter().flatten().any(|(known, _)| *known == raw));
            let call = known.call(&mut digester, raw, ("search", &args));
            assert_eq!(call, plain.call("search", &args), "{args}");
            let mut digests: Vec<_> =
                known.calls.iter().flatten().map(|(raw, _)| raw.bits()).collect();
            digests.sort_unstable();
            digests.dedup();
            assert_eq!(digests.len(), known.calls.iter().flatten().count(), "each call once");
        }
        assert!(is_known > 100 && known.calls.iter().flatten().count() == CALLS_MAX, "{is_known}");
    }

    #[test]
    fn the_latest_short_results_are_known_in_their_circumstances() {
        let (mut known, long) = (KnownResults::default(), "x".repeat(LENGTH_MAX + 1));
        let outcome = |n| Outcome::ok(Digest::new(n));
        let here = (Tool::named("bash"), Tag::Shell, false);
        let others = [
            (Tool::named("make"), Tag::Shell, false),
            (here.0, Tag::Test, false),
            (here.0, Tag::Shell, true),
        ];
        let texts = ["a", "b", &long, "c", "d", "e"];
        for (n, text) in (0..).zip(texts) {
            assert_eq!(known.outcome(here, text, || outcome(n)), outcome(n));
        }
        for (n, text) in (0..).zip(texts).skip(texts.len() - RESULTS_MAX) {
            let expected = if text.len() > LENGTH_MAX { 9 } else { n };
            let again = known.clone().outcome(here, text, || outcome(9));
            assert_eq!(again, outcome(expected), "{text}");
            for other in others {
                assert_eq!(known.clone().outcome(other, text, || outcome(9)), outcome(9));
            }
        }
        assert_eq!(known.outcome(here, "a", || outcome(9)), outcome(9));
    }
}
