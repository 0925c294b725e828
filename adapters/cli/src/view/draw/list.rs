//! The list of the runs.

use anstyle::Style;
use unstuck_report::shown::{counted, shortened};
use unstuck_report::words::name;

use super::{BAD, BAR, BASE, FAINT, STRONG, style_of};
use crate::view::state::{Row, State};
use crate::view::text::{Line, ending};

/// The widths from which a row has a column for the calls after the finding and one for the loop, and from
/// which the former is the whole cost.
const WIDE: usize = 70;
const WIDEST: usize = 130;

/// Returns the lines of the list.
pub(super) fn list(state: &State) -> Vec<Line> {
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
    line.add(STRONG, &padded(&ending(name(&row.path), of_run), of_run));
    if of_after > 0 {
        line.add(BASE, "  ");
        let room = columns.saturating_sub(line.width());
        line.add(BASE, &shortened(what, room));
    }
    line
}

/// Returns `text` filled up with spaces to `columns`. A wide character takes two.
fn padded(text: &str, columns: usize) -> String {
    Line::of(Style::new(), text).bar(Style::new(), columns).plain()
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
