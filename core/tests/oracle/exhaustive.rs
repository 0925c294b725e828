//! Every sequence over three or four symbols, under every pattern and filter.
//!
//! A symbol is a call with what becomes of it. Each alphabet makes one part of the definitions
//! matter; the window is short, so that sequences of ten cross its edge.

use unstuck_core::{
    Action, Args, Ladder, Outcomes, Pattern, Policy, Progress, Results, Rule, Rung, Select,
    Silence, Tag,
};

use Symbol::{Calls, Other};

use crate::model::{Answer, Asked, Event};
use crate::pair::{Ids, Pair};

const WINDOW: u8 = 5;

const PATTERNS: [Pattern; 6] = [
    Pattern::Streak { times: 2 },
    Pattern::Streak { times: 3 },
    Pattern::recurrence(2, 4),
    Pattern::Recurrence { times: 3, within: 5, novel: 1 },
    Pattern::cycle(2, 3, 2),
    Pattern::cycle(2, 4, 3),
];

/// Calls and what becomes of them, or something else that happens. Calls of one symbol are issued
/// together, and answered in reverse.
#[derive(Clone, Copy)]
enum Symbol {
    Calls(&'static [(Asked, Fate)]),
    Other(Event),
}

#[derive(Clone, Copy)]
enum Fate {
    Answered(Answer),
    Vetoed,
    Cancelled,
    /// No outcome ever comes.
    Lost,
}

const fn asked(tool: u8, args: u8, similar: u8, tag: Tag) -> Asked {
    Asked { tool, args, similar, tag, step: None }
}

const fn answer(result: u8, near: u8) -> Fate {
    Fate::Answered(Answer { result, near, failed: false, silent: false, score: None })
}

const fn failure(result: u8) -> Fate {
    Fate::Answered(Answer { result, near: result, failed: true, silent: false, score: None })
}

const fn scored(score: u8) -> Fate {
    Fate::Answered(Answer { result: 0, near: 0, failed: false, silent: false, score: Some(score) })
}

const SILENCE: Fate =
    Fate::Answered(Answer { result: 9, near: 9, failed: false, silent: true, score: None });

const A: Asked = asked(0, 0, 0, Tag::Test);
const B: Asked = asked(0, 1, 0, Tag::Shell);
const W: Asked = asked(2, 3, 2, Tag::Write);
const C: Asked = asked(1, 2, 1, Tag::Test);

/// Calls that are equal, alike, of one tool, or different.
const CALLS: [Symbol; 3] =
    [Calls(&[(A, answer(0, 0))]), Calls(&[(B, answer(0, 0))]), Calls(&[(C, answer(0, 0))])];
/// One call answered in two ways that are near each other, and another call.
const ANSWERS: [Symbol; 3] =
    [Calls(&[(A, answer(0, 0))]), Calls(&[(A, answer(1, 0))]), Calls(&[(B, answer(1, 1))])];
/// Outcomes that failed or did not, of tools with two tags.
const FAILURES: [Symbol; 3] =
    [Calls(&[(A, failure(0))]), Calls(&[(A, answer(0, 0))]), Calls(&[(B, failure(0))])];
/// Outcomes that never came, of calls that ran or did not.
const GAPS: [Symbol; 3] =
    [Calls(&[(A, answer(0, 0))]), Calls(&[(A, Fate::Lost)]), Calls(&[(A, Fate::Vetoed)])];
/// Answers that say nothing, and vetoes of another call.
const SILENCES: [Symbol; 3] =
    [Calls(&[(A, SILENCE)]), Calls(&[(B, SILENCE)]), Calls(&[(B, Fate::Vetoed)])];
/// Calls issued together, some twice.
const STEPS: [Symbol; 3] = [
    Calls(&[(A, answer(0, 0)), (B, answer(1, 1)), (A, answer(0, 0))]),
    Calls(&[(A, answer(0, 0))]),
    Calls(&[(B, answer(1, 1)), (A, Fate::Lost)]),
];
/// A check, and what may change between two of its runs.
const WORK: [Symbol; 3] =
    [Calls(&[(A, answer(0, 0))]), Calls(&[(A, SILENCE)]), Calls(&[(W, answer(1, 1))])];
/// Calls, some of which are taken back: one that still waits, or three.
const RETRIES: [Symbol; 4] = [
    Calls(&[(A, answer(0, 0)), (B, Fate::Lost)]),
    Calls(&[(A, answer(0, 0))]),
    Other(Event::Retry(1)),
    Other(Event::Retry(3)),
];
/// Calls that are cancelled, alone or before others of their step.
const CANCELS: [Symbol; 3] = [
    Calls(&[(A, answer(0, 0))]),
    Calls(&[(B, Fate::Cancelled), (A, answer(0, 0))]),
    Calls(&[(A, Fate::Cancelled)]),
];
/// What the host knows: that something moved, or that what was found is no loop.
const WORDS: [Symbol; 4] = [
    Calls(&[(A, answer(0, 0))]),
    Calls(&[(B, answer(0, 0)), (A, Fate::Lost)]),
    Other(Event::Progress),
    Other(Event::FalsePositive),
];
/// Scores of two tags, one of which is taken back.
const SCORES: [Symbol; 4] = [
    Calls(&[(A, scored(2))]),
    Calls(&[(A, scored(1))]),
    Calls(&[(B, scored(2))]),
    Other(Event::Retry(1)),
];

const LADDERS: [Ladder<'_>; 3] = [
    Ladder::by_repetitions(&[Rung::new(4, Action::Warn), Rung::new(5, Action::Block)]),
    Ladder::by_loop_findings(&[Rung::new(1, Action::Nudge), Rung::new(3, Action::Block)]),
    Ladder::by_all_findings(&[Rung::new(2, Action::Nudge), Rung::new(4, Action::Stop)]),
];

/// The rules to try: one for each combination, under each pattern.
struct Filters {
    args: &'static [Args],
    results: &'static [Results],
    select: &'static [Select],
    outcomes: &'static [Outcomes],
    progress: &'static [Progress],
    silence: &'static [Silence],
}

const EVERY_ARGS: &[Args] = &[Args::Same, Args::Similar, Args::SameTool, Args::Any];
const EVERY_RESULT: &[Results] = &[Results::Ignored, Results::Same, Results::Near];
const EVERY_SELECT: &[Select] =
    &[Select::Every, Select::Tag(Tag::Test), Select::Except(Tag::Test), Select::Unreported];
const EVERY_OUTCOME: &[Outcomes] = &[Outcomes::Any, Outcomes::Failed];
const EVERY_SILENCE: &[Silence] = &[Silence::Ignored, Silence::Evidence];
const EVERY_PROGRESS: &[Progress] = &[Progress::Respect, Progress::Ignore];

const PLAIN: Filters = Filters {
    args: &[Args::Same, Args::Any],
    results: &[Results::Ignored, Results::Same],
    select: &[Select::Every],
    outcomes: &[Outcomes::Any],
    progress: &[Progress::Respect],
    silence: &[Silence::Ignored],
};

impl Filters {
    fn rules(&self) -> impl Iterator<Item = Rule<'static>> {
        let mut rules = Vec::new();
        for &args in self.args {
            for &results in self.results {
                for (n, pattern) in PATTERNS.into_iter().enumerate() {
                    let mut rule =
                        Rule::new("tried", args, results, pattern, ladder_for(pattern, n));
                    rule.silent_max = Action::Warn;
                    rules.extend(self.variants(rule));
                }
            }
        }
        rules.into_iter()
    }

