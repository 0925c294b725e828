//! The output of `scan` for GitHub Actions: annotations of files.

use std::io::{self, Write};

use crate::baseline::Tally;
use crate::cost::Spent;
use crate::parts::{FullReport, Needs};
use crate::shown::{counted, plain};
use crate::words::{LOOPS_MAX, by_cost};
use crate::writer::{Folder, Writer};

/// The most annotations of each kind that GitHub shows for a step.
const SHOWN_MAX: usize = 10;

/// The writer of annotations.
#[derive(Default)]
pub struct GitHub {
    here: Folder,
    /// The most costly runs with a new loop, and those with loops of the baseline only.
    errors: Annotations,
    warnings: Annotations,
}

/// The most costly annotations of one kind.
#[derive(Default)]
struct Annotations {
    /// The most costly first.
    shown: Vec<(Spent, String)>,
    count: usize,
}

impl Annotations {
    fn add(&mut self, cost: Spent, annotation: String) {
        self.count += 1;
        let place = self.shown.partition_point(|(other, _)| by_cost(other, &cost).is_ge());
        if place < SHOWN_MAX {
            self.shown.insert(place, (cost, annotation));
            self.shown.truncate(SHOWN_MAX);
        }
    }
}

impl Writer for GitHub {
    fn needs(&self) -> Needs {
        Needs::loops(LOOPS_MAX)
    }

    fn report(&mut self, report: &mut FullReport, _output: &mut dyn Write) -> io::Result<()> {
        if let Some(why) = report.incomplete() {
            self.warn(&report.path, "unstuck read a run only in part", &why);
        }
        let Some(first) = report.judged.loops.shown.first() else { return Ok(()) };
        let others = match report.judged.loops.count {
            0 | 1 => String::new(),
            count => format!("\nand {}", counted(count - 1, "more loop")),
        };
        let after = report.after().map_or_else(String::new, |after| format!("\n{after} after it"));
        let message = format!("{}{after}{others}", first.evidence().trim_end());
        let title = format!("stuck: {}", first.title());
        let file = self.here.relative(&report.path);
        let (level, list) = if report.has_new_loop() {
            ("error", &mut self.errors)
        } else {
            ("warning", &mut self.warnings)
        };
        let cost = report.cost.after.unwrap_or_default();
        list.add(cost, annotation(level, &file, &title, &message));
        Ok(())
    }

    fn unread(&mut self, path: &str, why: &str) {
        self.warn(path, "unstuck could not read a run", why);
    }

    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        let mut text = String::new();
        for (_, line) in self.errors.shown.iter().chain(&self.warnings.shown) {
            text += line;
        }
        text += &notice(tally, &self.errors, &self.warnings);
        output.write_all(text.as_bytes())
    }
}

impl GitHub {
    /// Annotates files for readers in the folder `here`.
    pub fn new(here: Folder) -> Self {
        Self { here, ..Self::default() }
    }

    /// Adds a warning about an input.
    fn warn(&mut self, path: &str, title: &str, why: &str) {
        let line = annotation("warning", &self.here.relative(path), title, &plain(why));
        self.warnings.add(Spent::default(), line);
    }
}

/// Returns the notice with the numbers of all runs.
fn notice(tally: &Tally, errors: &Annotations, warnings: &Annotations) -> String {
    let hidden = [errors, warnings].map(|list| list.count - list.shown.len()).iter().sum();
    let hidden = match hidden {
        0 => String::new(),
        hidden => format!(
            "; {} of less costly runs left out, because a step shows {SHOWN_MAX}",
            counted(hidden, "annotation")
        ),
    };
    let text = format!("{}: {}{hidden}", tally.runs(), tally.counts());
    format!("::notice title=unstuck::{}\n", data(&text))
}

/// Returns a command that annotates a file.
fn annotation(level: &str, file: &str, title: &str, message: &str) -> String {
    let (file, title, message) = (property(file), property(title), data(message));
    format!("::{level} file={file},title={title}::{message}\n")
}

/// Returns text for the end of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Returns text for a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use crate::cost::Spent;

    use super::{Annotations, SHOWN_MAX, annotation};

    #[test]
    fn a_command_is_one_line_that_text_cannot_leave() {
        assert_eq!(
            annotation("error", "a:b,c%.jsonl", "x::y", "100 %\r\n::error::z"),
            "::error file=a%3Ab%2Cc%25.jsonl,title=x%3A%3Ay::100 %25%0D%0A::error::z\n"
        );
    }

    #[test]
    fn the_most_costly_are_kept_in_their_order() {
        let mut list = Annotations::default();
        for calls in [5, 1, 30, 30, 2, 7, 9, 9, 4, 3, 0, 8, 6] {
            list.add(Spent { calls, ..Spent::default() }, calls.to_string());
        }
        assert_eq!((list.count, list.shown.len()), (13, SHOWN_MAX));
        let shown: Vec<_> = list.shown.iter().map(|(_, line)| line.as_str()).collect();
        assert_eq!(shown, ["30", "30", "9", "9", "8", "7", "6", "5", "4", "3"]);
    }
}
