//! `--format svg`: one loop as a picture, for an issue or a chat.

use std::io::{self, Write};

use maud::{Markup, PreEscaped, html};
use unicode_width::UnicodeWidthStr as _;
use unstuck_core::{LoopId, Policy};

use crate::baseline::Tally;
use crate::draw::{CELL, Key, cells, hatch};
use crate::parts::{FullReport, Needs};
use crate::recurring::unquoted;
use crate::replay::{Excerpt, Explained, LoopPrefix, Picture, Step};
use crate::shown::{counted, plain, shortened, tool_name};
use crate::writer::Writer;
use crate::writer::explain::Explanation;

/// The styles of the picture.
const STYLE: &str = include_str!("svg/picture.css");

/// The width of the picture, its margin, and the height of a line.
const WIDTH: usize = 800;
const MARGIN: usize = 24;
const LINE: usize = 22;

/// The cells in a row of the ribbon, and the most rows.
const CELLS: usize = (WIDTH - 2 * MARGIN) / CELL.0;
const ROWS_MAX: usize = 4;

/// The calls before and after the loop that are drawn.
const AROUND: usize = 4;

/// The most calls that are listed, and the columns of their text.
const LISTED: usize = 8;
const COLUMNS: usize = 102;

/// The text between a call and its result.
const ARROW: &str = "  →  ";

/// The picture of the loop with one prefix.
pub struct Svg {
    explanation: Explanation,
    /// The drawings of the runs in which the loop was found, with their paths.
    pictures: Vec<(String, Picture)>,
}

impl Svg {
    /// Draws the loop whose id begins with `wanted`, in runs that are judged by `policy`.
    pub fn new(wanted: LoopPrefix, policy: &'static Policy<'static>) -> Self {
        Self { explanation: Explanation::new(wanted, policy), pictures: Vec::new() }
    }
}

impl Writer for Svg {
    fn needs(&self) -> Needs {
        Needs { picture: true, ..self.explanation.needs() }
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        if let Some(picture) = report.picture.as_ref().filter(|_| !report.explained.is_empty()) {
            self.pictures.push((report.path.clone(), picture.clone()));
        }
        self.explanation.report(report, output)
    }

    fn finish(&mut self, _tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        let id = self.explanation.meant()?;
        let first = self.explanation.runs().next().zip(self.pictures.first());
        if let Some(((_, explained), (path, picture))) = first {
            let what = self.explanation.what(id).unwrap_or_default();
            let runs = self.pictures.len();
            let drawn = draw(id, what, path, runs, explained, picture).into_string();
            output.write_all(drawn.as_bytes())?;
        }
        Ok(())
    }
}

/// Returns the picture of the loop `id` in the run `path`, one of `runs`.
fn draw(
    id: LoopId,
    what: &str,
    path: &str,
    runs: usize,
    explained: &Explained,
    picture: &Picture,
) -> Markup {
    let steps = &explained.steps;
    let key = Key::of(picture);
    let stretch = stretch(steps, explained, picture);
    let rows: Vec<&[usize]> = stretch.chunks(CELLS).take(ROWS_MAX).collect();
    let top = MARGIN + 3 * LINE;
    let list = top + rows.len() * CELL.1 + LINE;
    let listed = steps.len().min(LISTED);
    let more = steps.len() - listed;
    let height = list + (listed + usize::from(more > 0)) * LINE + MARGIN;
    let what = unquoted(what);
    let times = counted(steps.len(), explained.unit());
    let others = if runs > 1 {
        format!(", and in {}", counted(runs - 1, "other run"))
    } else {
        String::new()
    };
    html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(height)
            viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-labelledby="title" {
            title #title { (what) ", in " (plain(path)) }
            style { (PreEscaped(STYLE)) }
            (hatch())
            rect.page width=(WIDTH) height=(height) {}
            text.title x=(MARGIN) y=(MARGIN + LINE / 2) { (shortened(&what, 64)) }
            text.dim x=(MARGIN) y=(MARGIN + LINE * 3 / 2) {
                (shortened(&plain(path), 80)) ": " (times) (others)
            }
            @for (row, calls) in rows.iter().enumerate() {
                g transform={ "translate(" (MARGIN) " " (top + row * CELL.1) ")" } { (cells(picture, &key, calls)) }
            }
            @for (row, step) in steps.iter().take(listed).enumerate() {
                text.call x=(MARGIN) y=(list + row * LINE + LINE / 2) xml:space="preserve" { (line(&step.excerpt)) }
            }
            @if more > 0 {
                text.dim x=(MARGIN) y=(list + listed * LINE + LINE / 2) { "and " (counted(more, "more")) }
            }
            text.dim x=(WIDTH - MARGIN) y=(height - 10) text-anchor="end" { "unstuck, loop " (id) }
        }
        "\n"
    }
}

/// Returns the calls of the worker around the loop.
fn stretch(steps: &[Step], explained: &Explained, picture: &Picture) -> Vec<usize> {
    let calls = steps.iter().filter(|step| step.excerpt.tool.is_some());
    let calls: Vec<usize> = calls.map(|step| step.excerpt.index).collect();
    let (Some(&first), Some(&last)) = (calls.first(), calls.last()) else { return Vec::new() };
    let worker = picture.workers.iter().position(|name| *name == explained.worker);
    let of_worker = (0..picture.calls.len())
        .filter(|&index| Some(picture.calls[index].worker as usize) == worker);
    let of_worker: Vec<usize> = of_worker.collect();
    let begin = of_worker.partition_point(|&index| index < first).saturating_sub(AROUND);
    let end = (of_worker.partition_point(|&index| index <= last) + AROUND).min(of_worker.len());
    of_worker[begin..end].to_vec()
}

/// Returns a call of the loop in one line. A long result leaves at least half of it for the call.
fn line(excerpt: &Excerpt) -> String {
    let tool = excerpt.tool.as_deref().map_or_else(String::new, |tool| tool_name(tool, 16) + "  ");
    let call = format!("#{:<4} {tool}{}", excerpt.index, plain(&excerpt.text));
    let result = excerpt.result.as_ref().map_or("", |line| &line.text);
    if result.is_empty() {
        return shortened(&call, COLUMNS);
    }
    let room = COLUMNS - ARROW.width();
    let for_result = room.saturating_sub(call.width()).max(room / 2);
    let result = shortened(&plain(result), for_result);
    format!("{}{ARROW}{result}", shortened(&call, room - result.width()))
}

#[cfg(test)]
mod tests {
    use crate::replay::ResultLine;

    use super::*;

    #[test]
    fn a_call_and_its_result_share_a_line() {
        let long = "x".repeat(500);
        let wide = "漢".repeat(99);
        for (text, result) in
            [("{}", "no"), ("{}", &*long), (&*long, "no"), (&*long, &*long), ("漢", &*wide)]
        {
            let result = ResultLine { text: result.to_owned(), failed: true, refused: false };
            let (tool, result) = (Some("sh".to_owned()), Some(result));
            let line = line(&Excerpt { index: 7, tool, text: text.to_owned(), result });
            assert!(line.width() <= COLUMNS, "{line}");
            assert!(line.starts_with("#7    sh  ") && line.contains(ARROW), "{line}");
        }
    }
}
