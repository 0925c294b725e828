//! A host whose events are measured one by one.

use core::fmt::{self, Write};
use core::hint::black_box;

use unstuck_core::{Call, CallId, Detector, Digest, Outcome, Tool, Verdict, presets};
use unstuck_json::fingerprint;
use unstuck_text::{Masks, Recipe, SimilarCalls};

/// The tool of every call.
const TOOL: &str = "read_sensor";

/// What the events of a host work on.
pub struct State {
    detector: Detector<'static, 20>,
    groups: SimilarCalls,
    /// Where the detector is saved to, and how many bytes of it were written.
    page: [u8; Detector::<20>::CHECKPOINT_MAX],
    saved: usize,
    /// The next call and its outcome.
    next: (Call, Outcome),
    /// The latest call that was announced, and what was said last.
    latest: CallId,
    said: Verdict,
    /// A document of JSON, and a result.
    arguments: &'static str,
    result: &'static str,
}

impl State {
    /// A host that has seen nothing yet; none if the default policy needs a longer window.
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

    /// The next call is that with the number `number`, in the step `step` if it is in one; its
    /// outcome has the same number.
    pub fn prepare(&mut self, number: u64, step: Option<u64>) {
        let call = Call::new(Tool::named(TOOL), Digest::of(&number.to_le_bytes()));
        let call = step.map_or(call, |step| call.step(step));
        self.next = (call, Outcome::ok(Digest::of(&number.to_be_bytes())));
    }

    /// The next texts are these.
    pub fn texts(&mut self, arguments: &'static str, result: &'static str) {
        (self.arguments, self.result) = (arguments, result);
    }

    /// The next call is announced.
    pub fn announce(&mut self) {
        let announced = self.detector.announce(self.next.0);
        (self.latest, self.said) = (announced.id, announced.verdict);
    }

    /// The latest call has its outcome.
    pub fn outcome(&mut self) {
        let verdict = self.detector.outcome(self.latest, self.next.1);
        // What was said stays, for those who ask for its words.
        self.said = if verdict.finding.is_some() { verdict } else { self.said };
    }

    /// The latest call was not run.
    pub fn vetoed(&mut self) {
        self.said = self.detector.vetoed(self.latest);
    }

    /// The latest call is taken back.
    pub fn cancel(&mut self) {
        self.said = self.detector.cancel(self.latest);
    }

    /// No more outcomes will come.
    pub fn finish(&mut self) {
        self.said = self.detector.finish();
    }

    /// A turn without a call.
    pub fn text_turn(&mut self) {
        self.said = self.detector.text_turn(Digest::new(1));
    }

    /// A new instruction.
    pub fn user_message(&mut self) {
        self.said = self.detector.user_message(Digest::of(self.result.as_bytes()));
    }

    /// What no call says, one after another.
    pub fn control(&mut self) {
        self.detector.progress();
        black_box(self.detector.retry(black_box(2)));
        if let Some(finding) = &self.said.finding {
            self.detector.silence(finding.loop_id);
            self.detector.false_positive(finding);
        }
    }

    /// What the next call would meet.
    pub fn peek(&mut self) {
        let _ = black_box(self.detector.peek(self.next.0));
    }

    /// Which rule is nearest.
    pub fn nearest(&mut self) {
        let _ = black_box(self.detector.nearest());
    }

    /// The text that the agent reads.
    pub fn nudge(&mut self) {
        if let Some(finding) = &self.said.finding {
            let _ = black_box(write!(Nowhere, "{}", finding.nudge(self.said.action, TOOL)));
        }
    }

    /// The digest of the arguments.
    pub fn fingerprint(&mut self) {
        let _ = black_box(fingerprint(self.arguments.as_bytes()));
    }

    /// The digest of the result by every mask.
    pub fn mask(&mut self) {
        black_box(Masks::ALL.digest(self.result.as_bytes()));
    }

    /// The call by the default recipe.
    pub fn recipe_call(&mut self) {
        self.next.0 = Recipe::BALANCED.call_among(&mut self.groups, TOOL, self.arguments);
    }

    /// The outcome by the default recipe.
    pub fn recipe_outcome(&mut self) {
        self.next.1 = Recipe::BALANCED.outcome(TOOL, self.result, false);
    }

    /// The detector is saved.
    pub fn save(&mut self) {
        self.saved = self.detector.save(&mut self.page).map_or(0, |bytes| bytes.len());
    }

    /// The detector goes on from what was saved.
    pub fn restore(&mut self) {
        let bytes = self.page.get(..self.saved).unwrap_or_default();
        if let Ok(detector) = Detector::restore(&presets::BALANCED, bytes) {
            self.detector = detector;
        }
    }
}

/// Takes words, and shows them to nobody.
struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}
