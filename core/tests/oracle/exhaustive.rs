//! Every sequence over three or four symbols, under every pattern and filter.
//!
//! A symbol is a call with its fate. Each alphabet exercises one part of the definitions. The
//! window is short, so that sequences of ten symbols cross its edge.

use std::collections::HashMap;

use unstuck_core::{
    Action, Args, Force, Ladder, Outcomes, Pattern, Policy, Progress, Results, Rule, Rung, Select,
    Silence, Tag, TextRule, Texts, Tool,
};

use Symbol::{Calls, Other};

use crate::model::{CallSpec, Event, OutcomeSpec};
use crate::pair::{Ids, Pair};
use crate::scripts;

const WINDOW: u8 = 5;

const PATTERNS: [Pattern; 6] = [
    Pattern::Streak { times: 2 },
    Pattern::Streak { times: 3 },
    Pattern::recurrence(2, 4),
    Pattern::Recurrence { times: 3, within: 5, novel: 1 },
    Pattern::cycle(2, 3, 2),
    Pattern::cycle(2, 4, 3),
];

/// Calls with their fates, or another event. Calls of one symbol are issued together and answered
/// in reverse.
enum Symbol {
    Calls(Vec<(CallSpec, Fate)>),
    Other(Event),
}

enum Fate {
    /// An event of the call with this index.
    Ended(fn(usize) -> Event),
    Answered(OutcomeSpec),
    /// No outcome ever comes.
    Lost,
}

/// Returns an alphabet of `scripts/alphabets.txt`. Its symbols are written as in the other scripts.
fn alphabet(name: &str) -> Vec<Symbol> {
    let mut abbreviations = HashMap::new();
    for line in include_str!("scripts/alphabets.txt").lines() {
        if let Some((name, meaning)) = line.strip_prefix("let ").and_then(|it| it.split_once(" = "))
        {
            abbreviations.insert(name, scripts::written(meaning, &abbreviations));
        } else if let Some(symbols) = line.strip_prefix(name).and_then(|it| it.strip_prefix(": ")) {
            let symbols = scripts::written(symbols, &abbreviations);
            return symbols.split(" | ").map(symbol).collect();
        }
    }
    panic!("no alphabet `{name}`")
}

fn symbol(text: &str) -> Symbol {
    let call = |part: &str| {
        let (call, fate) = part.strip_prefix("call ")?.split_once(" = ")?;
        let (word, words) = fate.split_once(' ').unwrap_or((fate, ""));
        let fate = match word {
            "lost" => Fate::Lost,
            "veto" => Fate::Ended(Event::Veto),
            "cancel" => Fate::Ended(Event::Cancel),
            "ok" | "failed" => Fate::Answered(scripts::outcome(word == "failed", words)),
            _ => panic!("no fate {word}"),
        };
        Some((scripts::call(call), fate))
    };
    let (word, words) = text.split_once(' ').unwrap_or((text, ""));
    let calls: Option<Vec<_>> = text.split(" ; ").map(call).collect();
    calls.map_or_else(|| Other(scripts::event(word, words)), Calls)
}

