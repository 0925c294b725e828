//! The contenders: the engine, a plain detector, and published detectors.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::hint::black_box;

use clap::ValueEnum;
use loop_guardrail::{ToolCallGuardrailConfig, ToolCallGuardrailController};
use microloop::MicroloopState;
use serde::Serialize;
use serde_json::Value;
use tool_loop_break::LoopDetector;
use tool_loop_guard::LoopGuard;
use unstuck_core::presets::BALANCED;
use unstuck_core::{Action, Call, Detector, Ladder, Outcome, Pattern, Policy, Rule, Rung};
use unstuck_text::{PRESETS, Preset, SimilarCalls};

use crate::stream::{Stream, TOOL, Texts};

/// The number of calls in a round for contenders that take digests. A round is short, so that a
/// disturbance affects few rounds.
const DIGESTS: u16 = 4000;

/// The number of calls in a round for contenders that take raw arguments and results.
const TEXTS: u16 = 1000;

/// The window of the other contenders, which is that of `BALANCED`.
const WINDOW: usize = 20;

/// The number of equal calls from which the other contenders flag a call, as `BALANCED` does.
const TIMES: usize = 3;

/// A detector that flags calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Contender {
    /// A count of the calls that equal the new one among the last 20, in a `VecDeque<(String, Value)>`.
    Plain,
    /// The crate `tool-loop-guard`.
    ToolLoopGuard,
    /// The crate `tool-loop-break`, given a hash of the raw arguments.
    ToolLoopBreak,
    /// The crate `microloop`, which compares raw arguments.
    Microloop,
    /// The crate `loop-guardrail`.
    LoopGuardrail,
    /// `BALANCED` with its recipe, from raw arguments and results to a verdict.
    Unstuck,
    /// The rules of `BALANCED`, fitted to a window of 8, from digests.
    Window8,
    /// `BALANCED`, from digests.
    Window20,
    /// The rules of `BALANCED` with a window of 64, from digests.
    Window64,
    /// The rules of `BALANCED` without their ladders, so no finding clears the history.
    NoLadder,
}

/// A stream in the form that the contenders take, made in advance.
pub struct Input {
    digests: Vec<(Call, Outcome)>,
    texts: Vec<Texts>,
}

impl Input {
    /// Returns the calls of `stream` for one round.
    pub fn of(stream: Stream) -> Self {
        let digests = stream.digests(usize::from(DIGESTS));
        Self { digests, texts: stream.texts(usize::from(TEXTS)) }
    }
}

impl Contender {
    /// Returns the name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain VecDeque",
            Self::ToolLoopGuard => "tool-loop-guard",
            Self::ToolLoopBreak => "tool-loop-break",
            Self::Microloop => "microloop",
            Self::LoopGuardrail => "loop-guardrail",
            Self::Unstuck => "unstuck",
            Self::Window8 => "engine, window 8",
            Self::Window20 => "engine, window 20",
            Self::Window64 => "engine, window 64",
            Self::NoLadder => "engine, window 20, no ladders",
        }
    }

    /// Returns whether the contender is measured on `stream`. Ladders matter only in long loops.
    pub fn runs_on(self, stream: Stream) -> bool {
        self != Self::NoLadder || matches!(stream, Stream::Cycle | Stream::AllEqual)
    }

    /// Returns the number of calls in a round.
    pub const fn calls(self) -> u16 {
        match self {
            Self::Window8 | Self::Window20 | Self::Window64 | Self::NoLadder => DIGESTS,
            Self::Plain
            | Self::ToolLoopGuard
            | Self::ToolLoopBreak
            | Self::Microloop
            | Self::LoopGuardrail
            | Self::Unstuck => TEXTS,
        }
    }

    /// Returns how many of the first `calls` calls of `input` a new detector flags. `calls` is at most
    /// [`Contender::calls`]; a larger number is reduced to it.
    pub fn flagged(self, input: &Input, calls: u16) -> u32 {
        let calls = usize::from(calls.min(self.calls()));
        let digests = || black_box(&input.digests[..calls]);
        let texts = || black_box(&input.texts[..calls]);
        match self {
            Self::Plain => plain(texts()),
            Self::ToolLoopGuard => tool_loop_guard(texts()),
            Self::ToolLoopBreak => tool_loop_break(texts()),
            Self::Microloop => microloop(texts()),
            Self::LoopGuardrail => loop_guardrail(texts()),
            Self::Unstuck => unstuck(texts().iter().map(|call| (&*call.args, &*call.result))),
            Self::Window8 => engine::<8>(&fitted(8, &fitted_rules(8)), digests()),
            Self::Window20 => engine::<20>(&BALANCED, digests()),
            Self::Window64 => engine::<64>(&fitted(64, &fitted_rules(64)), digests()),
            Self::NoLadder => {
                let rules = fitted_rules(20).into_iter().map(|rule| rule.ladder(FLAT));
                engine::<20>(&fitted(20, &rules.collect::<Vec<_>>()), digests())
            }
        }
    }
}

