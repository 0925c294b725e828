//! Every function of the engine, called with input that the compiler cannot predict.
//!
//! Otherwise it would remove code that this input does not need, and the symbols of the program would
//! prove nothing. So all input depends on the number of the program's arguments.

mod input;
mod shown;

use core::array::from_fn;
use core::ffi::c_int;
use core::hint::black_box;

use unstuck_core::{
    Announced, AnyDetector, Args, CHECKPOINT_VERSION, Call, CheckpointError, Detector, Digest,
    Finding, Ladder, LoopId, Nearness, Outcome, Pattern, Phase, Policy, PolicyError, RULES_MAX,
    RepeatFinder, RepeatedText, Results, Rule, RuleIndex, Rung, Select, TEXT_RULES_MAX,
    TOOL_RULES_MAX, TagSet, TextRule, Texts, ToolRule, Turn, Verdict, presets,
};

use input::{Input, one_of};
use shown::{show, show_nearness, show_policy, show_statistics, show_verdict};

/// Calls every function of the engine, with every preset and with policies of its own. `count`
/// determines the input.
pub fn every_entry(count: c_int) {
    let input = &mut Input::new(count);
    for preset in presets::ALL {
        in_every_size(preset, input);
    }
    with_policy(input, in_every_size);
}

/// The smallest, the usual and the largest window, with one and with eight open calls. Some sizes are
/// not powers of two, because the compiler proves less about these.
fn in_every_size(policy: &Policy<'_>, input: &mut Input) {
    watch::<1, 1>(policy, input);
    watch::<20, 8>(policy, input);
    watch::<64, 8>(policy, input);
    watch::<33, 5>(policy, input);
}

/// Sends a detector every kind of event, or shows why it cannot be made.
fn watch<const W: usize, const OPEN: usize>(policy: &Policy<'_>, input: &mut Input) {
    match Detector::<W, OPEN>::new(policy) {
        Ok(mut detector) => {
            tell(&mut detector, input);
            // `AnyDetector` has none of these methods.
            detector.compacted();
            black_box((detector.has_heard(input.digest()), detector.tool_of(input.byte().into())));
            let verdict = detector.text_turn(input.digest());
            black_box(verdict.finding.and_then(|finding| detector.failing(&finding)));
            show_verdict(verdict, policy, input);
            save_and_restore(&detector.clone(), input);
        }
        Err(error) => show(format_args!("{error}")),
    }
}

/// Sends `detector` every kind of event in an order that `input` determines, and uses every answer.
fn tell(detector: &mut dyn AnyDetector<'_>, input: &mut Input) {
    let policy = detector.policy();
    show_policy(policy, input);
    let mut id = detector.announce(call(input)).id;
    while input.flag() {
        let (call, outcome, turn, message) =
            (call(input), outcome(input), turn(input), input.digest());
        let (event, number, loop_id) = (input.below::<32>(), input.byte().into(), loop_id(input));
        let each: &mut dyn FnMut(Verdict) = &mut |one| show_verdict(one, policy, input);
        let verdict = match event {
            0 => detector.vetoed(id),
            1 => detector.cancel(id),
            2 => detector.finish(),
            3 => detector.text_turn(turn),
            4 => {
                detector.notified();
                detector.user_message(message)
            }
            5 => detector.peek(call),
            // Outcomes arrive in any order, and some of them twice.
            6..12 => detector.outcome(id, outcome),
            12..18 => {
                let Announced { id: next, verdict, settled } = detector.announce(call);
                id = next;
                verdict.or_stronger(settled)
            }
            18..24 => {
                let (next, verdict) = detector.announce_each(call, each);
                id = next;
                verdict
            }
            _ => {
                match event {
                    24 => detector.vetoed_each(id, each),
                    25 => detector.cancel_each(id, each),
                    26 => detector.finish_each(each),
                    27 => detector.clear(),
                    28 => detector.progress(),
                    29 => detector.silence(loop_id),
                    30 => drop(black_box(detector.retry(number))),
                    _ => detector.outcome_each(id, outcome, each),
                }
                Verdict::default()
            }
        };
        black_box(id.seq());
        show_verdict(verdict, policy, input);
        if let Some(finding) = verdict.finding {
            detector.false_positive(&one_of([finding, another(finding, input)], input));
        }
        show_statistics(detector.statistics(), input);
        let mut nearest: Option<Nearness> = detector.nearest();
        detector.nearness(&mut |near| {
            nearest = nearest.filter(|nearest| !near.is_nearer_than(*nearest)).or(Some(near));
        });
        if let Some(near) = nearest {
            show_nearness(near, policy);
        }
    }
}

