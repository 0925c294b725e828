//! Long random streams of calls, outcomes in any order, failures, silence and control events.

use proptest::collection::vec;
use proptest::prelude::*;
use unstuck_core::{
    Action, Args, Call, Digest, Ladder, Outcomes, Pattern, Phase, Policy, Progress, Results, Rule,
    Rung, Select, Silence, Tag, TagSet, TextRule, Texts, Tool, ToolRule,
};

use crate::model::{Answer, Asked, Event};
use crate::pair::{Ids, Pair};

/// An event before it is known how many calls there are to name.
#[derive(Clone, Debug)]
enum Draft {
    Announce(Asked),
    /// How many calls back.
    Outcome(usize, Answer),
    Veto(usize),
    Cancel(usize),
    Other(Event),
}

fn asked() -> impl Strategy<Value = Asked> {
    let tag = prop_oneof![
        8 => Just(Tag::Test),
        8 => Just(Tag::Shell),
        3 => Just(Tag::Write),
        1 => Just(Tag::Think),
    ];
    let step = prop_oneof![Just(None), (0..3_u8).prop_map(Some)];
    let common = (0..3_u8).prop_map(|args| (args / 2, args));
    let rare = prop::sample::select(&[(8_u8, 3_u8), (9, 3), (9, 2)][..]);
    let call = prop_oneof![12 => common, 1 => rare];
    (call, 0..2_u8, tag, step).prop_map(|((tool, args), similar, tag, step)| Asked {
        tool,
        args,
        similar,
        tag,
        step,
    })
}

fn answer() -> impl Strategy<Value = Answer> {
    let score = prop::option::weighted(0.3, 0..6_u8);
    (0..3_u8, prop::bool::weighted(0.3), prop::bool::weighted(0.2), score).prop_map(
        |(result, failed, silent, score)| Answer {
            result,
            near: result / 2,
            failed,
            silent,
            score,
        },
    )
}

fn draft() -> impl Strategy<Value = Draft> {
    prop_oneof![
        30 => asked().prop_map(Draft::Announce),
        30 => (0..12_usize, answer()).prop_map(|(n, answer)| Draft::Outcome(n, answer)),
        // Mostly the latest call, answered as ever: so that patterns arise.
        30 => (0..3_usize).prop_map(|n| Draft::Outcome(
            n,
            Answer { result: 0, near: 0, failed: true, silent: false, score: None },
        )),
        4 => (0..3_usize).prop_map(Draft::Veto),
        2 => Just(Draft::Other(Event::Finish)),
        2 => (0..3_usize).prop_map(Draft::Cancel),
        2 => (0..6_usize).prop_map(|n| Draft::Other(Event::Retry(n))),
        1 => Just(Draft::Other(Event::Progress)),
        1 => Just(Draft::Other(Event::FalsePositive)),
        4 => (0..2_u8, 1..5_u16).prop_map(|(n, laps)| Draft::Other(Event::Text(n, laps))),
        1 => (0..12_u8).prop_map(|n| Draft::Other(Event::UserMessage(n))),
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
    const LADDERS: [Ladder<'_>; 4] = [
        Ladder::by_repetitions(&[Rung::new(4, Action::Block)]),
        Ladder::by_loop_findings(&[Rung::new(1, Action::Nudge), Rung::new(2, Action::Block)]),
        Ladder::by_all_findings(&[Rung::new(1, Action::Warn), Rung::new(9, Action::Stop)]),
        Ladder::by_loop_findings(&[Rung::new(2, Action::Warn), Rung::new(5, Action::StartOver)]),
    ];
    let args = prop::sample::select(&[Args::Same, Args::Similar, Args::SameTool, Args::Any][..]);
    let results = prop::sample::select(&[Results::Ignored, Results::Same, Results::Near][..]);
    let select = prop::sample::select(
        &[
            Select::Every,
            Select::Every,
            Select::Tag(Tag::Test),
            Select::Except(Tag::Test),
            Select::Unreported,
        ][..],
    );
    let outcomes = prop::sample::select(&[Outcomes::Any, Outcomes::Any, Outcomes::Failed][..]);
    let progress =
        prop::sample::select(&[Progress::Respect, Progress::Ignore, Progress::Anywhere][..]);
    let ladder = prop::sample::select(&LADDERS[..]);
    let silence = prop::sample::select(&[Silence::Ignored, Silence::Evidence][..]);
    let silent_max = prop::sample::select(&[Action::Stop, Action::Warn][..]);
    let silent = (silence, silent_max);
    (args, results, select, outcomes, progress, pattern(), ladder, silent).prop_map(
        |(args, results, select, outcomes, progress, pattern, ladder, (silence, silent_max))| {
            let mut rule = Rule::new("random", args, results, pattern, ladder).select(select);
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

const TEXTS: [TextRule<'_>; 3] = [
    TextRule::new("same", Texts::Same, 2, TEXT_LADDER),
    TextRule::new("inside", Texts::Inside, 4, TEXT_LADDER),
    TextRule::new("any", Texts::Any, 3, TEXT_LADDER),
];

/// What a policy may say of the tools 0, 1, 8 and 9, of which the last two are seldom called.
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
        let calls = pair.calls();
        let event = match draft {
            Draft::Announce(asked) => Event::Announce(*asked),
            Draft::Outcome(back, _) | Draft::Veto(back) | Draft::Cancel(back) if *back >= calls => {
                continue;
            }
            Draft::Outcome(back, answer) => Event::Outcome(calls - 1 - back, *answer),
            Draft::Veto(back) => Event::Veto(calls - 1 - back),
            Draft::Cancel(back) => Event::Cancel(calls - 1 - back),
            Draft::Other(event) => *event,
        };
        if let Err(difference) = pair.take(event, &mut ids) {
            return Err(TestCaseError::fail(format!("at event {n}, {event:?}:\n{difference}")));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(4_000),
        ..ProptestConfig::default() })]

    #[test]
    fn any_policy_on_any_stream(
        rules in vec(rule(), 1..4),
        window in 8..13_u8,
        texts in prop::sample::subsequence(TEXTS.to_vec(), 0..=3),
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
