//! Checkpoints: a restored detector continues as before, and other bytes are refused.

use proptest::prelude::*;
use serde_json::{Value, json};
use unstuck_core::{
    Action, Args, CHECKPOINT_VERSION, Call, CheckpointError, Detector, Digest, Ladder, Outcome,
    Pattern, Policy, RAISE_MAX, RUNAWAY_MIN, RUNGS_MAX, Results, Rule, RuleIndex, Rung, Tag,
    TextRule, Texts, Tool, ToolRule, Turn, Verdict, presets,
};

type Balanced = Detector<'static, 20>;

/// The number of rules of the preset, about calls and about text.
const RULES: usize = presets::BALANCED.rules().len();
const TEXTS: usize = presets::BALANCED.texts().len();

const ROOM: usize = Balanced::CHECKPOINT_MAX;

/// The highest rung. Above the longest ladder there are 23 reminders, from a rung at 1 to the
/// highest count.
const RUNG_MAX: usize = RUNGS_MAX + 23;

fn balanced() -> Balanced {
    Detector::new(&presets::BALANCED).unwrap()
}

fn call(args: u8) -> Call {
    Call::new(Tool::new(1), Digest::of(&[args])).tag(Tag::Test)
}

fn run<const W: usize>(detector: &mut Detector<'_, W>, args: u8, result: u8) -> Verdict {
    let announced = detector.announce(call(args));
    let outcome = Outcome::ok(Digest::of(&[result])).score(u32::from(result));
    announced.verdict.or_stronger(detector.outcome(announced.id, outcome))
}

fn saved<const W: usize>(detector: &Detector<'_, W>) -> Vec<u8> {
    let mut buffer = [0; ROOM];
    detector.save(&mut buffer).unwrap().to_vec()
}

/// Returns the bytes with a correct checksum, as if they had been written on purpose.
fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = Digest::of(&bytes).bits();
    bytes.extend(&(sum ^ sum >> 32).to_le_bytes()[..4]);
    bytes
}

/// Returns a saved detector without its checksum.
fn unsummed<const W: usize>(detector: &Detector<'_, W>) -> Vec<u8> {
    let mut bytes = saved(detector);
    bytes.truncate(bytes.len() - 4);
    bytes
}

#[test]
fn a_finding_of_another_policy_leaves_checkpoints_valid() {
    let mut detector = balanced();
    let mut wrong = (0..3).find_map(|_| run(&mut detector, 0, 0).finding).expect("a streak");
    for rule in [RuleIndex::Call(u8::try_from(RULES).unwrap()), RuleIndex::Text(9)] {
        wrong.rule = rule;
        detector.false_positive(&wrong);
    }
    assert!(Balanced::restore(&presets::BALANCED, &saved(&detector)).is_ok());
}

/// Returns a detector with a value in every field.
fn busy() -> Balanced {
    let mut detector = balanced();
    let _ = detector.user_message(Digest::of(b"go"));
    for n in 0..30 {
        let _ = run(&mut detector, n % 3, n % 3);
    }
    if let Some(finding) = run(&mut detector, 0, 0).finding {
        detector.false_positive(&finding);
    }
    for _ in 0..6 {
        let _ = run(&mut detector, 7, 7);
    }
    let _ = detector.text_turn(Turn::new(Digest::of(b"hm")));
    let read = detector.announce(call(3).idempotent()).id;
    let late = Outcome::failed(Digest::of(b"late")).raw(Digest::of(b"late at 9")).transient();
    let _ = detector.outcome(read, late);
    let waiting = detector.announce(call(4).tag(Tag::Shell).idempotent()).id;
    let _ = detector.outcome(waiting, Outcome::ok(Digest::of(b"running")).pending());
    let [first, second] = [1, 2].map(|args| detector.announce(call(args).step(9)).id);
    let _ = detector.vetoed(second);
    detector.retry(1);
    let _ = detector.announce(call(2).step(9));
    let _ = first;
    detector
}

#[test]
fn the_format_is_stable() {
    // A change here needs a new version of the format.
    let mut detector = balanced();
    let _ = run(&mut detector, 0, 0);
    let _ = detector.announce(call(1).step(3));
    insta::assert_snapshot!(hexadecimal(&saved(&detector)));
}

