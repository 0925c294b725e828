//! Plays events to the engine and records them with their verdicts.

use unstuck_core::{
    Announced, Call, CallId, Detector, Digest, Finding, LoopId, Outcome, RepeatedText, Tag, Tool,
    Turn, Verdict,
};
use unstuck_text::{PRESETS, Preset, SimilarCalls};

/// The number of latest calls that an event can name.
pub(crate) const NAMED_MAX: usize = 64;

/// The kind of an event. C has the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
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

/// An event with all its parameters, and the places of its verdicts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    pub(crate) tag: u8,
    /// A combination of the constants below, from [`ALIKE`] on.
    pub(crate) flags: u8,
    /// The preset, or the place of the call among the latest.
    pub(crate) which: u8,
    /// The tool, or the raw digest of the result.
    pub(crate) tool: u32,
    /// The step, the score, or the number of calls to take back.
    pub(crate) number: u32,
    /// The digest of the arguments, the result or the text; a loop id; or the expected result.
    pub(crate) one: u64,
    /// The similar or near digest.
    pub(crate) two: u64,
    pub(crate) name: usize,
    pub(crate) text: usize,
    pub(crate) verdict: usize,
    pub(crate) settled: usize,
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
pub(crate) const TIMED_OUT: u8 = 32;
/// The event has a raw digest.
pub(crate) const RAW: u8 = 64;

impl Event {
    pub(crate) fn new(kind: EventKind) -> Self {
        Self {
            kind,
            tag: 0,
            flags: 0,
            which: 0,
            tool: 0,
            number: 0,
            one: 0,
            two: 0,
            name: 0,
            text: 0,
            verdict: 0,
            settled: 0,
        }
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    fn call(&self) -> Call {
        let call = Call::new(Tool::new(self.tool), Digest::new(self.one));
        let call = call.tag(Tag::ALL[usize::from(self.tag)]);
        let call = if self.has(ALIKE) { call.similar(Digest::new(self.two)) } else { call };
        let call = if self.has(IDEMPOTENT) { call.idempotent() } else { call };
        if self.has(NUMBERED) { call.step(self.number.into()) } else { call }
    }

    fn outcome(&self) -> Outcome {
        let result = Digest::new(self.one);
        let outcome = if self.has(FAILED) { Outcome::failed(result) } else { Outcome::ok(result) };
        let outcome = if self.has(ALIKE) { outcome.near(Digest::new(self.two)) } else { outcome };
        let outcome = if self.has(NUMBERED) { outcome.score(self.number) } else { outcome };
        let outcome = if self.has(SILENT) { outcome.silent() } else { outcome };
        let outcome = if self.has(PENDING) { outcome.pending() } else { outcome };
        let outcome = if self.has(TIMED_OUT) { outcome.timed_out() } else { outcome };
        if self.has(RAW) { outcome.raw(Digest::new(self.tool.into())) } else { outcome }
    }
}

/// All events, with their verdicts and texts.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) events: Vec<Event>,
    /// Each verdict once. The first is to proceed.
    pub(crate) verdicts: Vec<Verdict>,
    /// Each text once. The first is empty.
    pub(crate) texts: Vec<String>,
}

impl Default for Table {
    fn default() -> Self {
        let (verdicts, texts) = (vec![Verdict::PROCEED], vec![String::new()]);
        Self { events: Vec::new(), verdicts, texts }
    }
}

impl Table {
    /// Returns the place of `text`.
    pub(crate) fn text(&mut self, text: &str) -> usize {
        place_of(&mut self.texts, &text.to_owned())
    }

    /// Starts a run under the preset at `place`.
    pub(crate) fn begin(&mut self, place: usize) -> Player<'_> {
        let which = u8::try_from(place).expect("a handful of presets");
        self.events.push(Event { which, ..Event::new(EventKind::Begin) });
        let preset = &PRESETS[place];
        let detector = Detector::new(preset.policy).expect("a window of 20");
        let ids = Vec::new();
        Player { table: self, preset, detector, similar: SimilarCalls::new(), ids, finding: None }
    }
}

