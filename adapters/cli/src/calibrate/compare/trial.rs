//! Judges the runs of an input by several candidates while it is read once, and tells the runs that ended well.

use std::collections::VecDeque;
use std::mem;

use unstuck_core::{Action, Tag};
use unstuck_report::cost::{Meter, Price, Reading, Spent};
use unstuck_report::replay::{Replay, push};
use unstuck_report::shown::counted;
use unstuck_text::{Envelope, Unescaped, report, tag};
use unstuck_trace::{Begin, Call, Event, Format, Outcome, read};

use super::{Candidate, Judge};
use crate::calibrate::runs::is_deed;
use crate::read::inputs::{self, Input};
use crate::read::progress::Progress;

/// The runs of an input.
#[derive(Default)]
pub(super) struct TriedInput {
    pub(super) runs: Vec<TriedRun>,
    /// The number of runs that are left out, because the agent did nothing.
    pub(super) empty: usize,
    /// The number of records that could not be read.
    pub(super) skipped: usize,
}

/// A run that was judged.
pub(super) struct TriedRun {
    /// The cost of the whole run.
    pub(super) total: Spent,
    /// What each candidate would have done.
    pub(super) deeds: Vec<Deed>,
    /// Whether the run ended with passing tests or a commit.
    pub(super) ended_well: bool,
}

/// What a candidate would have done in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Deed {
    /// The cost of the run after the candidate first spoke, refused or ended. `None` if it did nothing.
    pub(super) after: Option<Spent>,
    pub(super) refused: bool,
    pub(super) ended: bool,
}

/// Reads `input` and judges its runs. The error says what is wrong with the input.
pub(super) fn tried(
    input: &Input,
    progress: &Progress,
    (from, price): (Option<Format>, Option<Price>),
    candidates: &[Candidate],
) -> Result<TriedInput, String> {
    let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
    let mut trial = Trial::new(candidates, price);
    let trace = read(reader, from, &mut |event| trial.take(&event));
    let skipped = trace.map_err(|problem| problem.to_string())?.skipped;
    // The last run ends as the others do.
    trial.take(&Event::Begin(Begin { session: None }));
    Ok(TriedInput { skipped, ..trial.tried })
}

/// Returns what each run of `input` spent, in which the agent did something. The error says what is wrong with the
/// input, also if only a part of it cannot be read.
pub(in crate::calibrate) fn spent(
    input: &Input,
    progress: &Progress,
    price: Option<Price>,
) -> Result<Vec<Spent>, String> {
    let TriedInput { runs, skipped, .. } = tried(input, progress, (None, price), &[])?;
    if skipped > 0 {
        return Err(format!("{} could not be read", counted(skipped, "record")));
    }
    Ok(runs.into_iter().map(|run| run.total).collect())
}

/// A run that is being read, and the runs before it.
struct Trial {
    price: Option<Price>,
    meter: Meter,
    arms: Vec<Arm>,
    ending: Ending,
    is_empty: bool,
    tried: TriedInput,
}

impl Trial {
    fn new(candidates: &[Candidate], price: Option<Price>) -> Self {
        Self {
            price,
            meter: Meter::new(price),
            arms: candidates.iter().map(Arm::new).collect(),
            ending: Ending::default(),
            is_empty: true,
            tried: TriedInput::default(),
        }
    }

    fn take(&mut self, event: &Event<'_>) {
        // A limit ends the run before the call that it does not allow.
        let before = self.meter.now();
        self.meter.take(event);
        self.ending.take(event);
        self.is_empty &= !is_deed(event);
        for arm in &mut self.arms {
            arm.take(event, before, self.meter.now());
        }
        if let Event::Begin(_) = event {
            self.end_run();
        }
    }

    fn end_run(&mut self) {
        let meter = mem::replace(&mut self.meter, Meter::new(self.price));
        let deeds = self.arms.iter_mut().map(|arm| arm.end_run(&meter)).collect();
        let ended_well = mem::take(&mut self.ending).is_good();
        if mem::replace(&mut self.is_empty, true) {
            self.tried.empty += 1;
        } else {
            self.tried.runs.push(TriedRun { total: meter.total(), deeds, ended_well });
        }
    }
}

/// A candidate at work.
struct Arm {
    judging: Judging,
    /// What the run had spent when the candidate first did something.
    first: Option<Reading>,
    /// What it has done in the run so far.
    deed: Deed,
}

enum Judging {
    Policy(Box<Replay>),
    Steps(usize),
}

impl Arm {
    fn new(candidate: &Candidate) -> Self {
        let judging = match candidate.judge {
            Judge::Policy(preset) => Judging::Policy(Box::new(Replay::new(preset))),
            Judge::Steps(most) => Judging::Steps(most),
        };
        Self { judging, first: None, deed: Deed::default() }
    }

    /// Takes in an event, with the readings before and after it.
    fn take(&mut self, event: &Event<'_>, before: Reading, after: Reading) {
        match &mut self.judging {
            Judging::Policy(replay) => {
                replay.take(event);
                let found: Vec<_> = replay.take_findings().map(|it| (it.key, it.action)).collect();
                // The end of a loop does not matter.
                for (key, _) in &found {
                    replay.leave(*key);
                }
                for (_, action) in found {
                    self.act(action, after);
                }
            }
            Judging::Steps(most) if after.calls > *most => self.act(Action::Stop, before),
            Judging::Steps(_) => {}
        }
    }

    /// Takes in an action. Nobody knows what comes after the end of a run, so nothing is counted there.
    fn act(&mut self, action: Action, now: Reading) {
        if self.deed.ended || action == Action::Proceed {
            return;
        }
        self.first.get_or_insert(now);
        self.deed.refused |= action == Action::Block;
        self.deed.ended |= action > Action::Block;
    }

    fn end_run(&mut self, meter: &Meter) -> Deed {
        let after = self.first.take().map(|first| meter.since(first));
        Deed { after, ..mem::take(&mut self.deed) }
    }
}

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
