//! A host with its detector, and its work for a call.

use unstuck_core::{Call, Detector, Digest, Outcome, Tool, presets};
use unstuck_text::{Recipe, SimilarCalls};

use crate::{ARGUMENTS, RESULTS};

/// The work for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The same call again, with the same result, as digests. The detector counts, finds a loop, blocks,
    /// and starts again after eight calls.
    Repeated,
    /// A new call with a new result, as digests.
    Novel,
    /// A new call by the whole default recipe: the fingerprint of JSON, similar calls, masks, the kind of tool, and failures that the result shows.
    Recipe,
}

impl Work {
    /// Every variant with its name in the table.
    pub const ALL: [(&str, Self); 3] = [
        ("the same call again", Self::Repeated),
        ("a new call", Self::Novel),
        ("a new call by the default recipe", Self::Recipe),
    ];
}

/// A host with one detector.
#[derive(Clone, Debug)]
pub struct Host {
    detector: Detector<'static, 20>,
    groups: SimilarCalls,
    /// The number of calls so far.
    calls: u64,
    /// The position of the next texts.
    text: usize,
}

impl Host {
    /// Returns a new host, or `None` if the default policy needs a longer window.
    #[must_use]
    pub fn new() -> Option<Self> {
        let detector = Detector::new(&presets::BALANCED).ok()?;
        Some(Self { detector, groups: SimilarCalls::new(), calls: 0, text: 0 })
    }

    /// Does `work` for one call and its outcome. Returns the action as a number.
    #[inline(never)]
    pub fn call(&mut self, work: Work) -> u8 {
        self.calls = self.calls.wrapping_add(1);
        self.text = if self.text + 1 < ARGUMENTS.len() { self.text + 1 } else { 0 };
        let call = self.announced(work);
        let announced = self.detector.announce(call);
        let outcome = self.outcome(work);
        let after = self.detector.outcome(announced.id, outcome);
        announced.verdict.or_stronger(after).action as u8
    }

    fn announced(&mut self, work: Work) -> Call {
        let digest = match work {
            Work::Repeated => Digest::new(1),
            Work::Novel => Digest::new(self.calls),
            Work::Recipe => {
                let arguments = self.arguments();
                return Recipe::BALANCED.call_among(&mut self.groups, "read_file", arguments);
            }
        };
        Call::new(Tool::new(1), digest)
    }

    fn outcome(&self, work: Work) -> Outcome {
        match work {
            Work::Repeated => Outcome::ok(Digest::new(1)),
            Work::Novel => Outcome::ok(Digest::new(self.calls)),
            Work::Recipe => Recipe::BALANCED.outcome("read_file", self.result(), false),
        }
    }

    fn arguments(&self) -> &'static str {
        ARGUMENTS.get(self.text).copied().unwrap_or_default()
    }

    fn result(&self) -> &'static str {
        RESULTS.get(self.text).copied().unwrap_or_default()
    }
}
