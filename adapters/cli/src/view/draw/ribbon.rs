//! The ribbon: a cell for each call, in rows, and its legend.

use anstyle::{Ansi256Color, Style};
use unstuck_core::Action;
use unstuck_report::draw::{COLOURS, Key, flag};
use unstuck_report::replay::{CALLS_MAX, Drawn, Ending, Picture};
use unstuck_report::shown::{counted, plain, shortened, tool_name};

use super::{BASE, FAINT, STRONG};
use crate::view::text::Line;

/// The columns of a cell: the letter and a mark.
const CELL: usize = 2;

/// The most columns of a name.
const NAME_MAX: usize = 30;

/// The backgrounds of the tools. Black text is easy to read on all of them.
const BACKGROUNDS: [u8; COLOURS + 1] = [75, 214, 114, 177, 80, 222, 175, 250];

const BLACK: Ansi256Color = Ansi256Color(16);

/// Returns the legend and the ribbon of each worker.
pub(super) fn ribbons(picture: &Picture, columns: usize) -> Vec<Line> {
    if picture.calls.is_empty() {
        return Vec::new();
    }
    let key = Key::of(picture);
    let mut lines = legend(picture, &key, columns);
    let mut of_worker: Vec<Vec<usize>> = vec![Vec::new(); picture.workers.len()];
    for (index, call) in picture.calls.iter().enumerate() {
        of_worker[call.worker as usize].push(index);
    }
    for (name, calls) in picture.workers.iter().zip(&of_worker) {
        lines.push(Line::default());
        if picture.workers.len() > 1 {
            let name = shortened(&plain(name), NAME_MAX);
            lines.push(Line::of(FAINT, format!("{name}, {}", counted(calls.len(), "call"))));
        }
        lines.extend(ribbon(picture, &key, calls, columns));
    }
    if picture.left_out > 0 {
        let left_out = format!("The first {CALLS_MAX} calls; {} more follow.", picture.left_out);
        lines.push(Line::of(FAINT, left_out));
    }
    lines
}

/// Returns the cells of `calls`, which are indexes of calls of the picture, in rows that fit.
fn ribbon(picture: &Picture, key: &Key, calls: &[usize], columns: usize) -> Vec<Line> {
    let label = calls.last().map_or(0, |last| last.to_string().len()) + 2;
    let fit = columns.saturating_sub(label) / CELL;
    // Round numbers are easier to count from.
    let in_row = if fit >= 20 { fit - fit % 10 } else { fit.max(1) };
    let mut lines = Vec::new();
    for row in calls.chunks(in_row) {
        let of_row = || row.iter().map(|&index| &picture.calls[index]);
        if of_row().any(|call| flag(call.told).is_some()) {
            let mut line = Line::of(BASE, " ".repeat(label));
            for call in of_row() {
                match flag(call.told) {
                    Some(flag) => line.add(STRONG.invert(), &flag.to_string()),
                    None => line.add(BASE, " "),
                }
                line.add(BASE, " ");
            }
            lines.push(line);
        }
        let number = format!("#{}", row[0]);
        let mut line = Line::of(FAINT, format!("{number:<label$}"));
        for call in of_row() {
            line.add(style(key, call), &cell(key, call));
        }
        lines.push(line);
    }
    lines
}

/// Returns the letter of a call and its mark.
fn cell(key: &Key, call: &Drawn) -> String {
    let mark = match call.ending {
        Ending::Ok => ' ',
        Ending::Failed => '!',
        Ending::Refused => 'x',
        Ending::Open => '?',
    };
    format!("{}{mark}", key.letter(call).unwrap_or('·'))
}

fn style(key: &Key, call: &Drawn) -> Style {
    let style = match call.ending {
        // It did not run.
        Ending::Refused => Style::new(),
        _ => on(key.colour(call)),
    };
    if call.of_loop.is_some() { style.bold().underline() } else { style }
}

/// Returns black on the background with this number.
fn on(colour: usize) -> Style {
    BLACK.on(Ansi256Color(BACKGROUNDS[colour]))
}

