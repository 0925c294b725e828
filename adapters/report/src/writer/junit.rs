//! The output of `scan` as `JUnit` XML, which CI servers show: one test case for each run.
//!
//! All runs are in one test suite, because the runs of a folder and of its subfolders alternate in the order in
//! which they are read. The numbers at the beginning of the file are known at the end only, so the test cases
//! wait in a spool, which moves to a temporary file if it is large.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use maud::html;

use crate::baseline::Tally;
use crate::parts::{FullReport, Needs};
use crate::report::{Loop, Report};
use crate::shown::{counted, plain};
use crate::spool::{OpenDisk, Spool};
use crate::words::LOOPS_MAX;
use crate::writer::Writer;

/// The most bytes of evidence of one run.
const EVIDENCE_MAX: usize = 128 * 1024;

/// The writer of a test suite.
pub struct Junit {
    /// A run fails only if it has a loop that the baseline does not have.
    fails_on_new: bool,
    cases: Spool,
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    time: Duration,
}

impl Junit {
    /// Begins a test suite. With `fails_on_new`, loops of the baseline are no failures. `disk` opens a file for many
    /// test cases.
    pub fn new(fails_on_new: bool, disk: Option<OpenDisk>) -> Self {
        let (cases, time) = (Spool::new(disk), Duration::ZERO);
        Self { fails_on_new, cases, tests: 0, failures: 0, errors: 0, skipped: 0, time }
    }

    /// Adds a test case with these attributes and this content.
    fn add(&mut self, class: &str, name: &str, time: Option<Duration>, content: &str) {
        let (class, name) = (escaped(class), escaped(&plain(name)));
        let time = time.map_or_else(String::new, |time| format!(" time=\"{}\"", seconds(time)));
        let head = format!("    <testcase classname=\"{class}\" name=\"{name}\"{time}");
        let case = if content.is_empty() {
            format!("{head}/>\n")
        } else {
            format!("{head}>\n{content}    </testcase>\n")
        };
        self.cases.push(self.tests, case);
        self.tests += 1;
    }

    /// Returns the content of the test case of a run. A schema allows one failure or one error.
    fn content(&mut self, report: &FullReport) -> String {
        let incomplete = report.incomplete();
        match report.judged.loops.shown.first() {
            Some(_) if self.fails_on_new && !report.has_new_loop() => {
                format!("      <system-out>{}</system-out>\n", escaped(&evidence(report)))
            }
            Some(first) => {
                self.failures += 1;
                let text = evidence(report) + &incomplete.unwrap_or_default();
                element("failure", first.first().rule, &message(report, first), &text)
            }
            None => match (incomplete, report.without_calls()) {
                (Some(why), _) => {
                    self.errors += 1;
                    element("error", "partly", &why, "")
                }
                (None, Some(why)) => {
                    self.skipped += 1;
                    format!("      <skipped message=\"{}\"/>\n", escaped(&why))
                }
                (None, None) => String::new(),
            },
        }
    }

    fn head(&self) -> String {
        let numbers = format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
            self.tests, self.failures, self.errors
        );
        let (skipped, time) = (self.skipped, seconds(self.time));
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites name=\"unstuck\" {numbers} time=\"{time}\">\n  \
             <testsuite name=\"unstuck scan\" {numbers} skipped=\"{skipped}\" time=\"{time}\">\n"
        )
    }
}

impl Writer for Junit {
    fn needs(&self) -> Needs {
        Needs::loops(LOOPS_MAX)
    }

    fn report(&mut self, report: &mut FullReport, _output: &mut dyn Write) -> io::Result<()> {
        let content = self.content(report);
        let time = report.cost.total.time;
        self.time += time.unwrap_or_default();
        self.add(report.trace.format.name(), &report.path, time, &content);
        Ok(())
    }

    fn unread(&mut self, path: &str, why: &str) {
        self.errors += 1;
        self.add("unread", path, None, &element("error", "unread", &plain(why), ""));
    }

    fn finish(&mut self, _tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(self.head().as_bytes())?;
        self.cases.each("junit", &mut |case| output.write_all(case.as_bytes()))?;
        output.write_all(b"  </testsuite>\n</testsuites>\n")
    }
}

/// Returns the message of a failure in one line.
fn message(report: &Report, first: &Loop) -> String {
    let others = match report.judged.loops.count {
        0 | 1 => String::new(),
        count => format!(", and {} more", counted(count - 1, "loop")),
    };
    let after = report.after().map_or_else(String::new, |after| format!("; {after} after it"));
    format!("{}{others}{after}", first.title())
}

/// Returns the evidence of all loops.
fn evidence(report: &Report) -> String {
    let loops = &report.judged.loops;
    let mut text = String::new();
    for (number, one) in loops.shown.iter().enumerate() {
        let evidence = one.evidence();
        if text.len() + evidence.len() > EVIDENCE_MAX {
            let _ = writeln!(text, "and {} more: --format jsonl has all", loops.count - number);
            return text;
        }
        text += &evidence;
        text.push('\n');
    }
    text += &loops.others().unwrap_or_default();
    text
}

/// Returns an element of a test case, indented.
fn element(name: &str, kind: &str, message: &str, text: &str) -> String {
    let (kind, message, text) = (escaped(kind), escaped(message), escaped(text));
    format!("      <{name} type=\"{kind}\" message=\"{message}\">{text}</{name}>\n")
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// Returns `text` for an attribute or an element. XML 1.0 has no place for control characters.
fn escaped(text: &str) -> String {
    let has_no_place =
        |c: char| c != '\n' && c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}');
    let text = text.replace(has_no_place, "\u{FFFD}");
    html! { (text) }.into_string()
}

#[cfg(test)]
mod tests {
    use super::escaped;
    use crate::cases::check;

    #[test]
    fn no_text_leaves_its_element() {
        check("junit: text that does not leave its element", escaped);
    }
}
