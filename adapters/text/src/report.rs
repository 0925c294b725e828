//! Reports in the text of a result: test suites, compilers and failures.
//!
//! The text is read line by line, by readers that each know the shape of one kind of line and look
//! at no other. A shape is taken only where a tool would print it: at the start of a line,
//! and what anybody could write (`error: …`) only on the first or the last one. So a file that is
//! read, a search hit or a log is seldom taken for a failure.
//!
//! Tools that read are not inspected, unless the whole answer is one complaint. `"status": "failed"` is no
//! failure, because it answers a question about something else. A time-out is a failure of its own kind,
//! because one more attempt may help. The score of an outcome is the number of failing tests, and errors of a
//! build rank above any such number. So a suite that no longer compiles is never progress, and one that
//! compiles again is.

mod compiler;
mod complaint;
mod crash;
mod exit;
mod failing;
mod go;
mod javascript;
mod junit;
mod line;
mod object;
mod python;
mod refusal;
mod rust;
mod sentence;
mod sign;
mod tally;
mod tap;
mod timeout;

use compiler::Compiler;
use complaint::{complains, times_out};
use crash::Crash;
use exit::{Exit, exit};
use go::GoTest;
use javascript::{Jest, Vitest};
use junit::junit;
use line::plain;
use object::Status;
use python::{Pytest, Unittest};
use refusal::refuses;
use rust::{CargoTest, Nextest};
use tally::{Runner, Tally};
use tap::Tap;

use core::ops::Range;

use memchr::memchr2;

use crate::body::Body;
use crate::envelope::{Envelope, Unescaped};
use crate::find;
use crate::words::report;

pub(crate) use complaint::{is_complaint, opens};
pub(crate) use failing::failing_tests;
pub(crate) use refusal::asks_for_another;
pub use refusal::is_refusal;
pub use sign::complaint;
pub(crate) use sign::complaint_of;
pub(crate) use timeout::may_pass;

/// The outcome of a call according to the text of its result.
///
/// The two counts are apart, since a suite that no longer compiles has one error and not one failing
/// test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// True if the call failed, or `None` if the text does not say.
    pub failed: Option<bool>,
    /// True if the call failed because it took too long. Running it once more may help.
    pub timed_out: bool,
    /// The number of failing tests, if all tests ran to their end. `None` if a suite could not be
    /// loaded or compiled, or stopped at its first failure.
    pub failing_tests: Option<u32>,
    /// The number of errors that a compiler or a checker reports, if any.
    pub compile_errors: Option<u32>,
}

/// The score of what does not build: worse than any number of failing tests.
const BROKEN: u32 = 1 << 30;

impl Report {
    /// Returns a score for [`Outcome::score`](unstuck_core::Outcome::score), where less is better.
    /// It is the number of failing tests. A build with errors scores worse than any number of
    /// failing tests, by its number of errors. For example, fewer errors are progress, and so is a
    /// suite that builds and fails. The counts do not show whether the same tests ran as before.
    ///
    /// ```
    /// use unstuck_text::report;
    ///
    /// let broken = report("error: could not compile `app` (lib) due to 2 previous errors");
    /// let failing = report("1 failed, 2 passed in 0.12s");
    /// assert!(failing.score() < broken.score());
    /// assert_eq!(report("no report").score(), None);
    /// ```
    pub fn score(self) -> Option<u32> {
        let broken = self.compile_errors.map(|errors| BROKEN.saturating_add(errors));
        self.failing_tests.map(|failing| failing.min(BROKEN)).or(broken)
    }
}

/// Reads the report in `result`. O(length of `result`).
///
/// Read are the reports of pytest, unittest, `cargo test`, nextest, Jest, Vitest and `go test`, TAP
/// and the XML of `JUnit`; the errors of rustc, clang, gcc, tsc, mypy and ruff; exit statuses,
/// tracebacks, panics, and the complaints of tools.
///
/// Evidence is ranked. A failing test or an error decides first. An exit status comes next, because
/// it may belong to the end of a pipe. Passing tests come before mere words.
///
/// ```
/// use unstuck_text::report;
///
/// let tests = report("..F\n1 failed, 2 passed in 0.12s\n");
/// assert_eq!((tests.failed, tests.failing_tests), (Some(true), Some(1)));
/// assert_eq!(report("cat: a.txt: No such file or directory\n").failed, Some(true));
/// assert_eq!(report("fn main() {}\n").failed, None);
/// ```
pub fn report(result: &str) -> Report {
    let mut memory = Unescaped::default();
    let opened = Envelope::open(result, &mut memory);
    if opened.is_entry { told(opened.exit) } else { report_of(&Body::of(opened.body), opened.exit) }
}

