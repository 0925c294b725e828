//! Plays events to the engine and records them with their verdicts.

use unstuck_core::{
    Announced, Call, CallId, Detector, Digest, Finding, LoopId, Outcome, RepeatedText, Tag, Tool,
    Turn, Verdict,
};
use unstuck_text::{Preset, SimilarCalls};

/// The kind of an event. C has the same names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EventKind {
    #[default]
    Begin,
    Announce,
    Outcome,
    AnnounceJson,
    OutcomeText,
    Vetoed,
    Cancel,
    Finish,
    Turn,
    TurnText,
    User,
    UserText,
    Clear,
    Progress,
    Retry,
    Silence,
    FalsePositive,
    Peek,
    Restore,
}

/// An event with all its parameters, and its verdicts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    /// The tag of the call, or the period of a repetition in a text.
    pub(crate) tag: u8,
    /// A combination of the constants below, from [`ALIKE`] on.
    pub(crate) flags: u8,
    /// The place of the preset, or the number of the call.
    pub(crate) which: usize,
    /// The tool, or the raw digest of the result.
    pub(crate) tool: u32,
    /// The step, the score, the laps in a text, or the number of calls to take back.
    pub(crate) number: u32,
    /// The digest of the arguments, the result or the text; a loop id; or the expected result.
    pub(crate) one: u64,
    /// The similar or near digest.
    pub(crate) two: u64,
    /// The name of the tool.
    pub(crate) name: &'static str,
    /// The arguments, the result or the message.
    pub(crate) text: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) settled: Verdict,
}

/// The event has a similar or near digest.
pub(crate) const ALIKE: u8 = 1;
/// The event has a step or a score.
pub(crate) const NUMBERED: u8 = 2;
pub(crate) const FAILED: u8 = 4;
pub(crate) const SILENT: u8 = 8;
/// The call is idempotent.
pub(crate) const IDEMPOTENT: u8 = 16;
pub(crate) const PENDING: u8 = 16;
pub(crate) const TRANSIENT: u8 = 32;
/// The event has a raw digest.
pub(crate) const RAW: u8 = 64;

impl Event {
    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    fn call(&self) -> Call {
        let call = Call::new(Tool::new(self.tool), Digest::new(self.one));
        let call = call.tag(Tag::ALL[usize::from(self.tag)]);
        let call = if self.has(ALIKE) { call.similar(Digest::new(self.two)) } else { call };
        let call = if self.has(IDEMPOTENT) { call.idempotent() } else { call };
        self.in_step(call)
    }

    fn in_step(&self, call: Call) -> Call {
        if self.has(NUMBERED) { call.step(self.number.into()) } else { call }
    }

    fn outcome(&self) -> Outcome {
        let result = Digest::new(self.one);
        let outcome = if self.has(FAILED) { Outcome::failed(result) } else { Outcome::ok(result) };
        let outcome = if self.has(ALIKE) { outcome.near(Digest::new(self.two)) } else { outcome };
        let outcome = if self.has(NUMBERED) { outcome.score(self.number) } else { outcome };
        let outcome = if self.has(SILENT) { outcome.silent() } else { outcome };
        let outcome = if self.has(PENDING) { outcome.pending() } else { outcome };
        let outcome = if self.has(TRANSIENT) { outcome.transient() } else { outcome };
        if self.has(RAW) { outcome.raw(Digest::new(self.tool.into())) } else { outcome }
    }

    fn turn(&self) -> Turn {
        let turn = Turn::new(Digest::new(self.one));
        match u16::try_from(self.number) {
            Ok(laps @ 2..) => turn.repeated(RepeatedText { period: self.tag, laps }),
            _ => turn,
        }
    }
}

/// A run in progress.
pub(crate) struct Run {
    preset: &'static Preset,
    detector: Detector<'static, 20>,
    similar: SimilarCalls,
    /// The ids of all calls so far.
    pub(crate) ids: Vec<CallId>,
    /// The latest finding.
    pub(crate) finding: Option<Finding>,
}

impl Run {
    pub(crate) fn new(preset: &'static Preset) -> Self {
        let detector = Detector::new(preset.policy).expect("a window of 20");
        Self { preset, detector, similar: SimilarCalls::new(), ids: Vec::new(), finding: None }
    }

    /// Plays `event`, and records its verdicts in it.
    pub(crate) fn play(&mut self, event: &mut Event) {
        let (detector, recipe) = (&mut self.detector, &self.preset.recipe);
        let id = |event: &Event| self.ids[event.which];
        event.verdict = match event.kind {
            EventKind::Announce => announced(&mut self.ids, detector.announce(event.call()), event),
            EventKind::AnnounceJson => {
                let call = recipe.call_among(&mut self.similar, event.name, event.text);
                announced(&mut self.ids, detector.announce(event.in_step(call)), event)
            }
            EventKind::Outcome => detector.outcome(id(event), event.outcome()),
            EventKind::OutcomeText => {
                let outcome = recipe.outcome(event.name, event.text, event.has(FAILED));
                detector.outcome(id(event), outcome)
            }
            EventKind::Vetoed => detector.vetoed(id(event)),
            EventKind::Cancel => detector.cancel(id(event)),
            EventKind::Finish => detector.finish(),
            EventKind::Turn => detector.text_turn(event.turn()),
            EventKind::TurnText => detector.text_turn(recipe.turn(event.text)),
            EventKind::User => detector.user_message(Digest::new(event.one)),
            EventKind::UserText => detector.user_message(recipe.message(event.text)),
            EventKind::Peek => detector.peek(event.call()),
            _ => {
                self.control(event);
                Verdict::PROCEED
            }
        };
        self.finding = event.verdict.finding.or(event.settled.finding).or(self.finding);
    }

    /// Plays an event without a verdict, and records its result.
    fn control(&mut self, event: &mut Event) {
        let detector = &mut self.detector;
        match event.kind {
            EventKind::Clear => detector.clear(),
            EventKind::Progress => detector.progress(),
            EventKind::Retry => {
                let taken = detector.retry(usize::try_from(event.number).expect("a few"));
                event.one = u64::try_from(taken).expect("a few");
            }
            EventKind::Silence => detector.silence(LoopId::from_bits(event.one)),
            EventKind::FalsePositive => {
                detector.false_positive(&self.finding.expect("there was a finding"));
            }
            EventKind::Restore => {
                event.one = restore(detector);
                // In C, a restored detector has no latest finding.
                self.finding = None;
            }
            _ => {}
        }
    }
}

/// Records the id and the settled verdict of a call. Returns the verdict on it.
fn announced(ids: &mut Vec<CallId>, announced: Announced, event: &mut Event) -> Verdict {
    ids.push(announced.id);
    event.settled = announced.settled;
    announced.verdict
}

/// Saves and restores the detector. Returns the digest of the checkpoint.
fn restore(detector: &mut Detector<'static, 20>) -> u64 {
    let mut room = [0; Detector::<20>::CHECKPOINT_MAX];
    let saved = detector.save(&mut room).expect("it is long enough");
    let policy = detector.policy();
    let digest = Digest::of(saved).bits();
    *detector = Detector::restore(policy, saved).expect("it was saved just now");
    digest
}