fn hexadecimal(bytes: &[u8]) -> String {
    let lines = bytes
        .chunks(24)
        .map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn saving_a_restored_detector_gives_the_same_bytes() {
    let detector = busy();
    let bytes = saved(&detector);
    let restored = Balanced::restore(&presets::BALANCED, &bytes).unwrap();
    assert_eq!(saved(&restored), bytes);
    assert_eq!(restored.statistics(), detector.statistics());
}

#[test]
fn an_open_call_can_be_answered_after_a_restart() {
    let mut detector = balanced();
    let _ = run(&mut detector, 0, 0);
    let _ = run(&mut detector, 0, 0);
    let open = detector.announce(call(0)).id;
    let kept = postcard::to_stdvec(&open).unwrap();
    let mut restored = Balanced::restore(&presets::BALANCED, &saved(&detector)).unwrap();
    let open = postcard::from_bytes(&kept).unwrap();
    let outcome = Outcome::ok(Digest::of(&[0]));
    assert_eq!(restored.outcome(open, outcome).action, Action::Nudge);
}

#[test]
fn other_serde_formats_work() {
    let detector = busy();
    let json = serde_json::to_string(&detector).unwrap();
    let mut reader = serde_json::Deserializer::from_str(&json);
    let restored = Balanced::deserialize(&presets::BALANCED, &mut reader).unwrap();
    assert_eq!(saved(&restored), saved(&detector));
    let json = json.replace(&format!("\"version\":{CHECKPOINT_VERSION}"), "\"version\":9");
    let mut reader = serde_json::Deserializer::from_str(&json);
    let error = Balanced::deserialize(&presets::BALANCED, &mut reader).unwrap_err();
    assert!(error.to_string().starts_with("the checkpoint has version 9"), "{error}");
}

#[test]
fn invalid_bytes_give_a_reason() {
    let bytes = saved(&busy());
    let read = |bytes: &[u8]| Balanced::restore(&presets::BALANCED, bytes).map(drop);
    assert_eq!(read(&bytes), Ok(()));
    assert_eq!(read(&[]), Err(CheckpointError::Malformed));
    let version = CHECKPOINT_VERSION + 1;
    let newer = [&[version], &bytes[1..]].concat();
    assert_eq!(read(&newer), Err(CheckpointError::Version { found: version }));
    for end in 1..bytes.len() {
        assert_eq!(read(&bytes[..end]), Err(CheckpointError::Malformed), "{end}");
    }
    for place in 1..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        assert_eq!(read(&damaged), Err(CheckpointError::Malformed), "{place}");
    }
    let state = unsummed(&busy());
    for end in 1..state.len() {
        assert_eq!(read(&summed(state[..end].to_vec())), Err(CheckpointError::Malformed), "{end}");
    }
    assert_eq!(read(&summed([&state[..], &[0]].concat())), Err(CheckpointError::Malformed));
    let other = Detector::<20>::restore(&presets::REPEAT, &bytes).map(drop);
    assert_eq!(other, Err(CheckpointError::OtherPolicy));
    // The checkpoint has fewer records than the larger detector wrote.
    let mut large: Detector<'_, 64> = Detector::new(&presets::BALANCED).unwrap();
    for n in 0..30 {
        let _ = run(&mut large, n, n);
    }
    let mut room = [0; Detector::<64>::CHECKPOINT_MAX];
    let written = large.save(&mut room).unwrap();
    assert_eq!(read(written), Err(CheckpointError::Malformed));
}

#[test]
fn tools_and_ladders_may_change_between_two_starts() {
    let mut detector = balanced();
    let _ = run(&mut detector, 0, 0);
    let _ = run(&mut detector, 0, 0);
    let tools = [ToolRule::new(Tool::new(1)).patience(1)];
    let policy = presets::BALANCED.with_tools(&tools).unwrap();
    let mut restored: Detector<'_, 20> = Detector::restore(&policy, &saved(&detector)).unwrap();
    assert_eq!(run(&mut restored, 0, 0).action, Action::Proceed);
    assert_eq!(run(&mut restored, 0, 0).action, Action::Nudge);
}