/// Returns the report of an answer that is not read. `exit` is the exit status that the host tells.
pub(crate) fn told(exit: Option<i32>) -> Report {
    let Exit { failed, timed_out } = Exit::told(exit);
    Report { failed, timed_out, ..Report::default() }
}

/// Reads the report in the body of an answer. `told` is the exit status that the host tells.
pub(crate) fn report_of(body: &Body<'_>, told: Option<i32>) -> Report {
    let told = Exit::told(told);
    let status = object::read(body.text);
    let keyword = report::ANY.next(body.whole.as_bytes(), 0);
    if keyword.is_some() || opens_telling(body.first) {
        return whole(body, status, told, keyword);
    }
    let stated = told.failed.or(status.failed);
    let timed_out = told.timed_out || stated != Some(false) && times_out(body, status);
    let failed = stated.or_else(|| (timed_out || in_words(body)).then_some(true));
    Report { failed, timed_out: timed_out && failed == Some(true), ..Report::default() }
}

/// Returns whether `body` says in words that the call failed.
fn in_words(body: &Body<'_>) -> bool {
    complains(body) || refuses(body)
}

/// Reads every line of `body`. `keyword` is the place of the first keyword, `status` is what the members of an object say,
/// and `told` is what the host tells.
fn whole(body: &Body<'_>, status: Status<'_>, told: Exit, keyword: Option<usize>) -> Report {
    let Reading { tests, compiler, crash } = read(body, keyword);
    // A test of a compiler may print the compiler's messages.
    let errors = if tests.seen() { compiler.of_target() } else { compiler.errors() };
    let unbuilt = errors.is_some() || !tests.seen() && compiler.failed();
    let is_stated = || crash.happened() || !crash.is_logged() && in_words(body);
    let exit = exit(body, told);
    let failed = match tests.failed() {
        Some(true) => Some(true),
        _ if unbuilt => Some(true),
        passed => exit.failed.or(status.failed).or(passed),
    };
    let timed_out =
        exit.timed_out || failed != Some(false) && !crash.is_logged() && times_out(body, status);
    Report {
        failed: failed.or_else(|| (timed_out || is_stated()).then_some(true)),
        timed_out,
        failing_tests: tests.failing(),
        compile_errors: errors,
    }
}

/// The state of all readers after a result.
struct Reading {
    tests: Tally,
    compiler: Compiler,
    crash: Crash,
}

/// Reads the lines of `body` that may matter, without samples. Its first keyword stands at `keyword`. O(n).
fn read(body: &Body<'_>, keyword: Option<usize>) -> Reading {
    let text = body.whole.as_bytes();
    // A terminal shows other lines than there are.
    if memchr2(b'\x1B', b'\r', text).is_some() {
        return read_those(body, true, |_, _| true);
    }
    let mut keyword = keyword;
    read_those(body, body.clocks.any(), |range, start| {
        if keyword.is_some_and(|place| place < range.start) {
            keyword = report::ANY.next(text, range.start);
        }
        let rest = keyword.and_then(|place| text.get(place..range.end));
        is_telling(start, rest.unwrap_or_default())
    })
}

/// Returns whether a reader may know a line that begins with `start`, behind white space, and has its first keyword in `rest`,
/// if it has any.
fn is_telling(start: &str, rest: &[u8]) -> bool {
    opens_telling(start) || report::LINES.may_be_in(rest)
}

/// Returns whether a reader may know a line by the letters that it begins with, behind white space.
fn opens_telling(start: &str) -> bool {
    matches!(
        start.as_bytes(),
        [b'o' | b'O', b'k' | b'K', ..] | [b'n', b'o', ..] | [b'1', b'.', ..] | [b'!', ..]
    )
}

/// Begins and ends a part of a document in Markdown.
const FENCE: &str = "```";

