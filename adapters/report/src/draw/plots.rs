//! The plots beside a ribbon. The recurrence plot has a mark at (i, j) if call i equals call j. The novelty curve shows how
//! many answers were new, call by call: a flat curve is an agent that learns nothing.
//!
//! A streak is a square, a cycle of period p is diagonals at the distance p, and a poll whose results move is
//! hollow. Source: Eckmann, Kamphorst and Ruelle, "Recurrence Plots of Dynamical Systems" (1987), here
//! with equal symbols instead of near states.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use maud::{Markup, html};

use super::Path;
use crate::replay::Picture;

/// The most rows of a plot. A row of a longer run stands for several calls.
const ROWS_MAX: usize = 300;

/// The width of a row in a small plot, and the smallest and the largest plot.
const ROW: usize = 14;
const SIZES: std::ops::RangeInclusive<usize> = 70..=300;

/// The most shapes of a plot. A plot with more is drawn in half as many rows.
const SHAPES_MAX: usize = 3000;

/// The marks of a plot.
struct Marks {
    rows: usize,
    marks: Vec<Mark>,
}

/// The mark at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    #[default]
    None,
    /// The calls are equal, and their results are not.
    Moving,
    /// The calls are equal, and their results, too.
    Same,
}

/// Returns the plot, or nothing if no call recurs.
pub(crate) fn recurrence(picture: &Picture) -> Option<Markup> {
    let calls = picture.calls.len();
    let mut step = calls.div_ceil(ROWS_MAX).max(1);
    loop {
        let (rows, same, moving, shapes) = Marks::of(picture, step).shapes();
        if same.is_empty() && moving.is_empty() {
            return None;
        }
        if shapes > SHAPES_MAX && rows > 2 {
            step *= 2;
            continue;
        }
        // The lower half mirrors the upper one.
        let half = |mirrored: &'static str| {
            html! {
                g transform=[(!mirrored.is_empty()).then_some(mirrored)] {
                    @if !moving.is_empty() { path class="moving" d=(moving.0) {} }
                    @if !same.is_empty() { path class="same" d=(same.0) {} }
                }
            }
        };
        let size = (rows * ROW).clamp(*SIZES.start(), *SIZES.end());
        return Some(html! {
            svg.recurrence width=(size) height=(size) viewBox={ "0 0 " (rows) " " (rows) } role="img"
                aria-label={ "Recurrence plot of " (calls) " calls. Dark marks join equal calls with equal results." } {
                path class="axis" d={ "M0 0L" (rows) " " (rows) } {}
                (half("")) (half("matrix(0 1 1 0 0 0)"))
            }
        });
    }
}

impl Marks {
    /// Marks the recurrences of a picture, with `step` calls in a row.
    fn of(picture: &Picture, step: usize) -> Self {
        let rows = picture.calls.len().div_ceil(step);
        let mut marks = vec![Mark::None; rows * rows];
        let mut of_class: HashMap<u32, Vec<(usize, Option<u32>)>> = HashMap::new();
        for (index, call) in picture.calls.iter().enumerate() {
            let places = of_class.entry(call.class).or_default();
            let place = (index / step, call.result);
            if places.last() != Some(&place) || step == 1 {
                places.push(place);
            }
        }
        for places in of_class.values() {
            for (at, (i, result)) in places.iter().enumerate() {
                for (j, other) in &places[at + 1..] {
                    let mark = if result == other { Mark::Same } else { Mark::Moving };
                    let place = &mut marks[i * rows + j];
                    *place = mark.max(*place);
                }
            }
        }
        Self { rows, marks }
    }

    fn at(&self, i: usize, j: usize) -> Mark {
        self.marks[i * self.rows + j]
    }

    /// Returns the number of rows, the shapes of both marks, and the number of shapes.
    fn shapes(mut self) -> (usize, Path, Path, usize) {
        let (mut same, mut moving, mut shapes) = (Path::default(), Path::default(), 0);
        let mut begin = 0;
        while begin < self.rows {
            let end = self.streak(begin);
            if end > begin + 1 {
                let mark = self.at(begin, begin + 1);
                let path = if mark == Mark::Same { &mut same } else { &mut moving };
                path.rect(begin, begin, end - begin, end - begin);
                shapes += 1;
                self.clear(begin, end);
            }
            begin = end;
        }
        for offset in 0..self.rows {
            for mark in [Mark::Same, Mark::Moving] {
                let path = if mark == Mark::Same { &mut same } else { &mut moving };
                shapes += self.diagonals(offset, mark, path);
            }
        }
        (self.rows, same, moving, shapes)
    }

