//! Random events under every preset. There are few different digests and texts, so they repeat.

use unstuck_core::Digest;
use unstuck_text::PRESETS;

use crate::play::{
    ALIKE, Event, EventKind, FAILED, IDEMPOTENT, NUMBERED, PENDING, RAW, Run, SILENT, TRANSIENT,
};

/// The number of events under each preset.
const EVENTS: usize = 800;

/// The number of calls in a part of a stream, and the numbers of different tools and arguments in the parts.
const PART_CALLS: usize = 20;
const VARIETIES: [(u32, u32); 4] = [(1, 100), (3, 3), (1, 1), (2, 2)];

/// The tools, arguments and results of events that are raw, and the messages.
const TOOLS: [&str; 2] = ["bash", "think"];
const ARGS: [&str; 4] = [
    r#"{"command":"make"}"#,
    r#"{ "command": "make" }"#,
    r#"{"command":"make all"}"#,
    "make \u{e4}",
];
const RESULTS: [&str; 4] = ["", "no rule", "line 1\nline 2 at 12:03:59\n", "2 failed, 3 passed"];
const MESSAGES: [&str; 3] = ["go on", "I will go on.", "again and again and again and again"];

/// Returns the events with their verdicts.
pub(crate) fn played() -> Vec<Event> {
    let mut events = Vec::new();
    for (which, preset) in PRESETS.iter().enumerate() {
        let mut dice = Dice(u64::try_from(which).expect("a handful"));
        let mut run = Run::new(preset);
        events.push(Event { which, ..Event::default() });
        for _ in 0..EVENTS {
            let mut event = event(&mut dice, &run);
            run.play(&mut event);
            events.push(event);
        }
    }
    events
}

/// A reproducible source of random numbers: digests of digests.
struct Dice(u64);

impl Dice {
    /// Returns a number below `sides`.
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 = Digest::new(self.0).mix(Digest::new(1)).bits();
        u32::try_from(self.0 >> 32).unwrap_or(0) % sides
    }

    fn digest(&mut self, sides: u32) -> u64 {
        Digest::new(self.roll(sides).into()).mix(Digest::new(7)).bits()
    }

    fn text<const N: usize>(&mut self, texts: [&'static str; N]) -> &'static str {
        texts[usize::try_from(self.roll(64)).unwrap_or(0) % N]
    }

    /// Returns each of `flags` with a probability of 1 in `sides`.
    fn flags(&mut self, flags: &[u8], sides: u32) -> u8 {
        flags.iter().fold(0, |all, flag| if self.roll(sides) == 0 { all | flag } else { all })
    }
}

/// Returns the next event: mostly calls and outcomes, and sometimes another event.
fn event(dice: &mut Dice, run: &Run) -> Event {
    let calls = run.ids.len();
    // Some calls are nearly equal, later calls differ more and more, and then they are nearly equal again.
    let part = calls / PART_CALLS;
    let (few, many) = VARIETIES[part % VARIETIES.len()];
    let kind = match dice.roll(128) {
        0 if calls > 0 => EventKind::Cancel,
        1 => EventKind::Finish,
        2..=4 => EventKind::Turn,
        5 => EventKind::User,
        6 => EventKind::Clear,
        7 => EventKind::Progress,
        8 => EventKind::Retry,
        9 if run.finding.is_some() => EventKind::Silence,
        10 if run.finding.is_some() => EventKind::FalsePositive,
        11 | 12 => EventKind::Peek,
        13 | 14 => EventKind::Restore,
        15 if calls > 0 => EventKind::Vetoed,
        16 => EventKind::TurnText,
        17 => EventKind::UserText,
        18..=27 => EventKind::AnnounceJson,
        28..=37 if calls > 0 => EventKind::OutcomeText,
        64.. if calls % 16 == 15 => EventKind::TurnText,
        number if calls > 0 && number % 2 == 0 => EventKind::Outcome,
        _ => EventKind::Announce,
    };
    let mut event = Event { kind, ..Event::default() };
    match kind {
        EventKind::Announce | EventKind::Peek => {
            (event.tool, event.one, event.two) =
                (dice.roll(few), dice.digest(many), dice.digest(2));
            event.tag = u8::try_from((2 * part + calls % 4 / 3) % 11).unwrap_or(0);
            event.flags = dice.flags(&[ALIKE, NUMBERED], 4) | dice.flags(&[IDEMPOTENT], 2);
            event.number = u32::try_from(calls / 2).unwrap_or(0);
        }
        EventKind::AnnounceJson => {
            (event.name, event.text) = (TOOLS[0], dice.text(ARGS));
            event.flags = dice.flags(&[NUMBERED], 4);
            event.number = u32::try_from(calls / 2).unwrap_or(0);
        }
        EventKind::Outcome | EventKind::OutcomeText | EventKind::Vetoed | EventKind::Cancel => {
            // Mostly of the latest call.
            let back = if dice.roll(8) == 0 { dice.roll(4) } else { 0 };
            event.which = calls.saturating_sub(1 + usize::try_from(back).unwrap_or(0));
            (event.one, event.two) = (dice.digest(few), dice.digest(few));
            (event.name, event.text) = (dice.text(TOOLS), dice.text(RESULTS));
            let seldom = [NUMBERED, SILENT, PENDING, TRANSIENT, RAW];
            event.flags = dice.flags(&seldom, 24) | dice.flags(&[FAILED, ALIKE], few);
            event.tool = dice.roll(2);
            event.number = dice.roll(1000);
        }
        EventKind::Turn => {
            event.one = dice.digest(2);
            event.tag = 4;
            event.number = dice.roll(12);
        }
        EventKind::TurnText | EventKind::UserText => event.text = dice.text(MESSAGES),
        EventKind::User => event.one = dice.digest(20),
        EventKind::Retry => event.number = 1 + dice.roll(3),
        EventKind::Silence => event.one = run.finding.map_or(0, |it| it.loop_id.bits()),
        _ => {}
    }
    event
}
