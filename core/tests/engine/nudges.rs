//! The messages to agents, for every kind of finding and every action.

use unstuck_core::{
    Action, Args, Basis, Call, Detector, Digest, Failure, Finding, Kind, Ladder, Outcome, Pattern,
    Policy, Results, Rule, Rung, Select, Tag, TextRule, Texts, Tool, Verdict, presets,
};

use crate::{call, with_rule};

const ONCE: Ladder<'_> = Ladder::by_loop_findings(&[Rung::new(1, Action::Nudge)]);

/// Returns the nudge of the first finding of a rule on `calls`, given as pairs of arguments and
/// result.
fn nudge(rule: Rule<'static>, tag: Tag, failed: bool, calls: &[(u8, u8)]) -> String {
    finding(rule, tag, failed, calls).nudge(Action::Nudge, "bash").to_string()
}

/// Returns the first finding of a rule on `calls`.
fn finding(rule: Rule<'static>, tag: Tag, failed: bool, calls: &[(u8, u8)]) -> Finding {
    let mut detector: Detector<'_, 20> = with_rule(rule);
    let verdicts = calls.iter().map(|&(args, result)| {
        let call = call(args).similar(Digest::of(b"")).tag(tag);
        let announced = detector.announce(call);
        let result = Digest::of(&[result]);
        let outcome = if failed { Outcome::failed(result) } else { Outcome::ok(result) };
        let verdict = detector.outcome(announced.id, outcome.near(Digest::of(b"")));
        announced.verdict.or_stronger(verdict)
    });
    let found: Vec<Verdict> = verdicts.collect();
    found.into_iter().find_map(|verdict| verdict.finding).unwrap()
}

fn rule(args: Args, results: Results, pattern: Pattern) -> Rule<'static> {
    Rule::new("r", args, results, pattern, ONCE)
}

#[test]
fn every_kind_has_words_that_fit() {
    let streak = Pattern::Streak { times: 3 };
    let recurrence = Pattern::recurrence(3, 9);
    let same = [(0, 0); 3];
    let varied = [(0, 0), (1, 0), (2, 0)];
    let numbers = [(0, 0), (0, 1), (0, 2)];
    let ragged = [(0, 0), (1, 1), (0, 0), (2, 2), (0, 0)];
    let laps = [(0, 0), (1, 1), (0, 0), (1, 1)];
    let tests = rule(Args::Any, Results::Ignored, streak).select(Select::Tag(Tag::Test)).failed();
    let shell = rule(Args::Any, Results::Ignored, streak).select(Select::Tag(Tag::Shell)).failed();
    let cases = [
        nudge(rule(Args::Same, Results::Same, streak), Tag::Other, false, &same),
        nudge(rule(Args::Same, Results::Same, streak), Tag::Read, false, &same),
        nudge(rule(Args::Same, Results::Same, streak), Tag::Poll, false, &same),
        nudge(rule(Args::Same, Results::Same, streak), Tag::Other, true, &same),
        nudge(rule(Args::Same, Results::Same, streak), Tag::Test, true, &same),
        nudge(rule(Args::Same, Results::Same, streak), Tag::Shell, true, &same),
        nudge(
            rule(Args::Same, Results::Near, streak).ignore_progress(),
            Tag::Other,
            false,
            &numbers,
        ),
        nudge(rule(Args::Same, Results::Ignored, streak), Tag::Other, false, &same),
        nudge(rule(Args::Similar, Results::Ignored, streak), Tag::Other, false, &varied),
        nudge(rule(Args::SameTool, Results::Same, streak), Tag::Other, true, &varied),
        nudge(rule(Args::SameTool, Results::Same, streak), Tag::Other, false, &varied),
        nudge(rule(Args::Any, Results::Near, streak), Tag::Other, true, &varied),
        nudge(tests, Tag::Test, true, &varied),
        nudge(shell, Tag::Shell, true, &varied),
        nudge(rule(Args::Same, Results::Same, recurrence), Tag::Other, false, &ragged),
        nudge(rule(Args::Similar, Results::Same, recurrence), Tag::Other, false, &ragged),
        nudge(rule(Args::Same, Results::Same, Pattern::cycle(2, 4, 2)), Tag::Shell, true, &laps),
        nudge(rule(Args::Same, Results::Ignored, Pattern::cycle(2, 4, 2)), Tag::Read, false, &laps),
    ];
    insta::assert_snapshot!(cases.join("\n"));
}