/// Ladders that go beyond a warning at the second repetition after the pattern's own number. The
/// first row is for patterns that ask for two repetitions, the second for patterns that ask for
/// three.
const FORCEFUL: [[Ladder<'_>; 3]; 2] = [
    [
        Ladder::by_repetitions(&[
            Rung::new(2, Action::Nudge),
            Rung::new(3, Action::Block),
            Rung::new(4, Action::Stop),
        ]),
        Ladder::by_loop_findings(&[
            Rung::new(1, Action::Nudge),
            Rung::new(2, Action::Block),
            Rung::new(4, Action::Stop),
        ]),
        Ladder::by_all_findings(&[Rung::new(1, Action::Block), Rung::new(3, Action::StartOver)]),
    ],
    [
        Ladder::by_repetitions(&[Rung::new(3, Action::Block), Rung::new(4, Action::Stop)]),
        Ladder::by_loop_findings(&[Rung::new(1, Action::Block)]),
        Ladder::by_all_findings(&[Rung::new(1, Action::Nudge), Rung::new(2, Action::Stop)]),
    ],
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
    force: Force,
}

const EVERY_ARGS: &[Args] = &[Args::Same, Args::Similar, Args::SameTool, Args::Any];
const EVERY_RESULT: &[Results] = &[Results::Ignored, Results::Same, Results::Near];
const EVERY_SELECT: &[Select] = &[
    Select::Every,
    Select::Tag(Tag::Test),
    Select::Except(Tag::Test),
    Select::Unreported,
    Select::Tool(Tool::new(0)),
];
const EVERY_OUTCOME: &[Outcomes] = &[Outcomes::Any, Outcomes::Failed, Outcomes::Failures];
const EVERY_SILENCE: &[Silence] = &[Silence::Ignored, Silence::Evidence, Silence::Telling];
const EVERY_PROGRESS: &[Progress] = &[Progress::Respect, Progress::Ignore];

const PLAIN: Filters = Filters {
    args: &[Args::Same, Args::Any],
    results: &[Results::Ignored, Results::Same],
    select: &[Select::Every],
    outcomes: &[Outcomes::Any],
    progress: &[Progress::Respect],
    silence: &[Silence::Ignored],
    force: Force::Always,
};

/// Rules that ask for proof, with every ladder.
const PROVEN: Filters = Filters { force: Force::Proven, ..PLAIN };

impl Filters {
    fn rules(&self) -> impl Iterator<Item = Rule<'static>> {
        let mut rules = Vec::new();
        for &args in self.args {
            for &results in self.results {
                for (n, pattern) in PATTERNS.into_iter().enumerate() {
                    for ladder in self.ladders_for(pattern, n) {
                        let mut rule = Rule::new("tried", args, results, pattern, ladder);
                        rule.silent_max = Action::Warn;
                        rule.force = self.force;
                        rules.extend(self.variants(rule));
                    }
                }
            }
        }
        rules.into_iter()
    }

    fn ladders_for(&self, pattern: Pattern, n: usize) -> Vec<Ladder<'static>> {
        match (self.force, pattern) {
            (Force::Always, _) => vec![ladder_for(pattern, n)],
            (
                Force::Proven,
                Pattern::Streak { times: 2 }
                | Pattern::Recurrence { times: 2, .. }
                | Pattern::Cycle { laps: 2, .. },
            ) => FORCEFUL[0].to_vec(),
            (Force::Proven, _) => FORCEFUL[1].to_vec(),
        }
    }

    /// Returns the rule with every combination of the filters.
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

/// Returns one of the ladders for a pattern. A recurrence of 4 cannot reach a fifth repetition.
fn ladder_for(pattern: Pattern, n: usize) -> Ladder<'static> {
    match pattern {
        Pattern::Recurrence { .. } => LADDERS[1 + n % 2],
        Pattern::Streak { .. } | Pattern::Cycle { .. } => LADDERS[n % 3],
    }
}

/// The maximum number of sequences over one alphabet by default, and with an effort of 1: lengths of 6 and 7 over 3
/// symbols, of 5 and 6 over 4, of 4 and 5 over 5. Most of the longer ones cross the edge of the window.
const SEQUENCES_MAX: [usize; 2] = [1_024, 4_096];

/// Returns the length to compare if the whole comparison has `whole` symbols.
fn length_of(alphabet: &[Symbol], whole: usize) -> usize {
    let effort = super::exhaustive().unwrap_or(0);
    match SEQUENCES_MAX.get(effort) {
        Some(most) => whole.min(most.ilog(alphabet.len()) as usize),
        None => whole + effort - SEQUENCES_MAX.len(),
    }
}

/// Compares both detectors on every sequence over `alphabet` up to `length` (see [`length_of`]) under
/// every rule, and returns the number of findings.
fn compare(name: &str, filters: &Filters, length: usize) -> usize {
    let alphabet = &alphabet(name);
    let mut findings = 0;
    for rule in filters.rules() {
        let rules = [rule];
        let policy = Policy::new("tried", WINDOW, &rules).unwrap();
        findings += compare_by(&policy, alphabet, length);
    }
    findings
}

/// Compares both detectors like [`compare`], under one policy.
fn compare_by(policy: &Policy<'_>, alphabet: &[Symbol], length: usize) -> usize {
    let start: Pair<'_, 8> = Pair::new(policy);
    walk(start, alphabet, length_of(alphabet, length), &mut Vec::new(), &mut Ids::default())
}

fn walk(
    start: Pair<'_, 8>,
    alphabet: &[Symbol],
    length: usize,
    trail: &mut Vec<usize>,
    ids: &mut Ids,
) -> usize {
    if length == 0 {
        return 0;
    }
    let (mut findings, mut start) = (0, Some(start));
    for (n, symbol) in alphabet.iter().enumerate() {
        trail.push(n);
        // The last symbol needs no copy.
        let pair = if n + 1 < alphabet.len() { start.clone() } else { start.take() };
        let mut pair = pair.unwrap();
        match play(&mut pair, symbol, trail.len(), ids) {
            Ok(found) => findings += found,
            Err(difference) => panic!("after {trail:?}:\n{difference}"),
        }
        findings += walk(pair, alphabet, length - 1, trail, ids);
        trail.pop();
    }
    findings
}

