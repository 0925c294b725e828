//! Draws the state as lines, exactly as many as the terminal has.

use anstyle::{AnsiColor, Style};
use unstuck_report::shown::{counted, shortened};
use unstuck_report::words::name;

use super::state::{Open, Page, Row, State};
use super::text::{BAD, BASE, FAINT, Line, STRONG, ending};

const BAR: Style = Style::new().invert();
const GOOD: Style = AnsiColor::Green.on_default();

/// The keys of the help, each with its meaning.
const HELP: [(&str, &str); 11] = [
    ("j k, arrows", "down and up"),
    ("PgDn PgUp", "a page down and up"),
    ("g G", "first and last line"),
    ("Enter l", "open a run, or its loop"),
    ("h Esc", "back, or clear the filter"),
    ("n N", "next and previous loop"),
    ("/", "filter: path, tool, rule"),
    ("s", "only runs that are stuck"),
    ("o", "order: path, cost, newest"),
    ("?", "this help"),
    ("q Ctrl-C", "quit"),
];

/// Returns the lines of the screen.
pub(super) fn frame(state: &State) -> Vec<Line> {
    let size = state.size;
    let mut lines = match &state.open {
        _ if state.has_help => help(),
        Some(open) => run(state, open),
        None => list(state),
    };
    lines.resize(size.lines.saturating_sub(1), Line::default());
    lines.push(keys(state).bar(BAR, size.columns));
    // A terminal of one line shows the keys.
    let extra = lines.len().saturating_sub(size.lines.max(1));
    lines.drain(..extra);
    lines.into_iter().map(|line| line.cut(size.columns)).collect()
}

fn help() -> Vec<Line> {
    let title = Line::of(STRONG, "Keys");
    let row = |(key, meaning): (&str, &str)| {
        let mut line = Line::of(STRONG, format!("  {key:<12}"));
        line.add(BASE, meaning);
        line
    };
    [title, Line::default()].into_iter().chain(HELP.map(row)).collect()
}

/// Returns the last line: the keys, or the filter while it is typed.
fn keys(state: &State) -> Line {
    if state.is_typing {
        return Line::of(BASE, format!("/{}_", unstuck_report::plain(&state.filter)));
    }
    let keys = match &state.open {
        _ if state.has_help => "any key: back",
        None => "? help  q quit  Enter open  / filter  s stuck  o order  j/k move",
        Some(open) if open.of_loop.is_some() => "? help  q quit  h back  n/N loop  j/k scroll",
        Some(_) => "? help  q quit  h back  Enter calls  n/N loop  j/k scroll",
    };
    Line::of(BASE, keys)
}

/// Returns the page of the run that is open.
fn run(state: &State, open: &Open) -> Vec<Line> {
    let path = &state.rows[open.row].path;
    let page = open.of_loop.as_ref().unwrap_or(&open.page);
    let room = state.size.lines.saturating_sub(2);
    let (mut title, end) = match &open.run {
        None => (Line::of(FAINT, "reading  "), String::new()),
        Some(Err(_)) => (Line::of(BAD, "unread  "), String::new()),
        Some(Ok(report)) => {
            let title = Line::of(style_of(report.status()), format!("{}  ", report.status()));
            (title, place(page, room))
        }
    };
    let columns = state.size.columns.saturating_sub(title.width() + end.len());
    let shown = ending(name(path), columns);
    title.add(STRONG, &format!("{shown:<columns$}"));
    title.add(FAINT, &end);
    let mut lines = vec![title];
    match &open.run {
        Some(Err(why)) => {
            lines.extend(super::text::wrapped(
                BASE,
                "",
                &unstuck_report::plain(why),
                state.size.columns,
            ));
        }
        _ => lines.extend(page.document.lines.iter().skip(page.top).take(room).cloned()),
    }
    if open.of_loop.is_none() {
        mark(&mut lines, open, page);
    }
    lines
}

/// Marks the loop that is chosen.
fn mark(lines: &mut [Line], open: &Open, page: &Page) {
    let chosen = page.document.loops.get(open.chosen);
    // The title is the first line.
    let line = chosen.and_then(|line| (line + 1).checked_sub(page.top)).filter(|&line| line > 0);
    if let Some(line) = line.and_then(|line| lines.get_mut(line)) {
        *line = Line::of(STRONG, line.plain().replacen("  ", "> ", 1));
    }
}

/// Returns the lines that are shown of how many, if not all are.
fn place(page: &Page, room: usize) -> String {
    let all = page.document.lines.len();
    if all <= room {
        return String::new();
    }
    format!("  {}-{} of {all}", page.top + 1, (page.top + room).min(all))
}

/// Returns the style of the result of a run.
fn style_of(word: &str) -> Style {
    match word {
        "clean" => GOOD,
        "empty" => FAINT,
        _ => BAD,
    }
}

/// The widths from which a row has a column for the calls after the finding and one for the loop, and from
/// which the former is the whole cost.
const WIDE: usize = 70;
const WIDEST: usize = 130;

