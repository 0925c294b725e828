//! A host whose events are measured one by one.

use core::fmt::{self, Write};
use core::hint::black_box;

use unstuck_core::{Call, CallId, Detector, Digest, Outcome, Tool, Verdict, presets};
use unstuck_json::fingerprint;
use unstuck_text::{Masks, Recipe, SimilarCalls};

/// The tool of every call.
const TOOL: &str = "read_sensor";

/// The data that the events of a host use.
pub struct State {
    detector: Detector<'static, 20>,
    groups: SimilarCalls,
    /// The buffer for a saved detector, and the number of bytes in it.
    page: [u8; Detector::<20>::CHECKPOINT_MAX],
    saved: usize,
    /// The next call and its outcome.
    next: (Call, Outcome),
    /// The latest announced call, and the latest verdict.
    latest: CallId,
    said: Verdict,
    /// The next JSON document and the next result.
    arguments: &'static str,
    result: &'static str,
}

impl State {
    /// Returns a new host, or `None` if the default policy needs a longer window.
    #[must_use]
    pub fn new() -> Option<Self> {
        let digest = Digest::new(0);
        let mut detector = Detector::new(&presets::BALANCED).ok()?;
        let call = Call::new(Tool::named(TOOL), digest);
        Some(Self {
            latest: detector.announce(call).id,
            detector,
            groups: SimilarCalls::new(),
            page: [0; Detector::<20>::CHECKPOINT_MAX],
            saved: 0,
            next: (call, Outcome::ok(digest)),
            said: Verdict::PROCEED,
            arguments: "",
            result: "",
        })
    }

    /// Sets the number of the next call and of its outcome, and the step of the call, if any.
    pub fn prepare(&mut self, number: u64, step: Option<u64>) {
        let call = Call::new(Tool::named(TOOL), Digest::of(&number.to_le_bytes()));
        let call = step.map_or(call, |step| call.step(step));
        self.next = (call, Outcome::ok(Digest::of(&number.to_be_bytes())));
    }

    /// Sets the next texts.
    pub fn texts(&mut self, arguments: &'static str, result: &'static str) {
        (self.arguments, self.result) = (arguments, result);
    }

    /// Announces the next call.
    pub fn announce(&mut self) {
        let announced = self.detector.announce(self.next.0);
        (self.latest, self.said) = (announced.id, announced.verdict);
    }

    /// Reports the outcome of the latest call.
    pub fn outcome(&mut self) {
        let verdict = self.detector.outcome(self.latest, self.next.1);
        // The verdict is kept for the event that writes its text.
        self.said = if verdict.finding.is_some() { verdict } else { self.said };
    }

    /// Reports that the latest call was not run.
    pub fn vetoed(&mut self) {
        self.said = self.detector.vetoed(self.latest);
    }

    /// Cancels the latest call.
    pub fn cancel(&mut self) {
        self.said = self.detector.cancel(self.latest);
    }

    /// Reports that no more outcomes will arrive.
    pub fn finish(&mut self) {
        self.said = self.detector.finish();
    }

    /// Reports a turn without a call.
    pub fn text_turn(&mut self) {
        self.said = self.detector.text_turn(Digest::new(1));
    }

    /// Reports a new instruction of the user.
    pub fn user_message(&mut self) {
        self.said = self.detector.user_message(Digest::of(self.result.as_bytes()));
    }

    /// Reports the events that are not calls, one after another.
    pub fn control(&mut self) {
        self.detector.progress();
        black_box(self.detector.retry(black_box(2)));
        if let Some(finding) = &self.said.finding {
            self.detector.silence(finding.loop_id);
            self.detector.false_positive(finding);
        }
    }

    /// Returns the verdict that the next call would get.
    pub fn peek(&mut self) {
        let _ = black_box(self.detector.peek(self.next.0));
    }

    /// Finds the nearest rule.
    pub fn nearest(&mut self) {
        let _ = black_box(self.detector.nearest());
    }

    /// Writes the text for the agent.
    pub fn nudge(&mut self) {
        if let Some(finding) = &self.said.finding {
            let _ = black_box(write!(Nowhere, "{}", finding.nudge(self.said.action, TOOL)));
        }
    }

    /// Computes the fingerprint of the arguments.
    pub fn fingerprint(&mut self) {
        let _ = black_box(fingerprint(self.arguments.as_bytes()));
    }

    /// Computes the digest of the result with all masks.
    pub fn mask(&mut self) {
        black_box(Masks::ALL.digest(self.result.as_bytes()));
    }

    /// Reads the call by the default recipe.
    pub fn recipe_call(&mut self) {
        self.next.0 = Recipe::BALANCED.call_among(&mut self.groups, TOOL, self.arguments);
    }

    /// Reads the outcome by the default recipe.
    pub fn recipe_outcome(&mut self) {
        self.next.1 = Recipe::BALANCED.outcome(TOOL, self.result, false);
    }

    /// Saves the detector.
    pub fn save(&mut self) {
        self.saved = self.detector.save(&mut self.page).map_or(0, |bytes| bytes.len());
    }

    /// Restores the detector from the saved bytes.
    pub fn restore(&mut self) {
        let bytes = self.page.get(..self.saved).unwrap_or_default();
        if let Ok(detector) = Detector::restore(&presets::BALANCED, bytes) {
            self.detector = detector;
        }
    }
}

/// A writer that discards text.
struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}
