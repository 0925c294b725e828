//! Ready-made policies.
//!
//! A preset is a policy and a recipe for its digests. Each preset describes its recipe here, and
//! the adapter `unstuck-text` implements it. Begin with [`BALANCED`]. The others follow published
//! rule sets exactly.
//!
//! # Adding a rule
//!
//! 1. Write down the runs first: in `adapters/text/tests/presets/situations.txt`, whose head explains its lines, one in
//!    which the rule finds a loop at the call where you would step in, and an innocent one that looks like it.
//! 2. Try the rule without code. `unstuck presets balanced --format toml` prints the default; add a `[[rule]]`, and
//!    look at `unstuck eval --config FILE` on all labelled runs that you have. `adapters/trace/runs.labels.jsonl` is
//!    for `adapters/trace/runs`, and `benches/labels/SOURCES.md` says how to get the runs of real agents. A rule that
//!    accuses one healthy run is not ready.
//! 3. Put the constant into `BALANCED_RULES`, and a line into the documentation of [`BALANCED`]. At each call, the
//!    first rule that holds decides, so the order counts. A rule for two kinds of tool is two rules.
//! 4. If no field of [`Rule`] says what you mean, ask how much a single answer should weigh. `patience.rs` adds
//!    repetitions where an answer proves less. The oracle in `core/tests/oracle/model.rs` says the same in plain code,
//!    and `core/DEFINITIONS.md` in words.
//! 5. `nudge.rs` chooses the message by the kind of the finding, by what matches, and by the kind of tool. Read what it
//!    says about yours (`unstuck scan --config FILE RUN` shows it) before you add an arm, and then a case to the test
//!    `every_kind_has_words_that_fit`.
//! 6. The table of `adapters/cli/EVALUATION.md` has a row for each rule, on and off.
//! 7. The tests of `unstuck-cli` show all rules: in the snapshot of `presets`, in those of `--explain`, and in the
//!    console session `loops.txt`. Accept these.
//!
//! A policy has at most [`RULES_MAX`](crate::RULES_MAX) rules. `BALANCED` leaves two of these places to users, as the
//! documentation promises; the test `a_rule_for_one_tool_stands_beside_a_preset` says where. So one more rule takes a
//! place from users, or needs a larger number: sets of rules with more bits (`RuleSet` has 16), 9 bytes of memory in
//! each detector, 13 in each checkpoint, which gets a new version, and new sizes in `adapters/c/src/checkpoint.rs`.
//! Prefer to widen a rule that is there.

use crate::ladder::{Action, Ladder, Rung};
use crate::policy::Policy;
use crate::policy_error::PolicyError;
use crate::record::{Tag, TagSet};
use crate::rule::{Args, Pattern, Results, Rule, Select, TextRule, Texts};

/// Unwraps a policy at compile time.
macro_rules! checked {
    ($policy:expr) => {
        match $policy {
            Ok(policy) => policy,
            // The compiler evaluates this, so it never runs.
            Err(PolicyError { .. }) => panic!("a preset that cannot work"),
        }
    };
}