#[test]
fn a_buffer_that_is_too_short_is_an_error_that_says_so() {
    let detector = busy();
    let length = saved(&detector).len();
    for short in [0, 1, length / 2, length - 1] {
        let error = detector.save(&mut vec![0; short]).unwrap_err();
        assert_eq!(error, CheckpointError::BufferTooShort { length: short, enough: ROOM });
    }
    assert_eq!(detector.save(&mut vec![0; length]).map(|bytes| bytes.len()), Ok(length));
}

#[test]
fn every_error_says_what_to_do() {
    let errors = [
        CheckpointError::BufferTooShort { length: 3, enough: ROOM },
        CheckpointError::Malformed,
        CheckpointError::Version { found: 9 },
        CheckpointError::OtherPolicy,
        CheckpointError::PolicyDoesNotFit,
        CheckpointError::Corrupt { field: "loops" },
    ];
    insta::assert_snapshot!(errors.map(|error| error.to_string()).join("\n"));
}

#[test]
fn a_new_ladder_is_reported_from_its_first_rung() {
    const LOUD: Ladder<'_> =
        Ladder::by_repetitions(&[Rung::new(3, Action::Nudge), Rung::new(5, Action::Stop)]);
    const QUIET: Ladder<'_> = Ladder::by_repetitions(&[
        Rung::new(2, Action::Nudge),
        Rung::new(3, Action::Warn),
        Rung::new(4, Action::Warn),
        Rung::new(5, Action::Warn),
    ]);
    let rule = |ladder| {
        Rule::new("r", Args::Same, Results::Same, Pattern::Streak { times: 2 }, ladder)
            .ignore_progress()
    };
    let (loud, quiet) = ([rule(LOUD)], [rule(QUIET)]);
    let [loud, quiet] = [&loud, &quiet].map(|rules| Policy::new("p", 20, rules).unwrap());
    let mut detector: Detector<'_, 20> = Detector::new(&quiet).unwrap();
    for _ in 0..4 {
        let _ = run(&mut detector, 0, 0);
    }
    let bytes = saved(&detector);
    let mut same: Detector<'_, 20> = Detector::restore(&quiet, &bytes).unwrap();
    let mut other: Detector<'_, 20> = Detector::restore(&loud, &bytes).unwrap();
    assert_eq!(run(&mut same, 0, 0).rung, 4);
    let verdict = run(&mut other, 0, 0);
    assert_eq!((verdict.action, verdict.fresh), (Action::Stop, true));
}

#[test]
fn a_step_goes_on_after_a_restart() {
    let mut detector = balanced();
    for n in 0..40 {
        let _ = detector.announce(call(n).step(5));
    }
    let mut restored = Balanced::restore(&presets::BALANCED, &saved(&detector)).unwrap();
    let bytes = [&mut detector, &mut restored].map(|detector| {
        detector.retry(1);
        let _ = detector.announce(call(99).step(5));
        saved(detector)
    });
    assert!(bytes[0] == bytes[1], "the same calls wait");
}

