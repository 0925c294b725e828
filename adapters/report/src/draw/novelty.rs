//! The novelty curve: how many answers were new, call by call. A flat curve is an agent that learns nothing.

use std::collections::HashSet;
use std::fmt::Write as _;

use maud::{Markup, html};

use crate::replay::Picture;

/// The size of the curve.
const WIDTH: usize = 300;
const HEIGHT: usize = 160;

/// The answers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Novelty {
    /// The calls whose result is known.
    pub(crate) answers: usize,
    /// The answers that were not seen before in the run.
    pub(crate) new: usize,
    /// The same numbers after the first call that belongs to a loop.
    pub(crate) answers_in_loop: usize,
    pub(crate) new_in_loop: usize,
}

impl Novelty {
    pub(crate) fn of(picture: &Picture) -> Self {
        let begin = begin_of_loops(picture);
        let mut novelty = Self { answers: 0, new: 0, answers_in_loop: 0, new_in_loop: 0 };
        for (index, is_new) in news(picture) {
            let in_loop = usize::from(index >= begin);
            novelty.answers += 1;
            novelty.answers_in_loop += in_loop;
            if is_new {
                novelty.new += 1;
                novelty.new_in_loop += in_loop;
            }
        }
        novelty
    }
}

/// Returns the first call that is evidence of a loop, or the number of calls.
fn begin_of_loops(picture: &Picture) -> usize {
    let begin = picture.calls.iter().position(|call| call.of_loop.is_some());
    begin.unwrap_or(picture.calls.len())
}

/// Returns each call with a known result, and whether the result is new in the run.
fn news(picture: &Picture) -> impl Iterator<Item = (usize, bool)> {
    let mut seen = HashSet::new();
    let results = picture.calls.iter().map(|call| call.result).enumerate();
    results.filter_map(move |(index, result)| Some((index, seen.insert(result?))))
}

/// Returns the curve, or nothing if fewer than two results are known.
pub(crate) fn novelty(picture: &Picture) -> Option<Markup> {
    let totals = Novelty::of(picture);
    if totals.answers < 2 {
        return None;
    }
    let (calls, most) = (picture.calls.len(), totals.answers);
    let x = |index: usize| index * WIDTH / calls;
    let y = |new: usize| HEIGHT - new * HEIGHT / most;
    let mut line = format!("M0 {HEIGHT}");
    let (mut new, mut last) = (0, (0, HEIGHT));
    for (index, is_new) in news(picture) {
        new += usize::from(is_new);
        let point = (x(index + 1), y(new));
        // Writing to a string cannot fail.
        if point.0 != last.0 {
            let _ = write!(line, "L{} {}", point.0, point.1);
            last = point;
        }
    }
    let begin = begin_of_loops(picture);
    let label = format!("Novelty curve: {} of {most} answers were new.", totals.new);
    Some(html! {
        svg.novelty width=(WIDTH) height=(HEIGHT) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(label) {
            @if begin < calls {
                path class="stuck" d={ "M" (x(begin)) " 0H" (WIDTH) "V" (HEIGHT) "H" (x(begin)) "z" } {}
            }
            path class="ideal" d={ "M0 " (HEIGHT) "L" (WIDTH) " 0" } {}
            path class="curve" d=(line) {}
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Picture;

    #[test]
    fn repeated_answers_are_not_new() {
        let novelty = Novelty::of(&Picture::sketched("a1b2A1A1A3c"));
        assert_eq!(novelty, Novelty { answers: 5, new: 3, answers_in_loop: 3, new_in_loop: 1 });
    }

    #[test]
    fn the_curve_rises_with_new_answers_and_is_flat_without() {
        let curve = novelty(&Picture::sketched("a1b2B2B2")).expect("a curve").into_string();
        assert!(curve.contains("d=\"M0 160L75 120L150 80L225 80L300 80\""), "{curve}");
        assert!(curve.contains("M150 0H300V160H150z"), "{curve}");
        assert!(novelty(&Picture::sketched("a1bc")).is_none());
    }

    #[test]
    fn a_curve_has_a_bounded_size() {
        let curve =
            novelty(&Picture::sketched(&"a1b2".repeat(5000))).expect("a curve").into_string();
        assert!(curve.len() < 4000, "{} bytes", curve.len());
    }
}
