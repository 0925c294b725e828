//! Turns of text, and what repeats inside them.

use unstuck_core::{Echo, Echoes, Turn};

use crate::input::Input;

/// A turn that repeats something: what was found in a text, or whatever the host says.
pub(crate) fn turn(input: &mut Input) -> Turn {
    let echo = match input.below::<4>() {
        0 => Echo { period: input.byte(), laps: u16::from(input.byte()) },
        1 => echo_within::<1>(input),
        2 => echo_within::<8>(input),
        _ => echo_within::<64>(input),
    };
    Turn::new(input.digest()).echo(echo)
}

fn echo_within<const P: usize>(input: &mut Input) -> Echo {
    let mut echoes = if input.flag() { Echoes::<P>::new() } else { Echoes::default() };
    while input.flag() {
        echoes.push(input.digest());
    }
    echoes.latest()
}