/// Runs `judge` with a policy that stops only on proof, and has a rule about talk.
fn with_careful<T>(judge: impl FnOnce(&Policy<'_>) -> T) -> T {
    const LADDER: Ladder<'_> =
        Ladder::by_repetitions(&[Rung::new(3, Action::Warn), Rung::new(5, Action::Block)]);
    let pattern = Pattern::Streak { times: 3 };
    let rules = [Rule::new("r", Args::Same, Results::Same, pattern, LADDER).forced_on_proof()];
    let texts = [TextRule::new("t", Texts::Prompt, 3, LADDER)];
    let policy = Policy::new("p", 20, &rules).and_then(|policy| policy.with_texts(&texts));
    judge(&policy.unwrap())
}

#[test]
fn proof_survives_a_restart() {
    let acts = Outcome::ok(Digest::of(b"done"));
    let fails = Outcome::failed(Digest::of(b"no"));
    let other = acts.raw(Digest::of(b"done at 9"));
    // Each case has the number of equal calls before a block, and whether a call with other bytes
    // comes first.
    let cases = [
        (call(0), acts, usize::from(RUNAWAY_MIN), None),
        (call(0).idempotent(), acts, 5, None),
        (call(0).idempotent(), acts, 6, Some(other)),
        (call(0), fails, 5, None),
    ];
    with_careful(|policy| {
        for (call, outcome, needed, before) in cases {
            let mut detector: Detector<'_, 20> = Detector::new(policy).unwrap();
            let actions = (0..needed).map(|n| {
                detector = Detector::restore(policy, &saved(&detector)).unwrap();
                let announced = detector.announce(call);
                let first = before.filter(|_| n == 0).unwrap_or(outcome);
                announced.verdict.or_stronger(detector.outcome(announced.id, first)).action
            });
            let actions: Vec<Action> = actions.collect();
            assert!(actions[..needed - 1].iter().all(|action| *action < Action::Block));
            assert_eq!(actions.last(), Some(&Action::Block), "{outcome:?}");
        }
    });
}

#[test]
fn a_row_of_prompts_goes_on_after_a_restart() {
    with_careful(|policy| {
        let mut detector: Detector<'_, 20> = Detector::new(policy).unwrap();
        let actions = [(); 3].map(|()| {
            detector = Detector::restore(policy, &saved(&detector)).unwrap();
            detector.user_message(Digest::of(b"go on")).action
        });
        assert_eq!(actions, [Action::Proceed, Action::Proceed, Action::Warn]);
    });
}

#[test]
fn a_window_that_does_not_fit_has_its_own_error() {
    let error = Detector::<8>::restore(
        &presets::BALANCED,
        &saved(&Balanced::new(&presets::BALANCED).unwrap()),
    )
    .map(drop);
    assert_eq!(error, Err(CheckpointError::PolicyDoesNotFit));
}

/// Calls every method, and checks that the results are plausible.
fn exercise(detector: &mut Balanced) {
    for n in 0..60_u8 {
        let announced = detector.announce(call(n % 4).step(u64::from(n / 3)));
        let _ = detector.peek(call(0));
        let near = detector.nearness().all(|near| near.held <= near.needed);
        assert!(near, "no more is held than is needed");
        let mut verdicts = vec![announced.verdict, announced.settled];
        match n % 9 {
            0 => verdicts.push(detector.vetoed(announced.id)),
            1 => verdicts.push(detector.cancel(announced.id)),
            2 => drop(detector.retry(usize::from(n % 5))),
            3 => verdicts.push(detector.text_turn(Digest::of(&[n]))),
            4 => detector.progress(),
            _ => {
                let outcome = Outcome::ok(Digest::of(&[n % 2])).score(u32::from(n));
                verdicts.push(detector.outcome(announced.id, outcome));
            }
        }
        for verdict in verdicts {
            let Some(finding) = verdict.finding else { continue };
            assert!(finding.first <= finding.last && finding.confidence <= 100, "{finding:?}");
            assert!(finding.period >= 1 && finding.laps >= 2, "{finding:?}");
            assert!(finding.calls().all(|call| call <= finding.last), "{finding:?}");
            assert!(!finding.rule_name(&presets::BALANCED).is_empty(), "{finding:?}");
        }
    }
    let bytes = saved(detector);
    let again = Balanced::restore(&presets::BALANCED, &bytes);
    assert!(again.map(|again| saved(&again)) == Ok(bytes), "what is written can be read");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16 * ProptestConfig::default().cases,
        ..ProptestConfig::default() })]

    /// A checkpoint with some changed bytes is refused, or gives a working detector.
    #[test]
    fn a_damaged_checkpoint_breaks_nothing(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = unsummed(&busy());
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(mut detector) = Balanced::restore(&presets::BALANCED, &summed(bytes)) {
            exercise(&mut detector);
        }
    }

    /// Any bytes that begin like a checkpoint are refused, or give a working detector.
    #[test]
    fn any_bytes_break_nothing(tail in prop::collection::vec(any::<u8>(), 0..600)) {
        let bytes = summed([&saved(&balanced())[..17], &tail].concat());
        if let Ok(mut detector) = Balanced::restore(&presets::BALANCED, &bytes) {
            exercise(&mut detector);
        }
    }

    /// The buffer size that is always enough is enough for the largest checkpoint.
    #[test]
    fn the_room_is_enough(seed in any::<u64>()) {
        let mut detector: Detector<'_, 64, 32> = Detector::new(&presets::BALANCED).unwrap();
        for n in 0..96_u64 {
            let digest = Digest::new(u64::MAX - (seed ^ n));
            let call = Call::new(Tool::new(u32::MAX), digest).step(if n < 64 { n } else { u64::MAX });
            let announced = detector.announce(call);
            if n < 64 {
                let _ = detector.outcome(announced.id, Outcome::failed(digest).score(u32::MAX));
            }
        }
        let mut buffer = [0; Detector::<64, 32>::CHECKPOINT_MAX];
        prop_assert!(detector.save(&mut buffer).is_ok());
    }
}