    /// Returns the end of the largest square of equal marks whose corner is at `begin`.
    fn streak(&self, begin: usize) -> usize {
        let mut end = begin + 1;
        while end < self.rows {
            let mark = self.at(begin, begin + 1);
            if mark == Mark::None || (begin..end).any(|i| self.at(i, end) != mark) {
                break;
            }
            end += 1;
        }
        end
    }

    fn clear(&mut self, begin: usize, end: usize) {
        for i in begin..end {
            self.marks[i * self.rows..][begin..end].fill(Mark::None);
        }
    }

    /// Adds the diagonal stretches of `mark` at the distance `offset`. Returns their number.
    fn diagonals(&self, offset: usize, mark: Mark, path: &mut Path) -> usize {
        let (mut i, mut shapes) = (0, 0);
        while i + offset < self.rows {
            let length =
                (i..self.rows - offset).take_while(|&i| self.at(i, i + offset) == mark).count();
            if length > 0 {
                // A band of the width of a row along the diagonal. Writing to a string cannot fail.
                let (x, y) = (i + offset, i);
                let _ = match length {
                    1 => write!(path.0, "M{x} {y}h1v1h-1z"),
                    _ => write!(path.0, "M{x} {y}h1l{0} {0}v1h-1l-{0}-{0}z", length - 1),
                };
                shapes += 1;
            }
            i += length + 1;
        }
        shapes
    }
}

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
    use crate::cases::check;
    use crate::replay::Picture;

    /// Returns the paths of the two marks: equal results and moving ones.
    fn paths(text: &str) -> (String, String) {
        let (_, same, moving, _) = Marks::of(&Picture::sketched(text), 1).shapes();
        (same.0, moving.0)
    }

    #[test]
    fn a_streak_is_a_square_a_cycle_is_diagonals_and_a_poll_is_hollow() {
        check("plots: a run, and the shapes of equal and of moving results", |run| {
            let (same, moving) = paths(run);
            format!("{same} and {moving}").trim_end().to_owned()
        });
        assert!(recurrence(&Picture::sketched("abc")).is_none());
    }

    /// Returns the places in the upper half that a path covers, by reading the path.
    fn covered(path: &str) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        for shape in path.split('M').skip(1) {
            let numbers: Vec<usize> = shape
                .split(|c: char| !c.is_ascii_digit())
                .filter_map(|number| number.parse().ok())
                .collect();
            let (x, y) = (numbers[0], numbers[1]);
            if shape.contains('l') {
                places.extend((0..=numbers[3]).map(|n| (y + n, x + n)));
            } else {
                let (width, height) = (numbers[2], numbers[3]);
                let all = (y..y + height).flat_map(|i| (x..x + width).map(move |j| (i, j)));
                places.extend(all.filter(|(i, j)| i < j));
            }
        }
        places.sort_unstable();
        places
    }

    #[test]
    fn the_shapes_cover_each_mark_once() {
        for text in ["aabbaabb", "abcabcaab", "a1b1a2b1a1a1a1", "aaaabaaaa", "abba", "a1a1a2a2a1"] {
            let run = Picture::sketched(text);
            let (mut same, mut moving) = (Vec::new(), Vec::new());
            for (i, one) in run.calls.iter().enumerate() {
                for (j, other) in run.calls.iter().enumerate().skip(i + 1) {
                    if one.class == other.class {
                        let marks =
                            if one.result == other.result { &mut same } else { &mut moving };
                        marks.push((i, j));
                    }
                }
            }
            let (filled, hollow) = paths(text);
            assert_eq!((covered(&filled), covered(&hollow)), (same, moving), "{text}");
        }
    }

    #[test]
    fn a_plot_has_a_bounded_size() {
        let random = |classes: u8| {
            let mut state = 1_u32;
            let calls = (0..10_000).map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from(b'a' + u8::try_from(state >> 24).unwrap() % classes)
            });
            calls.collect::<String>()
        };
        for text in ["a".repeat(10_000), "ab".repeat(5000), random(2), random(5), random(26)] {
            let plot = recurrence(&Picture::sketched(&text)).expect("a plot").into_string();
            assert!(plot.len() < 200_000, "{} bytes", plot.len());
        }
    }

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
