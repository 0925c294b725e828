//! The part of one run: its ribbon, its plots and its loops.

use std::collections::HashMap;
use std::fmt::Write as _;

use maud::{Markup, html};
use unstuck_core::{Action, Policy};

use super::{IncludeArgs, described, titled};
use crate::draw::{COLOURS, Key, Novelty, flag, novelty, recurrence, ribbon};
use crate::groups::{Group, groups};
use crate::replay::{CALLS_MAX, CallResult, Ending, Excerpt, Picture, ReplayFinding, Step};
use crate::report::Report;
use crate::shown::{counted, plain, shortened, tool_name};
use crate::table;
use crate::words::{Story, name};

/// The most workers with a ribbon of their own, and the most calls that are listed of one loop.
const LANES_MAX: usize = 30;
const CALLS_LISTED: usize = 12;

/// A ribbon of more calls is folded.
const OPEN_MAX: usize = 500;

/// The most columns of a name.
const NAME_MAX: usize = 60;

/// Returns the part of a run.
pub(super) fn part(
    report: &Report,
    picture: &Picture,
    anchor: &str,
    args: IncludeArgs,
    policy: &'static Policy<'static>,
) -> Markup {
    let key = Key::of(picture);
    let loops = &report.judged.loops;
    let groups = groups(&loops.shown);
    let (word, path) = (report.status(), plain(&report.path));
    html! {
        section.run id=(anchor) aria-labelledby={ (anchor) "-title" } {
            h2 id={ (anchor) "-title" } { span class={ "word " (word) } { (word) } " " (name(&path)) }
            p.dim { @if name(&path) != path { (path) ": " } (report.about()) }
            @if let Some(first) = groups.first() { p { (story(report, picture, first)) } }
            (lanes(picture, &key))
            div.plots {
                @if let Some(plot) = recurrence(picture) {
                    figure {
                        (plot)
                        figcaption {
                            b { "Which calls recur. " }
                            "Both axes are the calls, from the first to the last; a mark joins two equal calls. "
                            "A square: the same call in a row. Diagonals: calls in turns. "
                            "Hollow: the same call, but another answer."
                        }
                    }
                }
                @if let Some(curve) = novelty(picture) {
                    figure { (curve) figcaption { (news(picture)) } }
                }
            }
            @for group in &groups { (of_group(report, group, args, policy)) }
            @if let Some(others) = loops.others() { p.dim { (others) } }
        }
    }
}

/// Tells in two sentences where the run got stuck and what it cost.
fn story(report: &Report, picture: &Picture, first: &Group<'_>) -> Markup {
    let Story { noun, begin, end, at, what, failure, after } = report.story(first);
    html! {
        "Stuck from " (noun) " #" (begin) " to #" (end) ": " b { (titled(&what)) }
        @if let Some(line) = failure { ": " code { (plain(&line.text)) } }
        ". It was found at #" (at) "."
        @if let Some(after) = after { " " (after) "." }
        @if picture.left_out > 0 {
            " The pictures show the first " (CALLS_MAX) " calls; " (picture.left_out) " more follow."
        }
    }
}

/// Returns the text below the novelty curve.
fn news(picture: &Picture) -> Markup {
    let all = Novelty::of(picture);
    let mut text = format!(
        " {} of {} were never seen before in the run",
        all.new,
        counted(all.answers, "answer")
    );
    if all.answers_in_loop > 0 && all.answers_in_loop < all.answers {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "; from the first call of a loop on, {} of {}",
            all.new_in_loop, all.answers_in_loop
        );
    }
    html! {
        b { "Which answers were new." }
        (text)
        ". Left to right: the calls. The line rises with each new answer and is flat while nothing new comes. "
        "Dashed: if each answer were new. Shaded: from the first call of a loop on."
    }
}

