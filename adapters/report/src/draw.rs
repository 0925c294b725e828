//! Drawings of a run as SVG: the ribbon, the recurrence plot and the novelty curve.
//!
//! They use classes of `html/report.css` and no inline styles, so that a page can forbid those. All have a
//! bounded number of shapes.

mod plots;

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};
use unstuck_core::Action;

use crate::replay::{Drawn, Ending, Picture};
pub(crate) use plots::{Novelty, novelty, recurrence};

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

/// The number of cells in one piece of a ribbon. Pieces wrap like words, and one fits on a telephone.
const PIECE: usize = 20;

/// The distance of the cells with a number below.
const NUMBERED: usize = 5;

/// The width of a cell with its gap, and the height of the cells.
const WIDTH: usize = 18;
const HEIGHT: usize = 20;

/// The height above the cells, for flags, and the height of a piece.
const TOP: usize = 13;
const PIECE_HEIGHT: usize = TOP + HEIGHT + 12;

/// The width of a cell, and the height of a row of cells.
pub(crate) const CELL: (usize, usize) = (WIDTH, PIECE_HEIGHT);

/// The most cells of a thumbnail. A cell of a longer run stands for several calls.
const THUMBNAIL_MAX: usize = 240;

/// Returns the ribbon of `calls`, which are indexes of calls of the picture, in pieces that wrap.
pub(crate) fn ribbon(picture: &Picture, key: &Key, calls: &[usize]) -> Markup {
    html! {
        @for piece in calls.chunks(PIECE) {
            svg width=(PIECE * WIDTH) height=(PIECE_HEIGHT)
                viewBox={ "0 0 " (PIECE * WIDTH) " " (PIECE_HEIGHT) } aria-hidden="true" {
                (cells(picture, key, piece))
            }
        }
    }
}

/// Returns the shapes of one row of cells.
pub(crate) fn cells(picture: &Picture, key: &Key, piece: &[usize]) -> Markup {
    let mut fills: [Path; COLOURS + 1] = Default::default();
    let [mut failed, mut refused, mut evidence, mut flags] = <[Path; 4]>::default();
    let (mut letters, mut letters_at) = (String::new(), String::new());
    let (mut words, mut words_at) = (String::new(), String::new());
    for (place, &index) in piece.iter().enumerate() {
        let call = &picture.calls[index];
        let (x, middle) = (place * WIDTH, place * WIDTH + WIDTH / 2);
        let (width, height) = (WIDTH - 1, HEIGHT);
        match call.ending {
            Ending::Refused => refused.rect(x, TOP, width, height),
            _ => fills[key.colour(call)].rect(x, TOP, width, height),
        }
        if call.ending == Ending::Failed {
            failed.rect(x, TOP, width, height);
        }
        if call.of_loop.is_some() {
            evidence.rect(x, TOP, width, height);
        }
        if let Some(letter) = key.letter(call) {
            letters.push(letter);
            // Writing to a string cannot fail.
            let _ = write!(letters_at, "{middle} ");
        }
        if let Some(word) = flag(call.told) {
            flags.rect(x, 0, width, TOP - 2);
            words.push(word);
            let _ = write!(words_at, "{middle} ");
        }
    }
    html! {
        @for (colour, fill) in fills.iter().enumerate().filter(|(_, fill)| !fill.is_empty()) {
            path class={ "c" (colour) } d=(fill.0) {}
        }
        @for (class, path) in [("refused", refused), ("failed", failed), ("evidence", evidence), ("flag", flags)] {
            @if !path.is_empty() { path class=(class) d=(path.0) {} }
        }
        @if !letters.is_empty() {
            text class="letter" x=(letters_at.trim_end()) y=(TOP + 14) { (letters) }
        }
        @if !words.is_empty() {
            text class="told" x=(words_at.trim_end()) y="9" { (words) }
        }
        @for (place, index) in piece.iter().enumerate().step_by(NUMBERED) {
            text class="number" x=(place * WIDTH) y=(PIECE_HEIGHT - 2) { "#" (index) }
        }
    }
}

/// Returns the letter of the flag for an action.
pub fn flag(action: Action) -> Option<char> {
    match action {
        Action::Proceed => None,
        Action::StartOver => Some('O'),
        action => action.name().chars().next().map(|c| c.to_ascii_uppercase()),
    }
}

