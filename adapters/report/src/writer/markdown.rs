//! The output of `scan` as Markdown: a table of loops, the most costly first, and the evidence of each.
//!
//! The same loop in several runs is one row. The cost of a run counts for its first loop.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Add as _;

use unstuck_core::{Action, LoopId};

use crate::baseline::{Difference, Tally};
use crate::cost::{Spent, known};
use crate::parts::{FullReport, Needs};
use crate::recurring::unquoted;
use crate::report::{Loop, Novelty, Report};
use crate::shown::{counted, plain, shortened};
use crate::words::{LOOPS_MAX, by_cost};
use crate::writer::{Folder, Writer};

/// The most rows of the table, and the most loops with their evidence.
const ROWS_MAX: usize = 1000;
const DETAILS_MAX: usize = 100;

/// The most loops whose evidence waits for the end of the scan.
const WAITING_MAX: usize = 10_000;

/// The most runs that are listed for one loop.
const RUNS_MAX: usize = 20;

/// The most inputs that are listed because they could not be read.
const UNREAD_MAX: usize = 20;

/// The most columns of a path in the table.
const PATH_MAX: usize = 120;

/// The writer of a document.
#[derive(Default)]
pub struct Markdown {
    here: Folder,
    /// In the order of first findings.
    groups: Vec<Group>,
    places: HashMap<LoopId, usize>,
    unread: Vec<(String, String)>,
    /// The number of runs.
    runs: usize,
    /// The number of loops that are left out, because their runs have too many.
    others: usize,
    after: Option<Spent>,
}

/// A loop, in one run or in several.
struct Group {
    id: LoopId,
    title: String,
    novelty: Option<Novelty>,
    worst: Action,
    /// The first runs that have it, the number of all, and the number of the latest one, counted from 1.
    paths: Vec<String>,
    runs: usize,
    latest: usize,
    /// The first call of the loop in the first run.
    first: usize,
    /// The cost of the runs whose first loop this is, after it was found.
    after: Option<Spent>,
    evidence: String,
}

impl Markdown {
    /// Begins a document for readers in the folder `here`.
    pub fn new(here: Folder) -> Self {
        Self { here, ..Self::default() }
    }

    /// Takes in a report.
    fn take(&mut self, report: &Report) {
        let path = self.here.relative(&report.path);
        if let Some(why) = report.incomplete() {
            self.take_unread(&report.path, &why);
        }
        self.others += report.judged.loops.hidden();
        self.after = known(self.after, report.cost.after, Spent::add);
        self.runs += 1;
        for (one, after) in report.loops() {
            let count = self.groups.len();
            let place = *self.places.entry(one.first().finding.loop_id).or_insert(count);
            if place == count {
                self.groups.push(Group::of(one, count < WAITING_MAX));
            }
            let group = &mut self.groups[place];
            group.worst = group.worst.max(one.worst());
            group.after = known(group.after, after, Spent::add);
            if group.latest != self.runs {
                group.latest = self.runs;
                group.runs += 1;
                group.paths.extend((group.paths.len() < RUNS_MAX).then(|| path.clone()));
            }
        }
    }

    /// Takes in an input that could not be read, or only in part.
    fn take_unread(&mut self, path: &str, why: &str) {
        if self.unread.len() < UNREAD_MAX {
            self.unread.push((self.here.relative(path), plain(why)));
        }
    }