/// Returns the ribbons of the workers, with the legend.
fn lanes(picture: &Picture, key: &Key) -> Markup {
    let calls = picture.calls.len();
    let mut of_worker: Vec<Vec<usize>> = vec![Vec::new(); picture.workers.len()];
    for (index, call) in picture.calls.iter().enumerate() {
        of_worker[call.worker as usize].push(index);
    }
    let lanes = html! {
        @for (name, calls) in picture.workers.iter().zip(&of_worker).take(LANES_MAX) {
            div.lane role="img" aria-label={ "Ribbon of " (counted(calls.len(), "call")) } {
                @if picture.workers.len() > 1 { span.worker { (shortened(&plain(name), NAME_MAX)) } }
                (ribbon(picture, key, calls))
            }
        }
        @if picture.workers.len() > LANES_MAX {
            p.dim { "and " (counted(picture.workers.len() - LANES_MAX, "more worker")) }
        }
    };
    html! {
        @if calls > 0 {
            (legend(picture, key))
            @if calls > OPEN_MAX {
                details { summary { "Ribbon of " (counted(calls, "call")) } (lanes) }
            } @else {
                (lanes)
            }
        }
    }
}

/// Returns the legend of a ribbon: the colours of the tools, and the marks that it has.
fn legend(picture: &Picture, key: &Key) -> Markup {
    let has = |ending| picture.calls.iter().any(|call| call.ending == ending);
    let mut tools: Vec<(usize, &str)> =
        key.colours.iter().copied().zip(picture.tools.iter().map(String::as_str)).collect();
    tools.sort_by_key(|(colour, _)| *colour);
    let others = tools.iter().filter(|(colour, _)| *colour == COLOURS).count();
    let mark = |class: &str, what: &str| {
        html! {
            li {
                svg width="14" height="14" aria-hidden="true" {
                    // The hatching shows on a colour only.
                    @if class == "failed" { path class={ "c" (COLOURS) } d="M1 1h12v12h-12z" {} }
                    path class=(class) d="M1 1h12v12h-12z" {}
                }
                " " (what)
            }
        }
    };
    html! {
        ul.legend {
            @for (colour, tool) in tools.iter().filter(|(colour, _)| *colour < COLOURS) {
                (mark(&format!("c{colour}"), &tool_name(tool, 30)))
            }
            @if others > 0 { (mark(&format!("c{COLOURS}"), &counted(others, "other tool"))) }
            @if has(Ending::Failed) { (mark("failed", "failed")) }
            @if has(Ending::Refused) { (mark("refused", "refused")) }
            @if picture.calls.iter().any(|call| call.of_loop.is_some()) { (mark("evidence", "evidence of a loop")) }
            li { b { "A" } " equal calls share a letter" }
            @for (action, flag) in Action::ALL.into_iter().filter_map(|action| Some((action, flag(action)?))) {
                @if picture.calls.iter().any(|call| call.told == action) {
                    li { b { (flag) } " " (told(action)) " would come here" }
                }
            }
        }
    }
}

/// Returns the noun for an action.
const fn told(action: Action) -> &'static str {
    match action {
        Action::Proceed => "nothing",
        Action::Nudge => "a nudge",
        Action::Warn => "a warning",
        Action::Block => "a refusal",
        Action::StartOver => "a new start",
        Action::Stop => "the end",
    }
}

