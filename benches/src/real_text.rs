//! The benchmark `text` on real calls: from raw bytes to a verdict, beside `loop-guardrail` and `regex`.

use std::hint::black_box;
use std::io;

use clap::ValueEnum;
use serde::Serialize;
use unstuck::Guard;
use unstuck_text::{Answer, Lines, Masks, Recipe, SimilarCalls};

use crate::contender::guardrail;
use crate::instructions::{per_turn, word};
use crate::real_calls::{RealCall, Recorded};
use crate::regex_masks;
use crate::report::{Measurement, rounded};
use crate::rounds::{Case, Timing, take_turns};

/// The number of rounds. A round reads megabytes.
const ROUNDS: usize = 11;

/// The number of turns in which instructions are counted.
const TURNS: u16 = 1;

/// The work that is done on each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum RealWork {
    /// `before` and `after` of a guard with the preset `balanced`.
    Guard,
    /// `before_call` and `after_call` of the crate `loop-guardrail`.
    LoopGuardrail,
    /// The call, compared with earlier ones.
    CallAmong,
    /// The outcome, compared with earlier ones.
    Outcome,
    /// Both digests of the result with all masks.
    Masked,
    /// A digest of the result without what one regular expression matches.
    Regex,
}

impl RealWork {
    /// Returns the name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Guard => "guard",
            Self::LoopGuardrail => "`loop-guardrail`",
            Self::CallAmong => "call among others",
            Self::Outcome => "outcome among others",
            Self::Masked => "digest, masked",
            Self::Regex => "digest, masked by `regex`",
        }
    }

    /// Does the work on the calls of each run. Returns how often the answer is not that of an
    /// unremarkable call, or the answers' sum. The result is the same every time.
    pub fn run(self, runs: &[Vec<RealCall>]) -> u32 {
        runs.iter().map(|run| self.run_one(black_box(run))).fold(0, u32::wrapping_add)
    }

    fn run_one(self, run: &[RealCall]) -> u32 {
        const BALANCED: Recipe = Recipe::BALANCED;
        let mut groups = SimilarCalls::new();
        let mut lines = <Lines>::new();
        match self {
            Self::Guard => guarded(run),
            Self::LoopGuardrail => {
                let calls = run.iter().map(|call| (&*call.tool, &*call.args, &*call.result));
                guardrail(calls)
            }
            Self::CallAmong => each(run, |call| {
                low(BALANCED.call_among(&mut groups, &call.tool, &call.args).digest().bits())
            }),
            Self::Outcome => each(run, |call| {
                let answer = Answer::new(&call.tool, &call.result, call.failed);
                low(BALANCED.outcome_among(&mut lines, &answer).digest().bits())
            }),
            Self::Masked => {
                each(run, |call| low(Masks::ALL.digest(call.result.as_bytes()).result.bits()))
            }
            Self::Regex => each(run, |call| low(regex_masks::digest(&call.result))),
        }
    }
}

fn each(run: &[RealCall], mut answer: impl FnMut(&RealCall) -> u32) -> u32 {
    run.iter().map(&mut answer).fold(0, u32::wrapping_add)
}

/// Returns the lower half.
const fn low(digest: u64) -> u32 {
    (digest & 0xFFFF_FFFF) as u32
}

/// Returns the number of calls that a guard flags.
fn guarded(run: &[RealCall]) -> u32 {
    let mut guard = Guard::new();
    each(run, |call| {
        let before = guard.before(&call.tool, call.args.as_str());
        let after = before.ticket().map(|ticket| guard.after(ticket, &call.result, call.failed));
        u32::from(after.is_none_or(|after| after.evidence().is_some()))
    })
}

/// One kind of work on one set of real calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RealTime {
    /// The set.
    pub recorded: Recorded,
    /// The average length of the arguments of a call, in bytes.
    pub args: usize,
    /// The average length of a result, in bytes.
    pub result: usize,
    /// The work.
    pub work: RealWork,
    /// The median time for a call, in nanoseconds.
    pub ns: f64,
    /// The time relative to that of the guard, in the same round.
    pub ratio: f64,
    /// The instructions for a call, if they were counted.
    pub instructions: Option<f64>,
}

impl Measurement for RealTime {
    const HEADINGS: &'static [&'static str] =
        &["real calls", "made of it", "ns", "guard = 1", "instructions"];
    const WORDS: usize = 2;

    fn cells(&self) -> Vec<String> {
        let Self { recorded, args, result, .. } = self;
        vec![
            format!("{}: {args} B, {result} B", recorded.name()),
            self.work.name().to_owned(),
            format!("{:.0}", self.ns),
            format!("{:.2}", self.ratio),
            rounded(self.instructions, 0),
        ]
    }
}

/// Measures all work on all sets that are present.
///
/// # Errors
///
/// If valgrind fails.
pub fn measure(can_be_counted: bool) -> io::Result<Vec<RealTime>> {
    let mut times = Vec::new();
    for &recorded in Recorded::value_variants() {
        let runs = recorded.runs();
        let Some(calls) = number(&runs) else { continue };
        times.extend(real_times(recorded, &runs, calls));
    }
    for row in times.iter_mut().filter(|_| can_be_counted) {
        let words = [word(&row.work), word(&row.recorded)];
        let calls = number(&row.recorded.runs()).unwrap_or(1);
        row.instructions = Some(per_turn("real-text", &words, TURNS)? / f64::from(calls));
    }
    Ok(times)
}

/// Does the work on the calls of a set `times` times, for valgrind to count. Returns the sum of the
/// results.
pub fn count(work: RealWork, recorded: Recorded, times: u16) -> u32 {
    let runs = recorded.runs();
    (0..times).map(|_| work.run(&runs)).fold(0, u32::wrapping_add)
}

/// Times all work on one set in turns.
fn real_times(recorded: Recorded, runs: &[Vec<RealCall>], calls: u16) -> Vec<RealTime> {
    let average = |length: fn(&RealCall) -> usize| {
        runs.iter().flatten().map(length).sum::<usize>() / usize::from(calls)
    };
    let (args, result) = (average(|call| call.args.len()), average(|call| call.result.len()));
    let works = RealWork::value_variants();
    let case = |&work: &RealWork| Case { calls, run: Box::new(move || work.run(runs)) };
    let timings = take_turns(&works.iter().map(case).collect::<Vec<_>>(), ROUNDS);
    let time = |(&work, Timing { ns_per_call: ns, ratio, .. })| RealTime {
        recorded,
        args,
        result,
        work,
        ns,
        ratio,
        instructions: None,
    };
    works.iter().zip(timings).map(time).collect()
}

/// Returns the number of calls, or `None` if there is none.
fn number(runs: &[Vec<RealCall>]) -> Option<u16> {
    u16::try_from(runs.iter().map(Vec::len).sum::<usize>()).ok().filter(|&calls| calls > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_work_is_done_on_each_call() {
        let call = |result: &str| RealCall {
            tool: "bash".to_owned(),
            args: r#"{"command":"make"}"#.to_owned(),
            result: result.to_owned(),
            failed: true,
        };
        let stuck = vec![vec![call("no rule"); 5]];
        assert_eq!(RealWork::Guard.run(&stuck), 3);
        let (one, other) = (vec![vec![call("one")]], vec![vec![call("other")]]);
        for work in [RealWork::Outcome, RealWork::Masked, RealWork::Regex] {
            assert_ne!(work.run(&one), work.run(&other), "{work:?}");
        }
        assert_eq!(RealWork::CallAmong.run(&one), RealWork::CallAmong.run(&other));
        assert_eq!(RealWork::LoopGuardrail.run(&one), 0);
    }
}
