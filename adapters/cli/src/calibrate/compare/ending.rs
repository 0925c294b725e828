//! Whether a run ended well, as far as its last calls tell.

use std::collections::VecDeque;

use unstuck_core::Tag;
use unstuck_report::replay::push;
use unstuck_text::{Envelope, Unescaped, report, tag};
use unstuck_trace::{Call, Event, Outcome};

/// The success must be among this many last calls of the run. After a commit, agents still push and look.
const LAST: usize = 10;

/// The most calls that wait for their results, as many as the reader pairs.
const OPEN_MAX: usize = 1024;

/// The digits of the hash that git prints for a commit.
const HASH_DIGITS: std::ops::RangeInclusive<usize> = 7..=40;

/// The end of a run, as far as it was read.
///
/// A run ended well if one of its last [`LAST`] calls ran tests that all passed, or made a commit, and no tests failed
/// after it. Tests are known by the report of their runner in the answer of a call that does not just read, and a
/// commit by the line `[branch hash] subject` that git prints.
#[derive(Default)]
pub(super) struct Ending {
    calls: usize,
    /// The calls that can succeed, each with its number.
    open: VecDeque<OpenCall>,
    /// The last answer that tells, and the number of its call.
    last: Option<(bool, usize)>,
}

/// A call that waits for its result.
struct OpenCall {
    index: usize,
    number: usize,
    may_commit: bool,
}

impl Ending {
    pub(super) fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Call(call) => self.call(call),
            Event::Outcome(outcome) => self.outcome(outcome),
            _ => {}
        }
    }

    /// Returns whether the run ended well.
    pub(super) fn is_good(&self) -> bool {
        self.last.is_some_and(|(is_good, number)| is_good && number + LAST > self.calls)
    }

    fn call(&mut self, call: &Call<'_>) {
        self.calls += 1;
        let args = call.compared_args();
        if matches!(tag(call.tool, &args), Tag::Read | Tag::Search | Tag::Think) {
            return;
        }
        let may_commit = args.contains("git ") && args.contains("commit");
        let open = OpenCall { index: call.index, number: self.calls, may_commit };
        push(&mut self.open, open, OPEN_MAX);
    }

    fn outcome(&mut self, outcome: &Outcome<'_>) {
        let place = self.open.iter().rposition(|open| open.index == outcome.call);
        let Some(open) = place.and_then(|place| self.open.remove(place)) else { return };
        if let Some(is_good) = success(outcome, open.may_commit) {
            self.last = Some((is_good, open.number));
        }
    }
}

/// Returns whether the call succeeded in what a run can end with, or `None` if its answer is about neither.
fn success(outcome: &Outcome<'_>, may_commit: bool) -> Option<bool> {
    let is_done = !outcome.failed && !outcome.refused;
    let told = report(outcome.text);
    let tests = told.failing_tests.map(|failing| failing == 0 && is_done);
    let broken = told.compile_errors.map(|_| false);
    let mut memory = Unescaped::default();
    let mut commits = || Envelope::open(outcome.text, &mut memory).body.lines().any(is_commit);
    let commit = (may_commit && is_done && commits()).then_some(true);
    tests.or(broken).or(commit)
}

/// Returns whether git prints this line for a commit, for example `[main 1f2e3d4] mend the parser`.
fn is_commit(line: &str) -> bool {
    let head = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let hash = head.and_then(|(head, _)| head.rsplit_once(' ')).map_or("", |(_, hash)| hash);
    HASH_DIGITS.contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use unstuck_trace::read;

    use super::*;

    /// Returns whether a run of shell commands and answers ended well.
    fn ends_well(calls: &[(&str, &str)]) -> bool {
        let line = |(command, result): &(&str, &str)| {
            serde_json::json!({
                "type": "call", "tool": "bash", "args": { "command": command }, "result": result,
            })
            .to_string()
        };
        let lines: Vec<String> = calls.iter().map(line).collect();
        let mut ending = Ending::default();
        read(lines.join("\n").as_bytes(), None, &mut |event| ending.take(&event)).expect("a run");
        ending.is_good()
    }

    const PASSED: (&str, &str) = ("pytest", "..\n2 passed in 0.12s\n");
    const FAILED: (&str, &str) = ("pytest", ".F\n1 failed, 1 passed in 0.12s\n");
    const COMMIT: (&str, &str) =
        ("git commit -am x", "[fix/a 1f2e3d4] mend it\n 1 file changed, 2 insertions(+)\n");
    const LOOK: (&str, &str) = ("ls", "a.rs\nb.rs\n");

    #[test]
    fn a_run_ends_well_with_passing_tests_or_a_commit() {
        assert!(!Ending::default().is_good());
        for (calls, expected) in [
            (&[LOOK][..], false),
            (&[PASSED], true),
            (&[COMMIT, LOOK], true),
            (&[("git commit", "[main (root-commit) 1f2e3d4] first")], true),
            (&[FAILED, PASSED, COMMIT, LOOK], true),
            (&[PASSED, FAILED], false),
            (&[COMMIT, FAILED], false),
            // A file or a log is no test run, and other brackets are no commit.
            (&[("cat log", PASSED.1)], false),
            (&[("git log", COMMIT.1)], false),
            (&[("git commit -am x", "nothing to commit, working tree clean")], false),
            (&[("git commit -am x", "[warning unusable] no hash")], false),
        ] {
            assert_eq!(ends_well(calls), expected, "{calls:?}");
        }
    }

    #[test]
    fn only_the_last_calls_are_the_end() {
        let with = |looks: usize| [&[PASSED][..], &vec![LOOK; looks]].concat();
        assert!(ends_well(&with(LAST - 1)));
        assert!(!ends_well(&with(LAST)));
    }
}