/// Returns the finding after the user repeated one message, or the agent only talked, `times`
/// times.
fn finding_of_text(texts: Texts, times: u16) -> Finding {
    let rules = [rule(Args::Same, Results::Same, Pattern::Streak { times: 2 })];
    let policy = Policy::new("p", 20, &rules).unwrap();
    let texts = [TextRule::new("t", texts, times, ONCE)];
    let policy = policy.with_texts(&texts).unwrap();
    let mut detector: Detector<'_, 20> = Detector::new(&policy).unwrap();
    let said = Digest::of(b"go on");
    let is_prompt = policy.texts()[0].texts == Texts::Prompt;
    let mut say = || if is_prompt { detector.user_message(said) } else { detector.text_turn(said) };
    let verdicts = (0..times).map(|_| say());
    verdicts.last().and_then(|verdict| verdict.finding).unwrap()
}

#[test]
fn every_action_says_what_comes_next() {
    // Once for a ladder that ends in a nudge, and once for a ladder that ends in a stop.
    let said = [Action::Nudge, Action::Stop].map(|most| {
        let mut finding = finding_of_text(Texts::Any, 2);
        assert_eq!(finding.most, Action::Nudge);
        finding.most = most;
        let nudges = Action::ALL.map(|action| finding.nudge(action, "").to_string());
        format!("at most {most}:\n{}", nudges.join("\n"))
    });
    insta::assert_snapshot!(said.join("\n"));
}

/// Returns the message about a cycle of the tools `names` that ran twice.
fn message_about_a_cycle(names: &[&str]) -> String {
    let period = u8::try_from(names.len()).unwrap();
    let mut detector: Detector<'_, 64> =
        with_rule(rule(Args::Same, Results::Ignored, Pattern::cycle(period, period, 2)));
    let mut finding = None;
    for (number, name) in (0_u8..).zip(names.iter().chain(names)) {
        let args = Digest::of(&[number % period]);
        let announced = detector.announce(Call::new(Tool::named(name), args));
        let settled = detector.outcome(announced.id, Outcome::ok(args));
        finding = finding.or(announced.verdict.or_stronger(settled).finding);
    }
    let finding: Finding = finding.unwrap();
    let seqs: Vec<u64> = finding.lap().collect();
    let begin = u64::from(period);
    assert_eq!(seqs, (begin..2 * begin).collect::<Vec<_>>());
    let tools = seqs.iter().map(|&seq| detector.tool_of(seq));
    assert!(tools.eq(names.iter().map(|name| Some(Tool::named(name)))));
    finding.nudge(Action::Nudge, names[0]).lap(names).to_string()
}