/// The default: it compares results, and is tuned on labelled runs.
///
/// The rules about calls, in the order in which they are judged:
///
/// - `same-effect`: the same call with the same result, three in a row.
/// - `cycle`: two to ten calls with the same results, run twice.
/// - `ragged-repeat`: the same call with the same result, three among the last 12, with at most five
///   novel calls between.
/// - `same-failure`: four calls of one tool in a row that fail with the same error.
/// - `alike`: five similar calls among the last eight with the same result, even an empty one.
/// - `failing-call`: the same call fails three times in a row, whatever the errors are.
/// - `one-error`: four failures of one class among the last ten calls, whatever the tools are.
/// - `same-answer`: four calls of one tool among the last ten with the same telling result.
/// - `nothing-new`: five calls of one tool in a row with near answers, for example searches that
///   find nothing, or reads with hardly a new line. Ten if it is searches with little in common.
/// - `failing-tests`: six failing test runs in a row without a better score.
/// - `many-failures`: nine failures among the last twelve calls, whatever the tools and the errors are.
/// - `swing`: two to eight calls with the same results, run four times, even if an answer differs from
///   the one before it.
/// - `unreported`: the same call five times in a row without a reported outcome.
/// - `still-waiting`: eight polls with the same answer among the last 20, or five starts of one job. Most other rules
///   skip polls.
///
/// The rules about talk:
///
/// - `same-text`: the same text-only turn three times in a row.
/// - `echo`: a turn that says the same thing five times.
/// - `same-prompt`: the same message of the user five times in a row, with no call between.
///
/// A changed answer to the same call is progress, except for `failing-call` and `swing`. A write that
/// works is progress between equal successes. Between failures it is progress for `one-error`, unless
/// the failures have the same complaint and are not of a tool that writes: there it mends what was
/// refused. A tool that timed out and works again is progress for `one-error`, too.
///
/// Every rule begins with a nudge and goes on to a warning. Only `same-effect` and `cycle` ask for
/// more, and only on [proof](crate::Force::Proven). They block from the fifth call in a row or the
/// fourth lap on, and stop from the eighth call or the sixth lap on. Without proof, the streak is
/// warned of at 5, 8, 13, 21 and so on.
///
/// Recipe: `args` is the canonical JSON. Calls are `similar` if half of their words are the same.
/// `result` is the whole result without its volatile parts. `near` stands for a class of answers:
/// failures with one complaint, searches that find nothing, or reads with hardly a new line. Empty and
/// "ok" results are silent. Failures are also recognised from results, with the number of failing
/// tests as their score.
pub const BALANCED: Policy<'_> = checked!(match Policy::new("balanced", 20, BALANCED_RULES) {
    Ok(policy) => policy.with_texts(BALANCED_TEXTS),
    Err(error) => Err(error),
});

const BALANCED_TEXTS: &[TextRule<'_>] = &[
    TextRule::new("same-text", Texts::Same, 3, gentle::<3, 5>()),
    TextRule::new("echo", Texts::Inside, 5, gentle::<5, 10>()),
    TextRule::new("same-prompt", Texts::Prompt, 5, gentle::<5, 8>()),
];

/// A ladder with a nudge at `NUDGE` repetitions, and a warning at `WARN`.
const fn gentle<const NUDGE: u16, const WARN: u16>() -> Ladder<'static> {
    Ladder::by_repetitions(
        const { &[Rung::new(NUDGE, Action::Nudge), Rung::new(WARN, Action::Warn)] },
    )
}

const NO_POLL: Select = Select::Except(Tag::Poll);

const BALANCED_RULES: &[Rule<'_>] = &[
    // Without proof, each rung above the first is a warning.
    Rule::new("same-effect", Args::Same, Results::Same, streak(3), SAME_EFFECT)
        .select(NO_POLL)
        .forced_on_proof(),
    Rule::new("cycle", Args::Same, Results::Same, Pattern::cycle(2, 10, 2), CYCLE)
        .select(NO_POLL)
        .forced_on_proof(),
    // It never blocks: a test that still fails must run again to show whether it passes.
    Rule::new("ragged-repeat", Args::Same, Results::Same, RAGGED, gentle::<3, 4>()).select(NO_POLL),
    Rule::new("same-failure", Args::SameTool, Results::Same, streak(4), gentle::<4, 6>()).failed(),
    Rule::new("alike", Args::Similar, Results::Same, Pattern::recurrence(5, 8), gentle::<5, 7>())
        .select(NO_POLL)
        .count_silence(),
    Rule::new("failing-call", Args::Same, Results::Ignored, streak(3), gentle::<3, 5>())
        .select(NO_POLL)
        .failed()
        .ignore_progress(),
    Rule::new("one-error", Args::Any, Results::Near, Pattern::recurrence(4, 10), gentle::<4, 6>())
        .select(NO_POLL)
        .failures(),
    Rule::new(
        "same-answer",
        Args::SameTool,
        Results::Same,
        Pattern::recurrence(4, 10),
        gentle::<4, 6>(),
    )
    .select(NO_POLL)
    .only_telling(),
    Rule::new("nothing-new", Args::SameTool, Results::Near, streak(5), gentle::<5, 8>())
        .select(NO_POLL),
    Rule::new("failing-tests", Args::Any, Results::Ignored, streak(6), gentle::<6, 9>())
        .select(Select::Tag(Tag::Test))
        .failed(),
    Rule::new("many-failures", Args::Any, Results::Ignored, Pattern::recurrence(9, 12), A_HINT)
        .select(NO_POLL)
        .failures()
        .ignore_progress(),
    Rule::new("swing", Args::Same, Results::Same, Pattern::cycle(2, 8, 4), gentle::<4, 6>())
        .select(NO_POLL)
        .ignore_progress(),
    Rule::new("unreported", Args::Same, Results::Ignored, streak(5), gentle::<5, 8>())
        .select(Select::Unreported),
    Rule::new(
        "still-waiting",
        Args::Same,
        Results::Same,
        Pattern::recurrence(8, 20),
        gentle::<8, 16>(),
    )
    .select(Select::Tag(Tag::Poll)),
];

