//! The steps of a loop as a table that fits into a terminal.

use std::collections::HashMap;
use std::fmt::Write as _;

use anstream::adapter::strip_str;
use anstyle::Style;
use textwrap::{Options, WordSplitter};
use unicode_width::UnicodeWidthStr as _;
use unstuck_core::{Action, Policy, RuleIndex};
use unstuck_text::similarity;

use crate::replay::Step;
use crate::shown::{COLUMNS, plain, shortened, tool_name};

/// The space before each column.
const GAP: &str = "  ";

/// The fewest columns for the arguments. Rules that leave less room are dropped, the farthest
/// first.
const ARGS_MIN: usize = 16;

/// The most columns of a tool's name, and of one line of a rule's name.
const TOOL_MAX: usize = 16;
const RULE_MAX: usize = 10;

const FAINT: Style = Style::new().dimmed();

/// Returns the table of `steps`, which are all calls or all turns, and below it the names of the
/// rules that did not fit.
pub(crate) fn table(steps: &[Step], policy: &'static Policy<'static>) -> String {
    let is_turns = steps.iter().all(|step| step.excerpt.tool.is_none());
    let (mut columns, names) = if is_turns { turns(steps, policy) } else { calls(steps, policy) };
    let rules = names.into_iter().enumerate().map(|(place, name)| OfRule::new(place, name, steps));
    let room = COLUMNS.saturating_sub(width(&columns) + GAP.len());
    let (rules, left_out) = fitting(rules.collect(), room);
    columns.extend(rules.into_iter().map(|rule| rule.column));

    let room = COLUMNS.saturating_sub(width(&columns) + GAP.len());
    let head = if is_turns { "text" } else { "arguments" };
    let words = |step: &Step| shortened(&plain(&step.excerpt.text), room);
    columns.insert(if is_turns { 1 } else { 2 }, Column::new(vec![head.to_owned()], steps, words));
    lines(&columns) + &remark(&left_out)
}

/// Returns the table without styles, for other outputs than a terminal.
pub(crate) fn plain_table(steps: &[Step], policy: &'static Policy<'static>) -> String {
    strip_str(&table(steps, policy)).to_string()
}

/// Returns the columns of calls without the arguments and the rules, and the names of the rules.
fn calls(steps: &[Step], policy: &'static Policy<'static>) -> (Vec<Column>, Vec<&'static str>) {
    let columns = vec![
        Column::named("", steps, number),
        Column::named("tool", steps, |step| {
            tool_name(step.excerpt.tool.as_deref().unwrap_or_default(), TOOL_MAX)
        }),
        Column { head: vec!["result".to_owned()], cells: results(steps) },
        Column::named("verdict", steps, verdict),
    ];
    (columns, policy.rules().iter().map(|rule| rule.name).collect())
}

/// Returns the columns of turns without the text and the rules, and the names of the rules.
fn turns(steps: &[Step], policy: &'static Policy<'static>) -> (Vec<Column>, Vec<&'static str>) {
    let columns = vec![Column::named("", steps, number), Column::named("verdict", steps, verdict)];
    (columns, policy.texts().iter().map(|rule| rule.name).collect())
}

fn number(step: &Step) -> String {
    format!("#{}", step.excerpt.index)
}

/// Returns a cell for each result: how the call ended, the first digits of its digest, and its
/// similarity to the result of the lap before: of the latest call with the tool and the arguments, or else of the
/// latest call with the tool.
fn results<'s>(steps: &'s [Step]) -> Vec<String> {
    let (mut of_calls, mut of_tools) = (HashMap::new(), HashMap::new());
    let cell = |step: &'s Step| {
        let Some(result) = &step.result else { return "none".to_owned() };
        let word = match (result.refused, result.failed) {
            (true, _) => "refused",
            (_, true) => "failed",
            (_, false) => "ok",
        };
        let digits = result.digest.bits() >> 48;
        let (tool, text) = (step.excerpt.tool.as_deref(), &*step.excerpt.text);
        let of_call = of_calls.insert((tool, text), &result.text);
        let of_tool = of_tools.insert(tool, &result.text);
        let percent = of_call.or(of_tool).map(|before| percent(before, &result.text));
        let percent = percent.map_or_else(String::new, |percent| format!(" {percent}%"));
        format!("{word} {digits:04x}{percent}")
    };
    steps.iter().map(cell).collect()
}

/// Returns the similarity of two results in percent, rounded down, so that only equal ones have 100.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
fn percent(one: &str, other: &str) -> u8 {
    (similarity(one, other) * 100.0) as u8
}

fn verdict(step: &Step) -> String {
    match step.verdict.action {
        Action::Proceed => Action::Proceed.to_string(),
        action => format!("{action} {}", step.verdict.rung),
    }
}

/// A column: the lines of its head, and a cell for each step.
struct Column {
    head: Vec<String>,
    cells: Vec<String>,
}