#[test]
fn a_cycle_names_its_tools_in_order() {
    let many: Vec<String> = (b'a'..=b'h').map(|letter| char::from(letter).to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let messages = [
        &["read", "shell"][..],
        &["read", "edit", "shell"],
        &["read", "edit", "read", "shell"],
        &many,
        &["shell", "shell"],
        &["read", ""],
    ]
    .map(message_about_a_cycle);
    let first_sentences = messages.iter().map(|message| message.split_once('.').unwrap().0);
    insta::assert_snapshot!(first_sentences.collect::<Vec<_>>().join("\n"));
}

#[test]
fn only_a_complete_lap_of_a_cycle_is_named() {
    let cycle = rule(Args::Same, Results::Same, Pattern::cycle(2, 3, 2));
    let cycle = finding(cycle, Tag::Other, false, &[(0, 0), (1, 1), (0, 0), (1, 1)]);
    let streak = rule(Args::Same, Results::Same, Pattern::Streak { times: 2 });
    let streak = finding(streak, Tag::Other, false, &[(0, 0), (0, 0)]);
    assert!(streak.lap().eq([1]));
    for (finding, lap) in
        [(cycle, &["a"][..]), (cycle, &["a", "b", "c"]), (streak, &["a"]), (streak, &["a", "b"])]
    {
        let nudge = finding.nudge(Action::Nudge, "bash");
        assert_eq!(nudge.lap(lap).to_string(), nudge.to_string());
    }
    assert!(finding_of_text(Texts::Any, 2).lap().eq([]));
}

#[test]
fn what_fails_between_calls_that_work_is_named() {
    let edit = |n: u8| (Tool::named("edit"), Digest::of(&[n]), true);
    let other = (Tool::named("list"), Digest::of(b"."), true);
    let works = (Tool::named("list"), Digest::of(b"."), false);
    let of_same_tool = (Tool::named("read"), Digest::of(b"b.rs"), true);
    // Calls that fail, after each of three equal ones that work; and the one that is named.
    for (between, expected) in [
        ([edit(0), edit(1)], Some(3)),
        ([edit(0), works], None),
        ([works, edit(0)], None),
        ([edit(0), other], None),
        ([works, works], None),
        ([of_same_tool, of_same_tool], None),
    ] {
        let mut detector: Detector<'_, 20> = with_rule(rule(
            Args::Same,
            Results::Same,
            Pattern::Recurrence { times: 3, within: 20, novel: 20 },
        ));
        let read = (Tool::named("read"), Digest::of(b"a.rs"), false);
        let mut found = None;
        for (tool, args, failed) in [read, between[0], read, between[1], read] {
            let id = detector.announce(Call::new(tool, args)).id;
            let outcome = if failed { Outcome::failed(args) } else { Outcome::ok(args) };
            found = found.or(detector.outcome(id, outcome).finding);
        }
        let finding: Finding = found.unwrap();
        assert_eq!((finding.tool, detector.failing(&finding)), (read.0, expected));
        let nudge = finding.nudge(Action::Nudge, "read");
        assert_eq!(nudge.failing("").to_string(), nudge.to_string());
        assert!(nudge.failing("edit").to_string().contains(" What fails is `edit`."));
    }
}

#[test]
fn among_the_calls_of_a_cycle_the_failing_one_is_named() {
    for (fails, expected) in [("edit", Some(2)), ("read", None), ("", None)] {
        let mut detector: Detector<'_, 20> =
            with_rule(rule(Args::Same, Results::Same, Pattern::cycle(2, 2, 2)));
        let mut found = None;
        for name in ["edit", "read", "edit", "read"] {
            let args = Digest::of(name.as_bytes());
            let id = detector.announce(Call::new(Tool::named(name), args)).id;
            let outcome = if name == fails { Outcome::failed(args) } else { Outcome::ok(args) };
            found = found.or(detector.outcome(id, outcome).finding);
        }
        // If the last call fails, the message is about a failure anyway.
        assert_eq!(detector.failing(&found.unwrap()), expected, "{fails}");
    }
}

#[test]
fn who_starts_a_job_again_is_told_to_look_at_the_one_that_runs() {
    let said = |started: bool| {
        let mut detector: Detector<'_, 20> = Detector::new(&presets::BALANCED).unwrap();
        let result = Digest::of(b"still running");
        let pending = Outcome::ok(result).pending();
        let outcome = if started { pending.started() } else { pending };
        let mut made = (1..20).map(|n| {
            let id = detector.announce(Call::new(Tool::named("bash"), result).tag(Tag::Shell)).id;
            (n, detector.outcome(id, outcome).finding)
        });
        let (n, finding) = made.find(|(_, found)| found.is_some()).unwrap();
        (n, finding.unwrap().nudge(Action::Nudge, "bash").to_string().contains("another copy"))
    };
    assert_eq!(said(true), (5, true));
    assert_eq!(said(false), (8, false));
}

