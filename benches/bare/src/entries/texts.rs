//! Turns of text, and repetitions inside them.

use unstuck_core::{RepeatFinder, RepeatedText, Turn};

use super::input::Input;

/// Returns a repetition that was found in a text, or one that the host made up.
pub(crate) fn turn(input: &mut Input) -> Turn {
    let repeated = match input.below::<4>() {
        0 => RepeatedText { period: input.byte(), laps: u16::from(input.byte()) },
        1 => repeated_within::<1>(input),
        2 => repeated_within::<8>(input),
        _ => repeated_within::<64>(input),
    };
    Turn::new(input.digest()).repeated(repeated)
}

fn repeated_within<const P: usize>(input: &mut Input) -> RepeatedText {
    let mut finder = if input.flag() { RepeatFinder::<P>::new() } else { RepeatFinder::default() };
    while input.flag() {
        finder.push(input.digest());
    }
    finder.latest()
}
