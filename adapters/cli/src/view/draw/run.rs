//! The text of a run, and of one of its loops.

use unstuck_report::Report;
use unstuck_report::groups::groups;
use unstuck_report::loops::Loop;
use unstuck_report::recurring::what_recurs;
use unstuck_report::replay::{Excerpt, Step};
use unstuck_report::shown::{counted, plain, shortened, tool_name};
use unstuck_report::words::Story;

use super::ribbon::ribbons;
use super::{BAD, BASE, Document, FAINT, STRONG};
use crate::view::text::{Line, wrapped};

/// The most calls of a loop on the page of its run.
const CALLS_LISTED: usize = 12;

/// The most columns of a tool's name.
const TOOL_MAX: usize = 24;

/// Returns the text of a run for a terminal with so many columns.
pub(in crate::view) fn run_document(report: &Report, columns: usize) -> Document {
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
pub(in crate::view) fn loop_document(report: &Report, one: &Loop, columns: usize) -> Document {
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
}