#[test]
fn the_tool_of_a_call_is_known_while_its_record_is_held() {
    let mut detector: Detector<'_, 2, 2> =
        with_rule(rule(Args::Same, Results::Same, Pattern::Streak { times: 2 }));
    let tools = ["a", "b", "c", "d"].map(Tool::named);
    let ids = tools.map(|tool| detector.announce(Call::new(tool, Digest::of(b"")).step(1)).id);
    // The queue has no room for the first two calls, so they have settled.
    assert_eq!([0, 1, 2, 3].map(|seq| detector.tool_of(seq)), tools.map(Some));
    for id in ids {
        let _ = detector.outcome(id, Outcome::ok(Digest::of(b"")));
    }
    let known = [0, 1, 2, 3, 4, u64::MAX].map(|seq| detector.tool_of(seq));
    assert_eq!(known, [None, None, Some(tools[2]), Some(tools[3]), None, None]);
}

/// The buffer size in C for a message about a tool with a name of 64 bytes, without the NUL.
const BUFFER: usize = 383;

#[test]
fn every_message_without_a_lap_fits_into_its_buffer() {
    let same = rule(Args::Same, Results::Same, Pattern::Streak { times: 2 });
    let mut finding = finding(same, Tag::Other, false, &[(0, 0), (0, 0)]);
    finding.period = 32;
    let tool = "t".repeat(64);
    let fits = |finding: &Finding| {
        for action in Action::ALL {
            let text = finding.nudge(action, &tool).to_string();
            assert!(text.len() <= BUFFER, "{} bytes: {text}", text.len());
        }
    };
    let args = [Args::Same, Args::Similar, Args::SameTool, Args::Any];
    let outcomes = [Results::Ignored, Results::Same, Results::Near];
    let failures = [None, Some(Failure::Lasting), Some(Failure::Transient)];
    let outcomes =
        outcomes.into_iter().flat_map(|results| failures.map(|failure| (results, failure)));
    let laps = [3, 4, 5, 10, u16::MAX];
    for (tag, laps) in Tag::ALL.into_iter().flat_map(|tag| laps.map(|laps| (tag, laps))) {
        for (kind, args) in Kind::ALL.into_iter().flat_map(|kind| args.map(|args| (kind, args))) {
            for (results, failure) in outcomes.clone() {
                (finding.tag, finding.laps, finding.kind) = (tag, laps, kind);
                (finding.args, finding.results) = (args, results);
                finding = finding.with_failure(failure);
                fits(&finding);
            }
        }
    }
}

#[test]
fn only_tools_that_edit_files_are_told_to_read_one() {
    let same = rule(Args::Same, Results::Same, Pattern::Streak { times: 2 });
    let finding = finding(same, Tag::Write, true, &[(0, 0), (0, 0)]);
    for (tool, expected) in [
        ("Edit", true),
        ("str_replace_editor", true),
        ("apply_patch", true),
        ("WriteFile", true),
        ("create_ticket", false),
        ("bash", false),
        ("", false),
    ] {
        let said = finding.nudge(Action::Nudge, tool).to_string();
        assert_eq!(said.contains("read the file as it is now"), expected, "{tool}: {said}");
    }
}

#[test]
fn a_failure_that_may_pass_is_not_said_to_stay() {
    let same = rule(Args::Same, Results::Same, Pattern::Streak { times: 2 });
    let finding = finding(same, Tag::Read, true, &[(0, 0), (0, 0)]);
    let said = |finding: &Finding| finding.nudge(Action::Nudge, "fetch").to_string();
    assert!(said(&finding).contains("will not go away by itself"));
    let mut finding = finding.with_failure(Some(Failure::Transient));
    assert!(said(&finding).contains("wait before the next attempt"));
    finding.laps = 11;
    assert!(said(&finding).contains("it may not pass"));
}

