//! Drawings of a run as SVG: the ribbon, the recurrence plot and the novelty curve.
//!
//! They use classes of `html/report.css` and no inline styles, so that a page can forbid those. All have a
//! bounded number of shapes.

mod novelty;
mod recurrence;
mod ribbon;

use std::fmt::Write as _;

use crate::replay::{Drawn, Picture};

pub(crate) use novelty::{Novelty, novelty};
pub(crate) use recurrence::recurrence;
pub use ribbon::flag;
pub(crate) use ribbon::{CELL, cells, hatch, ribbon, thumbnail};

/// The number of tools with a colour of their own. The others share one.
pub const COLOURS: usize = 7;

/// The colour and the letter of each call of a picture.
pub struct Key {
    /// The colour of each tool, from 0 for the most frequent one. Tools without a colour of their own share
    /// [`COLOURS`].
    pub colours: Vec<usize>,
    /// The letter of each class of calls. Only classes with several calls have one.
    letters: Vec<Option<char>>,
}

impl Key {
    /// Chooses colours and letters by how often tools and calls occur.
    pub fn of(picture: &Picture) -> Self {
        Self { colours: colours(picture), letters: letters(picture) }
    }

    /// Returns the colour of the call, from 0 to [`COLOURS`].
    pub fn colour(&self, call: &Drawn) -> usize {
        self.colours[call.tool as usize]
    }

    /// Returns the letter of the call, if it occurs more than once.
    pub fn letter(&self, call: &Drawn) -> Option<char> {
        self.letters[call.class as usize]
    }
}

/// Returns the colour of each tool.
fn colours(picture: &Picture) -> Vec<usize> {
    let mut counts = vec![0_usize; picture.tools.len()];
    for call in &picture.calls {
        counts[call.tool as usize] += 1;
    }
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&tool| std::cmp::Reverse(counts[tool]));
    let mut colours = vec![COLOURS; counts.len()];
    for (colour, tool) in order.into_iter().take(COLOURS).enumerate() {
        colours[tool] = colour;
    }
    colours
}

/// Returns the letter of each class: first of those in loops, then of others that have several calls.
fn letters(picture: &Picture) -> Vec<Option<char>> {
    let classes = picture.calls.iter().map(|call| call.class as usize + 1).max().unwrap_or(0);
    let mut counts = vec![0_usize; classes];
    for call in &picture.calls {
        counts[call.class as usize] += 1;
    }
    let mut letters = vec![None; classes];
    let mut free = ('A'..='Z').chain('a'..='z');
    let in_loops = picture.calls.iter().filter(|call| call.of_loop.is_some());
    for call in in_loops.chain(&picture.calls) {
        let class = call.class as usize;
        if counts[class] > 1 && letters[class].is_none() {
            letters[class] = free.next();
        }
    }
    letters
}

/// The data of an SVG path.
#[derive(Default)]
struct Path(String);

impl Path {
    /// Adds a rectangle.
    fn rect(&mut self, x: usize, y: usize, width: usize, height: usize) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "M{x} {y}h{width}v{height}h-{width}z");
    }

    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Key;
    use crate::replay::{Drawn, Picture};

    #[test]
    fn loops_have_the_first_letters_and_single_calls_have_none() {
        let picture = Picture::sketched("cbcaBBb");
        let key = Key::of(&picture);
        let letters = picture.calls.iter().map(|call| key.letter(call).unwrap_or('.'));
        assert_eq!(letters.collect::<String>(), "BAB.AAA");
    }

    #[test]
    fn the_most_frequent_tools_have_a_colour_of_their_own() {
        let picture = Picture::sketched("abcdefghijjj");
        assert_eq!(Key::of(&picture).colours, [1, 2, 3, 4, 5, 6, 7, 7, 7, 0]);
    }

    #[test]
    fn more_classes_than_letters_are_no_error() {
        let mut picture = Picture::sketched("aa");
        let call = picture.calls[0].clone();
        for class in 0..200 {
            picture.calls.push(Drawn { class, ..call.clone() });
            picture.calls.push(Drawn { class, ..call.clone() });
        }
        let key = Key::of(&picture);
        assert_eq!(picture.calls.iter().filter(|call| key.letter(call).is_none()).count(), 2 * 148);
    }
}