    /// The rule, seeing and respecting all that it may.
    fn variants(&self, rule: Rule<'static>) -> Vec<Rule<'static>> {
        let mut rules = Vec::new();
        for &select in self.select {
            for &outcomes in self.outcomes {
                for &progress in self.progress {
                    for &silence in self.silence {
                        let mut rule = rule.select(select);
                        (rule.outcomes, rule.progress) = (outcomes, progress);
                        rule.silence = silence;
                        rules.push(rule);
                    }
                }
            }
        }
        rules
    }
}

/// Each pattern gets one of the ladders; a recurrence of 4 cannot reach a fifth repetition.
fn ladder_for(pattern: Pattern, n: usize) -> Ladder<'static> {
    match pattern {
        Pattern::Recurrence { .. } => LADDERS[1 + n % 2],
        Pattern::Streak { .. } | Pattern::Cycle { .. } => LADDERS[n % 3],
    }
}

/// Compares both detectors on every sequence over `alphabet` up to `length`, under every rule,
/// and counts the findings.
fn compare(alphabet: &[Symbol], filters: &Filters, length: usize) -> usize {
    let mut findings = 0;
    for rule in filters.rules() {
        let rules = [rule];
        let policy = Policy::new("tried", WINDOW, &rules).unwrap();
        let mut ids = Ids::default();
        let mut trail = Vec::new();
        let start: Pair<'_, 8> = Pair::new(&policy);
        findings += walk(&start, alphabet, length, &mut trail, &mut ids);
    }
    findings
}

fn walk(
    pair: &Pair<'_, 8>,
    alphabet: &[Symbol],
    length: usize,
    trail: &mut Vec<usize>,
    ids: &mut Ids,
) -> usize {
    if length == 0 {
        return 0;
    }
    let mut findings = 0;
    for (n, symbol) in alphabet.iter().enumerate() {
        trail.push(n);
        let mut pair = pair.clone();
        match play(&mut pair, *symbol, trail.len(), ids) {
            Ok(found) => findings += found,
            Err(difference) => panic!("after {trail:?}:\n{difference}"),
        }
        findings += walk(&pair, alphabet, length - 1, trail, ids);
        trail.pop();
    }
    findings
}

