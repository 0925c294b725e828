//! Long random streams of calls, outcomes in any order, failures, silence and control events.

use proptest::collection::vec;
use proptest::prelude::*;
use unstuck_core::{
    Action, Args, Call, Digest, Force, Ladder, Outcomes, Pattern, Phase, Policy, Progress, Results,
    Rule, Rung, Select, Silence, Tag, TagSet, TextRule, Texts, Tool, ToolRule,
};

use crate::model::{CallSpec, Event, OutcomeSpec};
use crate::pair::{Ids, Pair};

/// An event before the number of calls is known.
#[derive(Clone, Debug)]
enum Draft {
    Announce(CallSpec),
    /// The number of calls back.
    Outcome(usize, OutcomeSpec),
    Veto(usize),
    Cancel(usize),
    /// A number of equal calls with equal answers.
    Row(CallSpec, OutcomeSpec, usize),
    Other(Event),
}

fn asked() -> impl Strategy<Value = CallSpec> {
    let tag = prop_oneof![
        8 => Just(Tag::Test),
        8 => Just(Tag::Shell),
        3 => Just(Tag::Write),
        3 => Just(Tag::Act),
        6 => Just(Tag::Search),
        1 => Just(Tag::Think),
    ];
    let step = prop_oneof![Just(None), (0..3_u8).prop_map(Some)];
    let common = (0..3_u8).prop_map(|args| (args / 2, args));
    let rare = prop::sample::select(&[(8_u8, 3_u8), (9, 3), (9, 2)][..]);
    let call = prop_oneof![12 => common, 1 => rare];
    (call, 0..2_u8, tag, step, any::<bool>()).prop_map(
        |((tool, args), similar, tag, step, idempotent)| CallSpec {
            tool,
            args,
            similar,
            tag,
            idempotent,
            step,
        },
    )
}

fn answer() -> impl Strategy<Value = OutcomeSpec> {
    let score = prop::option::weighted(0.3, 0..6_u8);
    let flag = prop::bool::weighted;
    let flags = (flag(0.3), flag(0.2), flag(0.7), flag(0.1), flag(0.1), flag(0.2));
    (0..3_u8, flag(0.7), 0..2_u8, flags, score).prop_map(
        |(result, near, raw, (failed, silent, telling, pending, late, weak), score)| OutcomeSpec {
            result,
            near: near.then_some(result / 2),
            raw,
            failed,
            silent,
            telling: telling && !weak,
            pending,
            late,
            weak,
            score,
        },
    )
}

/// A frequent answer, so that patterns arise, and some of them are proved.
fn usual() -> impl Strategy<Value = OutcomeSpec> {
    let raw = prop_oneof![6 => Just(0), 1 => Just(1)];
    let near = prop_oneof![6 => Just(Some(0)), 1 => Just(None)];
    let flag = prop::bool::weighted;
    (raw, near, flag(0.5), flag(0.05), flag(0.05), flag(0.1)).prop_map(
        |(raw, near, failed, pending, late, weak)| OutcomeSpec {
            near,
            raw,
            failed,
            pending,
            late,
            weak,
            telling: !weak,
            ..OutcomeSpec::PLAIN
        },
    )
}

fn draft() -> impl Strategy<Value = Draft> {
    prop_oneof![
        30 => asked().prop_map(Draft::Announce),
        30 => (0..12_usize, answer()).prop_map(|(n, answer)| Draft::Outcome(n, answer)),
        // It is mostly the latest call.
        30 => (0..3_usize, usual()).prop_map(|(n, answer)| Draft::Outcome(n, answer)),
        1 => (asked(), usual(), 2..30_usize).prop_map(|(asked, answer, n)| Draft::Row(
            CallSpec { step: None, ..asked },
            answer,
            n,
        )),
        4 => (0..3_usize).prop_map(Draft::Veto),
        2 => Just(Draft::Other(Event::Finish)),
        2 => (0..3_usize).prop_map(Draft::Cancel),
        2 => (0..6_usize).prop_map(|n| Draft::Other(Event::Retry(n))),
        1 => Just(Draft::Other(Event::Compacted)),
        1 => Just(Draft::Other(Event::Progress)),
        1 => Just(Draft::Other(Event::FalsePositive)),
        4 => (0..2_u8, 1..5_u16).prop_map(|(n, laps)| Draft::Other(Event::Text(n, laps))),
        1 => (0..12_u8).prop_map(|n| Draft::Other(Event::UserMessage(n))),
        2 => (0..2_u8).prop_map(|n| Draft::Other(Event::UserMessage(n))),
        1 => Just(Draft::Other(Event::Clear)),
    ]
}

