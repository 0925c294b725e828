//! A host with its detector, and what it does at a call.

use unstuck_core::{Call, Detector, Digest, Outcome, Tool, presets};
use unstuck_json::fingerprint;
use unstuck_text::{Masks, Recipe, SimilarCalls};

use crate::texts::{ARGUMENTS, RESULTS};

/// What is done at a call: each does what the one before it does, and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The same call again, with the same result, whose digests the host has. The detector counts,
    /// finds, blocks, and begins afresh after eight times.
    Repeated,
    /// A new call with a new result, whose digests the host has.
    Novel,
    /// Also the fingerprint of its arguments.
    Arguments,
    /// Also the digest of its result by every mask.
    Result,
    /// All that the default recipe does: which calls are alike, what kind of tool it is, whether the
    /// result tells of a failure.
    Recipe,
}

impl Work {
    /// Every work.
    pub const ALL: [Self; 5] =
        [Self::Repeated, Self::Novel, Self::Arguments, Self::Result, Self::Recipe];

    /// What tables call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repeated => "the same call again",
            Self::Novel => "a new call",
            Self::Arguments => "a new call, 200 B of JSON",
            Self::Result => "a new call, 200 B of JSON, 500 B of result",
            Self::Recipe => "the same by the default recipe",
        }
    }

    /// The work that is called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|work| work.name() == name)
    }
}

/// A host with one detector.
#[derive(Clone, Debug)]
pub struct Host {
    detector: Detector<'static, 20>,
    groups: SimilarCalls,
    /// How many calls there were.
    calls: u64,
    /// Which texts are next.
    text: usize,
}

impl Host {
    /// A host that has seen nothing yet; none if the default policy needs a longer window.
    #[must_use]
    pub fn new() -> Option<Self> {
        let detector = Detector::new(&presets::BALANCED).ok()?;
        Some(Self { detector, groups: SimilarCalls::new(), calls: 0, text: 0 })
    }

    /// Does `work` for one call and its outcome. Returns what to do, as a number.
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
            Work::Arguments | Work::Result => {
                fingerprint(self.arguments().as_bytes()).unwrap_or(Digest::new(0))
            }
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
            Work::Novel | Work::Arguments => Outcome::ok(Digest::new(self.calls)),
            Work::Result => {
                let masked = Masks::ALL.digest(self.result().as_bytes());
                Outcome::ok(masked.result).near(masked.near)
            }
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