    /// Returns the document in at most `room` bytes, if it has room for its beginning.
    pub fn document(&mut self, tally: &Tally, room: usize) -> String {
        let cost = |group: &Group| group.after.unwrap_or_default();
        self.groups.sort_by(|a, b| by_cost(&cost(b), &cost(a)));
        let runs = tally.stuck + tally.clean;
        let mut text = Bounded { text: String::new(), room, is_cut: false };
        text.push(&self.digest(tally));
        if !self.groups.is_empty() {
            text.push("| run | what recurs | in | action | first call | after it |\n|---|---|---|---|---|---|\n");
        }
        let shown = self.groups.len().min(ROWS_MAX);
        self.groups[..shown].iter().for_each(|group| text.push(&group.row(runs)));
        let others = self.groups.len() - shown + self.others;
        if others > 0 {
            let others = counted(others, "more loop");
            text.push(&format!("\nAnd {others}: `--format jsonl` has all.\n"));
        }
        let details = self.groups[..shown].iter().filter(|group| !group.evidence.is_empty());
        for group in details.take(DETAILS_MAX) {
            text.push(&group.details());
        }
        text.push(&tally.difference.as_ref().map_or_else(String::new, gone));
        text.push(&self.not_read(tally.unread + tally.partly));
        text.end()
    }

    /// Returns the heading and the numbers of the scan.
    fn digest(&self, tally: &Tally) -> String {
        let runs = tally.runs();
        let after = self.after.map_or_else(String::new, |after| {
            format!("; {} after the first findings", escaped(&after.to_string()))
        });
        format!("## unstuck: {} of {runs} stuck\n\n{}{after}.\n\n", tally.stuck, tally.counts())
    }

    /// Returns the list of inputs that could not be read, or only in part.
    fn not_read(&self, count: usize) -> String {
        if self.unread.is_empty() {
            return String::new();
        }
        let mut text = "\n### Not read, or only in part\n\n".to_owned();
        for (path, why) in &self.unread {
            let _ = writeln!(text, "- {}: {}", code(path), code(why));
        }
        if let Some(more @ 1..) = count.checked_sub(self.unread.len()) {
            let _ = writeln!(text, "- and {}", counted(more, "more input"));
        }
        text
    }
}

impl Writer for Markdown {
    fn needs(&self) -> Needs {
        Needs::loops(LOOPS_MAX)
    }

    fn report(&mut self, report: &mut FullReport, _output: &mut dyn Write) -> io::Result<()> {
        self.take(report);
        Ok(())
    }

    fn unread(&mut self, path: &str, why: &str) {
        self.take_unread(path, why);
    }

    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        let document = self.document(tally, usize::MAX);
        output.write_all(document.as_bytes())
    }
}

impl Group {
    /// Begins with a loop, whose evidence is kept if there is room.
    fn of(one: &Loop, has_room: bool) -> Self {
        Self {
            id: one.first().finding.loop_id,
            title: unquoted(&one.title()),
            novelty: one.novelty,
            worst: Action::Proceed,
            paths: Vec::new(),
            runs: 0,
            latest: 0,
            first: one.numbers().0,
            after: None,
            evidence: if has_room { one.evidence() } else { String::new() },
        }
    }

    /// Returns a row of the table, for a scan of this many runs.
    fn row(&self, runs: usize) -> String {
        let path = self.paths.first().map_or("", String::as_str);
        let path = code(&shortened(path, PATH_MAX));
        let more = match self.runs.saturating_sub(1) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let novelty = match self.novelty {
            Some(Novelty::New) => "**new:** ",
            Some(Novelty::Again) => "again: ",
            None => "",
        };
        let (title, first, worst) = (code(&self.title), self.first, self.worst);
        let after = self.after.map_or_else(|| "–".to_owned(), |after| escaped(&after.to_string()));
        let count = format!("{} of {}", self.runs, counted(runs, "run"));
        format!("| {path}{more} | {novelty}{title} | {count} | {worst} | #{first} | {after} |\n")
    }

    /// Returns the evidence in a folded section.
    fn details(&self) -> String {
        let (title, evidence) = (html(&self.title), self.evidence.trim_end());
        let fence = fence(evidence);
        let paths: Vec<_> = self.paths.iter().map(|path| code(path)).collect();
        let more = match self.runs - self.paths.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "\n<details>\n<summary><code>{title}</code>, loop {}</summary>\n\n\
             {fence}text\n{evidence}\n{fence}\n\nIn {}{more}.\n\n</details>\n",
            self.id,
            paths.join(", "),
        )
    }
}