fn pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        (2..5_u16).prop_map(|times| Pattern::Streak { times }),
        (2..4_u8, 4..9_u8, 0..4_u8).prop_map(|(times, within, novel)| Pattern::Recurrence {
            times,
            within,
            novel
        }),
        (2..4_u8, 0..3_u8, 2..4_u8).prop_map(|(min, more, laps)| Pattern::cycle(
            min,
            min + more,
            laps
        )),
    ]
}

fn rule() -> impl Strategy<Value = Rule<'static>> {
    const LADDERS: [Ladder<'_>; 5] = [
        Ladder::by_repetitions(&[
            Rung::new(4, Action::Warn),
            Rung::new(5, Action::Block),
            Rung::new(7, Action::Stop),
        ]),
        Ladder::by_repetitions(&[Rung::new(4, Action::Block)]),
        Ladder::by_loop_findings(&[Rung::new(1, Action::Nudge), Rung::new(2, Action::Block)]),
        Ladder::by_all_findings(&[Rung::new(1, Action::Warn), Rung::new(9, Action::Stop)]),
        Ladder::by_loop_findings(&[Rung::new(2, Action::Warn), Rung::new(5, Action::StartOver)]),
    ];
    const SELECT: &[Select] = &[
        Select::Every,
        Select::Every,
        Select::Tag(Tag::Test),
        Select::Tag(Tag::Poll),
        Select::Except(Tag::Test),
        Select::Unreported,
        Select::Tool(Tool::new(0)),
        Select::Tool(Tool::new(1)),
    ];
    let args = prop::sample::select(&[Args::Same, Args::Similar, Args::SameTool, Args::Any][..]);
    let results = prop::sample::select(&[Results::Ignored, Results::Same, Results::Near][..]);
    let select = prop::sample::select(SELECT);
    let outcomes = prop::sample::select(
        &[Outcomes::Any, Outcomes::Any, Outcomes::Failed, Outcomes::Failures][..],
    );
    let progress =
        prop::sample::select(&[Progress::Respect, Progress::Ignore, Progress::Anywhere][..]);
    let ladder = prop::sample::select(&LADDERS[..]);
    let silence =
        prop::sample::select(&[Silence::Ignored, Silence::Evidence, Silence::Telling][..]);
    let silent_max = prop::sample::select(&[Action::Stop, Action::Warn][..]);
    let force = prop::sample::select(&[Force::Always, Force::Proven][..]);
    let asks = (silence, silent_max, force);
    (args, results, select, outcomes, progress, pattern(), ladder, asks).prop_map(
        |(args, results, select, outcomes, progress, pattern, ladder, asks)| {
            let (silence, silent_max, force) = asks;
            // A recurrence need not reach its last rung.
            let ladder = match pattern {
                Pattern::Recurrence { .. } if ladder == LADDERS[0] => LADDERS[1],
                _ => ladder,
            };
            let mut rule = Rule::new("random", args, results, pattern, ladder).select(select);
            rule.force = force;
            rule.outcomes = outcomes;
            rule.progress = progress;
            rule.silence = silence;
            rule.silent_max = silent_max;
            rule
        },
    )
}

const TEXT_LADDER: Ladder<'_> =
    Ladder::by_repetitions(&[Rung::new(2, Action::Nudge), Rung::new(5, Action::Stop)]);