/// Returns the repetitions and actions of the rungs of `ladder` for a rule that asks for `times`.
fn repetitions(ladder: &Ladder<'_>, times: u16) -> Vec<(u16, Action)> {
    let rungs = ladder.rungs.iter().map(|rung| match ladder.basis {
        Basis::Repetitions => (rung.count, rung.action),
        // Each finding adds one repetition.
        Basis::LoopFindings | Basis::AllFindings => (times + rung.count - 1, rung.action),
    });
    rungs.collect()
}

#[test]
fn the_messages_of_a_preset_change_from_rung_to_rung() {
    let same = rule(Args::Same, Results::Same, Pattern::Streak { times: 2 });
    let mut finding = finding(same, Tag::Other, false, &[(0, 0), (0, 0)]);
    for (policy, rule) in
        presets::ALL.iter().flat_map(|policy| policy.rules().iter().map(move |rule| (policy, rule)))
    {
        let times = match rule.pattern {
            Pattern::Streak { times } => times,
            Pattern::Recurrence { times, .. } | Pattern::Cycle { laps: times, .. } => times.into(),
        };
        let is_cycle = matches!(rule.pattern, Pattern::Cycle { .. });
        finding.kind = if is_cycle { Kind::Cycle } else { Kind::Streak };
        finding.tag = if let Select::Tag(tag) = rule.select { tag } else { Tag::Other };
        let mut before = String::new();
        for (laps, action) in repetitions(&rule.ladder, times) {
            finding.laps = laps;
            let text = finding.nudge(action, "bash").to_string();
            let (_, advice) = text.split_once(". ").expect("a fact and an advice");
            assert_ne!(advice, before, "{} {} at {laps}", policy.name(), rule.name);
            advice.clone_into(&mut before);
        }
    }
}

#[test]
fn a_repeated_message_is_named() {
    let finding = finding_of_text(Texts::Prompt, 4);
    let nudges = [Action::Nudge, Action::Warn].map(|action| finding.nudge(action, "").to_string());
    insta::assert_snapshot!(nudges.join("\n"));
}

#[test]
fn every_warning_says_something_new() {
    let same = rule(Args::Same, Results::Same, Pattern::Streak { times: 2 });
    let cycle = rule(Args::Same, Results::Same, Pattern::cycle(2, 3, 2));
    let twice = [(0, 0), (0, 0)];
    let findings = [
        finding(same, Tag::Other, false, &twice),
        finding(same, Tag::Shell, true, &twice),
        finding(same, Tag::Poll, false, &twice),
        finding(same, Tag::Poll, true, &twice),
        finding(
            rule(Args::Same, Results::Ignored, Pattern::Streak { times: 2 }),
            Tag::Poll,
            false,
            &twice,
        ),
        finding(cycle, Tag::Other, false, &[(0, 0), (1, 1), (0, 0), (1, 1)]),
        finding_of_text(Texts::Any, 2),
        finding_of_text(Texts::Prompt, 2),
    ];
    let warnings = findings.into_iter().flat_map(|mut finding| {
        [4, 5, 6, 10, 11].map(|laps| {
            finding.laps = laps;
            finding.most = if laps < 10 { Action::Warn } else { Action::Block };
            finding.nudge(Action::Warn, "bash").to_string()
        })
    });
    insta::assert_snapshot!(warnings.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_call_that_is_blocked_is_not_to_be_tried_again() {
    let streak = rule(Args::Same, Results::Same, Pattern::Streak { times: 2 });
    let once = finding(streak, Tag::Other, false, &[(0, 0), (0, 0)]);
    let text = once.nudge(Action::Block, "").to_string();
    assert!(text.ends_with(" The call is blocked from here on: do not retry it."), "{text}");
    let cycle = rule(Args::Same, Results::Same, Pattern::cycle(2, 3, 2));
    let laps = finding(cycle, Tag::Other, false, &[(0, 0), (1, 1), (0, 0), (1, 1)]);
    let text = laps.nudge(Action::Block, "").to_string();
    assert!(text.ends_with(" These calls are blocked from here on: do not retry them."), "{text}");
}