const SAME_EFFECT: Ladder<'_> = Ladder::by_repetitions(&[
    Rung::new(3, Action::Nudge),
    Rung::new(5, Action::Block),
    Rung::new(8, Action::Stop),
]);

const CYCLE: Ladder<'_> = Ladder::by_repetitions(&[
    Rung::new(2, Action::Nudge),
    Rung::new(3, Action::Warn),
    Rung::new(4, Action::Block),
    Rung::new(6, Action::Stop),
]);

const RAGGED: Pattern = Pattern::Recurrence { times: 3, within: 12, novel: 5 };

/// Different errors are a hint, and no proof of anything.
const A_HINT: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(9, Action::Nudge)]);

const fn streak(times: u16) -> Pattern {
    Pattern::Streak { times }
}

/// The same call with the same result five times among the last 20: start over.
///
/// Recipe: `result` is the first 500 characters of the raw result. Calls of tools that think,
/// finish or start over are exempt.
pub const START_OVER: Policy<'_> = checked!(Policy::new("start_over", 20, START_OVER_RULES))
    .with_exempt(TagSet::EMPTY.with(Tag::Think).with(Tag::Finish).with(Tag::StartOver));

const START_OVER_RULES: &[Rule<'_>] = &[Rule::new(
    "five-in-twenty",
    Args::Same,
    Results::Same,
    Pattern::recurrence(5, 20),
    Ladder::by_repetitions(&[Rung::new(5, Action::StartOver)]),
)
.ignore_progress()];

/// The same call three times among eleven, or a cycle of 2 to 5 calls run twice: warn, warn again,
/// stop. Findings of both count together. Ignores results.
///
/// Recipe: `args` is the canonical JSON.
pub const GRADUATED: Policy<'_> =
    checked!(Policy::new("graduated", 20, &[GRADUATED_REPEAT, GRADUATED_CYCLE,],));

/// A slower [`GRADUATED`]: five calls among 16, or a cycle of 3 to 5 calls run three times, with
/// three warnings.
pub const GRADUATED_CONSERVATIVE: Policy<'_> = checked!(Policy::new(
    "graduated_conservative",
    20,
    &[
        GRADUATED_REPEAT.pattern(Pattern::recurrence(5, 16)).ladder(CONSERVATIVE),
        GRADUATED_CYCLE.pattern(Pattern::cycle(3, 5, 3)).ladder(CONSERVATIVE),
    ],
));

/// A faster [`GRADUATED`]: two calls among 11, or a cycle of 2 to 4 calls run twice, with one
/// warning.
pub const GRADUATED_AGGRESSIVE: Policy<'_> = checked!(Policy::new(
    "graduated_aggressive",
    20,
    &[
        GRADUATED_REPEAT.pattern(Pattern::recurrence(2, 11)).ladder(AGGRESSIVE),
        GRADUATED_CYCLE.pattern(Pattern::cycle(2, 4, 2)).ladder(AGGRESSIVE),
    ],
));

const GRADUATED_REPEAT: Rule<'_> = Rule::new(
    "repeat",
    Args::Same,
    Results::Ignored,
    Pattern::recurrence(3, 11),
    Ladder::by_all_findings(&[
        Rung::new(1, Action::Warn),
        Rung::new(2, Action::Warn),
        Rung::new(3, Action::Stop),
    ]),
)
.ignore_progress();