fn play(
    pair: &mut Pair<'_, 8>,
    symbol: &Symbol,
    step: usize,
    ids: &mut Ids,
) -> Result<usize, String> {
    let calls = match symbol {
        Calls(calls) => calls,
        Other(event) => return Ok(usize::from(pair.take(*event, ids)?.finding.is_some())),
    };
    let first = pair.calls();
    let step = u8::try_from(step).ok();
    let mut findings = 0;
    for (asked, _) in calls {
        let said = pair.take(Event::Announce(CallSpec { step, ..*asked }), ids)?;
        findings += usize::from(said.finding.is_some());
    }
    for (n, (_, fate)) in calls.iter().enumerate().rev() {
        let event = match fate {
            Fate::Answered(answer) => Event::Outcome(first + n, *answer),
            Fate::Ended(event) => event(first + n),
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
    assert!(compare("calls", &filters, 10) > 0);
}

#[test]
fn answers_that_are_equal_near_or_different() {
    let filters = Filters {
        args: &[Args::Same, Args::SameTool],
        results: EVERY_RESULT,
        progress: EVERY_PROGRESS,
        ..PLAIN
    };
    assert!(compare("answers", &filters, 10) > 0);
}

#[test]
fn answers_that_are_near_to_equal_ones_alone() {
    let filters = Filters {
        args: EVERY_ARGS,
        results: &[Results::Near],
        progress: &[Progress::Respect, Progress::Ignore, Progress::Anywhere],
        ..PLAIN
    };
    assert!(compare("alone", &filters, 6) > 0);
    // Ladders that block, so that there are vetoes.
    let args = &[Args::Same, Args::Similar];
    assert!(compare("alone_or_vetoed", &Filters { args, ..filters }, 8) > 0);
}

#[test]
fn outcomes_that_failed_or_did_not() {
    let filters = Filters {
        select: &[Select::Every, Select::Tag(Tag::Test)],
        outcomes: EVERY_OUTCOME,
        ..PLAIN
    };
    assert!(compare("failures", &filters, 10) > 0);
}

#[test]
fn outcomes_that_never_came() {
    let filters = Filters { select: &[Select::Every, Select::Unreported], ..PLAIN };
    assert!(compare("gaps", &filters, 10) > 0);
}

#[test]
fn answers_that_say_nothing() {
    let results = &[Results::Same];
    let filters = Filters { args: EVERY_ARGS, results, silence: EVERY_SILENCE, ..PLAIN };
    assert!(compare("silences", &filters, 10) > 0);
}

#[test]
fn work_between_equal_answers() {
    let filters = Filters { progress: EVERY_PROGRESS, ..PLAIN };
    assert!(compare("work", &filters, 10) > 0);
}

#[test]
fn work_that_is_itself_repeated() {
    let filters = Filters {
        args: &[Args::SameTool, Args::Any],
        results: &[Results::Same],
        silence: EVERY_SILENCE,
        ..PLAIN
    };
    assert!(compare("repeated_work", &filters, 7) > 0);
}

#[test]
fn work_between_failures() {
    let filters = Filters {
        results: &[Results::Ignored, Results::Same],
        outcomes: &[Outcomes::Failed, Outcomes::Failures],
        ..PLAIN
    };
    assert!(compare("work_on_failures", &filters, 6) > 0);
}

#[test]
fn calls_issued_together() {
    assert!(compare("steps", &PLAIN, 10) > 0);
}

#[test]
fn calls_that_are_taken_back() {
    let filters = Filters { progress: EVERY_PROGRESS, ..PLAIN };
    assert!(compare("retries", &filters, 8) > 0);
}

#[test]
fn calls_that_are_cancelled() {
    let filters = Filters { args: EVERY_ARGS, ..PLAIN };
    assert!(compare("cancels", &filters, 9) > 0);
}

#[test]
fn statements_of_the_host() {
    let filters = Filters { progress: EVERY_PROGRESS, ..PLAIN };
    assert!(compare("words", &filters, 8) > 0);
}

#[test]
fn scores_of_two_tags() {
    let filters = Filters { progress: EVERY_PROGRESS, ..PLAIN };
    assert!(compare("scores", &filters, 8) > 0);
}

#[test]
fn calls_that_prove_something_or_not() {
    assert!(compare("proofs", &PROVEN, 7) > 0);
}

#[test]
fn failures_that_prove_something_or_not() {
    let filters = Filters { outcomes: EVERY_OUTCOME, progress: &[Progress::Ignore], ..PROVEN };
    assert!(compare("failed_proofs", &filters, 6) > 0);
}

#[test]
fn laps_that_prove_something_or_not() {
    let filters = Filters { results: &[Results::Same], ..PROVEN };
    assert!(compare("laps_of_proofs", &filters, 8) > 0);
}

#[test]
fn failures_among_successes() {
    let outcomes = &[Outcomes::Failures];
    let filters = Filters { outcomes, progress: EVERY_PROGRESS, ..PLAIN };
    assert!(compare("among", &filters, 7) > 0);
}

#[test]
fn answers_that_say_that_the_call_waits() {
    const SELECT: &[Select] = &[Select::Every, Select::Tag(Tag::Poll), Select::Except(Tag::Poll)];
    for filters in [PLAIN, PROVEN] {
        let filters = Filters { select: SELECT, ..filters };
        assert!(compare("waiting", &filters, 5) > 0);
    }
}

#[test]
fn failures_that_came_too_late() {
    for filters in [PLAIN, PROVEN] {
        let filters = Filters { outcomes: EVERY_OUTCOME, ..filters };
        assert!(compare("lateness", &filters, 5) > 0);
    }
}

#[test]
fn calls_that_act() {
    let results = &[Results::Same, Results::Near];
    for filters in [PLAIN, PROVEN] {
        let filters = Filters { results, args: &[Args::Same], ..filters };
        assert!(compare("acts", &filters, 9) > 0);
        assert!(compare("laps_of_acts", &filters, 8) > 0);
    }
}

#[test]
fn messages_that_come_again() {
    const LADDER: Ladder<'_> =
        Ladder::by_repetitions(&[Rung::new(2, Action::Nudge), Rung::new(4, Action::Stop)]);
    let rules = [Rule::new("r", Args::Same, Results::Same, PATTERNS[0], LADDER)];
    let texts = [Texts::Prompt, Texts::Same].map(|texts| TextRule::new("t", texts, 2, LADDER));
    let policy = Policy::new("tried", WINDOW, &rules).unwrap().with_texts(&texts).unwrap();
    assert!(compare_by(&policy, &alphabet("prompts"), 8) > 0);
}

#[test]
fn every_filter_on_every_alphabet() {
    let filters = Filters {
        args: EVERY_ARGS,
        results: EVERY_RESULT,
        select: EVERY_SELECT,
        // Rules about failures among successes have tests of their own.
        outcomes: &[Outcomes::Any, Outcomes::Failed],
        progress: EVERY_PROGRESS,
        silence: &[Silence::Ignored],
        force: Force::Always,
    };
    // There are a thousand rules, so sequences are shorter.
    let length = match super::exhaustive() {
        None => 4,
        Some(1) => 6,
        Some(_) => 7,
    };
    for alphabet in ["calls", "answers", "failures", "gaps", "steps", "cancels"] {
        assert!(compare(alphabet, &filters, length) > 0);
    }
    let silences = Filters { silence: EVERY_SILENCE, ..filters };
    for alphabet in ["silences", "work"] {
        assert!(compare(alphabet, &silences, length) > 0);
    }
    // One more symbol gives as many sequences with one call less.
    for alphabet in ["retries", "words", "scores"] {
        assert!(compare(alphabet, &filters, length - 1) > 0);
    }
}

/// A step of more calls than are held is taken back in part. The step goes on, although the remaining records do not show
/// its beginning.
#[test]
fn a_long_step_goes_on_after_a_retry() {
    const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Nudge)]);
    let rules = [Rule::new("r", Args::Same, Results::Same, Pattern::Streak { times: 2 }, LADDER)];
    let policy = Policy::new("p", 8, &rules).unwrap();
    let ask = Event::Announce(CallSpec { step: Some(1), ..CallSpec::PLAIN });
    let answer = |call| Event::Outcome(call, OutcomeSpec::PLAIN);
    for (calls, taken) in (9..20).flat_map(|calls| (1..=8).map(move |taken| (calls, taken))) {
        let mut pair: Pair<'_, 8> = Pair::new(&policy);
        let mut ids = Ids::default();
        let step = (0..calls).flat_map(|call| [ask, answer(call)]);
        let more =
            [Event::Retry(taken), ask, answer(calls), Event::Retry(1), ask, answer(calls + 1)];
        for event in step.chain(more) {
            pair.take(event, &mut ids).unwrap();
        }
    }
}