/// Returns the lines of the list.
fn list(state: &State) -> Vec<Line> {
    let columns = state.size.columns;
    let mut lines = vec![title(state), Line::of(FAINT, heads(columns))];
    let rows = state.shown.iter().enumerate().skip(state.top).take(state.list_lines());
    lines.extend(rows.map(|(place, &row)| {
        let line = cells(&state.rows[row], columns);
        // Without colours and weights the mark is left.
        if place != state.at {
            return line;
        }
        Line::of(BASE, line.plain().replacen(' ', ">", 1)).bar(BAR, columns)
    }));
    if state.shown.is_empty() {
        lines.push(Line::of(FAINT, "  no run to show"));
    }
    if state.has_detail() {
        lines.resize(state.list_lines() + 2, Line::default());
        lines.extend(
            state.chosen().map(|row| detail(&state.rows[row], columns)).into_iter().flatten(),
        );
    }
    lines
}

fn title(state: &State) -> Line {
    let stuck = state.rows.iter().filter(|row| row.is_stuck()).count();
    let read = state.rows.iter().filter(|row| row.result.is_some()).count();
    let all = counted(state.rows.len(), "run");
    let mut line = Line::of(STRONG, format!("{stuck} of {all} stuck"));
    if read < state.rows.len() {
        line.add(BASE, &format!("  {read} read"));
    }
    if !state.filter.is_empty() {
        line.add(BASE, &format!("  filter: {}", unstuck_report::plain(&state.filter)));
    }
    if state.only_stuck {
        line.add(BASE, "  only stuck");
    }
    line.add(FAINT, &format!("  order: {}", state.order.name()));
    line
}

/// Returns the widths of the columns for the run and the cost after the finding.
fn widths(columns: usize) -> (usize, usize) {
    let after = match columns {
        0..WIDE => 0,
        WIDE..WIDEST => 7,
        _ => 36,
    };
    let rest = columns.saturating_sub(16 + after);
    (if after > 0 { rest * 45 / 100 } else { rest }, after)
}

fn heads(columns: usize) -> String {
    let (of_run, of_after) = widths(columns);
    let after = if of_after > 0 { format!("  {:>of_after$}", "after") } else { String::new() };
    let what = if of_after > 0 { "what recurs" } else { "" };
    format!("  {:<7}{:>5}{after}  {:<of_run$}  {what}", "result", "calls", "run")
}

fn cells(row: &Row, columns: usize) -> Line {
    let (of_run, of_after) = widths(columns);
    let (word, style, calls, after, what) = match &row.result {
        None => ("…", FAINT, String::new(), String::new(), ""),
        Some(Err(why)) => ("unread", BAD, String::new(), String::new(), why.as_str()),
        Some(Ok(summary)) => {
            let after = match (summary.after, columns < WIDEST) {
                (Some(after), true) => after.calls.to_string(),
                (Some(after), false) => shortened(&after.to_string(), of_after),
                (None, _) => String::new(),
            };
            let style = style_of(summary.word);
            (summary.word, style, summary.calls.to_string(), after, summary.what.as_str())
        }
    };
    let mut line = Line::of(style, format!("  {word:<7}"));
    line.add(BASE, &format!("{calls:>5}"));
    if of_after > 0 {
        line.add(BASE, &format!("  {after:>of_after$}"));
    }
    line.add(BASE, "  ");
    // A wide character takes two columns, so the line is filled up and not the text.
    line.append(Line::of(STRONG, ending(name(&row.path), of_run)).bar(STRONG, of_run));
    if of_after > 0 {
        line.add(BASE, "  ");
        let room = columns.saturating_sub(line.width());
        line.add(BASE, &shortened(what, room));
    }
    line
}

