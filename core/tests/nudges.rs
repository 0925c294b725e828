//! What agents read, for every kind of finding and every action.

use unstuck_core::{
    Action, Args, Call, Detector, Digest, Finding, Ladder, Outcome, Pattern, Policy, Results, Rule,
    Rung, Select, Tag, TextRule, Texts, Tool, Verdict,
};

const ONCE: Ladder<'_> = Ladder::by_loop_findings(&[Rung::new(1, Action::Nudge)]);

/// The nudge of the first finding of a rule on `calls`: which arguments, with which result.
fn nudge(rule: Rule<'_>, tag: Tag, failed: bool, calls: &[(u8, u8)]) -> String {
    finding(rule, tag, failed, calls).nudge(Action::Nudge, "bash").to_string()
}

/// The first finding of a rule on `calls`.
fn finding(rule: Rule<'_>, tag: Tag, failed: bool, calls: &[(u8, u8)]) -> Finding {
    let rules = [rule];
    let policy = Policy::new("p", 20, &rules).unwrap();
    let mut detector: Detector<'_, 20> = Detector::new(&policy).unwrap();
    let verdicts = calls.iter().map(|&(args, result)| {
        let call = Call::new(Tool::new(1), Digest::of(&[args])).similar(Digest::of(b"")).tag(tag);
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

/// What is found when the user has said the same `times` over, or the agent has only talked.
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
    // At the edge of what a ladder of nudges leads to, and of one that ends in a stop.
    let said = [Action::Nudge, Action::Stop].map(|most| {
        let mut finding = finding_of_text(Texts::Any, 2);
        assert_eq!(finding.most, Action::Nudge);
        finding.most = most;
        let nudges = Action::ALL.map(|action| finding.nudge(action, "").to_string());
        format!("at most {most}:\n{}", nudges.join("\n"))
    });
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_message_that_comes_again_is_said_to() {
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
