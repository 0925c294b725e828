//! Random streams of digests, of few things so that they come back, under every preset.

use unstuck_core::Digest;
use unstuck_text::PRESETS;

use crate::play::{
    ALIKE, Deed, Event, FAILED, IDEMPOTENT, NUMBERED, PENDING, Player, RAW, SILENT, TIMED_OUT,
    Table,
};

/// Plays so many events under each preset.
pub(crate) fn play(table: &mut Table, events: usize) {
    for place in 0..PRESETS.len() {
        let mut dice = Dice(u64::try_from(place).expect("a handful"));
        let mut player = table.begin(place);
        for _ in 0..events {
            let event = event(&mut dice, &player);
            let _ = player.play(event);
        }
    }
}

/// Numbers that look random and are the same each time: digests of digests.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 = Digest::new(self.0).mix(Digest::new(1)).bits();
        u32::try_from(self.0 >> 32).unwrap_or(0) % sides
    }

    fn digest(&mut self, sides: u32) -> u64 {
        Digest::new(self.roll(sides).into()).mix(Digest::new(7)).bits()
    }

    /// Each of `flags` in one of `sides` cases.
    fn flags(&mut self, flags: &[u8], sides: u32) -> u8 {
        flags.iter().fold(0, |all, flag| if self.roll(sides) == 0 { all | flag } else { all })
    }
}

/// The next event: mostly calls and what comes of them, and now and then anything else.
fn event(dice: &mut Dice, player: &Player<'_>) -> Event {
    let deed = match dice.roll(64) {
        0 => Deed::Cancel,
        1 => Deed::Finish,
        2..=4 => Deed::Turn,
        5 => Deed::User,
        6 => Deed::Clear,
        7 => Deed::Progress,
        8 => Deed::Retry,
        9 if player.finding().is_some() => Deed::Silence,
        10 if player.finding().is_some() => Deed::FalsePositive,
        11 | 12 => Deed::Peek,
        13 | 14 => Deed::Restore,
        15 => Deed::Vetoed,
        _ if player.calls() > 0 && dice.roll(2) == 0 => Deed::Outcome,
        _ => Deed::Announce,
    };
    let deed = match deed {
        Deed::Cancel | Deed::Vetoed if player.calls() == 0 => Deed::Announce,
        other => other,
    };
    let mut event = Event::new(deed);
    match deed {
        Deed::Announce | Deed::Peek => {
            (event.tool, event.one, event.two) = (dice.roll(2), dice.digest(3), dice.digest(2));
            event.tag = u8::try_from(dice.roll(11)).unwrap_or(0);
            event.flags = dice.flags(&[ALIKE, NUMBERED], 4) | dice.flags(&[IDEMPOTENT], 2);
            event.number = u32::try_from(player.calls() / 2).unwrap_or(0);
        }
        Deed::Outcome | Deed::Vetoed | Deed::Cancel => {
            // Mostly the latest call's.
            let back = if dice.roll(8) == 0 { dice.roll(4) } else { 0 };
            let back = usize::try_from(back).unwrap_or(0);
            event.which = Player::which(player.calls().saturating_sub(1 + back));
            (event.one, event.two) = (dice.digest(2), dice.digest(2));
            let seldom = [ALIKE, NUMBERED, SILENT, PENDING, TIMED_OUT, RAW];
            event.flags = dice.flags(&seldom, 8) | dice.flags(&[FAILED], 2);
            event.tool = dice.roll(2);
            event.number = dice.roll(1000);
        }
        Deed::Turn => {
            event.one = dice.digest(2);
            event.tag = 4;
            event.number = dice.roll(12);
        }
        Deed::User => event.one = dice.digest(20),
        Deed::Retry => event.number = 1 + dice.roll(3),
        Deed::Silence => event.one = player.finding().map_or(0, |finding| finding.loop_id.bits()),
        _ => {}
    }
    event
}