/// Changes one field of a busy detector's state.
type Damage = fn(&mut Value);

#[test]
fn impossible_fields_are_corrupt() {
    let cases: [(&str, Damage); 23] = [
        ("next", |state| state["next"] = json!(3)),
        ("next", |state| state["next"] = json!(u64::MAX / 2)),
        ("begun", |state| state["begun"] = json!(1_000_000)),
        ("rung", |state| state["rung"] = json!(RUNG_MAX + 1)),
        ("text", |state| state["text"]["same"] = json!(2)),
        ("text", |state| state["text"]["turns"] = json!(0)),
        ("text", |state| state["text"]["turns"] = json!(u64::MAX / 2)),
        ("text", |state| {
            state["text"]["prompts"] = json!(1);
            state["messages"] = json!([]);
        }),
        ("settled", |state| state["settled"][0]["status"] = json!("Open")),
        ("open", |state| state["open"][0]["status"] = json!("Vetoed")),
        ("tracks", |state| drop(state["tracks"].as_array_mut().unwrap().pop())),
        ("tracks", |state| drop(state["runs"].as_array_mut().unwrap().pop())),
        ("tracks", |state| state["runs"].as_array_mut().unwrap().push(json!(0))),
        ("loops", |state| {
            let twice = state["loops"][0].clone();
            state["loops"].as_array_mut().unwrap().push(twice);
        }),
        ("loops", |state| state["loops"][0]["rung"] = json!(RUNG_MAX + 1)),
        ("loops", |state| state["loops"][0]["blocker"] = json!(2)),
        ("loops", |state| state["loops"][0]["blocker"] = json!(RULES << 2 | 1)),
        ("loops", |state| state["loops"][0]["blocker"] = json!(3 << 2 | 1)),
        ("loops", |state| state["loops"][0]["last"] = json!(1_000_000)),
        ("raised", |state| state["raised"][0]["by"] = json!(0)),
        ("raised", |state| state["raised"][0]["by"] = json!(RAISE_MAX + 1)),
        ("raised", |state| state["raised"][0]["rule"] = json!(RULES)),
        ("raised", |state| state["raised"][0]["rule"] = json!(0x80 | TEXTS)),
    ];
    let mut detector = busy();
    assert_eq!(detector.text_turn(Digest::of(b"hm")), Verdict::PROCEED);
    let whole = serde_json::to_value(&detector).unwrap();
    for (n, (field, damage)) in cases.into_iter().enumerate() {
        let mut state = whole.clone();
        damage(&mut state);
        let error = Balanced::deserialize(&presets::BALANCED, state).unwrap_err();
        let expected = CheckpointError::Corrupt { field };
        assert_eq!(error.to_string(), expected.to_string(), "case {n}");
    }
    assert!(Balanced::deserialize(&presets::BALANCED, whole).is_ok());
}

#[test]
fn an_additional_rule_is_corrupt() {
    let mut state = serde_json::to_value(Balanced::new(&presets::REPEAT).unwrap()).unwrap();
    state["tracks"].as_array_mut().unwrap().push(json!([0, 0]));
    let error = Balanced::deserialize(&presets::REPEAT, state).unwrap_err();
    let expected = CheckpointError::Corrupt { field: "tracks" };
    assert_eq!(error.to_string(), expected.to_string());
}
