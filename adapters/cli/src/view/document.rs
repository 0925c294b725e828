//! The text of a run and of one of its loops, and the ribbon with a cell for each call.

use anstyle::{Ansi256Color, Style};
use unstuck_core::Action;
use unstuck_report::Report;
use unstuck_report::draw::{COLOURS, Key, flag};
use unstuck_report::groups::groups;
use unstuck_report::recurring::what_recurs;
use unstuck_report::replay::{CALLS_MAX, Drawn, Ending, Excerpt, Picture, Step};
use unstuck_report::report::Loop;
use unstuck_report::shown::{counted, plain, shortened, tool_name};
use unstuck_report::words::Story;

use super::text::{BAD, BASE, FAINT, Line, STRONG, wrapped};

/// A text that can be longer than the screen.
#[derive(Default)]
pub(super) struct Document {
    pub(super) lines: Vec<Line>,
    /// The line at which each loop begins.
    pub(super) loops: Vec<usize>,
}

/// The most calls of a loop on the page of its run.
const CALLS_LISTED: usize = 12;

/// The most columns of a tool's name.
const TOOL_MAX: usize = 24;

/// Returns the text of a run for a terminal with so many columns.
pub(super) fn run_document(report: &Report, columns: usize) -> Document {
    let mut document = Document::default();
    let lines = &mut document.lines;
    lines.extend(wrapped(FAINT, "", &plain(&report.path), columns));
    lines.extend(wrapped(FAINT, "", &report.about(), columns));
    let loops = &report.judged.loops;
    if let Some(first) = groups(&loops.shown).first() {
        lines.extend(wrapped(BASE, "", &story(&report.story(first)), columns));
    }
    if let Some(picture) = &report.picture {
        lines.push(Line::default());
        lines.extend(ribbons(picture, columns));
    }
    for one in &loops.shown {
        document.lines.push(Line::default());
        document.loops.push(document.lines.len());
        document.lines.extend(of_loop(report, one, columns));
    }
    if loops.count > loops.shown.len() {
        let more = counted(loops.count - loops.shown.len(), "more loop");
        document.lines.push(Line::default());
        document.lines.push(Line::of(FAINT, format!("  and {more}: scan --format jsonl has all")));
    }
    document
}

/// Tells where the run got stuck and what it cost.
fn story(story: &Story<'_>) -> String {
    let Story { noun, begin, end, at, what, failure, after } = story;
    let failure = failure.map_or_else(String::new, |line| format!(": {}", plain(&line.text)));
    let after = after.as_ref().map_or_else(String::new, |after| format!(" {after}."));
    format!("Stuck from {noun} #{begin} to #{end}: {what}{failure}. It was found at #{at}.{after}")
}

/// Returns the lines of one loop on the page of its run.
fn of_loop(report: &Report, one: &Loop, columns: usize) -> Vec<Line> {
    let first = &one.rungs[0];
    let what = what_recurs(&first.finding, &first.tool);
    let mut lines = wrapped(STRONG, "  ", &what, columns);
    let steps = report.steps_of(one);
    let calls = one.calls(&steps);
    for call in calls.iter().take(CALLS_LISTED) {
        lines.extend(short(call, columns));
    }
    if calls.len() > CALLS_LISTED {
        let more = counted(calls.len() - CALLS_LISTED, "more call");
        lines.push(Line::of(FAINT, format!("    and {more}")));
    }
    lines.extend(told(one, columns));
    lines.extend(wrapped(FAINT, "  ", &one.origin(), columns));
    lines
}

/// Returns the message that the agent should have read.
fn told(one: &Loop, columns: usize) -> Vec<Line> {
    let mut lines = vec![Line::of(BASE, "  The agent should have been told:")];
    lines.extend(wrapped(BASE, "    ", &plain(&one.rungs[0].message), columns));
    lines
}

