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
        let (call, outcome) = self.next(work);
        let announced = self.detector.announce(call);
        let after = self.detector.outcome(announced.id, outcome);
        announced.verdict.or_stronger(after).action as u8
    }

    /// Returns the next call and its outcome.
    fn next(&mut self, work: Work) -> (Call, Outcome) {
        let digest = match work {
            Work::Repeated => Digest::new(1),
            Work::Novel => Digest::new(self.calls),
            Work::Recipe => {
                let (recipe, tool) = (Recipe::BALANCED, "read_file");
                let text = ARGUMENTS.iter().zip(&RESULTS).nth(self.text);
                let (arguments, result) = text.unwrap_or((&"", &""));
                self.text = if self.text + 1 < ARGUMENTS.len() { self.text + 1 } else { 0 };
                let call = recipe.call_among(&mut self.groups, tool, arguments);
                return (call, recipe.outcome(tool, result, false));
            }
        };
        (Call::new(Tool::new(1), digest), Outcome::ok(digest))
    }
}