fn place_of<T: Clone + PartialEq>(all: &mut Vec<T>, one: &T) -> usize {
    all.iter().position(|other| other == one).unwrap_or_else(|| {
        all.push(one.clone());
        all.len() - 1
    })
}

/// A run in progress.
pub(crate) struct Player<'t> {
    pub(crate) table: &'t mut Table,
    preset: &'static Preset,
    detector: Detector<'static, 20>,
    similar: SimilarCalls,
    ids: Vec<CallId>,
    /// The latest finding.
    finding: Option<Finding>,
}

impl Player<'_> {
    /// Returns the number of calls so far.
    pub(crate) fn calls(&self) -> usize {
        self.ids.len()
    }

    /// Returns the place of the call with the number `call` among the latest [`NAMED_MAX`].
    pub(crate) fn which(call: usize) -> u8 {
        u8::try_from(call % NAMED_MAX).expect("few are named")
    }

    /// Returns the latest finding.
    pub(crate) fn finding(&self) -> Option<Finding> {
        self.finding
    }

    /// Plays and records `event`.
    pub(crate) fn play(&mut self, mut event: Event) {
        let text = self.table.texts[event.text].clone();
        let name = self.table.texts[event.name].clone();
        let id = self.named(event.which);
        let (detector, recipe) = (&mut self.detector, &self.preset.recipe);
        let mut settled = Verdict::PROCEED;
        let mut verdict = Verdict::PROCEED;
        match event.kind {
            EventKind::Begin => unreachable!("a run begins once"),
            EventKind::Announce => {
                (verdict, settled) = announced(&mut self.ids, detector.announce(event.call()));
            }
            EventKind::AnnounceJson => {
                let call = recipe.call_among(&mut self.similar, &name, &text);
                let call = if event.has(NUMBERED) { call.step(event.number.into()) } else { call };
                (verdict, settled) = announced(&mut self.ids, detector.announce(call));
            }
            EventKind::Outcome => verdict = detector.outcome(id, event.outcome()),
            EventKind::OutcomeText => {
                verdict = detector.outcome(id, recipe.outcome(&name, &text, event.has(FAILED)));
            }
            EventKind::Vetoed => verdict = detector.vetoed(id),
            EventKind::Cancel => verdict = detector.cancel(id),
            EventKind::Finish => verdict = detector.finish(),
            EventKind::Turn => {
                let laps = u16::try_from(event.number).expect("a few");
                let turn = Turn::new(Digest::new(event.one));
                let turn = if laps > 1 {
                    turn.repeated(RepeatedText { period: event.tag, laps })
                } else {
                    turn
                };
                verdict = detector.text_turn(turn);
            }
            EventKind::TurnText => verdict = detector.text_turn(recipe.turn(&text)),
            EventKind::User => verdict = detector.user_message(Digest::new(event.one)),
            EventKind::UserText => verdict = detector.user_message(recipe.message(&text)),
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
            EventKind::Peek => verdict = detector.peek(event.call()),
            EventKind::Restore => {
                event.one = restore(detector);
                // In C, a restored detector has no latest finding.
                self.finding = None;
            }
        }
        self.finding = verdict.finding.or(settled.finding).or(self.finding);
        event.verdict = place_of(&mut self.table.verdicts, &verdict);
        event.settled = place_of(&mut self.table.verdicts, &settled);
        self.table.events.push(event);
    }

    fn named(&self, which: u8) -> CallId {
        let latest = self.ids.iter().enumerate().rev();
        let mut named = latest.filter(|(call, _)| Self::which(*call) == which);
        // Streams only name calls that exist.
        named.next().map_or_else(unrecorded, |(_, id)| *id)
    }
}

/// Returns the id of a call that is not recorded.
fn unrecorded() -> CallId {
    let mut detector: Detector<'_, 20> =
        Detector::new(&unstuck_core::presets::START_OVER).expect("a window of 20");
    detector.announce(Call::new(Tool::new(0), Digest::new(0)).tag(Tag::Think)).id
}

fn announced(ids: &mut Vec<CallId>, announced: Announced) -> (Verdict, Verdict) {
    ids.push(announced.id);
    (announced.verdict, announced.settled)
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
