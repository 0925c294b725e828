//! Claim: any tool, arguments and result can pass the recipe of every preset and its detector, and the
//! same run gets the same verdicts each time. Masking is idempotent, and similarity is symmetric.
//!
//! A byte that UTF-8 never has separates the three, and the calls.

use std::borrow::Cow;
use std::iter;

use unstuck_core::{Call, Detector, Outcome, Policy, Turn, Verdict};
use unstuck_text::{
    Answer, Cause, CauseKind, Lines, LoopCause, Mask, Masks, PRESETS, PastCalls, Recipe,
    SimilarCalls, Unescaped, similarity,
};

/// The number of times that the calls of an input are made: enough for the last rung of most ladders.
const ROUNDS: usize = 6;

/// The maximum number of texts from an input. Their calls fill a window.
const TEXTS_MAX: usize = 24;

/// The longest text whose similarity is checked. Longer texts take more time and find no more.
const LETTERS_MAX: usize = 256;

/// The longest text whose lines are shown twice. The lines of a longer text may displace each other.
const SHOWN_MAX: usize = 4096;

/// Reads the bytes as a run of calls, and each of its texts as a turn, too.
///
/// # Panics
///
/// Panics if a verdict differs or cannot be put into words, or if masks, causes or similarity break their claims.
pub fn check(bytes: &[u8]) {
    let texts: Vec<_> =
        bytes.split(|&byte| byte == 0xFF).take(TEXTS_MAX).map(String::from_utf8_lossy).collect();
    for preset in &PRESETS {
        let calls = calls(&preset.recipe, &texts);
        assert_eq!(self::calls(&preset.recipe, &texts), calls, "by {}", preset.policy.name());
        let turns: Vec<_> = texts.iter().map(|text| preset.recipe.turn(text)).collect();
        let verdicts = verdicts(preset.policy, &calls, &turns);
        let again = self::verdicts(preset.policy, &calls, &turns);
        assert_eq!(again, verdicts, "by {}", preset.policy.name());
        for verdict in &verdicts {
            explain(preset.policy, verdict);
        }
    }
    for text in &texts {
        masked_twice(text);
        shown_twice(text);
        caused(text);
    }
    looped(&texts);
    for pair in texts.windows(2) {
        similar(&pair[0], &pair[1]);
    }
}

/// Asserts that masking is idempotent, for all masks and for each alone. Removing a control character may
/// join two parts, so texts with controls are not checked.
fn masked_twice(text: &str) {
    if text.contains('\x1B') {
        return;
    }
    let alone = Mask::ALL.into_iter().map(|mask| Masks::NONE.with(mask));
    for masks in alone.chain([Masks::ALL]) {
        let once = masks.show(text).to_string();
        assert_eq!(masks.show(&once).to_string(), once, "{text:?} by {masks:?}");
    }
}

/// Asserts that the lines of a short result, and the members of an object, are known once it was shown. A
/// result without either is never known.
fn shown_twice(text: &str) {
    if text.len() > SHOWN_MAX {
        return;
    }
    let mut lines: Lines = Lines::new();
    let first = lines.show(text);
    let second = lines.show(text);
    assert!(second || !first, "{text:?} was known before");
    assert_eq!(lines.show(text), second, "{text:?}");
}

/// Asserts that a cause repeats no more than one word of the text, or a time to wait.
fn caused(text: &str) {
    let mut memory = Unescaped::default();
    if let Some(cause) = Cause::of(text, &mut memory) {
        is_one_word(cause.subject, cause.kind == CauseKind::RateLimit);
    }
}

fn is_one_word(word: Option<&str>, is_time: bool) {
    let is_part =
        |c: char| !c.is_whitespace() && !c.is_control() && c != '`' || is_time && c == ' ';
    assert!(word.is_none_or(|word| !word.is_empty() && word.chars().all(is_part)), "{word:?}");
}

/// Asserts that the cause of calls with these arguments and answers repeats no more than words, and that its clue is a
/// call among them. The memory of calls gives them back in their order.
fn looped(texts: &[Cow<'_, str>]) {
    let mut calls = PastCalls::default();
    for (number, pair) in texts.chunks(2).enumerate() {
        let (args, answer) = (&pair[0], pair.last().map_or("", |text| text));
        let (number, tool) = (number as u64, if number % 3 == 0 { "grep" } else { args });
        calls.announce(number, tool, args);
        calls.answer(number, answer, answer.len() % 2 == 0);
        let mut memory = Unescaped::default();
        let Some(found) = LoopCause::of(answer, calls.back_from(number), &mut memory) else {
            continue;
        };
        is_one_word(found.cause.subject, found.cause.kind == CauseKind::RateLimit);
        if let Some(clue) = found.clue {
            is_one_word(clue.subject, false);
            is_one_word(clue.tool, false);
            assert!((1..=number).contains(&u64::from(clue.ago)), "{clue:?}");
        }
    }
}

/// Asserts that similarity is symmetric, and 1 for equal texts.
fn similar(one: &str, other: &str) {
    if one.len().max(other.len()) > LETTERS_MAX {
        return;
    }
    let share = similarity(one, other);
    assert!((0.0..=1.0).contains(&share), "{share} of {one:?} and {other:?}");
    assert!(share.to_bits() == similarity(other, one).to_bits(), "{one:?} and {other:?}");
    assert!(similarity(one, one) >= 1.0, "{one:?}");
}

/// Returns the calls in `texts`, each as a tool, its arguments and the result.
fn calls(recipe: &Recipe, texts: &[Cow<'_, str>]) -> Vec<(Call, Outcome)> {
    let (mut groups, mut lines) = (SimilarCalls::new(), <Lines>::new());
    let call = |texts: &[Cow<'_, str>]| {
        let [tool, args, result] = [0, 1, 2].map(|n| texts.get(n).map_or("", |text| text));
        // Failures and results that were cut off need no byte of their own.
        let failed = result.len() % 2 == 1;
        let cut = (result.len() % 3 == 2).then_some(args);
        let call = recipe.call_among(&mut groups, tool, args);
        let answer = Answer { cut, kind: call.kind(), ..Answer::new(tool, result, failed) };
        (call, recipe.outcome_among(&mut lines, &answer))
    };
    texts.chunks(3).map(call).collect()
}

/// Returns all verdicts of a detector on the calls, made [`ROUNDS`] times, and then on the turns.
fn verdicts(policy: &Policy<'_>, calls: &[(Call, Outcome)], turns: &[Turn]) -> Vec<Verdict> {
    let mut detector: Detector<'_, 64> = Detector::new(policy).expect("room for any window");
    let mut verdicts = Vec::new();
    for (call, outcome) in iter::repeat_n(calls, ROUNDS).flatten() {
        let announced = detector.announce(*call);
        let verdict = detector.outcome(announced.id, *outcome);
        verdicts.extend([announced.verdict, announced.settled, verdict]);
    }
    verdicts.push(detector.finish());
    verdicts.extend(turns.iter().map(|turn| detector.text_turn(*turn)));
    verdicts
}

/// Returns a verdict in words: the rule's, and the message for the agent.
fn explain(policy: &Policy<'_>, verdict: &Verdict) {
    let Some(finding) = verdict.finding else { return };
    assert!(!finding.rule_name(policy).is_empty(), "{finding:?}");
    assert!(finding.calls().all(|call| call <= finding.last), "{finding:?}");
    let nudge = finding.nudge(verdict.action, "bash").to_string();
    assert!(nudge.ends_with('.'), "{nudge}");
}