/// A text of at most `room` bytes, cut between its parts.
struct Bounded {
    text: String,
    room: usize,
    is_cut: bool,
}

/// The note at the end of a text that was cut.
const CUT: &str = "\nThe rest is left out, because it would be too long for this place.\n";

impl Bounded {
    /// Adds a part, if it has room. After the first part that has none, nothing is added.
    fn push(&mut self, part: &str) {
        self.is_cut |= self.text.len() + part.len() + CUT.len() > self.room;
        if !self.is_cut {
            self.text.push_str(part);
        }
    }

    fn end(self) -> String {
        // A part that was added left room for the note.
        if self.is_cut && !self.text.is_empty() { self.text + CUT } else { self.text }
    }
}

/// Returns the list of loops that are gone.
fn gone(difference: &Difference) -> String {
    let listed = difference.listed();
    let head = if listed.is_empty() { "" } else { "\n### Gone\n\n" };
    let lines = listed.iter().map(|line| format!("- {}\n", code(line)));
    lines.fold(head.to_owned(), |text, line| text + &line)
}

/// Returns text from a recording as code, in which GitHub makes no link and no mention of a name or number.
fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// The characters that have a meaning in Markdown, or begin one.
const MARKS: &str = "\\`*_{}[]<>()#!|~$@&:";

/// Returns `text`, which is one line, without any meaning in Markdown.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        // `www.` would become a link.
        if MARKS.contains(c) || (c == '.' && text[..at].ends_with("www")) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Returns `text` for a line of HTML.
fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns a fence that is longer than each one in `text`.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tally(stuck: usize) -> Tally {
        Tally { stuck, ..Tally::default() }
    }

    #[test]
    fn the_same_loop_in_several_runs_is_one_row() {
        let mut markdown = Markdown::default();
        for calls in [4, 9, 6, 3] {
            markdown.take(&FullReport::of_loops(calls, 9));
        }
        let text = markdown.document(&tally(4), usize::MAX);
        let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| <code>")).collect();
        assert_eq!(rows.len(), 3, "{text}");
        assert!(
            rows[0].contains(" and 3 more | ") && rows[0].contains("| 4 of 4 runs |"),
            "{text}"
        );
        assert!(rows[0].ends_with("| 10 calls |"), "{text}");
        assert!(rows[1].ends_with("| – |") && rows[2].ends_with("| – |"), "{text}");
        assert_eq!(text.matches("<details>").count(), 3);
    }

    #[test]
    fn a_long_document_is_cut_between_its_parts() {
        let report = FullReport::of_loops(300, 90);
        let document = |room: usize| {
            let mut markdown = Markdown::default();
            markdown.take(&report);
            markdown.document(&tally(1), room)
        };
        let whole = document(usize::MAX);
        assert_eq!(document(whole.len() + CUT.len()), whole);
        for room in [0, 50, 100, 200, 1000, 5000, whole.len() - 1] {
            let text = document(room);
            assert!(text.len() <= room, "{room}: {}", text.len());
            assert!(text.is_empty() || text.ends_with(CUT), "{text}");
            assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
            let start = text.strip_suffix(CUT).unwrap_or_default();
            assert!(whole.starts_with(start), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_fence_is_longer_than_those_in_the_text(text in "[`~a\n]{0,20}") {
            let fence = fence(&text);
            prop_assert!(fence.len() >= 3 && !text.contains(&fence));
        }

        #[test]
        fn a_backslash_stands_before_every_mark(text in "[\\PC\\\\`|<@#.w:]{0,20}") {
            let escaped = escaped(&text);
            let mut rest = escaped.chars();
            let mut plain = String::new();
            while let Some(c) = rest.next() {
                let c = if c == '\\' { rest.next().expect("a mark") } else {
                    prop_assert!(!MARKS.contains(c));
                    c
                };
                plain.push(c);
            }
            prop_assert_eq!(plain, text);
        }
    }
}