/// A ladder with one rung, which every finding reaches.
const FLAT: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(1, Action::Nudge)]);

/// Returns the rules of `BALANCED`, fitted to a window of `window` calls.
fn fitted_rules(window: u8) -> Vec<Rule<'static>> {
    BALANCED.rules().iter().map(|rule| fitted_rule(rule, window)).collect()
}

/// Returns the rule with recurrences and cycles limited to `window`, and without the rungs that would
/// then be out of reach.
fn fitted_rule(rule: &Rule<'static>, window: u8) -> Rule<'static> {
    match rule.pattern {
        Pattern::Streak { .. } => *rule,
        Pattern::Recurrence { times, within, novel } => {
            let within = within.min(window);
            let in_reach = rule.ladder.rungs.iter().filter(|rung| rung.count <= within.into());
            let ladder = Ladder { rungs: &rule.ladder.rungs[..in_reach.count()], ..rule.ladder };
            let times = times.min(window);
            rule.pattern(Pattern::Recurrence { times, within, novel }).ladder(ladder)
        }
        Pattern::Cycle { period_min, period_max, laps } => {
            rule.pattern(Pattern::cycle(period_min, period_max.min(window), laps))
        }
    }
}

/// Returns the policy of `rules`, which are fitted.
fn fitted<'p>(window: u8, rules: &'p [Rule<'p>]) -> Policy<'p> {
    match Policy::new("balanced, fitted", window, rules) {
        Ok(policy) => policy,
        Err(error) => panic!("{error}"),
    }
}

/// Returns a detector with `policy`, which fits.
pub(crate) fn detector<'p, const W: usize>(policy: &'p Policy<'p>) -> Detector<'p, W> {
    match Detector::new(policy) {
        Ok(detector) => detector,
        Err(error) => panic!("{error}"),
    }
}

/// Announces a call and reports its outcome, whatever the verdict. Returns whether the engine flags the
/// call, before or after it ran.
#[inline]
fn judged<const W: usize>(
    detector: &mut Detector<'_, W>,
    call: Call,
    outcome: impl FnOnce() -> Outcome,
) -> bool {
    let announced = detector.announce(call);
    let after = detector.outcome(announced.id, outcome());
    announced.verdict.action > Action::Proceed || after.action > Action::Proceed
}

fn engine<const W: usize>(policy: &Policy<'_>, calls: &[(Call, Outcome)]) -> u32 {
    flagged_of(&mut detector::<W>(policy), calls)
}

/// Returns how many of `calls` the detector flags. It may contain earlier calls.
#[inline(never)]
pub(crate) fn flagged_of<const W: usize>(
    detector: &mut Detector<'_, W>,
    calls: &[(Call, Outcome)],
) -> u32 {
    count(calls, |(call, outcome)| judged(detector, *call, || *outcome))
}

/// Returns how many calls, given as arguments and result, `BALANCED` with its recipe flags.
pub(crate) fn unstuck<'t>(calls: impl IntoIterator<Item = (&'t str, &'t str)>) -> u32 {
    let Preset { policy, recipe } = &PRESETS[0];
    let mut detector = detector::<WINDOW>(policy);
    let mut groups = SimilarCalls::new();
    let flags = |(args, result)| {
        let call = recipe.call_among(&mut groups, TOOL, args);
        u32::from(judged(&mut detector, call, || recipe.outcome(TOOL, result, false)))
    };
    calls.into_iter().map(flags).sum()
}

/// The obvious implementation.
fn plain(calls: &[Texts]) -> u32 {
    let mut latest: VecDeque<(String, Value)> = VecDeque::with_capacity(WINDOW);
    count(calls, |Texts { args, .. }| {
        if latest.len() == WINDOW {
            latest.pop_front();
        }
        latest.push_back((TOOL.to_owned(), json(args)));
        latest.iter().filter(|call| Some(*call) == latest.back()).count() >= TIMES
    })
}

/// `record` with the arguments as a `Value`, as in the example of its README.
fn tool_loop_guard(calls: &[Texts]) -> u32 {
    let mut guard = LoopGuard::with_capacity(WINDOW, TIMES);
    count(calls, |Texts { args, .. }| guard.record(TOOL, &json(args)).is_err())
}

/// `record` with "a short hash of the JSON arguments", here the cheapest: of their raw text.
fn tool_loop_break(calls: &[Texts]) -> u32 {
    let mut detector = LoopDetector::new(WINDOW, 3);
    count(calls, |Texts { args, .. }| {
        let mut hasher = DefaultHasher::new();
        args.hash(&mut hasher);
        detector.record(TOOL, &format!("{:016x}", hasher.finish()))
    })
}

/// `verify` with the raw arguments, as in the example of its README.
fn microloop(calls: &[Texts]) -> u32 {
    let settings = format!("max_repeats: {TIMES}\nhistory_window: {WINDOW}");
    let mut state = match MicroloopState::new(&settings) {
        Ok(state) => state,
        Err(error) => panic!("{error}"),
    };
    count(calls, |Texts { args, .. }| {
        microloop::verify(&mut state, TOOL.as_bytes(), args.as_bytes()) != 0
    })
}

/// `before_call` and `after_call`, as in the example of its README. It reads the results of this tool.
fn loop_guardrail(calls: &[Texts]) -> u32 {
    guardrail(calls.iter().map(|Texts { args, result }| (TOOL, &**args, &**result)))
}

/// Returns how many calls, each a tool with its arguments and its result, `loop-guardrail` flags.
pub(crate) fn guardrail<'t>(calls: impl IntoIterator<Item = (&'t str, &'t str, &'t str)>) -> u32 {
    let settings = ToolCallGuardrailConfig {
        hard_stop_enabled: true,
        no_progress_warn_after: TIMES,
        ..ToolCallGuardrailConfig::default()
    };
    let mut controller = ToolCallGuardrailController::new(Some(settings));
    let flags = |(tool, args, result)| {
        let args = json(args);
        let before = controller.before_call(tool, Some(&args));
        let after = controller.after_call(tool, Some(&args), Some(result), Some(false));
        u32::from(before.action != "allow" || after.action != "allow")
    };
    calls.into_iter().map(flags).sum()
}

