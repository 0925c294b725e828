//! The text about one group of loops: what recurs, the calls that prove it, and what the agent should have been
//! told.

use anstyle::Style;
use textwrap::Options;
use unicode_width::UnicodeWidthStr as _;
use unstuck_core::Args;

use super::calls;
use crate::groups::Group;
use crate::loops::Loop;
use crate::recurring::what_recurs;
use crate::recurring::{SharedResult, shared_result};
use crate::replay::{Location, ReplayFinding};
use crate::shown::{plain, shortened};

/// The most columns of a worker's name.
pub(crate) const WORKER_MAX: usize = 40;

/// The most columns of a sentence. Longer lines are hard to read.
const PROSE_MAX: usize = 100;

/// The most other loops of a group that are described.
const OTHERS_MAX: usize = 3;

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// Returns the text about a group of loops, in at most `columns`: the evidence first, then what the agent should
/// have been told, and the terms of the engine last.
pub(super) fn block(Group { strongest, others }: &Group<'_>, columns: usize) -> String {
    let found = strongest.first();
    let headline = Headline::of(found);
    let mut lines = headline.lines(columns);
    if &*found.worker != "main" {
        let worker = shortened(&plain(&found.worker), WORKER_MAX);
        lines.push(format!("  {FAINT}by the worker {worker}{FAINT:#}"));
    }
    lines.extend(calls::lines(&found.proof, columns, headline.recorded));
    lines.extend(also(others, columns));
    lines.push("  The agent should have been told:".to_owned());
    lines.push(wrapped(&plain(&found.message), 4, columns));
    // An id stays with the word before it.
    let terms = terms(strongest, others).replace("loop ", "loop\u{A0}");
    let terms = wrapped(&terms, 2, columns).replace('\u{A0}', " ");
    lines.extend(terms.lines().map(|line| format!("{FAINT}{line}{FAINT:#}")));
    lines.join("\n") + "\n"
}

/// What recurs, and the result of it.
pub(super) struct Headline<'a> {
    what: String,
    /// The words before the result.
    before: &'static str,
    /// The line of the last result, as it may be shown.
    result: Option<String>,
    /// The same line as it is in the recording.
    recorded: Option<&'a str>,
}

impl<'a> Headline<'a> {
    pub(super) fn of(found: &'a ReplayFinding) -> Self {
        let what = what_recurs(&found.finding, &found.tool);
        let results = found.proof.iter().filter_map(|call| call.result.as_ref());
        let ran = results.filter(|result| !result.refused && !result.text.trim().is_empty());
        let lines: Vec<&str> = ran.map(|result| result.text.as_str()).collect();
        let shared = shared_result(&found.finding, &lines);
        let before = match shared {
            Some(SharedResult { differs: true, .. }) => ", the last time",
            _ => "",
        };
        let recorded = shared.map(|shared| shared.line);
        Self { what, before, result: recorded.map(plain), recorded }
    }

    /// Returns one line, or two if the result does not fit beside the rest.
    fn lines(&self, columns: usize) -> Vec<String> {
        let Self { what, before, result, .. } = self;
        let Some(result) = result else { return vec![format!("  {STRONG}{what}{STRONG:#}")] };
        let first = format!("  {STRONG}{what}{STRONG:#}{before}:");
        if what.width() + before.width() + result.width() + "  : ``".len() <= columns {
            return vec![format!("{first} `{result}`")];
        }
        let result = shortened(result, columns.saturating_sub("    ``".len()));
        vec![first, format!("    `{result}`")]
    }

    /// Returns one line of at most `columns`, without styles.
    pub(super) fn line(&self, columns: usize) -> String {
        let Self { what, before, result, .. } = self;
        let result =
            result.as_ref().map_or_else(String::new, |result| format!("{before}: `{result}`"));
        let line = format!("{what}{result}");
        // The cut would leave the quotation open.
        if line.width() <= columns { line } else { shortened(&line, columns - 1) + "`" }
    }
}

/// Returns a line for each of the other loops of a group.
fn also(others: &[&Loop], columns: usize) -> Vec<String> {
    let Some(first) = others.first() else { return Vec::new() };
    let unit = match first.first().location {
        Location::Calls { .. } => "calls",
        Location::Messages { .. } => "turns",
    };
    let shown = others.iter().take(OTHERS_MAX).map(|one| other(one.first(), columns));
    let more = match others.len().saturating_sub(OTHERS_MAX) {
        0 => None,
        more => Some(format!("    {FAINT}… {more} more …{FAINT:#}")),
    };
    [format!("  Also over the same {unit}:")].into_iter().chain(shown).chain(more).collect()
}

/// Returns a line about another loop, with its call or its text if it is always the same.
fn other(found: &ReplayFinding, columns: usize) -> String {
    let what = what_recurs(&found.finding, &found.tool);
    let finding = &found.finding;
    let is_alike = finding.period == 1 && finding.args == Args::Same || finding.is_about_prompts();
    let room = columns.saturating_sub(4 + what.width() + 2);
    match found.proof.last().filter(|_| is_alike && room > 8) {
        Some(call) => format!("    {what}  {FAINT}{}{FAINT:#}", calls::arguments(call, room)),
        None => format!("    {what}"),
    }
}

/// Returns the actions with their calls, the rule, and the ids of the loops.
fn terms(strongest: &Loop, others: &[&Loop]) -> String {
    let ReplayFinding { finding, rule, .. } = strongest.first();
    let mut parts: Vec<String> =
        strongest.milestones().into_iter().map(|(_, milestone)| milestone).collect();
    parts.extend([format!("rule {rule}"), format!("loop {}", finding.loop_id)]);
    parts.extend(strongest.novelty.map(|novelty| novelty.name().to_owned()));
    let ids: Vec<String> =
        others.iter().map(|one| one.first().finding.loop_id.to_string()).collect();
    match ids.as_slice() {
        [] => {}
        [id] => parts.push(format!("also loop {id}")),
        ids => parts.push(format!("also loops {}", ids.join(", "))),
    }
    parts.join("; ")
}

/// Returns `text` in lines of at most `columns`, each with this indentation.
fn wrapped(text: &str, indent: usize, columns: usize) -> String {
    let indent = " ".repeat(indent);
    let options = Options::new(columns.min(PROSE_MAX));
    textwrap::fill(text, options.initial_indent(&indent).subsequent_indent(&indent))
}