/// Returns the pattern of failed calls. A page has it once.
pub(crate) fn hatch() -> Markup {
    PreEscaped(
        "<svg width=\"0\" height=\"0\" class=\"defs\" aria-hidden=\"true\"><defs><pattern id=\"hatch\" \
         width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path \
         class=\"hatch\" d=\"M0 0v5\"/></pattern></defs></svg>"
            .to_owned(),
    )
}

/// Returns a ribbon of the whole run in a strip: the tools above, and the evidence of loops below.
pub(crate) fn thumbnail(picture: &Picture, key: &Key) -> Markup {
    let step = picture.calls.len().div_ceil(THUMBNAIL_MAX).max(1);
    let pieces: Vec<&[Drawn]> = picture.calls.chunks(step).collect();
    let mut fills: [Path; COLOURS + 1] = Default::default();
    let mut evidence = Path::default();
    let is_evidence = |piece: &[Drawn]| piece.iter().any(|call| call.of_loop.is_some());
    let mut at = 0;
    for run in pieces.chunk_by(|one, other| key.colour(&one[0]) == key.colour(&other[0])) {
        fills[key.colour(&run[0][0])].rect(at, 0, run.len(), 3);
        at += run.len();
    }
    at = 0;
    for run in pieces.chunk_by(|one, other| is_evidence(one) == is_evidence(other)) {
        if is_evidence(run[0]) {
            evidence.rect(at, 3, run.len(), 1);
        }
        at += run.len();
    }
    html! {
        svg.thumbnail viewBox={ "0 0 " (at.max(1)) " 4" } preserveAspectRatio="none" aria-hidden="true" {
            @for (colour, fill) in fills.iter().enumerate().filter(|(_, fill)| !fill.is_empty()) {
                path class={ "c" (colour) } d=(fill.0) {}
            }
            @if !evidence.is_empty() { path class="loop" d=(evidence.0) {} }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn a_cell_shows_its_letter_its_evidence_and_its_flag() {
        let mut picture = Picture::sketched("abAAc");
        picture.calls[3].told = Action::StartOver;
        picture.calls[0].ending = Ending::Failed;
        let key = Key::of(&picture);
        let svg = ribbon(&picture, &key, &[0, 1, 2, 3, 4]).into_string();
        let lines = svg.replace("><", ">\n<");
        insta::assert_snapshot!(lines, @r##"
        <svg width="360" height="45" viewBox="0 0 360 45" aria-hidden="true">
        <path class="c0" d="M0 13h17v20h-17zM36 13h17v20h-17zM54 13h17v20h-17z">
        </path>
        <path class="c1" d="M18 13h17v20h-17z">
        </path>
        <path class="c2" d="M72 13h17v20h-17z">
        </path>
        <path class="failed" d="M0 13h17v20h-17z">
        </path>
        <path class="evidence" d="M36 13h17v20h-17zM54 13h17v20h-17z">
        </path>
        <path class="flag" d="M54 0h17v11h-17z">
        </path>
        <text class="letter" x="9 45 63" y="27">AAA</text>
        <text class="told" x="63" y="9">O</text>
        <text class="number" x="0" y="43">#0</text>
        </svg>
        "##);
    }

    #[test]
    fn a_long_run_has_pieces_and_a_short_thumbnail() {
        let picture = Picture::sketched(&"aabbc".repeat(2000));
        let key = Key::of(&picture);
        let all: Vec<usize> = (0..picture.calls.len()).collect();
        let svg = ribbon(&picture, &key, &all).into_string();
        assert_eq!(svg.matches("<svg").count(), 500);
        assert!(svg.len() < 700_000, "{} bytes", svg.len());
        let thumbnail = thumbnail(&picture, &key).into_string();
        assert!(thumbnail.len() < 8_000, "{} bytes", thumbnail.len());
    }

    #[test]
    fn a_run_without_calls_has_an_empty_thumbnail() {
        let picture = Picture::sketched("");
        let svg = thumbnail(&picture, &Key::of(&picture)).into_string();
        assert!(!svg.contains("<path"), "{svg}");
    }

    #[test]
    fn every_action_has_a_letter_of_its_own() {
        let flags: Vec<_> = Action::ALL.into_iter().filter_map(flag).collect();
        assert_eq!(flags, ['N', 'W', 'B', 'O', 'S']);
    }
}