const GRADUATED_CYCLE: Rule<'_> =
    Rule { name: "cycle", pattern: Pattern::cycle(2, 5, 2), ..GRADUATED_REPEAT };

const CONSERVATIVE: Ladder<'_> = Ladder::by_all_findings(&[
    Rung::new(1, Action::Warn),
    Rung::new(2, Action::Warn),
    Rung::new(3, Action::Warn),
    Rung::new(4, Action::Stop),
]);

const AGGRESSIVE: Ladder<'_> =
    Ladder::by_all_findings(&[Rung::new(1, Action::Warn), Rung::new(2, Action::Stop)]);

/// An early nudge: for the same call three times in a row, four similar calls in a row, three
/// failing test runs or commands in a row, or three turns of talk. Ignores results.
///
/// Recipe: `similar` is made of the primary keys among the arguments (path, `file_path`, command,
/// pattern, query, url, content, filename, offset, limit), or of all arguments if there is no such
/// key. Shell commands that only read one file are similar.
pub const NUDGE: Policy<'_> = checked!(match Policy::new("nudge", 10, NUDGE_RULES) {
    Ok(policy) => policy.with_texts(NUDGE_TEXTS),
    Err(error) => Err(error),
});

const NUDGE_TEXTS: &[TextRule<'_>] = &[TextRule::new("talk", Texts::Any, 3, NUDGE_FROM_3)];

const NUDGE_RULES: &[Rule<'_>] = &[
    Rule::new("same-call", Args::Same, Results::Ignored, streak(3), NUDGE_FROM_3).ignore_progress(),
    Rule::new("similar-call", Args::Similar, Results::Ignored, streak(4), WARN_FROM_4)
        .ignore_progress(),
    Rule::new("failing-tests", Args::Any, Results::Ignored, streak(3), NUDGE_FROM_3)
        .select(Select::Tag(Tag::Test))
        .failed()
        .ignore_progress(),
    Rule::new("failing-commands", Args::Any, Results::Ignored, streak(3), NUDGE_FROM_3)
        .select(Select::Tag(Tag::Shell))
        .failed()
        .ignore_progress(),
];

const WARN_FROM_4: Ladder<'_> =
    Ladder::by_repetitions(&[Rung::new(4, Action::Warn), Rung::new(6, Action::Block)]);

const NUDGE_FROM_3: Ladder<'_> = Ladder::by_repetitions(&[
    Rung::new(3, Action::Nudge),
    Rung::new(4, Action::Warn),
    Rung::new(6, Action::Block),
]);

/// The same call twice in a row, or a cycle of 2 or 3 calls run twice. The ladder climbs with each
/// finding of the same loop. Ignores results.
///
/// Recipe: `args` is the canonical JSON.
pub const CYCLES: Policy<'_> = checked!(Policy::new(
    "cycles",
    20,
    &[CYCLES_RULE.pattern(streak(2)), Rule { name: "cycle", ..CYCLES_RULE },],
));

const CYCLES_RULE: Rule<'_> = Rule::new(
    "repeat",
    Args::Same,
    Results::Ignored,
    Pattern::cycle(2, 3, 2),
    Ladder::by_loop_findings(&[
        Rung::new(1, Action::Nudge),
        Rung::new(2, Action::Warn),
        Rung::new(3, Action::Stop),
    ]),
)
.ignore_progress();

/// The same call three times among the last 20: stop. Ignores results.
///
/// Recipe: `args` is the canonical JSON.
pub const REPEAT: Policy<'_> = checked!(Policy::new(
    "repeat",
    20,
    &[Rule::new(
        "three-in-twenty",
        Args::Same,
        Results::Ignored,
        Pattern::recurrence(3, 20),
        Ladder::by_repetitions(&[Rung::new(3, Action::Stop)]),
    )
    .ignore_progress()],
));

/// All presets, the default first.
pub const ALL: [&Policy<'_>; 8] = [
    &BALANCED,
    &START_OVER,
    &GRADUATED,
    &GRADUATED_CONSERVATIVE,
    &GRADUATED_AGGRESSIVE,
    &NUDGE,
    &CYCLES,
    &REPEAT,
];