/// Returns the colours of the tools and the marks that the ribbon has, in lines that fit.
fn legend(picture: &Picture, key: &Key, columns: usize) -> Vec<Line> {
    let has = |ending| picture.calls.iter().any(|call| call.ending == ending);
    let mut tools: Vec<(usize, &String)> =
        key.colours.iter().copied().zip(&picture.tools).collect();
    tools.sort_by_key(|(colour, _)| *colour);
    let others = tools.iter().filter(|(colour, _)| *colour == COLOURS).count();
    let mut items: Vec<(Style, String, String)> = tools
        .iter()
        .filter(|(colour, _)| *colour < COLOURS)
        .map(|(colour, tool)| (on(*colour), "  ".to_owned(), tool_name(tool, NAME_MAX)))
        .collect();
    if others > 0 {
        items.push((on(COLOURS), "  ".to_owned(), counted(others, "other tool")));
    }
    let mut mark = |is_there: bool, style: Style, mark: String, what: &str| {
        if is_there {
            items.push((style, mark, what.to_owned()));
        }
    };
    mark(true, BASE, "A".to_owned(), "equal calls");
    let has_evidence = picture.calls.iter().any(|call| call.of_loop.is_some());
    mark(has_evidence, STRONG.underline(), "A".to_owned(), "evidence of a loop");
    mark(has(Ending::Failed), BASE, "!".to_owned(), "failed");
    mark(has(Ending::Refused), BASE, "x".to_owned(), "refused");
    mark(has(Ending::Open), BASE, "?".to_owned(), "no result");
    for action in Action::ALL {
        if let Some(flag) = flag(action) {
            let is_there = picture.calls.iter().any(|call| call.told == action);
            mark(is_there, STRONG.invert(), flag.to_string(), action.name());
        }
    }
    flow(items, columns)
}

/// Returns the items one after the other, in lines that fit.
fn flow(items: Vec<(Style, String, String)>, columns: usize) -> Vec<Line> {
    let (mut lines, mut line) = (Vec::new(), Line::default());
    for (style, mark, what) in items {
        let mut item = Line::of(style, mark);
        item.add(BASE, &format!(" {what}"));
        let used = line.width();
        if used == 0 {
            line = item;
        } else if used + 2 + item.width() > columns {
            lines.push(std::mem::replace(&mut line, item));
        } else {
            line.add(BASE, "  ");
            line.append(item);
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[Line]) -> Vec<String> {
        lines.iter().map(|line| line.plain().trim_end().to_owned()).collect()
    }

    #[test]
    fn a_cell_shows_its_letter_its_mark_and_its_flag() {
        let mut picture = Picture::sketched("a0b1A1A1c");
        picture.calls[0].ending = Ending::Failed;
        picture.calls[1].ending = Ending::Refused;
        picture.calls[3].told = Action::StartOver;
        let key = Key::of(&picture);
        let lines = ribbon(&picture, &key, &[0, 1, 2, 3, 4], 80);
        assert_eq!(text(&lines), ["         O", "#0 A!·xA A ·?"]);
        assert_eq!(style(&key, &picture.calls[2]), on(0).bold().underline());
        assert_eq!(style(&key, &picture.calls[1]), Style::new());
    }

    #[test]
    fn a_ribbon_wraps_at_round_numbers_and_at_any_width() {
        let picture = Picture::sketched(&"ab".repeat(50));
        let key = Key::of(&picture);
        let all: Vec<usize> = (0..100).collect();
        for (columns, rows) in [(80, 4), (160, 2), (40, 6), (3, 100), (0, 100)] {
            let lines = ribbon(&picture, &key, &all, columns);
            assert_eq!(lines.len(), rows, "{columns}");
            assert!(lines.iter().all(|line| line.width() <= columns.max(6)), "{columns}");
        }
        let lines = text(&ribbon(&picture, &key, &all, 80));
        assert!(lines[1].starts_with("#30 A?B?"), "{lines:?}");
    }

    #[test]
    fn many_tools_share_a_colour() {
        let picture = Picture::sketched("abcdefghij");
        let lines = text(&ribbons(&picture, 80));
        assert!(lines.concat().contains("3 other tools"), "{lines:?}");
        assert!(ribbons(&Picture::default(), 80).is_empty());
    }
}