fn play(
    pair: &mut Pair<'_, 8>,
    symbol: Symbol,
    step: usize,
    ids: &mut Ids,
) -> Result<usize, String> {
    let calls = match symbol {
        Calls(calls) => calls,
        Other(event) => return Ok(usize::from(pair.take(event, ids)?.finding.is_some())),
    };
    let first = pair.calls();
    let step = u8::try_from(step).ok();
    let mut findings = 0;
    for (asked, _) in calls {
        let said = pair.take(Event::Announce(Asked { step, ..*asked }), ids)?;
        findings += usize::from(said.finding.is_some());
    }
    for (n, (_, fate)) in calls.iter().enumerate().rev() {
        let event = match *fate {
            Fate::Answered(answer) => Event::Outcome(first + n, answer),
            Fate::Vetoed => Event::Veto(first + n),
            Fate::Cancelled => Event::Cancel(first + n),
            Fate::Lost => continue,
        };
        let said = pair.take(event, ids)?;
        findings += usize::from(said.finding.is_some());
    }
    Ok(findings)
}

#[test]
fn calls_that_are_equal_alike_or_different() {
    let filters = Filters { args: EVERY_ARGS, ..PLAIN };
    assert!(compare(&CALLS, &filters, 10) > 0);
}

#[test]
fn answers_that_are_equal_near_or_different() {
    let filters = Filters {
        args: &[Args::Same, Args::SameTool],
        results: EVERY_RESULT,
        progress: EVERY_PROGRESS,
        ..PLAIN
    };
    assert!(compare(&ANSWERS, &filters, 10) > 0);
}

#[test]
fn outcomes_that_failed_or_did_not() {
    let filters = Filters {
        select: &[Select::Every, Select::Tag(Tag::Test)],
        outcomes: EVERY_OUTCOME,
        ..PLAIN
    };
    assert!(compare(&FAILURES, &filters, 10) > 0);
}

#[test]
fn outcomes_that_never_came() {
    let filters = Filters { select: &[Select::Every, Select::Unreported], ..PLAIN };
    assert!(compare(&GAPS, &filters, 10) > 0);
}

#[test]
fn answers_that_say_nothing() {
    let results = &[Results::Same];
    let filters = Filters { args: EVERY_ARGS, results, silence: EVERY_SILENCE, ..PLAIN };
    assert!(compare(&SILENCES, &filters, 10) > 0);
}

#[test]
fn work_between_equal_answers() {
    let filters = Filters { progress: EVERY_PROGRESS, ..PLAIN };
    assert!(compare(&WORK, &filters, 10) > 0);
}

#[test]
fn calls_issued_together() {
    assert!(compare(&STEPS, &PLAIN, 10) > 0);
}

#[test]
fn calls_that_are_taken_back() {
    let filters = Filters { progress: EVERY_PROGRESS, ..PLAIN };
    assert!(compare(&RETRIES, &filters, 8) > 0);
}

#[test]
fn calls_that_are_cancelled() {
    let filters = Filters { args: EVERY_ARGS, ..PLAIN };
    assert!(compare(&CANCELS, &filters, 9) > 0);
}

#[test]
fn what_the_host_knows() {
    let filters = Filters { progress: EVERY_PROGRESS, ..PLAIN };
    assert!(compare(&WORDS, &filters, 8) > 0);
}

#[test]
fn scores_of_two_tags() {
    let filters = Filters { progress: EVERY_PROGRESS, ..PLAIN };
    assert!(compare(&SCORES, &filters, 8) > 0);
}

#[test]
fn every_filter_on_every_alphabet() {
    let filters = Filters {
        args: EVERY_ARGS,
        results: EVERY_RESULT,
        select: EVERY_SELECT,
        outcomes: EVERY_OUTCOME,
        progress: EVERY_PROGRESS,
        silence: &[Silence::Ignored],
    };
    // Ten takes half an hour: for whoever changes the definitions.
    let length = std::env::var("UNSTUCK_EXHAUSTIVE_LENGTH").ok();
    let length = length.map_or(7, |length| length.parse().expect("a number"));
    for alphabet in [CALLS, ANSWERS, FAILURES, GAPS, STEPS, CANCELS] {
        assert!(compare(&alphabet, &filters, length) > 0);
    }
    let silences = Filters { silence: EVERY_SILENCE, ..filters };
    for alphabet in [SILENCES, WORK] {
        assert!(compare(&alphabet, &silences, length) > 0);
    }
    // One symbol more makes as many sequences with one call less.
    for alphabet in [RETRIES, WORDS, SCORES] {
        assert!(compare(&alphabet, &filters, length - 1) > 0);
    }
}