/// Saves `detector`, damages the bytes, and continues with the detector that they restore.
fn save_and_restore<const W: usize, const OPEN: usize>(
    detector: &Detector<'_, W, OPEN>,
    input: &mut Input,
) {
    let mut room = [0; Detector::<64>::CHECKPOINT_MAX];
    let length = usize::from(input.byte()).saturating_mul(32);
    let saved = detector.save(room.get_mut(..length).unwrap_or_default());
    let restored = saved.and_then(|bytes| {
        for byte in &mut *bytes {
            *byte = if input.flag() { *byte } else { input.byte() };
        }
        if input.flag() {
            return Detector::<W, OPEN>::restore(detector.policy(), bytes);
        }
        let mut reader = postcard::Deserializer::from_bytes(bytes);
        Detector::deserialize(detector.policy(), &mut reader)
            .map_err(|_| CheckpointError::Malformed)
    });
    match restored {
        Ok(mut restored) => tell(&mut restored, input),
        Err(error) => show(format_args!("{CHECKPOINT_VERSION} {error}")),
    }
}

fn call(input: &mut Input) -> Call {
    let mut call = Call::new(input.tool(), input.digest()).tag(input.tag());
    for _ in 0..3 {
        let (similar, step) = (call.similar(input.digest()), call.step(input.byte().into()));
        call = one_of([call, similar, step, call.idempotent()], input);
    }
    black_box((call.digest(), call.has_tag(input.tag())));
    call
}

fn outcome(input: &mut Input) -> Outcome {
    let result = one_of([input.digest(), Digest::of(input.text().as_bytes())], input);
    let mut outcome = one_of([Outcome::failed(result), Outcome::ok(result)], input);
    for _ in 0..6 {
        let (near, raw) = (outcome.near(input.digest()), outcome.raw(input.digest()));
        let (silent, scored) = (outcome.silent(), outcome.score(input.byte().into()));
        let (pending, late, telling) = (outcome.pending(), outcome.transient(), outcome.telling());
        let (weak, started) = (outcome.weak(), outcome.started());
        let all = [outcome, near, raw, silent, scored, pending, late, telling, weak, started];
        outcome = one_of(all, input);
    }
    black_box((outcome.digest(), outcome.has_failed()));
    outcome
}

/// Returns a repetition that was found in a text, or one that the host made up.
fn turn(input: &mut Input) -> Turn {
    let repeated = match input.below::<4>() {
        0 => RepeatedText { period: input.byte(), laps: input.byte().into() },
        1 => repeated_within(RepeatFinder::<1>::new(), input),
        2 => repeated_within(RepeatFinder::<8>::default(), input),
        _ => repeated_within(RepeatFinder::<64>::new(), input),
    };
    let turn = Turn::new(input.digest()).repeated(repeated);
    one_of([turn, turn.silent()], input)
}

fn repeated_within<const P: usize>(mut finder: RepeatFinder<P>, input: &mut Input) -> RepeatedText {
    while input.flag() {
        finder.push(input.digest());
    }
    finder.latest()
}

/// Returns a finding as a host may change it, because its fields are public.
fn another(mut finding: Finding, input: &mut Input) -> Finding {
    if input.flag() {
        finding = Finding::elsewhere(finding.loop_id, finding.tool, input.byte().into());
    }
    let place = input.byte();
    finding.rule = one_of([RuleIndex::Call(place), RuleIndex::Text(place)], input);
    (finding.period, finding.laps) = (input.byte(), input.byte().into());
    (finding.first, finding.last) = (input.byte().into(), input.byte().into());
    finding
}

/// Returns an arbitrary loop id, or one that was parsed from text.
fn loop_id(input: &mut Input) -> LoopId {
    let printed = "9f0c5e8b2a7d4411 +0é";
    let (start, end) = (usize::from(input.below::<4>()), usize::from(input.below::<32>()));
    let any = LoopId::from_bits(input.byte().into());
    printed.get(start..end).unwrap_or(printed).parse().unwrap_or_else(|error| {
        show(format_args!("{error}"));
        any
    })
}