/// Returns two lines about the chosen run: its path, and its first loop with the cost.
fn detail(row: &Row, columns: usize) -> [Line; 2] {
    let path = Line::of(FAINT, ending(&row.path, columns));
    let about = match &row.result {
        None => String::new(),
        Some(Err(why)) => why.clone(),
        Some(Ok(summary)) => {
            let after = summary.after.filter(|after| after.calls > 0);
            let after =
                after.map_or_else(String::new, |after| format!("; {after} after it was found"));
            let more = summary.loops.saturating_sub(1);
            let more =
                if more > 0 { format!("; {}", counted(more, "more loop")) } else { String::new() };
            format!("{}{after}{more}", summary.what)
        }
    };
    [path, Line::of(BASE, shortened(&about, columns))]
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;
    use unstuck_report::{Report, Settings};
    use unstuck_text::PRESETS;

    use super::*;
    use crate::read::inputs::Input;
    use crate::read::progress::Progress;
    use crate::scan::judge;
    use crate::view::RUN;
    use crate::view::state::tests::{state, summary};
    use crate::view::state::{Key, News, Size, Task};

    const SIZES: [Size; 3] = [
        Size { columns: 80, lines: 24 },
        Size { columns: 40, lines: 20 },
        Size { columns: 160, lines: 50 },
    ];

    /// Returns the report on a recorded run.
    pub(in crate::view) fn report(name: &str) -> Report {
        let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/runs/native");
        let input = Input::File(PathBuf::from(runs).join(name));
        let settings = Settings::new(&PRESETS[0], RUN);
        let full = judge::read(&input, &settings, &Progress::hidden()).expect("a recorded run");
        let mut report = full.report;
        report.path = format!("runs/native/{name}");
        report
    }

    /// Returns the screen as text. Each line ends in `|`.
    fn screen(state: &State) -> String {
        let lines = frame(state);
        assert_eq!(lines.len(), state.size.lines);
        assert!(lines.iter().all(|line| line.width() <= state.size.columns));
        lines.iter().map(|line| line.plain().trim_end().to_owned() + "\n").collect()
    }

    fn opened(name: &str, size: Size) -> State {
        let mut state = state(4, size);
        assert_eq!(state.press(Key::Enter), Some(Task::Open(0)));
        state.take(vec![News::Run(0, Ok(Box::new(report(name))))]);
        state
    }

    fn named(what: &str, size: Size) -> String {
        format!("{what}_at_{}x{}", size.columns, size.lines)
    }

    #[test]
    fn a_list_of_runs() {
        for size in SIZES {
            let mut state = state(30, size);
            state.take(vec![News::Row(3, Err("no such file".to_owned()))]);
            state.press(Key::Down);
            insta::assert_snapshot!(named("list", size), screen(&state));
        }
    }

    #[test]
    fn a_run_with_a_loop() {
        for size in SIZES {
            let mut state = opened("stuck-two-in-turns.jsonl", size);
            insta::assert_snapshot!(named("run", size), screen(&state));
            state.press(Key::Enter);
            insta::assert_snapshot!(named("loop", size), screen(&state));
        }
    }

    #[test]
    fn workers_have_lanes() {
        let state = opened("stuck-worker.jsonl", SIZES[0]);
        insta::assert_snapshot!(named("workers", SIZES[0]), screen(&state));
    }

    #[test]
    fn help_and_the_filter_that_is_typed() {
        let mut state = state(4, SIZES[1]);
        state.press(Key::Char('?'));
        insta::assert_snapshot!(named("help", SIZES[1]), screen(&state));
        state.press(Key::Esc);
        state.press(Key::Char('/'));
        state.press(Key::Char('x'));
        let screen = screen(&state);
        assert!(screen.ends_with("/x_\n") && screen.contains("no run"), "{screen}");
    }

    #[test]
    fn an_unread_run_says_why() {
        let mut state = state(4, SIZES[1]);
        state.press(Key::Enter);
        assert!(screen(&state).starts_with("reading"));
        state.take(vec![News::Run(0, Err("no \u{1b}[31m such file".to_owned()))]);
        let screen = screen(&state);
        assert!(
            screen.starts_with("unread") && screen.contains("no \u{FFFD}[31m such"),
            "{screen}"
        );
    }

    #[test]
    fn no_style_needs_a_colour_to_be_read() {
        let state = opened("stuck-two-in-turns.jsonl", SIZES[0]);
        let bare: String = frame(&state).iter().map(|line| line.escaped(false)).collect();
        assert!(!bare.contains("\u{1b}[3") && !bare.contains("\u{1b}[4m\u{1b}[48"), "{bare:?}");
        assert!(bare.contains("\u{1b}[1m\u{1b}[4m"), "evidence is bold and underlined: {bare:?}");
    }

    /// Returns the keys that mean something, and one that does not.
    fn all_keys() -> Vec<Key> {
        use Key::{Backspace, Down, End, Enter, Esc, Left, PageDown, PageUp, Right, Up};
        let others = [Up, Down, Left, Right, Enter, Esc, Backspace, PageUp, PageDown, End];
        "jklhgGnNso/? \u{301}".chars().map(Key::Char).chain(others).collect()
    }

    proptest! {
        #[test]
        fn any_keys_and_sizes_have_a_screen(
            keys in proptest::collection::vec(proptest::sample::select(all_keys()), 0..60),
            columns in 0..100_usize,
            lines in 1..30_usize,
        ) {
            let mut state = state(9, SIZES[0]);
            for (number, key) in keys.into_iter().enumerate() {
                if let Some(Task::Open(row)) = state.press(key) {
                    let name = ["stuck-talk.jsonl", "healthy-fix.jsonl", "stuck-edit.jsonl"][row % 3];
                    state.take(vec![News::Run(row, Ok(Box::new(report(name))))]);
                }
                if number % 7 == 3 {
                    state.resize(Size { columns, lines });
                }
                screen(&state);
            }
        }

        #[test]
        fn every_size_has_its_lines_and_columns(
            columns in 0..200_usize,
            lines in 1..60_usize,
            name in ".{0,40}",
        ) {
            let size = Size { columns, lines };
            let mut list = state(9, size);
            list.take(vec![News::Found(PathBuf::from(&name), None), News::Row(9, Ok(summary(3, Some(1))))]);
            list.press(Key::End);
            let mut run = opened("stuck-worker.jsonl", SIZES[0]);
            run.resize(size);
            run.press(Key::End);
            for state in [list, run] {
                let shown = screen(&state);
                prop_assert!(!shown.contains(|c: char| c.is_control() && c != '\n'));
            }
        }
    }
}