/// Reads the lines of `body` for which `tell` returns true, given their place and their text behind white space, without
/// samples: what a document holds in a fence of Markdown, or on a page of HTML, was printed at another time. A fence around
/// all of the body was put there by the host. The places are right if no line ends with a carriage return. Lines are
/// `stamped` if a clock or a colour may stand before them.
fn read_those(
    body: &Body<'_>,
    stamped: bool,
    mut tell: impl FnMut(Range<usize>, &str) -> bool,
) -> Reading {
    let mut runners: [&mut dyn Runner; 8] = [
        &mut Pytest::default(),
        &mut Unittest::default(),
        &mut CargoTest::default(),
        &mut Nextest::default(),
        &mut Jest::default(),
        &mut Vitest::default(),
        &mut GoTest::default(),
        &mut Tap::default(),
    ];
    let (mut compiler, mut crash) = (Compiler::default(), Crash::default());
    let text = if is_page(body.text) { "" } else { body.whole };
    let is_document = !body.text.starts_with(FENCE);
    let (mut next, mut before, mut is_inside) = (0, "", false);
    for line in find::lines(text) {
        let range = next..next + line.len();
        next = range.end + 1;
        let line = if stamped { body.clocks.off(line) } else { line };
        let start = line.trim_ascii_start();
        is_inside ^= is_document && start.starts_with(FENCE);
        if is_inside {
            continue;
        }
        if !crash.happened() && !tell(range, start) {
            crash.pass(line);
            before = line;
            continue;
        }
        let shown = plain(line);
        for runner in &mut runners {
            runner.line(&shown);
        }
        compiler.line(&shown);
        crash.line(&shown, before);
        before = line;
    }
    let mut tests = junit(body.text);
    for runner in &runners {
        tests.add(runner.tally());
    }
    Reading { tests, compiler, crash }
}

/// Returns whether `result` is a page of HTML.
fn is_page(result: &str) -> bool {
    let start = result.trim_start();
    ["<!doctype html", "<html"]
        .iter()
        .any(|tag| start.get(..tag.len()).is_some_and(|opening| opening.eq_ignore_ascii_case(tag)))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::{Body, read, read_those, report, whole};
    use crate::tables::lines;

    /// Lines that the readers know, and lines that they do not.
    fn known() -> Vec<String> {
        lines("lines of reports")
    }

    proptest! {
        /// Lines that are skipped do not change the report.
        #[test]
        fn a_look_at_telling_lines_is_a_look_at_all(lines in vec(select(known()), 0..12)) {
            let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
            let report = |reading: super::Reading| {
                let super::Reading { tests, compiler, crash } = reading;
                let errors = (compiler.errors(), compiler.of_target(), compiler.failed());
                (tests, errors, crash.happened(), crash.is_logged())
            };
            let body = Body::of(&text);
            prop_assert_eq!(report(read(&body, Some(0))), report(read_those(&body, true, |_, _| true)), "{:?}", lines);
        }

        #[test]
        fn what_is_not_looked_at_tells_nothing(
            mut all in vec(prop_oneof![select(known()), select(lines("statuses"))], 0..4),
            prose in vec("[a-z]{0,3}", 0..3),
        ) {
            all.extend(prose);
            for _ in 0..2 {
                let text = all.join("\n");
                all.reverse();
                let body = Body::of(&text);
                let status = super::object::read(body.text);
                let all = whole(&body, status, super::Exit::default(), Some(0));
                prop_assert_eq!(super::report_of(&body, None), all, "{:?}", text);
            }
        }
    }

    #[test]
    fn a_run_that_failed_did_so_wherever_it_says_so() {
        assert_eq!(report("\n!!! KeyboardInterrupt !!!\n").failed, Some(true));
        assert_eq!(report("a\nnot ok 2 - b\n1..2").failed, Some(true));
    }

    #[test]
    fn every_line_here_but_four_may_tell_something() {
        let mut passed = known();
        passed.retain(|line| !super::is_telling(line, line.as_bytes()));
        let expected =
            ["", "  File \"a.py\", line 3", "2024-05-01 12:00:01 INFO ready", "let x = 1;"];
        assert_eq!(passed, expected);
    }
}