/// Calls `use_it` with a policy made from `input`, or shows the error. Some policies are valid, others
/// are not.
fn with_policy(input: &mut Input, use_it: fn(&Policy<'_>, &mut Input)) {
    let rungs: [Rung; 12] = from_fn(|_| Rung::new(input.byte().into(), input.action()));
    let rules: [Rule<'_>; RULES_MAX + 1] = from_fn(|_| rule(&rungs, input));
    let texts: [TextRule<'_>; TEXT_RULES_MAX + 1] = from_fn(|_| text_rule(&rungs, input));
    let tools: [ToolRule; TOOL_RULES_MAX + 1] = from_fn(|_| tool_rule(input));
    let allowed: [Call; TOOL_RULES_MAX + 1] = from_fn(|_| call(input));
    let silenced: [LoopId; 2] = from_fn(|_| loop_id(input));
    let made = policy(&rules, &texts, input)
        .map(|policy| policy.with_silenced(input.some_of(&silenced)))
        .and_then(|policy| policy.with_tools(input.some_of(&tools)))
        .and_then(|policy| policy.with_allowed(input.some_of(&allowed)))
        .and_then(|policy| policy.with_phases(phase(input), phase(input)));
    match made {
        Ok(policy) => use_it(&policy, input),
        Err(error) => show(format_args!("{error} {}", error.policy.as_str())),
    }
}

fn policy<'p>(
    rules: &'p [Rule<'p>],
    texts: &'p [TextRule<'p>],
    input: &mut Input,
) -> Result<Policy<'p>, PolicyError> {
    let policy = Policy::new(input.text(), input.byte(), input.some_of(rules))?;
    let exempt = policy.with_exempt(TagSet::EMPTY.with(input.tag()));
    one_of([policy, exempt], input).with_texts(input.some_of(texts))
}

fn phase(input: &mut Input) -> Phase {
    Phase::new(input.byte().into(), input.byte().cast_signed())
}

fn tool_rule(input: &mut Input) -> ToolRule {
    let rule = ToolRule::new(input.tool()).patience(input.byte().cast_signed());
    one_of([rule, rule.exempt(), rule.poll()], input)
}

fn text_rule<'p>(rungs: &'p [Rung], input: &mut Input) -> TextRule<'p> {
    let texts = one_of([Texts::Same, Texts::Any, Texts::Prompt, Texts::Inside], input);
    TextRule::new(input.text(), texts, input.byte().into(), ladder(rungs, input))
}

fn rule<'p>(rungs: &'p [Rung], input: &mut Input) -> Rule<'p> {
    let args = one_of([Args::Same, Args::Similar, Args::SameTool, Args::Any], input);
    let results = one_of([Results::Ignored, Results::Same, Results::Near], input);
    let tag = input.tag();
    let one_tool = Select::Tool(input.tool());
    let selections =
        [Select::Every, Select::Tag(tag), Select::Except(tag), Select::Unreported, one_tool];
    let rule = Rule::new(input.text(), args, results, pattern(input), ladder(rungs, input));
    let mut rule = rule.select(one_of(selections, input));
    for _ in 0..5 {
        let (failing, silent) = ([rule.failed(), rule.failures()], rule.count_silence());
        let progress = [rule.ignore_progress(), rule.respect_progress_anywhere()];
        let (failing, progress) = (one_of(failing, input), one_of(progress, input));
        let other = rule.pattern(pattern(input)).ladder(ladder(rungs, input));
        let (proven, telling) = (rule.forced_on_proof(), rule.only_telling());
        rule = one_of([rule, failing, silent, progress, other, proven, telling], input);
    }
    rule.silent_at_most(input.action())
}

fn pattern(input: &mut Input) -> Pattern {
    let (times, within, novel) = (input.byte(), input.byte(), input.byte());
    one_of(
        [
            Pattern::Streak { times: times.into() },
            Pattern::recurrence(times, within),
            Pattern::cycle(times, within, novel),
            Pattern::Recurrence { times, within, novel },
        ],
        input,
    )
}

fn ladder<'p>(rungs: &'p [Rung], input: &mut Input) -> Ladder<'p> {
    let kind =
        one_of([Ladder::by_repetitions, Ladder::by_loop_findings, Ladder::by_all_findings], input);
    kind(input.some_of(rungs))
}