/// The column of a rule, and how near the rule came.
struct OfRule {
    name: &'static str,
    column: Column,
    /// The largest count, and the largest count in thousandths of what the rule needs.
    held: u16,
    reach: u32,
}

impl Column {
    fn new(head: Vec<String>, steps: &[Step], cell: impl Fn(&Step) -> String) -> Self {
        Self { head, cells: steps.iter().map(cell).collect() }
    }

    fn named(head: &str, steps: &[Step], cell: impl Fn(&Step) -> String) -> Self {
        Self::new(vec![head.to_owned()], steps, cell)
    }

    fn width(&self) -> usize {
        self.head.iter().chain(&self.cells).map(|cell| cell.width()).max().unwrap_or(0)
    }
}

impl OfRule {
    /// Creates the column of the rule at `place` among the rules of its kind.
    fn new(place: usize, name: &'static str, steps: &[Step]) -> Self {
        let words = textwrap::wrap(name, RULE_MAX).into_iter().map(String::from).collect();
        let column = Column::new(words, steps, |step| count(step, place));
        let near = steps.iter().filter_map(|step| *step.near.get(place)?);
        let held = near.clone().map(|near| near.held).max().unwrap_or(0);
        let reach = near.map(|near| u32::from(near.held) * 1000 / u32::from(near.needed.max(1)));
        let reach = reach.max().unwrap_or(0);
        if steps.iter().any(|step| is_finder(step, place)) {
            return Self { name, column, held: u16::MAX, reach: u32::MAX };
        }
        Self { name, column, held, reach }
    }
}

/// Returns the count of the rule at `place`, and the count that it needs.
fn count(step: &Step, place: usize) -> String {
    let mark = if is_finder(step, place) { "*" } else { "" };
    match step.near.get(place).copied().flatten() {
        // A rule about repetition inside one turn has no count from one turn to the next.
        Some(near) if mark.is_empty() || near.held == near.needed => {
            format!("{}/{}{mark}", near.held, near.needed)
        }
        _ if mark.is_empty() => "-".to_owned(),
        _ => mark.to_owned(),
    }
}

/// Returns whether the rule at `place` made the finding.
fn is_finder(step: &Step, place: usize) -> bool {
    let finding = step.verdict.finding;
    finding.is_some_and(|finding| match finding.rule {
        RuleIndex::Call(finder) | RuleIndex::Text(finder) => usize::from(finder) == place,
    })
}

/// Returns the `rules` that fit into `room` beside the arguments, and the names of the others.
/// Rules that never counted to two leave first, then the farthest.
fn fitting(mut rules: Vec<OfRule>, room: usize) -> (Vec<OfRule>, Vec<&'static str>) {
    let mut left_out = Vec::new();
    let fits = |rules: &[OfRule]| {
        let taken = rules.iter().map(|rule| GAP.len() + rule.column.width()).sum::<usize>();
        taken + ARGS_MIN <= room
    };
    if !fits(&rules) {
        let (near, far) = rules.into_iter().partition(|rule| rule.held > 1);
        rules = near;
        left_out.extend(far.iter().map(|rule: &OfRule| rule.name));
    }
    while !fits(&rules) && rules.len() > 1 {
        let farthest = (0..rules.len()).min_by_key(|&place| rules[place].reach);
        left_out.extend(farthest.map(|place| rules.remove(place).name));
    }
    (rules, left_out)
}

/// Returns the width of the columns, with the gaps.
fn width(columns: &[Column]) -> usize {
    columns.iter().map(|column| GAP.len() + column.width()).sum()
}

fn lines(columns: &[Column]) -> String {
    let widths: Vec<usize> = columns.iter().map(Column::width).collect();
    let row = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| {
            let gap = " ".repeat(width.saturating_sub(cell.width()));
            format!("{GAP}{cell}{gap}")
        });
        padded.collect::<String>().trim_end().to_owned()
    };
    let heads = columns.iter().map(|column| column.head.len()).max().unwrap_or(0);
    let steps = columns.first().map_or(0, |column| column.cells.len());
    let mut text = String::new();
    // Heads with fewer lines are aligned to the bottom.
    for n in 0..heads {
        let head = |column: &'_ Column| n.checked_sub(heads - column.head.len());
        let cells = columns.iter().map(|column| head(column).map_or("", |n| &column.head[n]));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{FAINT}{}{FAINT:#}", row(cells.collect()));
    }
    for n in 0..steps {
        text += &row(columns.iter().map(|column| column.cells[n].as_str()).collect());
        text.push('\n');
    }
    text
}

/// Returns a line with the names of the rules that are `left_out`.
fn remark(left_out: &[&str]) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    let options = Options::new(COLUMNS).initial_indent(GAP).subsequent_indent(GAP);
    let options = options.word_splitter(WordSplitter::NoHyphenation);
    let text = textwrap::fill(&format!("not shown: {}", left_out.join(", ")), options);
    format!("{FAINT}{text}{FAINT:#}\n")
}
