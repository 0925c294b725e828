//! Random streams of digests under every preset. There are few different digests, so they repeat.

use unstuck_core::Digest;
use unstuck_text::PRESETS;

use crate::play::{
    ALIKE, Event, EventKind, FAILED, IDEMPOTENT, NUMBERED, PENDING, Player, RAW, SILENT, TIMED_OUT,
    Table,
};

/// Plays `events` events under each preset.
pub(crate) fn play(table: &mut Table, events: usize) {
    for place in 0..PRESETS.len() {
        let mut dice = Dice(u64::try_from(place).expect("a handful"));
        let mut player = table.begin(place);
        for _ in 0..events {
            let event = event(&mut dice, &player);
            player.play(event);
        }
    }
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

    /// Returns each of `flags` with a probability of 1 in `sides`.
    fn flags(&mut self, flags: &[u8], sides: u32) -> u8 {
        flags.iter().fold(0, |all, flag| if self.roll(sides) == 0 { all | flag } else { all })
    }
}

/// Returns the next event: mostly calls and outcomes, and sometimes another event.
fn event(dice: &mut Dice, player: &Player<'_>) -> Event {
    let kind = match dice.roll(64) {
        0 => EventKind::Cancel,
        1 => EventKind::Finish,
        2..=4 => EventKind::Turn,
        5 => EventKind::User,
        6 => EventKind::Clear,
        7 => EventKind::Progress,
        8 => EventKind::Retry,
        9 if player.finding().is_some() => EventKind::Silence,
        10 if player.finding().is_some() => EventKind::FalsePositive,
        11 | 12 => EventKind::Peek,
        13 | 14 => EventKind::Restore,
        15 => EventKind::Vetoed,
        _ if player.calls() > 0 && dice.roll(2) == 0 => EventKind::Outcome,
        _ => EventKind::Announce,
    };
    let kind = match kind {
        EventKind::Cancel | EventKind::Vetoed if player.calls() == 0 => EventKind::Announce,
        other => other,
    };
    let mut event = Event::new(kind);
    match kind {
        EventKind::Announce | EventKind::Peek => {
            (event.tool, event.one, event.two) = (dice.roll(2), dice.digest(3), dice.digest(2));
            event.tag = u8::try_from(dice.roll(11)).unwrap_or(0);
            event.flags = dice.flags(&[ALIKE, NUMBERED], 4) | dice.flags(&[IDEMPOTENT], 2);
            event.number = u32::try_from(player.calls() / 2).unwrap_or(0);
        }
        EventKind::Outcome | EventKind::Vetoed | EventKind::Cancel => {
            // Mostly of the latest call.
            let back = if dice.roll(8) == 0 { dice.roll(4) } else { 0 };
            let back = usize::try_from(back).unwrap_or(0);
            event.which = Player::which(player.calls().saturating_sub(1 + back));
            (event.one, event.two) = (dice.digest(2), dice.digest(2));
            let seldom = [ALIKE, NUMBERED, SILENT, PENDING, TIMED_OUT, RAW];
            event.flags = dice.flags(&seldom, 8) | dice.flags(&[FAILED], 2);
            event.tool = dice.roll(2);
            event.number = dice.roll(1000);
        }
        EventKind::Turn => {
            event.one = dice.digest(2);
            event.tag = 4;
            event.number = dice.roll(12);
        }
        EventKind::User => event.one = dice.digest(20),
        EventKind::Retry => event.number = 1 + dice.roll(3),
        EventKind::Silence => {
            event.one = player.finding().map_or(0, |finding| finding.loop_id.bits());
        }
        _ => {}
    }
    event
}