const TEXTS: [TextRule<'_>; 4] = [
    TextRule::new("prompt", Texts::Prompt, 2, TEXT_LADDER),
    TextRule::new("same", Texts::Same, 2, TEXT_LADDER),
    TextRule::new("inside", Texts::Inside, 4, TEXT_LADDER),
    TextRule::new("any", Texts::Any, 3, TEXT_LADDER),
];

/// The rules of a policy about the tools 0, 1, 8 and 9. The last two are seldom called.
fn tools() -> impl Strategy<Value = Vec<ToolRule>> {
    let rule = |tool| ToolRule::new(Tool::new(tool));
    (-2..4_i8, any::<bool>(), any::<bool>()).prop_map(move |(patience, poll, exempt)| {
        let patient = rule(0).patience(patience);
        let patient = if poll { patient.poll() } else { patient };
        let seldom = if exempt { rule(8).exempt() } else { rule(8).patience(-1) };
        vec![patient, seldom]
    })
}

fn compare<const W: usize>(policy: &Policy<'_>, drafts: &[Draft]) -> Result<(), TestCaseError> {
    compare_pair(Pair::<'_, W>::new(policy), drafts)?;
    compare_pair(Pair::<'_, W>::new(policy).thorough(), drafts)
}

fn compare_pair<const W: usize>(
    mut pair: Pair<'_, W>,
    drafts: &[Draft],
) -> Result<(), TestCaseError> {
    let mut ids = Ids::default();
    for (n, draft) in drafts.iter().enumerate() {
        for event in events_of(draft, pair.calls()) {
            if let Err(difference) = pair.take(event, &mut ids) {
                return Err(TestCaseError::fail(format!("at draft {n}, {event:?}:\n{difference}")));
            }
        }
    }
    Ok(())
}

/// Returns the events of a draft after `calls` announced calls.
fn events_of(draft: &Draft, calls: usize) -> Vec<Event> {
    let back = |n: usize| calls.checked_sub(1 + n);
    match *draft {
        Draft::Announce(asked) => vec![Event::Announce(asked)],
        Draft::Outcome(n, answer) => {
            back(n).map(|call| Event::Outcome(call, answer)).into_iter().collect()
        }
        Draft::Veto(n) => back(n).map(Event::Veto).into_iter().collect(),
        Draft::Cancel(n) => back(n).map(Event::Cancel).into_iter().collect(),
        Draft::Row(asked, answer, times) => (calls..calls + times)
            .flat_map(|call| [Event::Announce(asked), Event::Outcome(call, answer)])
            .collect(),
        Draft::Other(event) => vec![event],
    }
}

/// The number of streams to compare, by default and with `UNSTUCK_EXHAUSTIVE`.
const CASES: [u32; 2] = [400, 4_000];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(CASES[usize::from(super::exhaustive().is_some())]),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_policy_on_any_stream(
        rules in vec(rule(), 1..4),
        window in 8..13_u8,
        texts in prop::sample::subsequence(TEXTS.to_vec(), 0..=4),
        tools in tools(),
        phases in (0..6_u32, -2..3_i8, 6..20_u32, -2..3_i8),
        drafts in vec(draft(), 1..160),
    ) {
        let allowed = [Call::new(Tool::new(9), Digest::of(&[3]))];
        let (early, more, late, fewer) = phases;
        let policy = Policy::new("random", window, &rules)
            .and_then(|policy| policy.with_texts(&texts))
            .and_then(|policy| policy.with_tools(&tools))
            .and_then(|policy| policy.with_allowed(&allowed))
            .and_then(|policy| policy.with_phases(Phase::new(early, more), Phase::new(late, fewer)))
            .unwrap()
            .with_exempt(TagSet::EMPTY.with(Tag::Think));
        compare::<12>(&policy, &drafts)?;
        compare::<64>(&policy, &drafts)?;
    }
}