/// Returns the part of the loops over the same calls, which describes the strongest.
fn of_group(
    report: &Report,
    group: &Group<'_>,
    args: IncludeArgs,
    policy: &'static Policy<'static>,
) -> Markup {
    let one = group.strongest;
    let first = one.first();
    let id = first.finding.loop_id;
    let steps = report.steps_of(one);
    // The title counts up to the first finding. The loop may have gone on.
    let proof = first.proof.len();
    let more =
        (steps.len() > proof && proof > 0).then(|| format!(", {} calls in the end", steps.len()));
    html! {
        article.loop data-loop=(id) {
            h3 { (titled(&one.title())) @if let Some(more) = &more { span.dim { (more) } } }
            (calls(&one.calls(&steps), &steps, args))
            p { "The agent should have been told:" }
            blockquote { (described(&plain(&first.message))) }
            (after_notes(report, first))
            p.dim { "In this run: " (one.origin()) }
            @if !group.others.is_empty() {
                p { "Also over these calls:" }
                ul {
                    @for other in &group.others {
                        li data-loop=(other.first().finding.loop_id) {
                            (titled(&other.title())) " " span.dim { (other.origin()) }
                        }
                    }
                }
            }
            @if !steps.is_empty() && args != IncludeArgs::None {
                details {
                    summary { "Every call, and how near each rule was" }
                    pre tabindex="0" { (table::plain_table(&steps, policy)) }
                }
            }
        }
    }
}

/// Returns the list of what the agent did after each note on the loop of `first`, if that is known.
fn after_notes(report: &Report, first: &ReplayFinding) -> Markup {
    let id = first.finding.loop_id.to_string();
    let effects: Vec<_> = report.effects.iter().filter(|one| one.r#loop == id).collect();
    html! {
        @if !effects.is_empty() {
            ul.effects {
                @for note in effects {
                    li {
                        @if note.told { "After the " } @else { "Not told; after the place of the " }
                        (note.rung()) " at #" (note.at_call) ": " b { (note.effect.words()) } "."
                    }
                }
            }
        }
    }
}

/// Returns the calls of a loop as a table.
fn calls(all: &[&Excerpt], steps: &[Step], args: IncludeArgs) -> Markup {
    let results: HashMap<usize, Option<&CallResult>> =
        steps.iter().map(|step| (step.excerpt.index, step.result.as_ref())).collect();
    let result = |call: &Excerpt| {
        // The whole result is long. One line of it says most.
        let text = results.get(&call.index).copied().flatten().map(|result| result.text.as_str());
        let line = call.result.as_ref();
        text.filter(|_| args == IncludeArgs::Full)
            .or_else(|| line.map(|line| &*line.text))
            .map(str::to_owned)
    };
    let is_alike = |one: &&Excerpt, other: &&Excerpt| {
        (&one.tool, &one.text, result(one)) == (&other.tool, &other.text, result(other))
    };
    let rows: Vec<&[&Excerpt]> = all.chunk_by(is_alike).take(CALLS_LISTED).collect();
    let left_out = all.len() - rows.iter().map(|row| row.len()).sum::<usize>();
    let has_tool = all.iter().any(|call| call.tool.is_some());
    html! {
        @if !rows.is_empty() {
            div.scroll tabindex="0" role="group" aria-label="Calls of the loop" {
                table.calls {
                    thead {
                        tr {
                            th scope="col" { @if has_tool { "Call" } @else { "Message" } }
                            @if has_tool { th scope="col" { "Tool" } }
                            @if args != IncludeArgs::None {
                                th scope="col" { @if has_tool { "Arguments" } @else { "Text" } }
                                @if has_tool { th scope="col" { "Result" } }
                            }
                        }
                    }
                    @for (call, row) in rows.iter().map(|row| (row[0], row)) {
                        tr {
                            th scope="row" {
                                "#" (call.index)
                                @if let [_, .., last] = row { " to #" (last.index) br; (row.len()) " times" }
                            }
                            @if has_tool { td { (tool_name(call.tool.as_deref().unwrap_or_default(), NAME_MAX)) } }
                            @if let Some(text) = args.excerpt(&call.text) { td { code { (text) } } }
                            @if result(call).is_some_and(|text| text.is_empty()) {
                                td.dim { "(empty)" }
                            } @else if let Some(text) = result(call).and_then(|text| args.excerpt(&text)) {
                                td.failed[call.result.as_ref().is_some_and(|line| line.failed)] { code { (text) } }
                            }
                        }
                    }
                }
            }
            @if left_out > 0 { p.dim { "and " (counted(left_out, "more call")) } }
        }
    }
}
