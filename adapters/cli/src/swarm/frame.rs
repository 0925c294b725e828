//! Prints a look at a swarm: a table for people, lines for programs.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, Table, presets::NOTHING};
use unstuck_core::Action;
use unstuck_report::json::Object;
use unstuck_report::shown::{counted, plain, shortened, tool_name};
use unstuck_swarm::Outcome;

use super::sampler::{HotCall, Sample};
use crate::time::ago;

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const MILD: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// The most columns of a tool's name.
const TOOL_MAX: usize = 16;

/// The cell for an unknown number.
const NONE: &str = "-";

/// The version of the JSON's format. A new field does not change it.
const SCHEMA: u32 = 1;

/// The name of the swarm and its servers.
pub(super) struct Title<'a> {
    pub(super) swarm: &'a str,
    pub(super) servers: &'a str,
}

/// The space for a look.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// The number of columns.
    pub(super) columns: usize,
    /// The number of calls.
    pub(super) calls: usize,
    /// The number of lines for them.
    pub(super) lines: usize,
}

/// The indentation of a call below its row.
const INDENT: &str = "                  ";

/// The text if there is nothing to show. This is always the case with a wrong secret.
const NONE_YET: &str = "no call is near a loop: a call is shown once workers with the same secret \
                        have made it half as often as the rule asks for";

/// Returns a look for people.
pub(super) fn human(
    title: &Title<'_>,
    look: &Sample,
    Room { columns, calls, lines }: Room,
) -> String {
    let Title { swarm, servers } = title;
    let time = time(look.at);
    let found = match &look.rows {
        Ok(_) => counted(look.loops(), "loop"),
        Err(_) => "no answer".to_owned(),
    };
    let head = format!("swarm {} on {}  {found}  {time}", plain(swarm), plain(servers));
    let mut text = format!("{STRONG}{}{STRONG:#}\n", shortened(&head, columns));
    match &look.rows {
        Ok(rows) if rows.is_empty() => {
            text.extend(textwrap::fill(NONE_YET, columns).lines().map(|line| format!("{line}\n")));
        }
        Ok(rows) => {
            let heights = rows.iter().take(calls).map(|row| 1 + usize::from(row.call.is_some()));
            let count = fitting(heights, lines);
            text += &table(rows.get(..count).unwrap_or(rows), columns);
        }
        Err(error) => {
            let said = textwrap::fill(&plain(&error.to_string()), columns);
            text.extend(said.lines().map(|line| format!("{BAD}{line}{BAD:#}\n")));
        }
    }
    text
}

fn table(rows: &[HotCall], columns: usize) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(COLUMNS.iter().map(|(head, ..)| *head));
    for row in rows {
        table.add_row(COLUMNS.iter().map(|(_, _, cell)| cell(row)));
    }
    for (column, (_, alignment, _)) in table.column_iter_mut().zip(COLUMNS) {
        column.set_padding((0, 2)).set_cell_alignment(alignment);
    }
    let styles = [FAINT].into_iter().chain(rows.iter().map(|row| style(row.hot.action)));
    let mut text = String::new();
    let calls = [None].into_iter().chain(rows.iter().map(|row| row.call.as_deref()));
    for ((line, style), call) in table.trim_fmt().lines().zip(styles).zip(calls) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{style}{}{style:#}", shortened(line, columns));
        if let Some(call) = call {
            let call = shortened(call, columns.saturating_sub(INDENT.len()));
            let _ = writeln!(text, "{INDENT}{FAINT}{call}{FAINT:#}");
        }
    }
    text
}

/// Returns the number of rows of these heights that fit into `lines`, and 1 at least.
fn fitting(heights: impl Iterator<Item = usize>, lines: usize) -> usize {
    let mut used = 0_usize;
    let fits = |height: &usize| {
        used += height;
        used <= lines
    };
    heights.take_while(fits).count().max(1)
}

type Column = (&'static str, CellAlignment, fn(&HotCall) -> String);

const COLUMNS: [Column; 8] = [
    ("loop", CellAlignment::Left, |row| row.hot.loop_id.to_string()),
    ("tool", CellAlignment::Left, |row| tool_name(&row.hot.tool, TOOL_MAX)),
    ("calls", CellAlignment::Right, |row| row.hot.calls.to_string()),
    ("workers", CellAlignment::Right, |row| row.hot.workers.to_string()),
    ("per min", CellAlignment::Right, |row| {
        row.rate.map_or_else(|| NONE.to_owned(), |rate| format!("{rate:.0}"))
    }),
    ("verdict", CellAlignment::Left, |row| match row.hot.action {
        Action::Proceed => NONE.to_owned(),
        action => action.name().to_owned(),
    }),
    ("result", CellAlignment::Left, |row| outcome(row.hot.outcome).to_owned()),
    ("last call", CellAlignment::Right, |row| ago(row.hot.last_seen_ms_ago, 0)),
];

fn style(action: Action) -> Style {
    match action {
        Action::Proceed => Style::new(),
        Action::Nudge | Action::Warn => MILD,
        Action::Block | Action::StartOver | Action::Stop => BAD,
    }
}

const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Unknown => "unknown",
        Outcome::Worked => "worked",
        Outcome::Failed => "failed",
    }
}

/// Formats the time of day of a number of milliseconds since 1970.
fn time(at: u64) -> String {
    let seconds = at / 1000 % 86_400;
    format!("{:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Returns a look for programs: a line for each of at most `calls` calls.
pub(super) fn lines(title: &Title<'_>, look: &Sample, calls: usize) -> String {
    let line = |HotCall { hot, rate, .. }: &HotCall| {
        Object::default()
            .with("schema", SCHEMA)
            .with("at", look.at)
            .with("swarm", title.swarm)
            .with("loop", hot.loop_id.to_string())
            .with("tool", &hot.tool)
            .with("calls", hot.calls)
            .with("workers", hot.workers)
            .with("per_minute", rate)
            .with("result", outcome(hot.outcome))
            .with("last_call_ms_ago", hot.last_seen_ms_ago)
            .with("rung", hot.rung)
            .with("action", hot.action.name())
            .line()
    };
    look.rows.iter().flatten().take(calls).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{fitting, time};

    #[test]
    fn rows_with_their_calls_fit_into_the_lines() {
        for (heights, lines, count) in [
            (&[1, 1, 1][..], 3, 3),
            (&[2, 1, 2], 3, 2),
            (&[2, 2], 3, 1),
            (&[2, 2], 0, 1),
            (&[1, 2, 2], usize::MAX, 3),
        ] {
            assert_eq!(fitting(heights.iter().copied(), lines), count, "{heights:?} in {lines}");
        }
    }

    #[test]
    fn the_time_of_day_is_shown() {
        assert_eq!(time(0), "00:00:00 UTC");
        assert_eq!(time(1_795_371_000_999), "18:10:00 UTC");
    }
}
