//! The overview: totals, the loops that several runs share, and the table of the runs.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};
use unstuck_core::LoopId;

use super::titled;
use crate::cost::{Spent, rounded, span};
use crate::draw::{Key, Novelty, thumbnail};
use crate::effect::Counts;
use crate::replay::Picture;
use crate::report::{Loop, Report};
use crate::shown::{counted, plain, shortened};

/// The most loops in the table of shared loops, and the most unreadable inputs that are listed.
const SHARED_MAX: usize = 50;
const UNREAD_MAX: usize = 100;

/// The most columns of a path.
const PATH_MAX: usize = 120;

/// The numbers of all runs.
#[derive(Default)]
pub(super) struct Overview {
    rows: Vec<Row>,
    /// The number of loops by the rule that found them first.
    rules: BTreeMap<&'static str, usize>,
    loops: HashMap<LoopId, Shared>,
    unread: Vec<(String, String)>,
    unread_count: usize,
    total: Spent,
    after: Spent,
    /// The notes by rule, and whether the agents were told.
    effects: BTreeMap<(&'static str, bool), Counts>,
}

/// A row of the table.
struct Row {
    path: String,
    anchor: Option<String>,
    word: &'static str,
    /// The first loop, in words.
    what: String,
    calls: usize,
    first: Option<usize>,
    after: Option<Spent>,
    news: Option<usize>,
    thumbnail: Markup,
}

/// A loop that may occur in several runs.
struct Shared {
    what: String,
    runs: Vec<usize>,
}

impl Overview {
    pub(super) fn runs(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of runs with a loop.
    pub(super) fn stuck(&self) -> usize {
        self.rows.iter().filter(|row| row.first.is_some()).count()
    }

    /// Takes in the report on a run, whose part has the anchor `anchor`.
    pub(super) fn take(&mut self, report: &Report, picture: &Picture, anchor: Option<&str>) {
        let number = self.rows.len();
        let loops = &report.judged.loops;
        for one in &loops.shown {
            let first = one.first();
            *self.rules.entry(first.rule).or_default() += 1;
            let shared = self
                .loops
                .entry(first.finding.loop_id)
                .or_insert_with(|| Shared { what: one.title(), runs: Vec::new() });
            if shared.runs.last() != Some(&number) {
                shared.runs.push(number);
            }
        }
        let first = loops.shown.first();
        let novelty = Novelty::of(picture);
        self.total = self.total + report.cost.total;
        if let Some(after) = report.cost.after {
            self.after = self.after + after;
        }
        for one in &report.effects {
            self.effects.entry((one.rule, !one.told)).or_default().add(Some(one.effect));
        }
        self.rows.push(Row {
            path: shortened(&plain(&report.path), PATH_MAX),
            anchor: anchor.map(str::to_owned),
            word: report.status(),
            what: first.map_or_else(String::new, Loop::title),
            calls: report.trace.calls,
            first: first.map(|one| one.numbers().1),
            after: report.cost.after,
            news: (novelty.answers > 0).then(|| novelty.new * 100 / novelty.answers),
            thumbnail: thumbnail(picture, &Key::of(picture)),
        });
    }

    pub(super) fn unread(&mut self, path: &str, why: &str) {
        self.unread_count += 1;
        if self.unread.len() < UNREAD_MAX {
            self.unread.push((shortened(&plain(path), PATH_MAX), plain(why)));
        }
    }

    /// Returns the overview. `shown` is the number of runs with a part of their own.
    pub(super) fn markup(&self, shown: usize) -> Markup {
        html! {
            (self.totals())
            (self.by_rule())
            (self.after_notes())
            (self.shared())
            (self.unreadable())
            (self.table(shown))
        }
    }

    fn totals(&self) -> Markup {
        let stuck = self.stuck();
        html! {
            ul.totals {
                li { b { (self.rows.len()) } " " (noun(self.rows.len(), "run")) }
                li.stuck[stuck > 0] { b { (stuck) } " stuck" }
                li { b { (rounded(self.total.calls as u64)) } " calls" }
                @if let Some(tokens) = self.total.tokens { li { b { (rounded(tokens.total())) } " tokens" } }
                @if let Some(time) = self.total.time { li { b { (span(time)) } } }
                @if let Some(dollars) = self.total.dollars { li { b { "$" (format!("{dollars:.2}")) } } }
                @if stuck > 0 { li { b { (self.after) } " after the first finding" } }
            }
        }
    }

    fn by_rule(&self) -> Markup {
        let most = self.rules.values().copied().max().unwrap_or(0);
        html! {
            @if most > 0 && self.rows.len() > 1 {
                section aria-labelledby="rules" {
                    h2 #rules { "Loops by rule" }
                    table.bars {
                        @for (rule, count) in &self.rules {
                            tr {
                                th scope="row" { (rule) }
                                td.number { (count) }
                                td.bar aria-hidden="true" {
                                    svg viewBox={ "0 0 " (most) " 1" } preserveAspectRatio="none" {
                                        path class="c1" d={ "M0 0h" (count) "v1h-" (count) "z" } {}
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// What the agents did after the notes, by rule.
    fn after_notes(&self) -> Markup {
        let percent = |share: f64| format!("{:.0}", share * 100.0);
        html! {
            @if !self.effects.is_empty() {
                section aria-labelledby="effects" {
                    h2 #effects { "After a note" }
                    p.dim {
                        "Within 2: the agent left the loop, and at most 2 calls went on with it. Never: it was found again, "
                        "or the run ended in the loop. The share is of the notes whose run went on, with its 95 % interval."
                    }
                    div.scroll tabindex="0" role="region" aria-label="Table of the notes" {
                        table.effects {
                            thead {
                                tr {
                                    th scope="col" { "Rule" }
                                    @for name in EFFECTS { th scope="col" class="number" { (name) } }
                                }
                            }
                            @for ((rule, silent), counts) in &self.effects {
                                tr {
                                    th scope="row" { (rule) @if *silent { ", not told" } }
                                    td.number { (counts.notes) }
                                    @for count in counts.effects() { td.number { (count) } }
                                    td.number {
                                        @if let (Some(share), Some([low, high])) = (counts.share(), counts.interval()) {
                                            (percent(share)) " % (" (percent(low)) "–" (percent(high)) ")"
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The loops that occur in several runs.
    fn shared(&self) -> Markup {
        let mut shared: Vec<_> = self.loops.iter().filter(|(_, one)| one.runs.len() > 1).collect();
        shared.sort_by_key(|(id, one)| (std::cmp::Reverse(one.runs.len()), **id));
        let left_out = shared.len().saturating_sub(SHARED_MAX);
        shared.truncate(SHARED_MAX);
        html! {
            @if !shared.is_empty() {
                section aria-labelledby="shared" {
                    h2 #shared { "The same loop in several runs" }
                    ul {
                        @for (id, one) in shared {
                            li {
                                (titled(&one.what)) ", in " b { (one.runs.len()) } " of " (self.rows.len()) " runs "
                                @for &run in one.runs.iter().take(5) {
                                    @if let Some(anchor) = &self.rows[run].anchor {
                                        a href={ "#" (anchor) } { "run " (run + 1) } " "
                                    }
                                }
                                span.dim { "loop " (id) }
                            }
                        }
                    }
                    @if left_out > 0 { p.dim { "and " (counted(left_out, "more loop")) } }
                }
            }
        }
    }

    fn unreadable(&self) -> Markup {
        html! {
            @if self.unread_count > 0 {
                details {
                    summary { (counted(self.unread_count, "input")) " could not be read" }
                    ul { @for (path, why) in &self.unread { li { code { (path) } ": " (why) } } }
                    @if self.unread_count > self.unread.len() {
                        p.dim { "and " (self.unread_count - self.unread.len()) " more" }
                    }
                }
            }
        }
    }

    /// Returns the folder that all paths begin with, with its last separator.
    fn folder(&self) -> &str {
        let Some(first) = self.rows.first().filter(|_| self.rows.len() > 1) else { return "" };
        let shared = |folder: &&str| self.rows.iter().all(|row| row.path.starts_with(*folder));
        let ends = first.path.match_indices(['/', '\\']).map(|(at, _)| at + 1);
        ends.map(|end| &first.path[..end]).take_while(shared).last().unwrap_or("")
    }

    fn table(&self, shown: usize) -> Markup {
        let folder = self.folder();
        html! {
            section #runs aria-labelledby="runs-title" {
                h2 #runs-title { "Runs" }
                div.tools hidden {
                    label { "Filter " input #filter type="search" autocomplete="off" placeholder="path, tool, rule"; }
                    label { input #stuck type="checkbox"; " only stuck" }
                    output #count aria-live="polite" {}
                    button #keys type="button" { "Keyboard help" }
                }
                @if shown < self.rows.len() {
                    p.dim {
                        "Details follow for " (counted(shown, "run")) ": the first " (super::RUNS_MAX)
                        ", and of runs without a loop the first " (super::CLEAN_MAX) "."
                    }
                }
                p.dim {
                    "The strip below a run: the colour of each call is its tool, and red marks the evidence of a loop."
                }
                @if !folder.is_empty() { p.dim { "All paths begin with " code { (folder) } } }
                div.scroll tabindex="0" role="region" aria-label="Table of the runs" {
                    table.runs {
                        thead {
                            tr {
                                @for (name, kind) in COLUMNS {
                                    th scope="col" class=(kind) { (name) }
                                }
                            }
                        }
                        tbody { @for (number, row) in self.rows.iter().enumerate() { (row.markup(number, folder.len())) } }
                    }
                }
            }
        }
    }
}

/// The columns of numbers in the table of notes.
const EFFECTS: [&str; 6] = ["Notes", "Within 2", "Later", "Never", "Ended", "Share within 2"];

/// The columns of the table, each with the class of its cells.
const COLUMNS: [(&str, &str); 7] = [
    ("Run", "path"),
    ("Result", "word"),
    ("What recurs", "what"),
    ("Calls", "number"),
    ("Found at call", "number"),
    ("Spent after the finding", "number"),
    ("New answers", "number"),
];

impl Row {
    fn markup(&self, number: usize, folder: usize) -> Markup {
        let after = self.after.map_or(0, |after| after.calls);
        html! {
            tr data-stuck[self.first.is_some()] {
                th scope="row" class="path" data-key=(number) {
                    @match &self.anchor {
                        Some(anchor) => a href={ "#" (anchor) } { (&self.path[folder..]) },
                        None => (&self.path[folder..]),
                    }
                    (self.thumbnail)
                }
                td class={ "word " (self.word) } { (self.word) }
                td.what { (titled(&self.what)) }
                td.number data-key=(self.calls) { (self.calls) }
                td.number data-key=[self.first] { @if let Some(first) = self.first { "#" (first) } }
                td.number data-key=(after) { @if let Some(after) = self.after { (after) } }
                td.number data-key=[self.news] { @if let Some(news) = self.news { (news) "%" } }
            }
        }
    }
}

fn noun(n: usize, what: &str) -> String {
    if n == 1 { what.to_owned() } else { format!("{what}s") }
}