/// Returns a line for the call and one for its result.
fn short(call: &Excerpt, columns: usize) -> Vec<Line> {
    let mut line = Line::of(FAINT, format!("    #{}  ", call.index));
    if let Some(tool) = &call.tool {
        line.add(STRONG, &tool_name(tool, TOOL_MAX));
        line.add(BASE, "  ");
    }
    let room = columns.saturating_sub(line.width());
    line.add(BASE, &shortened(&plain(&call.text), room));
    let result = call.result.as_ref().filter(|result| !result.text.is_empty()).map(|result| {
        let style = if result.failed { BAD } else { FAINT };
        let room = columns.saturating_sub(8);
        Line::of(style, format!("      → {}", shortened(&plain(&result.text), room)))
    });
    [line].into_iter().chain(result).collect()
}

/// Returns the text of one loop: each call with all of its arguments and its result that is kept.
pub(super) fn loop_document(report: &Report, one: &Loop, columns: usize) -> Document {
    let first = &one.rungs[0];
    let mut lines = wrapped(STRONG, "", &what_recurs(&first.finding, &first.tool), columns);
    lines.extend(wrapped(FAINT, "", &one.origin(), columns));
    lines.extend(told(one, columns));
    let steps = report.steps_of(one);
    for call in one.calls(&steps) {
        lines.push(Line::default());
        let step = steps.iter().find(|step| step.excerpt.index == call.index);
        lines.extend(whole(call, step, columns));
    }
    Document { lines, loops: Vec::new() }
}

/// Returns the lines of a call.
fn whole(call: &Excerpt, step: Option<&Step>, columns: usize) -> Vec<Line> {
    let mut head = Line::of(STRONG, format!("#{}", call.index));
    if let Some(tool) = &call.tool {
        head.add(STRONG, &format!("  {}", tool_name(tool, TOOL_MAX)));
    }
    let mut lines = vec![head];
    lines.extend(wrapped(BASE, "  ", &plain(&call.text), columns));
    let of_step = step.and_then(|step| step.result.as_ref());
    let of_step = of_step.map(|result| (result.text.as_str(), result.failed, result.refused));
    let of_call = call.result.as_ref().map(|line| (line.text.as_str(), line.failed, line.refused));
    match of_step.or(of_call) {
        Some((text, failed, refused)) => {
            let (style, word) = match (refused, failed) {
                (true, _) => (BAD, "refused"),
                (_, true) => (BAD, "failed"),
                (_, false) => (FAINT, "ok"),
            };
            let text = format!("{word}: {}", plain(text));
            lines.extend(wrapped(style, "  → ", &text, columns));
        }
        None if call.tool.is_some() => lines.push(Line::of(FAINT, "  → no result")),
        None => {}
    }
    lines
}

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
    use crate::view::draw::tests::report;

    #[test]
    fn a_run_of_text_has_no_ribbon_and_its_turns() {
        let report = report("stuck-talk.jsonl");
        let text: Vec<String> = run_document(&report, 80).lines.iter().map(Line::plain).collect();
        let text = text.join("\n");
        assert!(text.contains("Stuck from message #"), "{text}");
        assert!(!text.contains("no result"), "{text}");
    }

    #[test]
    fn hostile_text_is_plain_and_secrets_are_masked() {
        let mut report = report("stuck-edit.jsonl");
        report.path = "\u{1b}]0;title\u{7}/a\u{202E}b.jsonl".to_owned();
        let loops = &mut report.judged.loops.shown;
        loops[0].rungs[0].message = "stop\u{1b}[2J".to_owned();
        report.picture.as_mut().expect("a picture").tools[0] = "\u{9b}31m\nrm".to_owned();
        for explained in &mut report.explained {
            for step in &mut explained.steps {
                step.excerpt.text = "{\"password\":\"hunter2hunter2\"}\u{1b}[H".to_owned();
                step.excerpt.tool = Some("a\u{7}".to_owned());
            }
        }
        let documents =
            [run_document(&report, 60), loop_document(&report, &report.judged.loops.shown[0], 60)];
        for line in documents.iter().flat_map(|document| &document.lines) {
            let text = line.plain();
            assert!(!text.contains(|c: char| c.is_control() || c == '\u{202E}'), "{text:?}");
            assert!(!text.contains("hunter2"), "{text:?}");
        }
    }

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