/// Returns for how many of `calls` the function `flags` returns true.
fn count<T>(calls: &[T], mut flags: impl FnMut(&T) -> bool) -> u32 {
    calls.iter().map(|call| u32::from(flags(call))).sum()
}

/// Parses the arguments, which are JSON.
fn json(args: &str) -> Value {
    serde_json::from_str(args).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_flags_equal_calls_and_no_new_ones() {
        for stream in Stream::value_variants() {
            let input = Input::of(*stream);
            for contender in Contender::value_variants() {
                let calls = contender.calls();
                let (flagged, calls) = (contender.flagged(&input, calls), u32::from(calls));
                let right = match stream {
                    Stream::AllNew => flagged == 0,
                    Stream::Repeats => flagged < calls / 20,
                    Stream::Cycle | Stream::AllEqual => flagged > calls / 2,
                };
                assert!(right, "{contender:?}, {stream:?}: {flagged} of {calls}");
            }
        }
    }

    #[test]
    fn without_ladders_all_but_the_first_calls_of_a_loop_are_found() {
        for (stream, first) in [(Stream::Cycle, 5), (Stream::AllEqual, 2)] {
            let flagged = Contender::NoLadder.flagged(&Input::of(stream), 100);
            assert_eq!(flagged, 100 - first, "{stream:?}");
        }
    }
}
